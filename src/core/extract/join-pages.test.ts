import { expect, test } from 'vitest'
import type { Page } from '../model.ts'
import { findAnchor } from '../retrieval/anchored-url.ts'
import { extractPage } from './extract-page.ts'
import { pharosDocument } from './generators/pharos-document.ts'
import { joinPages } from './join-pages.ts'

function extract(body: string, type: string): Page {
  const snapshot = { url: 'https://docs.example/a', body, headers: { 'content-type': type } }
  const extraction = extractPage(snapshot, { generator: pharosDocument })
  if (extraction.type !== 'page') throw new Error(extraction.detail)
  return extraction.page
}

const FIRST = '# One\n\nText of one.\n\n## Deeper\n\nMore of one.\n'
const SECOND =
  '<title>Two * here</title><main><p>Begins without a heading and says some more.</p><h2 id="in">In two</h2><p>x</p>'
const THIRD = '# Three\n\nText of three.\n'

const PARTS = [
  { name: 'one', page: extract(FIRST, 'text/markdown') },
  { name: 'two.xhtml', page: extract(SECOND, 'text/html') },
  { name: 'three', page: extract(THIRD, 'text/markdown') },
] as const

test('joinPages writes the parts one after the other, each under its own heading', () => {
  const { title, markdown, wordCount } = joinPages(PARTS, 'All')
  expect(title).toBe('All')
  expect(markdown).toBe(
    '# One\n\nText of one.\n\n## Deeper\n\nMore of one.\n\n# Two * here\n\nBegins without a heading and says some more.\n\n## In two\n\nx\n\n# Three\n\nText of three.\n',
  )
  expect(wordCount).toBe(25)
})

test('joinPages gives each line the fragment of its part, or of the nearest heading that has its own fragment', () => {
  const { markdown, sections } = joinPages(PARTS, 'All')
  const lines = markdown.split('\n')
  const anchorAt = (text: string) => findAnchor(sections, lines.indexOf(text) + 1)
  expect(anchorAt('# One')).toBe('one')
  expect(anchorAt('More of one.')).toBe('one')
  expect(anchorAt('Begins without a heading and says some more.')).toBe('two.xhtml')
  expect(anchorAt('x')).toBe('in')
  expect(anchorAt('Text of three.')).toBe('three')
  expect(sections.map(({ title, startLine, endLine }) => [title, startLine, endLine])).toEqual([
    ['One', 1, 7],
    ['Two * here', 9, 15],
    ['Three', 17, 19],
  ])
})
