import { extractPage } from '../src/core/extract/extract-page.ts'

/** Returns the generator and the Markdown of a page, or throws the reason for a refusal. */
export function extract(body: string): { generator: string | null; markdown: string } {
  const extraction = extractPage({ url: 'https://example.org/docs/page.html', body })
  if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
  const { generator, markdown } = extraction.page
  return { generator, markdown }
}
