import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { splitLines } from '../text/lines.ts'
import { cutMarkdown } from './markdown.ts'
import type { ChunkSizes, Piece } from './piece.ts'

const ROOMY = { targetChars: 4000, maxChars: 8000 }
const TIGHT = { targetChars: 64, maxChars: 64 }

function cut(text: string, sizes: ChunkSizes = ROOMY): Piece[] {
  return cutMarkdown(splitLines(text), sizes).map(({ frame: _, startColumn: __, ...piece }) => piece)
}

/** One line for each piece: its lines and its headings. */
function outline(text: string): string[] {
  return cut(text).map(({ startLine, endLine, headingPath = [] }) =>
    `${startLine}-${endLine} ${headingPath.join(' > ')}`.trim(),
  )
}

function contents(text: string, sizes: ChunkSizes = TIGHT): string[] {
  return cut(text, sizes).map((piece) => piece.content)
}

describe('headings', () => {
  test('start a piece that ends before the next one', () => {
    expect(cut('before\n\n# One\n\ntext\n\n\n## Two\nmore\n')).toEqual([
      { startLine: 1, endLine: 2, content: 'before', headingPath: [] },
      { startLine: 3, endLine: 7, content: '# One\n\ntext', headingPath: ['One'] },
      { startLine: 8, endLine: 9, content: '## Two\nmore', headingPath: ['One', 'Two'] },
    ])
  })

  test('are nested by level: after a skipped level, the next heading of the same level is a sibling', () => {
    expect(outline('# A\n### B\n### C\n## D\n#### E\n### F\n# G\n')).toEqual([
      '1-1 A',
      '2-2 A > B',
      '3-3 A > C',
      '4-4 A > D',
      '5-5 A > D > E',
      '6-6 A > D > F',
      '7-7 G',
    ])
  })

  test('may be underlined', () => {
    expect(outline('One\n===\n\nTwo\nlines\n---\ntext\n')).toEqual(['1-3 One', '4-7 One > Two lines'])
  })

  test.each([
    ['# Use `code` and *stress*', 'Use code and stress'],
    ['# See [the **guide**](/x) ![logo](l.png)', 'See the guide logo'],
    ['# Title {#custom-id}', 'Title'],
    ['# Title {.class #id} ##', 'Title'],
    ['# Set {a, b}', 'Set {a, b}'],
    ['# A &amp; B \\# <b>bold</b>', 'A & B # bold'],
    ['#\tTab   and   spaces', 'Tab and spaces'],
    ['###### Six', 'Six'],
  ])('%j is read as %j', (line, text) => {
    expect(cut(line)[0]?.headingPath).toEqual([text])
  })

  test('are clipped to 200 characters in the heading path and kept whole in the content', () => {
    const title = 'x'.repeat(300)
    expect(cut(`# ${title}`)).toEqual([
      { startLine: 1, endLine: 1, content: `# ${title}`, headingPath: ['x'.repeat(200)] },
    ])
  })

  test.each([
    ['a hash without text', '# A\n\n#\n\ntext'],
    ['seven hashes', '# A\n\n####### x'],
    ['a hash without a space', '# A\n\n#x'],
    ['one in a quote', '# A\n\n> # x'],
    ['one in a list', '# A\n\n- # x'],
    ['one in indented code', '# A\n\n    # x'],
    ['one in a fence', '# A\n\n```\n# x\n```'],
    ['one in a longer fence', '# A\n\n````\n```\n# x\n````'],
    ['one in a fence of tildes', '# A\n\n~~~\n```\n# x\n~~~'],
    ['one in a fence that is never closed', '# A\n\n```sh\n# x\n\n# y'],
    ['one in an HTML block', '# A\n\n<div>\n# x\n</div>'],
    ['one in a comment', '# A\n\n<!--\n\n# x\n\n-->'],
  ])('do not include %s', (_, text) => {
    expect(cut(text)).toEqual([{ startLine: 1, endLine: text.split('\n').length, content: text, headingPath: ['A'] }])
  })

  test.each(['\r\n', '\r'])('are found in lines that end in %j', (end) => {
    expect(cut(['# One', '', 'text', '# Two'].join(end))).toEqual([
      { startLine: 1, endLine: 3, content: '# One\n\ntext', headingPath: ['One'] },
      { startLine: 4, endLine: 4, content: '# Two', headingPath: ['Two'] },
    ])
  })
})

