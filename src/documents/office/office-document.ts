import type { ConversionResult, TextDocument } from '../document.ts'

/** Creates a document, or a refusal when it has no text. */
export function createOfficeDocument(about: Omit<TextDocument, 'body'>, html: string): ConversionResult {
  const hasContent = html.replace(/<[^<>]*>/g, '').trim() !== '' || html.includes('<img alt="')
  if (!hasContent) return { type: 'refused', reason: 'empty', detail: 'there is no text in it' }
  return { type: 'document', ...about, body: { form: 'html', text: html } }
}
