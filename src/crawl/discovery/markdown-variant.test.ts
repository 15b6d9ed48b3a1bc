import { expect, test } from 'vitest'
import { acceptsVariant, MarkdownVariants, variantsOf } from './markdown-variant.ts'

test.each([
  ['https://e.com/docs/page', ['https://e.com/docs/page.md', 'https://e.com/docs/page/index.html.md']],
  ['https://e.com/docs/', ['https://e.com/docs/index.html.md']],
  ['https://e.com', ['https://e.com/index.html.md']],
  ['https://e.com/v1.2', ['https://e.com/v1.2.md', 'https://e.com/v1.2/index.html.md']],
  ['https://e.com/page.html#part', ['https://e.com/page.html.md']],
  ['https://e.com/page?v=2', ['https://e.com/page.md?v=2', 'https://e.com/page/index.html.md?v=2']],
  ['https://e.com/page.md', []],
  ['https://e.com/page.MDX?x', []],
  ['https://e.com/llms.txt', []],
])('%s has the variants %j', (url, expected) => {
  expect(variantsOf(url)).toEqual(expected)
})

test.each([
  ['text/markdown', '# A', 200, true],
  ['Text/Markdown; charset=utf-8', '# A', 200, true],
  ['text/x-markdown', '# A', 200, true],
  ['text/mdx', '# A', 200, true],
  ['text/x-gfm', '# A', 200, true],
  ['text/plain', '# A', 200, true],
  ['text/plain', '<!doctype html><p>Not found', 200, false],
  ['text/markdown', ' \n', 200, false],
  ['text/html', '# A', 200, false],
  ['application/octet-stream', '# A', 200, false],
  ['', '# A', 200, false],
  ['text/markdown', '# A', 203, false],
])('accepts type %j with body %j and status %d: %s', (type, body, status, expected) => {
  const headers = { 'content-type': type }
  expect(acceptsVariant({ url: 'https://e.com/a.md', body, status, headers })).toBe(expected)
  expect(acceptsVariant({ url: 'https://e.com/a.md', body: new TextEncoder().encode(body), status, headers })).toBe(
    expected,
  )
})

test('stops asking a host for Markdown after three consecutive refusals', () => {
  const variants = new MarkdownVariants()
  const page = 'https://e.com/a/'
  variants.refuse(page)
  variants.refuse(page)
  variants.accept(page)
  variants.refuse(page)
  variants.refuse(page)
  expect(variants.variantsFor(page)).toEqual(['https://e.com/a/index.html.md'])
  variants.refuse(page)
  expect([variants.variantsFor(page), variants.isGivenUp('https://e.com/other')]).toEqual([[], true])
  expect(variants.isGivenUp('https://other.com/')).toBe(false)
  variants.accept(page)
  expect(variants.isGivenUp(page)).toBe(true)
})
