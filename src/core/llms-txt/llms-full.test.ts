import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareUtf8 } from '../text/order.ts'
import { splitLlmsFull } from './llms-full.ts'

const FULL = 'https://example.com/llms-full.txt'
const A = 'https://example.com/a'
const B = 'https://example.com/b'

function split(text: string, titles: Record<string, string> = {}) {
  const { pages, remainder } = splitLlmsFull(text, FULL, new Map(Object.entries(titles)))
  return { pages, remainder }
}

describe('splitLlmsFull', () => {
  const both = {
    pages: [
      { url: A, title: 'A', markdown: '# A\n\nabout a' },
      { url: B, title: 'B', markdown: '# B\n\n## part\n\nabout b' },
    ],
    remainder: '',
  }

  test.each([
    ['with a source line', `# A\nSource: ${A}\n\nabout a\n\n\n# B\nSource: ${B}\n\n## part\n\nabout b\n`],
    [
      'with a source line further down',
      `# A\n\nSource: <${A}>\n\nabout a\n\n---\n\n# B\n\n**Source:** ${B}#x\n\n## part\n\nabout b`,
    ],
    ['with a URL line', `# A\nURL: ${A}\n\nabout a\r\n\r\n# B\r\n> URL: [here](${B})\r\n\r\n## part\n\nabout b\n`],
    [
      'after an address between rules',
      `=====\nURL: ${A}\n=====\n# A\n\nabout a\n\n=====\nSource: ${B}\n=====\n\n# B\n\n## part\n\nabout b`,
    ],
    [
      'in doc tags',
      `<doc title="A" source="${A}">\n# A\n\nabout a\n</doc>\n<doc title='B' url="/b"># B\n\n## part\n\nabout b</doc>`,
    ],
    [
      'in document tags',
      `<documents>
<document index="1">
<source>${A}</source>
<document_content>
# A

about a
</document_content>
</document>
<document index="2"><source>${B}</source><title>B</title>
<document_content># B

## part

about b
</document_content></document>
</documents>`,
    ],
    [
      'with front matter',
      `---\nurl: ${A}\ntitle: "A"\n---\n\n# A\n\nabout a\n\n---\nurl: '/b'\ndescription: x\ntags:\n  - y\n---\n# B\n\n## part\n\nabout b`,
    ],
  ])('finds pages %s', (_form, text) => {
    const { pages, remainder } = split(text)
    expect(pages).toEqual(both.pages)
    expect(remainder.replace(/<\/?documents>/g, '').trim()).toBe('')
  })

  test('splits at headings that are links, on the highest level only', () => {
    expect(
      split(
        `# Docs\n\nwords\n\n## [A](${A})\n\nabout a\n\n### [C](https://example.com/c)\n\n## [1.0](https://github.com/x)\n\n## [B](/b)\n\nabout b`,
      ),
    ).toEqual({
      pages: [
        {
          url: A,
          title: 'A',
          markdown: `## [A](${A})\n\nabout a\n\n### [C](https://example.com/c)\n\n## [1.0](https://github.com/x)`,
        },
        { url: B, title: 'B', markdown: '## [B](/b)\n\nabout b' },
      ],
      remainder: '# Docs\n\nwords',
    })
  })

  test('splits at titles of the llms.txt and assigns other headings to no page', () => {
    expect(split('# `A`\n\nabout a\n\n# Other\n\nwords\n\n# b\n\nabout b', { A, B })).toEqual({
      pages: [
        { url: A, title: 'A', markdown: '# `A`\n\nabout a' },
        { url: B, title: 'b', markdown: '# b\n\nabout b' },
      ],
      remainder: '# Other\n\nwords',
    })
    expect(split('# Docs\n\n## A\n\nabout a\n\n### B\n\nstill a', { A, B })).toEqual({
      pages: [{ url: A, title: 'A', markdown: '## A\n\nabout a\n\n### B\n\nstill a' }],
      remainder: '# Docs',
    })
  })

  test('does not split at titles that occur twice in either file', () => {
    const text = '# A\n\none\n\n# A\n\ntwo'
    expect(split(text, { A })).toEqual({ pages: [], remainder: text })
    expect(split('# A\n\none', { A, a: B }).pages).toEqual([])
  })
})

test('a document without an address gets the address of its title in the llms.txt', () => {
  expect(
    split('<doc title="A &amp; B" desc="x">\ntext\n</doc>\n<doc title="C">\nmore\n</doc>', { 'A & B': A }),
  ).toEqual({
    pages: [{ url: A, title: 'A & B', markdown: 'text' }],
    remainder: '<doc title="C">\nmore\n</doc>',
  })
})

test('text before, between and after the pages goes into the remainder', () => {
  const { pages, remainder } = split(
    `preface\n\n<page url="${A}">\none\n</page>\nbetween\n<page url="${B}">\ntwo\n</page>\nend`,
  )
  expect(pages.map(({ markdown }) => markdown)).toEqual(['one', 'two'])
  expect(remainder).toBe('preface\n\nbetween\n\nend')
})

test('sections of one address become one page', () => {
  expect(
    split(`# A\nSource: ${A}\n\none\n\n# B\nSource: ${B}\n\ntwo\n\n# A2\nSource: ${A}#more\n\nthree`).pages,
  ).toEqual([
    { url: A, title: 'A', markdown: '# A\n\none\n\n# A2\n\nthree' },
    { url: B, title: 'B', markdown: '# B\n\ntwo' },
  ])
})

test('a page without content is left out', () => {
  expect(split(`# A\nSource: ${A}\n\n# B\nSource: ${B}\n\nabout b`)).toEqual({
    pages: [{ url: B, title: 'B', markdown: '# B\n\nabout b' }],
    remainder: '# A',
  })
})

