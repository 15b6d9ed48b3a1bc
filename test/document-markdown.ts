import { normalizeContent } from '../src/core/extract/normalize/content.ts'
import { writeMarkdown } from '../src/core/extract/write/markdown.ts'
import { parseHtml } from '../src/core/html/parse-html.ts'
import type { Section } from '../src/core/model.ts'
import type { ConversionResult, Converter, TextDocument } from '../src/documents/document.ts'

/** A document as a reader of the library sees it. */
export interface ShownDocument {
  readonly about: Omit<TextDocument, 'body'>
  readonly markdown: string
  readonly sections: readonly Section[]
}

/** Converts a text to the Markdown of a page. Relative links are resolved against `https://docs.example/`. */
export async function showDocument(
  convert: Converter,
  source: string | Uint8Array,
  path = 'file',
): Promise<ShownDocument> {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
  const converted: ConversionResult = await convert(bytes, path)
  if (converted.type !== 'document') throw new Error(`expected a document, got ${converted.type}`)
  const { body, title, author, language, modifiedAt } = converted
  const root = parseHtml(`<article>${body.text}</article>`)
  normalizeContent(root)
  const { markdown, sections } = writeMarkdown([root], 'https://docs.example/')
  return { about: { title, author, language, modifiedAt }, markdown, sections }
}
