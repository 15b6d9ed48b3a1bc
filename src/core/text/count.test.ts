import { expect, test } from 'vitest'
import { countOf, writeNumber } from './count.ts'

test.each([0, 7, 999, 1000, 12_345, 999_999, 1_234_567, -1, -123, -1234])('%d is written as in English', (count) => {
  expect(writeNumber(count)).toBe(count.toLocaleString('en'))
})

test('a noun is plural unless the count is one', () => {
  expect([countOf(1, 'file'), countOf(2, 'file'), countOf(3000, 'address')]).toEqual([
    '1 file',
    '2 files',
    '3,000 addresses',
  ])
})