describe('front matter', () => {
  test.each([
    ['YAML', '---\n# comment\ntitle: x\n---'],
    ['YAML that ends in dots', '---\ntitle: x\n...'],
    ['TOML', '+++\n# comment\ntitle = "x"\n+++'],
  ])('front matter in %s is a piece of its own, and its comments are not headings', (_, matter) => {
    const end = matter.split('\n').length
    expect(cut(`${matter}\n\n\n# A\n`)).toEqual([
      { startLine: 1, endLine: end + 2, content: matter, headingPath: [] },
      { startLine: end + 3, endLine: end + 3, content: '# A', headingPath: ['A'] },
    ])
  })

  test.each([
    ['is not closed', '---\ntitle: x\n\n# A', ['1-3', '4-4 A']],
    ['starts with a blank line', '---\n\n# A\n\n---', ['1-2', '3-5 A']],
    ['does not start the file', 'x\n\n+++\n# A\n+++', ['1-3', '4-5 A']],
  ])('is ordinary text when it %s', (_, text, expected) => {
    expect(outline(text)).toEqual(expected)
  })
})

describe('a section longer than the cap', () => {
  const paragraph = 'x'.repeat(30)

  test('is cut between blocks, and keeps its headings', () => {
    expect(cut(`# A\n\n${paragraph}\n\n${paragraph}\n\n${paragraph}\n`, TIGHT)).toEqual([
      { startLine: 1, endLine: 4, content: `# A\n\n${paragraph}`, headingPath: ['A'] },
      { startLine: 5, endLine: 7, content: `${paragraph}\n\n${paragraph}`, headingPath: ['A'] },
    ])
  })

  test('keeps a list, a table or a fence whole if it fits', () => {
    const blocks = ['- a\n\n  b\n- c', '| a | b |\n|---|---|\n| 1 | 2 |', '```\n\ncode\n\n```']
    expect(contents(blocks.map((block) => `${block}\n\n${'y'.repeat(60)}`).join('\n\n'))).toEqual([
      ...blocks.flatMap((block) => [block, 'y'.repeat(60)]),
    ])
  })

  test('is cut between the blocks of a list that does not fit', () => {
    const item = `- ${'x'.repeat(28)}`
    expect(contents([item, item, `  ${item}`, item].join('\n'))).toEqual([`${item}\n${item}`, `${item}\n${item}`])
  })

  test('joins a short tail to the block before it', () => {
    const sizes = { targetChars: 40, maxChars: 100 }
    expect(contents(`${'x'.repeat(60)}\n\n${'y'.repeat(60)}\n\nend`, sizes)).toEqual([
      'x'.repeat(60),
      `${'y'.repeat(60)}\n\nend`,
    ])
  })

  test('is cut inside a paragraph that does not fit, at a line end', () => {
    expect(contents(`${'x'.repeat(40)}\n${'y'.repeat(40)}\n`)).toEqual(['x'.repeat(40), 'y'.repeat(40)])
  })
})

