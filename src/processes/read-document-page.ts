import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { type JoinedPart, joinPages } from '../core/extract/join-pages.ts'
import { noPage } from '../core/extract/text-page.ts'
import type { Extraction, NoPageReason, Page, Sha256, Snapshot } from '../core/model.ts'
import { baseName } from '../core/text/path.ts'
import type { PageReading } from '../crawl/ports.ts'
import { recordPage } from '../crawl/read-page.ts'
import type { ConversionResult, DocumentRefusal, TextDocument } from '../documents/document.ts'
import { convertDocument, type Format } from '../documents/formats.ts'
import { pathOf } from '../documents/response-format.ts'
import { extractDocument } from './read-document.ts'

/** Reads a web response that is a document. It has one address, so it becomes one page, whatever it contains. */
export async function readDocumentPage(
  snapshot: Snapshot,
  format: Format,
  key: string,
  sha256: Sha256,
  profile: ChunkProfile | undefined,
): Promise<PageReading> {
  const { url, body } = snapshot
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const converted = await convertDocument(format, bytes, pathOf(url))
  // Relative links in binary formats lead to other parts of the same document.
  const relativeLinks = format.form === 'binary' ? 'dropped' : 'resolved'
  const extraction = extractConverted(converted, { ...snapshot, relativeLinks }, sha256)
  if (extraction.type === 'no-page') return { extraction, record: null, format: format.name }
  const { page } = extraction
  const title = page.title || baseName(pathOf(url)) || format.name
  const links = format.form === 'markup' ? page.links : []
  return {
    ...recordPage({ ...extraction, page: { ...page, title, links } }, key, sha256, profile),
    format: format.name,
  }
}

function extractConverted(converted: ConversionResult, response: Snapshot, sha256: Sha256): Extraction {
  if (converted.type === 'refused') return noPage(REFUSALS[converted.reason], converted.detail)
  // Keeps the headers of the response: whether the document may be indexed, its canonical address, its language.
  const extract = (document: TextDocument): Extraction => extractDocument(document, response, sha256)
  if (converted.type === 'document') return extract(converted)
  const [first, ...others] = converted.parts.flatMap((part): JoinedPart[] => {
    const extraction = extract(part)
    return extraction.type === 'page' ? [{ name: part.name, page: extraction.page }] : []
  })
  if (first === undefined) return noPage('empty', 'there is no text in it')
  const page: Page = joinPages([first, ...others], converted.title ?? '', sha256)
  return { type: 'page', page, removals: [] }
}

const REFUSALS: Readonly<Record<DocumentRefusal, NoPageReason>> = {
  encrypted: 'encrypted',
  damaged: 'damaged',
  'too-large': 'too_large',
  empty: 'empty',
  'not-text': 'not_text',
}
