import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import { pharosDocument } from '../core/extract/generators/pharos-document.ts'
import { escapeHtml } from '../core/html/escape.ts'
import { withHeadingAnchors } from '../core/markdown/heading-anchors.ts'
import type { Extraction, Sha256, Snapshot } from '../core/model.ts'
import type { DocumentReading, PageReading } from '../crawl/ports.ts'
import { recordPage } from '../crawl/read-page.ts'
import type { TextDocument } from '../documents/document.ts'
import { convertDocument, formatOf, formatOfType } from '../documents/formats.ts'

/** Converts a document to pages, and reads them like web pages. `key` is the path of the document. */
export async function readDocument(
  { url, body, headers = {}, relativeLinks = 'resolved' }: Snapshot,
  key: string,
  sha256: Sha256,
  profile: ChunkProfile | undefined,
): Promise<DocumentReading> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const format = formatOf(key, bytes) ?? formatOfType(headers['content-type'] ?? '')
  if (format === undefined) return { type: 'refused', reason: 'not-text', detail: 'its format is not known' }
  const converted = await convertDocument(format, bytes, key)
  if (converted.type === 'refused') return converted
  // Relative links in binary formats lead to other parts of the same file.
  const links = format.form === 'binary' ? 'dropped' : relativeLinks
  const read = (document: TextDocument, name: string): PageReading => {
    const extraction = extractDocument(document, { url, relativeLinks: links, isFile: true }, sha256)
    if (extraction.type === 'no-page') return { extraction, record: null }
    const needsAnchors = format.form === 'markup' && document.body.form === 'markdown'
    return recordPage(needsAnchors ? withAnchors(extraction) : extraction, name, sha256, profile)
  }
  if (converted.type === 'document') return { type: 'page', ...read(converted, key) }
  return {
    type: 'parts',
    detail: converted.detail,
    parts: converted.parts.map((part) => ({ name: part.name, ...read(part, `${key}#${part.name}`) })),
  }
}

type PageExtraction = Extract<Extraction, { type: 'page' }>

/** Adds anchors to the headings of a page, like those of Markdown. */
function withAnchors(extraction: PageExtraction): PageExtraction {
  const { page } = extraction
  return { ...extraction, page: { ...page, sections: withHeadingAnchors(page.sections) } }
}

/** Extracts the page of a document or of a part of one. `origin` has the URL and headers of the response or file. */
export function extractDocument(document: TextDocument, origin: Omit<Snapshot, 'body'>, sha256?: Sha256): Extraction {
  const content = snapshotOf(document, origin.url)
  const snapshot = { ...origin, ...content, headers: { ...origin.headers, ...content.headers } }
  return extractPage(snapshot, { ...(sha256 === undefined ? {} : { sha256 }), generator: pharosDocument })
}

/** Turns a document into a web response that contains nothing else. */
function snapshotOf(document: TextDocument, url: string): Snapshot {
  const { title, author, language, modifiedAt, body } = document
  if (body.form === 'markdown') {
    const known = {
      ...(title === null ? {} : { title }),
      ...(author === null ? {} : { author }),
      ...(language === null ? {} : { language }),
      ...(modifiedAt === null ? {} : { modifiedAt }),
    }
    return { url, body: body.text, headers: { 'content-type': 'text/markdown; charset=utf-8' }, known }
  }
  return { url, body: writeHtml(document), headers: { 'content-type': 'text/html; charset=utf-8' } }
}

function writeHtml({ title, author, language, modifiedAt, body }: TextDocument): string {
  const meta = (name: string, content: string | null): string =>
    content === null ? '' : `<meta name="${name}" content="${escapeHtml(content)}">`
  const lang = language === null ? '' : ` lang="${escapeHtml(language)}"`
  const head = [
    `<title>${escapeHtml(title ?? '')}</title>`,
    meta('author', author),
    meta('article:modified_time', modifiedAt),
  ]
  return `<!doctype html><html${lang}><head>${head.join('')}</head><body><article>${body.text}</article></body></html>`
}