describe('a heading stays with its text', () => {
  const head = '## Heading'

  test.each([
    ['one line', 'word '.repeat(30).trim()],
    ['several lines', Array(4).fill('x'.repeat(40)).join('\n')],
    ['a line that fits only without the heading', 'y'.repeat(60)],
    ['a fence', `\`\`\`js\n${'line();\n'.repeat(30)}\`\`\``],
    ['a table', `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(30)}`.trim()],
    ['a list', '- item\n'.repeat(40).trim()],
    ['a list of one item', `- ${'word '.repeat(30).trim()}`],
    ['a list that fits only without the heading', `- ~~~\n  line();\n  ~~~\n- ${'word '.repeat(8)}\n- end`],
    ['a quoted fence', `> ~~~\n${'> line();\n'.repeat(30)}> ~~~`],
  ])('if it begins with a block that exceeds the cap: %s', (_, block) => {
    const pieces = cut(`# A\n\ntext\n\n${head}\n\n${block}\n\nend\n`, TIGHT)
    const [first] = pieces.filter(({ headingPath }) => headingPath?.length === 2)
    expect(first).toMatchObject({ startLine: 5, content: expect.stringMatching(/^## Heading\n\n\S/) })
    expect(first?.endLine).toBeGreaterThanOrEqual(7)
    for (const { content } of pieces) expect(content.length).toBeLessThanOrEqual(TIGHT.maxChars)
    const words = (text: string) => text.replace(/[|\s`~>-]|js|[ab]\b/g, '')
    expect(pieces.map(({ content }) => words(content)).join('')).toBe(words(`# A text ${head} ${block} end`))
  })

  test('unless the heading fills half of a piece', () => {
    const heading = `# ${'x'.repeat(40)}`
    expect(contents(`${heading}\n\n${'y'.repeat(60)}`)).toEqual([heading, 'y'.repeat(60)])
  })
})

describe('a fence longer than the cap', () => {
  const lines = ['one();', 'two();', 'three();', 'four();', 'five();', 'six();', 'seven();', 'eight();', 'nine();']
  const indented = (prefix: string) => lines.map((line) => prefix + line).join('\n')

  test('is split at line ends with its opening and closing lines repeated', () => {
    expect(cut(`\`\`\`js title="x"\n${lines.join('\n')}\n\`\`\`\n\nend\n`, TIGHT)).toEqual([
      {
        startLine: 1,
        endLine: 6,
        content: '```js title="x"\none();\ntwo();\nthree();\nfour();\nfive();\n```',
        headingPath: [],
      },
      {
        startLine: 7,
        endLine: 12,
        content: '```js title="x"\nsix();\nseven();\neight();\nnine();\n```',
        headingPath: [],
      },
      { startLine: 13, endLine: 13, content: 'end', headingPath: [] },
    ])
  })

  test.each([
    ['of tildes', '~~~', '~~~'],
    ['with a longer closing line', '```', '`````'],
    ['that is never closed', '```', ''],
  ])('is closed in every part: a fence %s', (_, opening, closing) => {
    const foot = closing === '' ? opening : closing
    for (const part of contents(`${opening}\n${lines.join('\n')}\n${closing}`)) {
      expect(part.split('\n').at(0)).toBe(opening)
      expect(part.split('\n').at(-1)).toBe(foot)
    }
  })

  test('is split the same after blank lines at the start of the file', () => {
    const fence = `\`\`\`\n${lines.join('\n')}\n\`\`\``
    expect(contents(`\n\n${fence}`)).toEqual(contents(fence))
    expect(cut(`\n\n${fence}`, TIGHT)[0]?.startLine).toBe(3)
  })

  test('a fence in a quote keeps the quote marks, and the rest of the quote stays outside the fence', () => {
    expect(contents(`> \`\`\`js\n${indented('> ')}\n> \`\`\`\n>\n> end\n`)).toEqual([
      '> ```js\n> one();\n> two();\n> three();\n> four();\n> five();\n> ```',
      '> ```js\n> six();\n> seven();\n> eight();\n> nine();\n> ```',
      '>\n> end',
    ])
  })

  test('a fence in a list closes inside its item, or at the margin where the item is not repeated', () => {
    expect(contents(`1. - \`\`\`js\n${indented('     ')}\n     \`\`\`\n`)).toEqual([
      '1. - ```js\n     one();\n     two();\n     three();\n     ```',
      '```js\n     four();\n     five();\n     six();\n```',
      '```js\n     seven();\n     eight();\n     nine();\n```',
    ])
  })

  test('a fence under an empty list item keeps the item in its first part', () => {
    const parts = contents(`-\n  \`\`\`js\n${indented('  ')}\n  \`\`\`\n`)
    expect(parts[0]).toBe('-\n  ```js\n  one();\n  two();\n  three();\n  four();\n  five();\n  ```')
    expect(parts[1]).toBe('```js\n  six();\n  seven();\n  eight();\n  nine();\n```')
  })

  test('a quoted line does not close a fence', () => {
    expect(contents(`\`\`\`\n${lines.join('\n')}\n> \`\`\``).at(-1)).toBe('```\neight();\nnine();\n> ```\n```')
  })

  test('slices a line that does not fit', () => {
    expect(contents(`\`\`\`\n${'x'.repeat(100)}\n\`\`\``)).toEqual([
      `\`\`\`\n${'x'.repeat(56)}\n\`\`\``,
      `\`\`\`\n${'x'.repeat(44)}\n\`\`\``,
    ])
  })

  test('blank lines alone do not become a part', () => {
    expect(contents(`\`\`\`\n${'x'.repeat(50)}\n\n\n\n${'y'.repeat(50)}\n\`\`\``)).toEqual([
      `\`\`\`\n${'x'.repeat(50)}\n\`\`\``,
      `\`\`\`\n${'y'.repeat(50)}\n\`\`\``,
    ])
  })

  test('is cut as text when its opening line is too long to be repeated', () => {
    const info = 'i'.repeat(50)
    expect(contents(`\`\`\`${info}\n${lines.join('\n')}\n\`\`\``)[0]).toBe(`\`\`\`${info}\none();`)
  })
})

describe('a table longer than the cap', () => {
  const rows = ['| the first | 1 |', '| the sec\\|ond | 2 |', '| the third | 3 |']

  test('is split between rows with its header repeated', () => {
    expect(cut(`| a | b |\n|---|:-:|\n${rows.join('\n')}\n\nend`, TIGHT)).toEqual([
      { startLine: 1, endLine: 4, content: `| a | b |\n|---|:-:|\n${rows[0]}\n${rows[1]}`, headingPath: [] },
      { startLine: 5, endLine: 6, content: `| a | b |\n|---|:-:|\n${rows[2]}`, headingPath: [] },
      { startLine: 7, endLine: 7, content: 'end', headingPath: [] },
    ])
  })

  test('is split the same way without outer pipes', () => {
    const parts = contents(`a | b\n--|--\n${rows.map((row) => row.slice(2, -2)).join('\n')}\n${'x'.repeat(30)} | 4`)
    expect(parts.map((part) => part.split('\n').slice(0, 2))).toEqual(parts.map(() => ['a | b', '--|--']))
    expect(parts).toHaveLength(2)
  })

  test('a table in a list repeats its header without the item marker', () => {
    const parts = contents(`- | a | b |\n  |---|---|\n${rows.map((row) => `  ${row}`).join('\n')}`)
    expect(parts).toEqual([
      `- | a | b |\n  |---|---|\n  ${rows[0]}`,
      `| a | b |\n  |---|---|\n  ${rows[1]}`,
      `| a | b |\n  |---|---|\n  ${rows[2]}`,
    ])
  })
})

test('an empty or blank file has no pieces', () => {
  expect([cut(''), cut('\n\n \n')]).toEqual([[], []])
})

test.each([
  ['quotes', '>'.repeat(3000)],
  ['lists', `${'- '.repeat(3000)}x`],
  ['nested lists', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i * 2)}- x`).join('\n')],
  ['brackets', '['.repeat(50_000)],
  ['stars', `# ${'*a_'.repeat(20_000)}`],
  ['backticks', Array.from({ length: 500 }, (_, i) => '`'.repeat(i + 3)).join('\n')],
  ['pipes', `${'|'.repeat(20_000)}\n${'|-'.repeat(20_000)}|`],
  ['comments', '<!--'.repeat(20_000)],
  ['underlines', 'a\n='.repeat(20_000)],
])('finishes quickly on thousands of %s', (_, text) => {
  const ms = cpuMsOf(() => {
    for (const { content } of cut(text)) expect(content.length).toBeLessThanOrEqual(8000)
  })
  expect(ms).toBeLessThan(5000)
})

describe('front matter and thematic breaks', () => {
  const firstContent = (text: string) => cut(text)[0]?.content

  test.each([
    '---\ntitle: a\n---',
    '---\n"title": a\ntags:\n- b\n\n- c\n\n# note\nd: |\n  e\n\n  f\n---',
    '+++\ntitle = "a"\nlist = [\n  1,\n\n]\n\n[table]\nb = 1\n+++',
    '+++\n[table]\n+++',
  ])('%j is a piece of its own before the heading', (text) => {
    expect(firstContent(`${text}\n# First`)).toBe(text)
  })

  test('text between two thematic breaks is not front matter', () => {
    expect(cut('---\n# Title\n\ntext\n\n---\n# Second').map((piece) => piece.headingPath)).toEqual([
      [],
      ['Title'],
      ['Second'],
    ])
    expect(cut('---\nnote: a\n\n# Title\n\ntext\n\n---').map((piece) => piece.headingPath)).toEqual([[], ['Title']])
  })
})

test('stops reading the file once there are enough pieces', () => {
  const lines = Array.from({ length: 1_000_000 }, (_, i) => `# ${i}`)
  const pieces = cutMarkdown(lines, { targetChars: 4000, maxChars: 8000 }, 3)
  expect(pieces.slice(0, 3).map((piece) => piece.content)).toEqual(['# 0', '# 1', '# 2'])
  expect(pieces.length).toBeLessThan(5)
})
