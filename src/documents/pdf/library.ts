import { fileURLToPath } from 'node:url'
import type { DocumentInitParameters, PDFDocumentLoadingTask } from 'pdfjs-dist/types/src/display/api.js'
import { DOCUMENT_LIMITS, DocumentError } from '../document.ts'

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

let streamError: DocumentError | undefined

/** Called before a document is read. */
export function forgetStreamError(): void {
  streamError = undefined
}

/** Throws the error of the first stream of the document that is too large: PDF.js itself may go on without that stream. */
export function throwStreamError(): void {
  if (streamError !== undefined) throw streamError
}

/** The compression ratio of a stream is checked from this size on: the table of a large document may be more compressible than any text. */
const MIN_RATIO_BYTES = 16_777_216

/**
 * Called by each filter of a stream before its buffer grows from `size` to at least `requested` bytes. `source` is what the filter unpacks;
 * a stream that joins others has none.
 */
function checkPdfStream(requested: number, size: number, source: { pos: number; start?: number } | undefined): void {
  throwStreamError()
  const { unpackedBytes, ratio } = DOCUMENT_LIMITS
  const packed = source === undefined ? requested : source.pos - (source.start ?? 0)
  // A reader may request more than there is, so only the full buffer counts.
  const unpacked = Math.min(requested, size)
  const isTooDense = unpacked >= MIN_RATIO_BYTES && unpacked > ratio * packed
  if (requested <= unpackedBytes && !isTooDense) return
  const limit = isTooDense ? `${ratio} times its size` : `${unpackedBytes / 2 ** 20} MB`
  streamError = new DocumentError('too-large', `a stream in it unpacks to more than ${limit}`)
  throw streamError
}

/** Browser globals that PDF.js needs while it loads. Nothing is drawn, so stubs are enough. */
const DRAWING_GLOBALS = ['DOMMatrix', 'ImageData', 'Path2D']

async function load(): Promise<PdfLibrary> {
  const missing = DRAWING_GLOBALS.filter((name) => !(name in globalThis))
  for (const name of missing) Reflect.set(globalThis, name, class {})
  // The build makes the streams of PDF.js call it (scripts/build.mjs).
  Reflect.set(globalThis, 'checkPdfStream', checkPdfStream)
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
