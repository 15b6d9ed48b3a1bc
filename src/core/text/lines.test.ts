import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineMap } from './line-map.ts'
import { clipText, isBlank, sliceText, splitLines } from './lines.ts'

test.each([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\n', ['a', '']],
  ['\n', ['']],
  ['a\r\nb\rc\nd', ['a', 'b', 'c', 'd']],
  ['a\n\rb', ['a', '', 'b']],
  ['a\u2028b\fc', ['a\u2028b\fc']],
])('%j has the lines %j', (text, lines) => {
  expect(splitLines(text)).toEqual(lines)
})

test.each([
  ['', true],
  [' \t\u00a0', true],
  ['.', false],
])('%j is blank: %j', (line, expected) => {
  expect(isBlank(line)).toBe(expected)
})

test('slices have at most the requested size, and split a surrogate pair only if that size is 1', () => {
  expect(sliceText('abcdefg', 3)).toEqual(['abc', 'def', 'g'])
  expect(sliceText('a😀b', 2)).toEqual(['a', '😀', 'b'])
  expect(sliceText('', 3)).toEqual([])
  expect(sliceText('😀', 1)).toEqual(['\ud83d', '\ude00'])
})

test('a clipped text never ends inside a surrogate pair', () => {
  expect([clipText('ab😀', 3), clipText('ab😀', 4), clipText('ab', 0), clipText('a', 9)]).toEqual([
    'ab',
    'ab😀',
    '',
    'a',
  ])
})

test('the slices of a text, joined, are the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 9 }), (text, size) => {
      const slices = sliceText(text, size)
      expect(slices.join('')).toBe(text)
      expect(slices.every((slice) => slice.length > 0 && slice.length <= size && slice.isWellFormed())).toBe(true)
    }),
  )
})

test('a line map agrees with the lines', () => {
  const text = fc.array(fc.constantFrom('a', 'bc', '\n', '\r', '\r\n')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (source) => {
      const map = new LineMap(source)
      let offset = 0
      for (const [i, line] of splitLines(source).entries()) {
        expect(map.lineAt(offset)).toBe(i + 1)
        expect(map.lineAt(offset + line.length)).toBe(i + 1)
        offset += line.length
        offset += source.startsWith('\r\n', offset) ? 2 : 1
      }
    }),
  )
})
