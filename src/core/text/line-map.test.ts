import { expect, test } from 'vitest'
import { LineMap } from './line-map.ts'
import { splitLines } from './lines.ts'

test.each(['', 'a', 'a\n', 'a\r\nb\rc\nd', '\r\r\n\n', 'a\n\r'])('%j has the lines of splitLines', (text) => {
  const map = new LineMap(text)
  expect(map.count).toBe(splitLines(text).length)
  splitLines(text).forEach((line, i) => {
    const start = map.startOf(i + 1)
    expect(text.slice(start, start + line.length)).toBe(line)
    expect(map.lineAt(start)).toBe(i + 1)
  })
})

test('a line end belongs to its line, and the position past the last line is the end of the text', () => {
  const map = new LineMap('a\r\nb')
  expect([0, 1, 2, 3].map((offset) => map.lineAt(offset))).toEqual([1, 1, 1, 2])
  expect([1, 2, 3].map((line) => map.startOf(line))).toEqual([0, 3, 4])
})
