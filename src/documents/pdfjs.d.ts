declare module '#pdfjs/pdf.mjs' {
  export const getDocument: import('./pdf-library.ts').PdfLibrary['getDocument']
}

/** The worker half of PDF.js, which the other half loads; nothing of it is called from here. */
declare module '#pdfjs/pdf.worker.mjs'
