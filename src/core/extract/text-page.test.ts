import { describe, expect, test } from 'vitest'
import { sha256 } from '../hash.ts'
import type { Page } from '../model.ts'
import { extractText } from './text-page.ts'

const URL = 'https://example.com/docs/tides.md'

function read(body: string, isMarkdown = true, headers: Readonly<Record<string, string>> = {}): Page {
  const extraction = extractText({ url: URL, body, headers }, { isMarkdown })
  if (extraction.type !== 'page') throw new Error(extraction.detail)
  return extraction.page
}

test('a Markdown file is a page', () => {
  const body =
    '---\ntitle: Tides\ndescription: Up and down\nauthor: Ada\ndate: 3 March 2024\n---\n\n# Heading\r\n\r\nHigh at [six](times.md#high).\n\n\n'
  const markdown = '# Heading\n\nHigh at [six](times.md#high).\n'
  expect(read(body, true, { 'content-language': 'en', 'x-robots-tag': 'noindex' })).toEqual({
    url: URL,
    title: 'Tides',
    description: 'Up and down',
    author: 'Ada',
    publishedAt: '2024-03-03',
    modifiedAt: null,
    language: 'en',
    canonical: null,
    alternates: [],
    robots: { index: false, follow: true },
    generator: null,
    markdown,
    sections: [{ title: 'Heading', level: 1, anchor: null, startLine: 1, endLine: 3, children: [] }],
    links: [{ url: 'https://example.com/docs/times.md', text: 'six', rel: [], isContent: true }],
    wordCount: 7,
    contentHash: sha256(markdown),
    hiddenChars: 0,
  })
})

describe('the title', () => {
  test.each([
    ['is the first heading of the first level', '## A\n\n# B\n', true, 'B'],
    ['is the first heading', 'x\n\n## A *b*\n', true, 'A b'],
    ['is the first line', '\n\n  Notes of a sailor\n\nText\n', false, 'Notes of a sailor'],
  ])('%s', (_, body, isMarkdown, expected) => {
    expect(read(body, isMarkdown).title).toBe(expected)
  })
})

test('sections end before the next heading, without blank lines', () => {
  const { sections } = read('# A\n\ntext\n## B\nb\n\n\n### C\nc\n\n## D\n```\n# no heading\n```\n')
  expect(sections).toEqual([
    {
      ...{ title: 'A', level: 1, anchor: null, startLine: 1, endLine: 14 },
      children: [
        {
          ...{ title: 'B', level: 2, anchor: null, startLine: 4, endLine: 9 },
          children: [{ title: 'C', level: 3, anchor: null, startLine: 8, endLine: 9, children: [] }],
        },
        { title: 'D', level: 2, anchor: null, startLine: 11, endLine: 14, children: [] },
      ],
    },
  ])
})

test('links are those of Markdown, of HTML in it, and bare addresses', () => {
  const { links } = read(
    '[a][1] <https://b.example/> https://c.example/x <a href="d">D</a> `https://no.example/`\n\n[1]: /a\n',
  )
  expect(links.map(({ url, text }) => [url, text])).toEqual([
    ['https://example.com/a', 'a'],
    ['https://b.example/', 'https://b.example/'],
    ['https://c.example/x', 'https://c.example/x'],
    ['https://example.com/docs/d', 'D'],
  ])
})

test('plain text has no sections, but addresses', () => {
  const page = read('# comment\nsee https://a.example/\n', false)
  expect(page.sections).toEqual([])
  expect(page.links.map(({ url }) => url)).toEqual(['https://a.example/'])
  expect(page.markdown).toBe('# comment\nsee https://a.example/\n')
})

test.each(['', ' \n\t\n', '---\ntitle: A\n---\n\n'])('%j is empty', (body) => {
  expect(extractText({ url: URL, body }, { isMarkdown: true })).toMatchObject({ type: 'no-page', reason: 'empty' })
})

test.each(['404: Not Found\n', 'Page not found'])('%j is a missing page', (body) => {
  expect(extractText({ url: URL, body }, { isMarkdown: false })).toMatchObject({ type: 'no-page', reason: 'soft_404' })
})
