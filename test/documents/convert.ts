import { readFileSync } from 'node:fs'
import { strToU8, zipSync } from 'fflate'
import type { Page } from '../../src/core/model.ts'
import { findAnchor, withAnchor } from '../../src/core/retrieval/anchored-url.ts'
import type { ConversionResult, Converter, TextDocument } from '../../src/documents/document.ts'
import { convertDocument } from '../../src/documents/formats.ts'
import { extractDocument } from '../../src/processes/read-document.ts'

/** The bytes of a document that `scripts/make-documents.mjs` made. */
export function readSample(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(name, import.meta.url)))
}

/** A zip archive with the given texts, by the names of its members. */
export function archive(members: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(members).map(([name, text]) => [name, strToU8(text)])))
}

/** Converts a document as the library converts files; any error counts as a refusal. */
export function convertWith(convert: Converter, bytes: Uint8Array, path = 'docs/file'): Promise<ConversionResult> {
  const load = async (): Promise<Converter> => convert
  return convertDocument({ name: 'document', extensions: '', mediaTypes: [], form: 'data', load }, bytes, path)
}

/** The page of a document. Throws when there is none, or several. */
export async function pageOf(convert: Converter, bytes: Uint8Array, path?: string): Promise<Page> {
  const converted = await convertWith(convert, bytes, path)
  if (converted.type !== 'document')
    throw new Error(`Expected a document, got ${JSON.stringify(converted).slice(0, 300)}`)
  return extract(converted)
}

/** The Markdown of a document. */
export async function markdownOf(convert: Converter, bytes: Uint8Array, path?: string): Promise<string> {
  return (await pageOf(convert, bytes, path)).markdown
}

/** The page of one document or part. */
export function extract(document: TextDocument): Page {
  const extraction = extractDocument(document, { url: 'file:///docs/file' })
  if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
  return extraction.page
}

/** The fragment of the line that begins with a text. */
export function fragmentAt({ markdown, sections }: Page, start: string): string {
  const line = markdown.split('\n').findIndex((text) => text.startsWith(start)) + 1
  if (line === 0) throw new Error(`No line begins with ${start}`)
  return withAnchor('file:///docs/file', findAnchor(sections, line)).slice('file:///docs/file'.length)
}
