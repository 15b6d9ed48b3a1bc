import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { sha256 } from '../hash.ts'
import type { KnownFacts, Page } from '../model.ts'
import { extractText } from './text-page.ts'

const URL = 'https://example.com/docs/tides.md'

function read(body: string, isMarkdown = true, headers: Readonly<Record<string, string>> = {}): Page {
  const extraction = extractText({ url: URL, body, headers }, { isMarkdown, isHandWritten: true })
  if (extraction.type !== 'page') throw new Error(extraction.detail)
  return extraction.page
}

test('extractText turns a Markdown file into a page', () => {
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
    sections: [{ title: 'Heading', level: 1, anchor: 'heading', startLine: 1, endLine: 3, children: [] }],
    links: [{ url: 'https://example.com/docs/times.md', text: 'six', rel: [], isContent: true }],
    wordCount: 7,
    contentHash: sha256(markdown),
    hiddenChars: 0,
  })
})

test('headings of a document that was converted to Markdown have no anchors', () => {
  const extraction = extractText({ url: URL, body: '# A\n\ntext\n' }, { isMarkdown: true, isHandWritten: false })
  expect(extraction).toMatchObject({ type: 'page', page: { sections: [{ title: 'A', anchor: null }] } })
})

describe('the title', () => {
  test.each([
    ['is the first heading of the first level', '## A\n\n# B\n', true, 'B'],
    ['is the first heading if none is of the first level', 'x\n\n## A *b*\n', true, 'A b'],
    ['is the first line of plain text', '\n\n  Notes of a sailor\n\nText\n', false, 'Notes of a sailor'],
  ])('%s', (_, body, isMarkdown, expected) => {
    expect(read(body, isMarkdown).title).toBe(expected)
  })
})

test('sections end before the next heading, without blank lines', () => {
  const { sections } = read('# A\n\ntext\n## B\nb\n\n\n### C\nc\n\n## D\n```\n# no heading\n```\n')
  expect(sections).toEqual([
    {
      ...{ title: 'A', level: 1, anchor: 'a', startLine: 1, endLine: 14 },
      children: [
        {
          ...{ title: 'B', level: 2, anchor: 'b', startLine: 4, endLine: 9 },
          children: [{ title: 'C', level: 3, anchor: 'c', startLine: 8, endLine: 9, children: [] }],
        },
        { title: 'D', level: 2, anchor: 'd', startLine: 11, endLine: 14, children: [] },
      ],
    },
  ])
})

