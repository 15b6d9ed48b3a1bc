import { describe, expect, test } from 'vitest'
import { cutParts } from './cut-parts.ts'

describe('cutParts', () => {
  test('leaves a short page in one piece', () => {
    expect(cutParts(['# a', '', 'b'], true)).toEqual([{ start: 1, end: 3, fence: null }])
    expect(cutParts([], true)).toEqual([{ start: 1, end: 1, fence: null }])
  })

  test('cuts at headings, and otherwise after blank lines', () => {
    const lines = ['a'.repeat(40), '', '# b', 'c'.repeat(60), 'd', '', '  indented', '', 'e']
    expect(cutParts(lines, true, 50)).toEqual([
      { start: 1, end: 2, fence: null },
      { start: 3, end: 8, fence: null },
      { start: 9, end: 9, fence: null },
    ])
  })

  test('keeps a code block together unless it is longer than two parts', () => {
    const fence = (count: number, opening = '```') => [
      opening,
      ...Array.from({ length: count }, () => 'x\n\n# y'.split('\n')).flat(),
      '```',
    ]
    expect(cutParts([...fence(10), '', 'end'], true, 50)).toHaveLength(2)
    expect(cutParts([...fence(10), '', 'end'], true, 50)[0]).toMatchObject({ start: 1, end: 33 })
    const [first, ...rest] = cutParts([...fence(40, '```js'), ...Array.from({ length: 60 }, () => ''), 'end'], true, 50)
    expect(first?.fence).toBe(null)
    expect(rest.length).toBeGreaterThan(2)
    expect(rest.at(0)?.fence).toBe('```js')
    expect(rest.at(-1)?.fence).toBe(null)
  })

  test('every line is in exactly one part', () => {
    const lines = Array.from({ length: 500 }, (_, i) => (i % 7 === 0 ? '' : 'word '.repeat(i % 13)))
    for (const isMarkdown of [true, false]) {
      const parts = cutParts(lines, isMarkdown, 300)
      expect(parts.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i))).toEqual(
        lines.map((_, i) => i + 1),
      )
    }
  })
})
