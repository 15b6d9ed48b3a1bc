import { expect, test } from 'vitest'
import { decodeText, isBinary } from './decode.ts'

test.each([
  ['UTF-8', [0x63, 0xc3, 0xa9], 'cé'],
  ['UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, 0x61], 'a'],
  ['UTF-16, little-endian', [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde], 'a😀'],
  ['UTF-16, big-endian', [0xfe, 0xff, 0, 0x61], 'a'],
  ['no bytes', [], ''],
  ['a NUL', [0x61, 0, 0x62], 'a\0b'],
])('reads %s', (_, bytes, text) => {
  expect(decodeText(Uint8Array.from(bytes))).toEqual({ text })
})

test.each([
  ['Latin-1', [0x63, 0xe9]],
  ['a truncated sequence', [0xe2, 0x82]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['an overlong form', [0xc0, 0x80]],
  ['half a surrogate pair in UTF-16', [0xff, 0xfe, 0x3d, 0xd8]],
  ['half a unit in UTF-16', [0xff, 0xfe, 0x61]],
])('refuses %s instead of guessing', (_, bytes) => {
  expect(decodeText(Uint8Array.from(bytes))).toEqual({ problem: 'utf8' })
})

test.each([
  ['text', [0x61, 0x0a], false],
  ['a NUL', [0x61, 0], true],
  ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x61, 0], false],
  ['no bytes', [], false],
])('%s is binary: %j', (_, bytes, expected) => {
  expect(isBinary(Uint8Array.from(bytes))).toBe(expected)
})

test('a NUL makes bytes binary only among the first 8,192 bytes', () => {
  expect(isBinary(new Uint8Array(9000).fill(0x61, 0, 8192))).toBe(false)
  expect(isBinary(new Uint8Array(9000).fill(0x61, 0, 8191))).toBe(true)
})
