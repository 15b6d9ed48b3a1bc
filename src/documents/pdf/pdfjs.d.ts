declare module '#pdfjs/pdf.mjs' {
  export const getDocument: import('./library.ts').PdfLibrary['getDocument']
}

/** The worker half of PDF.js. Importing it is enough: it registers itself for the other half. */
declare module '#pdfjs/pdf.worker.mjs'
