import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLinkIndex, parseLlmsTxt } from './llms-txt.ts'

const URL_HERE = 'https://example.com/docs/llms.txt'

function links(text: string): string[] {
  const result = parseLlmsTxt(`# X\n${text}`, URL_HERE)
  return result.type === 'none' ? [] : result.links.map(({ url }) => url)
}

test('the name, summary, sections and links of an llms.txt are parsed', () => {
  const text = `\ufeff# **Fast** \`HTML\`

> A library
> for pages.

Some words, and [a link](https://example.com/prose) in them.

- [Start](start): where to begin

## Docs

- [Guide](https://example.com/docs/guide.md): Long, with "quotes": yes
* [API \\[v2\\]](/api)
+ [Other](../other?x=1#part)

### Deeper

  - [Nested](nested) - dashed

## Optional

- [More](https://other.example/more)
`
  expect(parseLlmsTxt(text, URL_HERE)).toEqual({
    type: 'llms-txt',
    projectName: 'Fast HTML',
    summary: 'A library for pages.',
    sections: ['Docs', 'Optional'],
    links: [
      {
        title: 'Start',
        url: 'https://example.com/docs/start',
        description: 'where to begin',
        isOptional: false,
        section: null,
      },
      {
        title: 'Guide',
        url: 'https://example.com/docs/guide.md',
        description: 'Long, with "quotes": yes',
        isOptional: false,
        section: 'Docs',
      },
      { title: 'API [v2]', url: 'https://example.com/api', description: null, isOptional: false, section: 'Docs' },
      {
        title: 'Other',
        url: 'https://example.com/other?x=1#part',
        description: null,
        isOptional: false,
        section: 'Docs',
      },
      {
        title: 'Nested',
        url: 'https://example.com/docs/nested',
        description: 'dashed',
        isOptional: false,
        section: 'Docs',
      },
      { title: 'More', url: 'https://other.example/more', description: null, isOptional: true, section: 'Optional' },
    ],
  })
})

test('a line may hold several links, each with its description', () => {
  const result = parseLlmsTxt('# X\n- [A](/a): first, [B](/b) | [C](/c) – third', URL_HERE)
  expect(result).toMatchObject({
    links: [
      { title: 'A', description: 'first' },
      { title: 'B', description: null },
      { title: 'C', description: 'third' },
    ],
  })
})

test('links are parsed as in Markdown', () => {
  expect(links('- [a](<https://e.com/a b>)')).toEqual(['https://e.com/a%20b'])
  expect(links('- [a](https://e.com/a_(b)) [c](https://e.com/c "Title") [d]( https://e.com/d )')).toEqual([
    'https://e.com/a_(b)',
    'https://e.com/c',
    'https://e.com/d',
  ])
  expect(links('- ![image](https://e.com/i.png) [![badge](https://e.com/b.svg)](https://e.com/page)')).toEqual([
    'https://e.com/page',
  ])
  expect(links('- [a] (https://e.com/a) [b](https://e.com/b [c](https://e.com/c)')).toEqual(['https://e.com/c'])
})

test('links outside the web are left out', () => {
  expect(
    links(
      '- [a](mailto:a@e.com)\n- [b](javascript:alert(1))\n- [c](file:///etc/passwd)\n- [d](ftp://e.com)\n- [e](/ok)',
    ),
  ).toEqual(['https://example.com/ok'])
  expect(links('- [a](https://user:secret@e.com/)')).toEqual(['https://e.com/'])
})

test('headings and links in code are ignored', () => {
  expect(parseLlmsTxt('```\n# Title\n- [a](/a)\n```\n- [b](/b)', URL_HERE)).toMatchObject({
    projectName: null,
    links: [{ url: 'https://example.com/b' }],
  })
  expect(links('```md\n- [a](/a)\n```\n- [b](/b)')).toEqual(['https://example.com/b'])
})

test.each(['- [a](/a)', '## Only\n- [a](/a)', '#NoSpace\n- [a](/a)'])('%j needs no title', (text) => {
  expect(parseLlmsTxt(text, URL_HERE)).toMatchObject({ projectName: null, links: [{ url: 'https://example.com/a' }] })
})

test('an underlined title is accepted', () => {
  expect(parseLlmsTxt('Title\n=====\n- [a](/a)', URL_HERE)).toMatchObject({ projectName: 'Title' })
})

describe('parseLlmsTxt', () => {
  test.each([
    ['', 'empty'],
    [' \n\ufeff', 'empty'],
    ['# A\n- [a](/a)\0', 'binary'],
    ['\n<!DOCTYPE html>\n<h1># A</h1>\n- [a](/a)', 'html'],
    ['<!-- note --> <html>\n# A\n- [a](/a)', 'html'],
    ['# A\nWords and [a](/a).', 'no-links'],
    ['# A\n- [a](mailto:x)', 'no-links'],
    ['# A\n- plain', 'no-links'],
  ] as const)('refuses %j with the reason %s', (text, reason) => {
    expect(parseLlmsTxt(text, URL_HERE)).toEqual({ type: 'none', reason })
  })
})

test('a list of links is distinguished from content', () => {
  expect(isLinkIndex('# A\n> [quoted](/x)\n\n- [a](/a)\n- [b](/b)\nwords')).toBe(true)
  expect(isLinkIndex(`# A\n- [a](/a)\n- [b](/b)\n- [c](/c)\n${'words\n'.repeat(7)}`)).toBe(true)
  expect(isLinkIndex(`# A\n- [a](/a)\n- [b](/b)\n- [c](/c)\n${'words\n'.repeat(8)}`)).toBe(false)
  expect(isLinkIndex('words\n# A\n- [a](/a)')).toBe(false)
  expect(isLinkIndex('# A\n\n## B')).toBe(false)
  expect(isLinkIndex('')).toBe(false)
})

test('hostile lines take linear time', () => {
  for (const part of ['[', '](', '[](', '[a](<', '[](b ', '[a](b "', '\\', ' ']) {
    expect(links(`- ${part.repeat(200_000)}`).length).toBeLessThan(2)
  }
  expect(links(`- ${'[a](/b) '.repeat(50_000)}`)).toHaveLength(50_000)
  expect(links('```a\n'.repeat(100_000))).toEqual([])
})

test('any text can be parsed', () => {
  const part = fc.constantFrom(
    '# A\n',
    '- ',
    '[',
    ']',
    '(',
    ')',
    '<',
    '>',
    '/a',
    ' ',
    '"',
    '\\',
    '!',
    '`',
    '```\n',
    '\n',
    '## Optional\n',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      for (const url of links(parts.join(''))) expect(url).toMatch(/^https?:\/\//)
    }),
  )
})
