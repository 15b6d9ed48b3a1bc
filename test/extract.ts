import { extractPage } from '../src/core/extract/extract-page.ts'

/** What a page becomes: who made it and what it says. Throws when it is no page. */
export function extract(body: string): { generator: string | null; markdown: string } {
  const extraction = extractPage({ url: 'https://example.org/docs/page.html', body })
  if (extraction.type !== 'page') throw new Error(`Expected a page, got \`${extraction.reason}\``)
  const { generator, markdown } = extraction.page
  return { generator, markdown }
}
