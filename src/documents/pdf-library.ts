import { fileURLToPath } from 'node:url'
import type { DocumentInitParameters, PDFDocumentLoadingTask } from 'pdfjs-dist/types/src/display/api.js'

export type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/types/src/display/api.js'

/** What is used of PDF.js, which the build puts beside the program (`scripts/build.mjs`). */
export interface PdfLibrary {
  getDocument(parameters: DocumentInitParameters): PDFDocumentLoadingTask
}

let library: Promise<PdfLibrary> | undefined

/**
 * Loads PDF.js, which takes half a second and is not needed by most. It reads in the thread that asks: whoever converts documents has one
 * for it.
 */
export function loadPdfLibrary(): Promise<PdfLibrary> {
  library ??= load()
  return library
}

/** What it expects of a browser to draw with. Nothing is drawn, so they only have to be there while it is loaded. */
const DRAWING = ['DOMMatrix', 'ImageData', 'Path2D']

async function load(): Promise<PdfLibrary> {
  const missing = DRAWING.filter((name) => !(name in globalThis))
  for (const name of missing) Reflect.set(globalThis, name, class {})
  try {
    // It finds the half that reads where that leaves itself.
    await import('#pdfjs/pdf.worker.mjs')
    return await import('#pdfjs/pdf.mjs')
  } finally {
    for (const name of missing) Reflect.deleteProperty(globalThis, name)
  }
}

/** Where it finds what comes with it: how older fonts of China, Japan and Korea are encoded, and widths of letters. */
export function pdfData(folder: 'cmaps' | 'standard_fonts'): string {
  return fileURLToPath(new URL(`./${folder}/`, import.meta.resolve('#pdfjs/pdf.mjs')))
}
