import { fileURLToPath } from 'node:url'
import type { DocumentInitParameters, PDFDocumentLoadingTask } from 'pdfjs-dist/types/src/display/api.js'

export type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'

/** The part of PDF.js that is used; the build puts it beside the program (`scripts/build.mjs`). */
export interface PdfLibrary {
  getDocument(parameters: DocumentInitParameters): PDFDocumentLoadingTask
}

let library: Promise<PdfLibrary> | undefined

/**
 * Loads PDF.js on first use, because it takes half a second and most users do not need it. It runs on the calling thread: documents are
 * converted in their own process.
 */
export function loadPdfLibrary(): Promise<PdfLibrary> {
  library ??= load()
  return library
}

/** Browser globals that PDF.js needs while it loads. Nothing is drawn, so stubs are enough. */
const DRAWING_GLOBALS = ['DOMMatrix', 'ImageData', 'Path2D']

async function load(): Promise<PdfLibrary> {
  const missing = DRAWING_GLOBALS.filter((name) => !(name in globalThis))
  for (const name of missing) Reflect.set(globalThis, name, class {})
  try {
    // The worker registers itself in a global, where PDF.js finds it.
    await import('#pdfjs/pdf.worker.mjs')
    return await import('#pdfjs/pdf.mjs')
  } finally {
    for (const name of missing) Reflect.deleteProperty(globalThis, name)
  }
}

/** Folder of PDF.js data: encodings of older Chinese, Japanese and Korean fonts, and letter widths. */
export function pdfData(folder: 'cmaps' | 'standard_fonts'): string {
  return fileURLToPath(new URL(`./${folder}/`, import.meta.resolve('#pdfjs/pdf.mjs')))
}
