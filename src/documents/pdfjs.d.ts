declare module '#pdfjs/pdf.mjs' {
  export const getDocument: import('./pdf-library.ts').PdfLibrary['getDocument']
}

/** The half that reads; nothing of it is called from here: the other half finds it. */
declare module '#pdfjs/pdf.worker.mjs'
