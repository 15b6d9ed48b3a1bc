import { expect, test } from 'vitest'
import { parseBytes, writeBytes } from './bytes.ts'

test.each([
  ['0', 0],
  ['1048576', 1_048_576],
  ['512 KB', 524_288],
  ['10MB', 10_485_760],
  [' 1.5 GiB ', 1_610_612_736],
  ['2k', 2048],
  ['3B', 3],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['10 apples', undefined],
  ['1e3', undefined],
  ['KB', undefined],
  ['1 TB', undefined],
  ['999999999999999 GB', undefined],
])('parseBytes(%j) returns %j', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes)
})

test.each([
  [0, '0 B'],
  [812, '812 B'],
  [1024, '1 KB'],
  [1434, '1.4 KB'],
  [10_485_760, '10 MB'],
  [500_000_000, '477 MB'],
  [2 ** 40 * 3, '3 TB'],
])('%d bytes are written %j', (bytes, text) => {
  expect(writeBytes(bytes)).toBe(text)
})
