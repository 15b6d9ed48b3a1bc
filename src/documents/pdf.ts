import { baseName } from '../core/text/path.ts'
import { type ConversionResult, DOCUMENT_LIMITS, DocumentError, type TextDocument } from './document.ts'
import { checkTextLength } from './office/office-blocks.ts'
import { writePages } from './pdf/blocks.ts'
import { type PageRows, removeHeadersAndFooters } from './pdf/headers-footers.ts'
import { forgetStreamError, loadPdfLibrary, type PDFDocumentProxy, pdfData, throwStreamError } from './pdf/library.ts'
import type { OutlineEntry } from './pdf/metrics.ts'
import { arrangePage } from './pdf/rows.ts'
import { PdfTextReader } from './pdf/text.ts'

/**
 * Converts a PDF to a page. Paragraphs, headings, lists, tables and code are recognized by position and font. Nothing is drawn or run, and
 * text in images is not read.
 */
export async function convertPdf(bytes: Uint8Array, path: string): Promise<ConversionResult> {
  const { getDocument } = await loadPdfLibrary()
  forgetStreamError()
  const task = getDocument({
    // PDF.js takes ownership of the bytes, so it gets a copy.
    data: new Uint8Array(bytes),
    isEvalSupported: false,
    enableXfa: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // Images are not decoded.
    maxImageSize: 1,
    cMapUrl: pdfData('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: pdfData('standard_fonts'),
    verbosity: 0,
  })
  try {
    const result = await readDocument(await task.promise, path)
    throwStreamError()
    return result
  } catch (error) {
    throwStreamError()
    throw asDocumentError(error)
  } finally {
    await task.destroy()
  }
}

async function readDocument(document: PDFDocumentProxy, path: string): Promise<ConversionResult> {
  const { numPages } = document
  if (numPages > DOCUMENT_LIMITS.pages) {
    throw new DocumentError('too-large', `it has ${numPages} pages, more than ${DOCUMENT_LIMITS.pages}`)
  }
  const pages = await readPages(document)
  if (pages.every(({ rows }) => rows.length === 0)) {
    const pagesText = numPages === 1 ? 'its page' : `its ${numPages} pages`
    return {
      type: 'refused',
      reason: 'empty',
      detail: `there is no text on ${pagesText}, only pictures, which are not read`,
    }
  }
  const about = await readAbout(document)
  const name = about.title ?? baseName(path).replace(/\.pdf$/i, '')
  const { html, title } = writePages(removeHeadersAndFooters(pages), await readOutline(document), name)
  return { type: 'document', ...about, title: about.title ?? title, body: { form: 'html', text: html } }
}

async function readPages(document: PDFDocumentProxy): Promise<PageRows[]> {
  const reader = new PdfTextReader(document)
  const pages: PageRows[] = []
  let characters = 0
  for (let number = 1; number <= document.numPages; number++) {
    const page = await reader.read(number)
    throwStreamError()
    for (const { text } of page.fragments) characters += text.length
    checkTextLength(characters)
    pages.push({ height: page.height, rows: arrangePage(page) })
  }
  return pages
}

async function readAbout(document: PDFDocumentProxy): Promise<Omit<TextDocument, 'body'>> {
  const metadata = await document.getMetadata().catch(() => undefined)
  const info = (metadata?.info ?? {}) as Readonly<Record<string, unknown>>
  const line = (name: string): string | null => {
    const value = info[name]
    return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() || null : null
  }
  return {
    title: titleOf(line('Title')),
    author: line('Author'),
    language: line('Language'),
    modifiedAt: dateOf(line('ModDate') ?? line('CreationDate')),
  }
}

/** Returns null for titles that programs set by default. */
function titleOf(title: string | null): string | null {
  if (title === null || /^(?:untitled|microsoft word|document\d*$)/i.test(title)) return null
  return /\.(?:docx?|odt|rtf|tex|dvi|indd|pages|pptx?|html?)$/i.test(title) ? null : title
}

/** `D:20260304093000+01'00'` → `2026-03-04T09:30:00+01:00`. */
function dateOf(date: string | null): string | null {
  const [, year, month, day, hour, minute, second, zone] =
    /^(?:D:)?(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)(Z|[+-]\d\d'?\d\d)?)?/.exec(date ?? '') ?? []
  if (year === undefined) return null
  const offset = zone === undefined || zone === 'Z' ? 'Z' : zone.replace("'", '').replace(/^(...)/, '$1:')
  return hour === undefined ? `${year}-${month}-${day}` : `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`
}

const MAX_ENTRIES = 20_000

async function readOutline(document: PDFDocumentProxy): Promise<OutlineEntry[]> {
  const entries: OutlineEntry[] = []
  interface Entry {
    readonly title: string
    readonly items: readonly Entry[]
  }
  const gather = (items: readonly Entry[], depth: number) => {
    for (const { title, items: children } of items) {
      if (entries.length >= MAX_ENTRIES || depth > DOCUMENT_LIMITS.depth) return
      entries.push({ title, depth })
      gather(children, depth + 1)
    }
  }
  gather((await document.getOutline().catch(() => null)) ?? [], 0)
  return entries
}

function asDocumentError(error: unknown): unknown {
  if (error instanceof DocumentError || !(error instanceof Error)) return error
  if (error.name === 'PasswordException')
    return new DocumentError('encrypted', 'it is encrypted with a password', { cause: error })
  return new DocumentError('damaged', 'it is not a readable PDF', { cause: error })
}
