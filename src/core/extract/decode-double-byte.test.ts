import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeDoubleByte } from './decode-double-byte.ts'

test.each([
  ['euc-kr', 'ASCII stays unchanged', [0x41, 0x7f], 'A\x7f'],
  ['euc-kr', 'common syllables are decoded', [0xb0, 0xa1, 0xc8, 0xfe], '가힝'],
  ['euc-kr', 'the first and the last rare syllable are decoded', [0x81, 0x41, 0xc6, 0x52], '갂힣'],
  [
    'euc-kr',
    'rare syllables between the first and the last are decoded',
    [0x8c, 0x63, 0x94, 0xee, 0xc1, 0x64],
    '똠뷁햏',
  ],
  ['euc-kr', 'the euro sign is decoded', [0xa2, 0xe6], '€'],
  ['euc-kr', 'private characters become U+FFFD', [0xc9, 0xa1], '\ufffd'],
  ['big5', 'common characters are decoded', [0xa4, 0x40, 0xf9, 0xd5], '一龘'],
  ['big5', 'characters of the Hong Kong extension become U+FFFD', [0x87, 0x40, 0xfe, 0xfe], '\ufffd\ufffd'],
  [
    'big5',
    'a lead byte before ASCII becomes U+FFFD, and the ASCII character stays',
    [0xa4, 0x20, 0x80, 0x41, 0xff],
    '\ufffd \ufffdA\ufffd',
  ],
  ['big5', 'a lead byte at the end becomes U+FFFD', [0x41, 0xa4], 'A\ufffd'],
] as const)('%s: %s', (encoding, _, bytes, expected) => {
  expect(decodeDoubleByte(Uint8Array.from(bytes), encoding)).toBe(expected)
})

describe('long texts', () => {
  test('are decoded completely if they are longer than one slice of the decoder', () => {
    const bytes = Uint8Array.from({ length: 30_000 }, (_, i) => (i % 3 === 0 ? 0x20 : i % 3 === 1 ? 0xb0 : 0xa1))
    expect(decodeDoubleByte(bytes, 'euc-kr')).toBe(' 가'.repeat(10_000))
  })
})

test('decoding never fails, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.constantFrom('big5', 'euc-kr'), (bytes, encoding) => {
      expect(decodeDoubleByte(bytes, encoding).length).toBeLessThanOrEqual(bytes.length)
    }),
  )
})