test('extractText lists links of Markdown, links in its raw HTML, and bare addresses', () => {
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

test('extractText finds links but no sections in plain text', () => {
  const page = read('# comment\nsee https://a.example/\n', false)
  expect(page.sections).toEqual([])
  expect(page.links.map(({ url }) => url)).toEqual(['https://a.example/'])
  expect(page.markdown).toBe('```\n# comment\nsee https://a.example/\n```\n')
})

test.each(['', ' \n\t\n', '---\ntitle: A\n---\n\n'])('%j is empty', (body) => {
  expect(extractText({ url: URL, body }, { isMarkdown: true, isHandWritten: true })).toMatchObject({
    type: 'no-page',
    reason: 'empty',
  })
})

test.each(['404: Not Found\n', 'Page not found'])('%j is a missing page', (body) => {
  expect(extractText({ url: URL, body }, { isMarkdown: false, isHandWritten: true })).toMatchObject({
    type: 'no-page',
    reason: 'soft_404',
  })
})

describe('third-party Markdown', () => {
  test.each([
    ['a comment', 'a <!-- secret --> b', 'a  b\n', 6],
    ['a comment over paragraphs', 'a\n\n<!-- x\n\n# y -->\n\nb', 'a\n\n\n\nb\n', 4],
    ['a script', 'a\n\n<script>x\n\ny</script>\n\nb', 'a\n\n\n\nb\n', 2],
    ['a hidden element', 'a <span hidden>secret <span>x</span></span> b', 'a  b\n', 21],
    ['an element with display:none', 'a <div style="display : none">secret</div> b', 'a  b\n', 6],
    ['a hidden element with code in it', 'a\n\n<div hidden>\n\n```\nx\n```\n\n</div>\n\nb', 'a\n\n\n\nb\n', 9],
    ['a definition that is a comment', 'a\n\n[//]: # (secret)\n\nb', 'a\n\n\n\nb\n', 16],
    ['a definition of many lines', 'a\n\n[//]:\n<>\n"secret\nx"\n\nb', 'a\n\n\n\n\n\n\nb\n', 19],
    ['the title of a definition', '[a]\n\n[A]: /x "secret\nx"\nb', '[a]\n\n[A]: /x\n\nb\n', 11],
    ['invisible characters', 'a\u200b\u{e0041}\u202eb\0', 'ab\n', 5],
  ])('is cleaned of %s', (_, body, markdown, hiddenChars) => {
    const page = read(body)
    expect(page.markdown).toBe(markdown)
    expect(page.hiddenChars).toBe(hiddenChars)
  })

  test.each([
    ['a <b>b</b> <u>c</u>\n', 'a **b** c\n'],
    ['a <b>never closed, List<Item>\n', 'a \\<b>never closed, List\\<Item>\n'],
    ['a < b <https://a.example/> <a@b.example>\n', 'a < b <https://a.example/> <a@b.example>\n'],
    ['`<b>` ``<!-- ` -->`` \\<b>\n', '`<b>` ``<!-- ` -->`` \\<b>\n'],
    ['```html\n<b hidden>x</b> <!-- y -->\n```\n', '```html\n<b hidden>x</b> <!-- y -->\n```\n'],
    ['- a\n\n  ```\n  <b>\n  ```\n', '- a\n\n  ```\n  <b>\n  ```\n'],
    ['a\n\n    <b>\n\nb\n', 'a\n\n    <b>\n\nb\n'],
    ['a <!-- never closed\n', 'a \\<!-- never closed\n'],
  ])('has no HTML outside of code: %j', (body, markdown) => {
    expect(read(body).markdown).toBe(markdown)
  })

  test.each([
    ['that links use', '[a][1] [b c][] [d]\n\n[1]: /a\n[B\tC]: </b>\n[d]: /d\n'],
    ['of footnotes', 'a[^1]\n\n[^1]: note\n'],
    ['in the middle of a paragraph, where they are text', 'a\n[//]: # (seen)\n'],
    ['in code', '```\n[//]: # (a)\n```\n\n    [//]: # (b)\n\n`[//]: # (c)`\n'],
    ['with text after them, which makes them text', '[//]: # (a) b\n'],
  ])('keeps definitions %s', (_, body) => {
    // The angle brackets around an address are escaped like any other.
    expect(read(body).markdown.replaceAll('\\<', '<')).toBe(body)
  })

  test('has no links that run scripts', () => {
    expect(read('[a](javascript:alert(1)) [b](/b)').links.map(({ text }) => text)).toEqual(['b'])
  })

  test('is cleaned in linear time', () => {
    const parts = [
      '<a "',
      '`',
      '<!--',
      '<b hidden>',
      '``` ',
      '\\',
      '<a@',
      '<!-- -->',
      '[a]: b\n',
      '[\\[]:',
      '> [a]: b (',
    ]
    const times = process.env['TEST_LONG'] === undefined ? 40_000 : 100_000
    const ms = cpuMsOf(() => {
      for (const part of parts) {
        expect(
          extractText({ url: URL, body: part.repeat(times) }, { isMarkdown: true, isHandWritten: true }).type,
        ).toBeTypeOf('string')
      }
    })
    expect(ms).toBeLessThan(times / 5)
  })
})

test('plain text is shown unchanged', () => {
  const prose = 'The tide comes in *twice* a day.\n1. It goes out again.\n\nNobody can <b>stop</b> it.\n'
  expect(read(prose, false).markdown).toBe(
    'The tide comes in \\*twice\\* a day.\n1\\. It goes out again.\n\nNobody can \\<b>stop\\</b> it.\n',
  )
  expect(read('a = 1\nb = 2\n```\n', false).markdown).toBe('````\na = 1\nb = 2\n```\n````\n')
})

test('extractText reads the canonical address and alternates from response headers', () => {
  const link = '</c>; rel="canonical", <x.html>; rel=alternate; type="text/html"'
  expect(read('# A', true, { link })).toMatchObject({
    canonical: 'https://example.com/c',
    alternates: [{ url: 'https://example.com/docs/x.html', language: null, type: 'text/html' }],
  })
})

describe('known facts about a text', () => {
  const extract = (body: string, known: KnownFacts) => {
    const extraction = extractText({ url: URL, body, known }, { isMarkdown: true, isHandWritten: true })
    if (extraction.type !== 'page') throw new Error(extraction.reason)
    return extraction.page
  }

  test('give the title and the description, unless the front matter does', () => {
    const known = { title: ' The\nTitle ', description: 'What it is.' }
    expect(extract('# Heading\n\nText.', known)).toMatchObject({ title: 'The Title', description: 'What it is.' })
    expect(extract('---\ntitle: Own\ndescription: Mine\n---\nText.', known)).toMatchObject({
      title: 'Own',
      description: 'Mine',
    })
    expect(extract('# Heading\n\nText.', { title: ' ' })).toMatchObject({ title: 'Heading', description: null })
  })

  test('add missing links, each once and without invalid ones', () => {
    const links = ['/in#part', 'https://example.com/more', '/more#again', 'javascript:x', `/${'a'.repeat(9000)}`]
    expect(extract('See [it](/in).', { links }).links).toEqual([
      { url: 'https://example.com/in', text: 'it', rel: [], isContent: true },
      { url: 'https://example.com/more', text: '', rel: [], isContent: false },
    ])
  })
})

test('pictures embedded as data addresses in Markdown keep only their names', () => {
  const data = `data:image/png;base64,${'iVBORw0KGgo'.repeat(1000)}`
  const body = `# T

One ![a *plan*](${data}) and ![](<${data}> "x") two.

<img alt="a lamp" src="${data}"/> and <img src='${data}'>three

![by name][p] and \`![code](data:x)\`

[p]: ${data}
`
  const extraction = extractText({ url: 'https://ex.org/a.md', body }, { isMarkdown: true, isHandWritten: true })
  expect(extraction.type === 'page' && extraction.page.markdown).toBe(
    '# T\n\nOne a *plan* and  two.\n\na lamp and three\n\n![by name][p] and `![code](data:x)`\n',
  )
})