test('the address of a page without content is in `urlsWithoutContent`', () => {
  const text = `# A\nSource: ${A}\n\n<!-- to be written -->\n\n# B\nSource: ${B}\n\n# B\nSource: ${B}\n\nabout b`
  expect(splitLlmsFull(text, FULL, new Map()).urlsWithoutContent).toEqual([A])
})

test('a file is never cut inside a code fence', () => {
  const code = `\`\`\`md\n# B\nSource: ${B}\n</doc>\n---\nurl: ${B}\n---\n\`\`\``
  expect(split(`# A\nSource: ${A}\n\n${code}\n\nend`)).toEqual({
    pages: [{ url: A, title: 'A', markdown: `# A\n\n${code}\n\nend` }],
    remainder: '',
  })
  expect(split(`<doc url="${A}">\n${code}\n</doc>`).pages).toEqual([{ url: A, title: '', markdown: code }])
  expect(split(code, { B })).toEqual({ pages: [], remainder: code })
})

test('an unclosed fence does not swallow the pages after it', () => {
  expect(split(`# A\nSource: ${A}\n\n\`\`\`js\nx\n\n# B\nSource: ${B}\n\ntwo`).pages.map(({ url }) => url)).toEqual([
    A,
    B,
  ])
})

test('lines that only look like separators stay unchanged', () => {
  const text = [
    `# A\nSource: ${A}`,
    '## Endpoint\nURL: https://api.other.example/v1',
    '---',
    'note: this is prose',
    '',
    'and no front matter',
    '---',
    `Source: ${B}`,
    'Source: see below',
    'heading\n-------',
  ].join('\n\n')
  const { pages, remainder } = split(text)
  expect(remainder).toBe('')
  expect(pages).toHaveLength(2)
  expect(pages[0]?.markdown).toContain('URL: https://api.other.example/v1')
  expect(pages[1]?.markdown).toContain('heading\n-------')
})

test('only sections with a web address become pages', () => {
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', '//evil.example', 'docs/a.md', 'https://', '']) {
    const text = `<doc url="${url}">\ntext\n</doc>\n\n# A\nSource: ${url}\n\n---\nurl: ${url}\n---\ntext`
    expect(split(text)).toEqual({ pages: [], remainder: text })
  }
})

test('a file without separators is one remainder', () => {
  expect(split('  indented\n\ntext\n')).toEqual({ pages: [], remainder: '  indented\n\ntext' })
  expect(split('')).toEqual({ pages: [], remainder: '' })
})

test('a heading between two horizontal rules is not read as a comment in front matter', () => {
  const { pages, remainder } = split(`---\nURL: ${B}\n## Kept\n---\n`, { A })
  expect([...pages.map(({ markdown }) => markdown), remainder].join('\n')).toContain('Kept')
})

test('every word is in exactly one page or in the remainder', () => {
  let next = 0
  const word = () => `w${next++}w`
  const piece = fc.constantFrom(
    () => word(),
    () => `# ${word()}`,
    () => `## ${word()}`,
    () => `# A`,
    () => `${word()}\n===`,
    () => `Source: ${A}`,
    () => `URL: ${B}`,
    () => `# ${word()}\nSource: ${B}`,
    () => `## [${word()}](${A})`,
    () => `<doc url="${A}">`,
    () => `<doc url="${B}">${word()}</doc>`,
    () => `${word()}</doc>`,
    () => '</doc>',
    () => `<document><source>${A}</source>`,
    () => '<document_content>',
    () => `${word()}</document_content></document>`,
    () => `---\nurl: ${A}\n---`,
    () => '---',
    () => '=====',
    () => '```',
    () => '````js',
    () => '~~~',
    () => '',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('\n', '\n\n', '\r\n'), (pieces, joint) => {
      const text = pieces.map((create) => create()).join(joint)
      const { pages, remainder } = split(text, { A })
      const all = [...pages.map(({ markdown }) => markdown), remainder].join('\n')
      expect((all.match(/w\d+w/g) ?? []).sort()).toEqual((text.match(/w\d+w/g) ?? []).sort())
      for (const { url, markdown } of pages)
        expect([url === A || url === B, markdown.trim() !== '']).toEqual([true, true])
    }),
    { numRuns: process.env['TEST_LONG'] === undefined ? 300 : 5000 },
  )
})

test('no character of a file without separators is lost', () => {
  const sortedCharacters = (text: string) => [...text.replace(/\s+/g, '')].sort(compareUtf8).join('')
  const piece = fc.constantFrom('# A', '# B', '## A', '# x', 'words', '```', '- [x](/y)', '<doc>', '</doc>', 'a: b', '')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('\n')
      const { pages, remainder } = split(text, { A, B })
      const parts = [...pages.map(({ markdown }) => markdown), remainder]
      expect(sortedCharacters(parts.join(''))).toBe(sortedCharacters(text))
    }),
  )
})

test('long files are cut in one pass', () => {
  const length = process.env['TEST_LONG'] === undefined ? 40_000 : 150_000
  const text = Array.from({ length }, (_, i) => `# P${i}\nSource: https://example.com/${i}\n\ntext ${i}\n`).join('\n')
  expect(split(text).pages).toHaveLength(length)
  expect(split('<doc url="/a">\n'.repeat(50_000)).pages).toHaveLength(0)
  expect(split('---\nurl: x\n'.repeat(50_000)).pages).toHaveLength(0)
  expect(split('```a\n'.repeat(100_000)).pages).toHaveLength(0)
})
