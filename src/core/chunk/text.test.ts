import { expect, test } from 'vitest'
import { splitLines } from '../text/lines.ts'
import type { Piece } from './piece.ts'
import { cutLines, cutText } from './text.ts'

function cut(text: string, targetChars: number, maxChars: number): Piece[] {
  return cutText(splitLines(text), { targetChars, maxChars }).map(({ startColumn: _, ...piece }) => piece)
}

test('keeps a text that is shorter than the target whole', () => {
  expect(cut('one\n\ntwo\n\n\nthree\n', 100, 200)).toEqual([
    { startLine: 1, endLine: 6, content: 'one\n\ntwo\n\n\nthree' },
  ])
})

test('cuts at the first blank line after the target', () => {
  expect(cut('aaaa\n\nbbbb\ncccc\n\ndddd', 8, 100)).toEqual([
    { startLine: 1, endLine: 5, content: 'aaaa\n\nbbbb\ncccc' },
    { startLine: 6, endLine: 6, content: 'dddd' },
  ])
})

test('cuts before the line that would exceed the cap', () => {
  expect(cut('aaaaa\nbbbbb\nccccc', 10, 11)).toEqual([
    { startLine: 1, endLine: 2, content: 'aaaaa\nbbbbb' },
    { startLine: 3, endLine: 3, content: 'ccccc' },
  ])
})

test('cuts before a line that is one character too long', () => {
  expect(cut('aaaaa\nbbbbbb', 11, 11).map((piece) => piece.content)).toEqual(['aaaaa', 'bbbbbb'])
})

test('does not cut a text that is exactly as long as the cap', () => {
  expect(cut('aaaaa\nbbbbb', 11, 11)).toEqual([{ startLine: 1, endLine: 2, content: 'aaaaa\nbbbbb' }])
})

test('slices a line that is longer than the cap, and continues with the next line', () => {
  expect(cut('before\nabcdefghij\nafter', 4, 4)).toEqual([
    { startLine: 1, endLine: 1, content: 'befo' },
    { startLine: 1, endLine: 1, content: 're' },
    { startLine: 2, endLine: 2, content: 'abcd' },
    { startLine: 2, endLine: 2, content: 'efgh' },
    { startLine: 2, endLine: 2, content: 'ij' },
    { startLine: 3, endLine: 3, content: 'afte' },
    { startLine: 3, endLine: 3, content: 'r' },
  ])
})

test('does not slice inside a surrogate pair', () => {
  expect(cut('ab😀cd', 3, 3).map((piece) => piece.content)).toEqual(['ab', '😀c', 'd'])
})

test('creates no piece for a blank slice', () => {
  expect(cut(`a${' '.repeat(9)}b`, 4, 4).map((piece) => piece.content)).toEqual(['a', 'b'])
})

test('starts at the first line with content; blank lines belong to the piece before them', () => {
  expect(cut('\n \none\n\n\n\ntwo\n\n\n', 1, 100)).toEqual([
    { startLine: 3, endLine: 6, content: 'one' },
    { startLine: 7, endLine: 9, content: 'two' },
  ])
})

test.each(['', '\n', ' \n\t\n\n', '\ufeff'])('finds no piece in %j', (text) => {
  expect(cut(text, 10, 20)).toEqual([])
})

test('counts lines from the given start', () => {
  expect(cutLines(['a', '', 'b'], { targetChars: 1, maxChars: 9 }, 41)).toEqual([
    { startLine: 41, endLine: 42, content: 'a' },
    { startLine: 43, endLine: 43, content: 'b' },
  ])
})
