import { expect, test } from 'vitest'
import { parseDate } from './dates.ts'

test.each([
  ['2024-03-03', '2024-03-03'],
  ['2024-3-3', '2024-03-03'],
  ['20240303', '2024-03-03'],
  ['2024/03/03', '2024-03-03'],
  ['2024-03-03T10:00:00Z', '2024-03-03T10:00:00Z'],
  ['2024-03-03T10:00:00.123Z', '2024-03-03T10:00:00Z'],
  ['2024-03-03T10:00+01:00', '2024-03-03T10:00:00+01:00'],
  ['2024-03-03 10:00:00 +0530', '2024-03-03T10:00:00+05:30'],
  ['20240303T100000Z', '2024-03-03T10:00:00Z'],
  ['2024-03-03T10:00:00-05', '2024-03-03T10:00:00-05:00'],
  ['2024-03-03 10:00:00 UTC', '2024-03-03T10:00:00Z'],
  // Without an offset the exact time is unknown, so only the date is kept.
  ['2024-03-03T10:00:00', '2024-03-03'],
  ['2024-03-03 10:00', '2024-03-03'],
  ['March 3, 2024', '2024-03-03'],
  ['Mar. 3rd, 2024', '2024-03-03'],
  ['Sunday, March 3, 2024 at 10:00 AM', '2024-03-03'],
  ['3 Mar 2024', '2024-03-03'],
  ['3rd of March 2024', '2024-03-03'],
  ['03-Mar-2024', '2024-03-03'],
  ['Sun, 03 Mar 2024 10:00:00 +0100', '2024-03-03T10:00:00+01:00'],
  ['Sun, 03 Mar 2024 22:15:00 GMT', '2024-03-03T22:15:00Z'],
  ['Sun, 03 Mar 2024 22:15:00 EST', '2024-03-03T22:15:00-05:00'],
  ['March 3, 2024 10:15 PM UTC', '2024-03-03T22:15:00Z'],
  ['March 3, 2024 12:15 am GMT', '2024-03-03T00:15:00Z'],
  ['Sun Mar 03 2024 10:00:00 GMT+0100 (Central European Standard Time)', '2024-03-03T10:00:00+01:00'],
  ['3.12.2024', '2024-12-03'],
  ['25/12/2024', '2024-12-25'],
  ['12/25/2024', '2024-12-25'],
  ['1709460000', '2024-03-03T10:00:00Z'],
  ['1709460000000', '2024-03-03T10:00:00Z'],
  [' 2024-02-29 ', '2024-02-29'],
])('parses %s as %s', (text, expected) => {
  expect(parseDate(text)).toBe(expected)
})

test.each([
  ['a month only', '2024-03'],
  ['a year only', '2024'],
  ['a day that does not exist', '2023-02-29'],
  ['a month that does not exist', '2024-13-01'],
  ['the default date of a program', '0001-01-01T00:00:00Z'],
  ['a day that depends on the country', '03/04/2024'],
  ['a word', 'yesterday'],
  ['another language', '3 de marzo de 2024'],
  ['a number', '42'],
  ['nothing', ''],
  ['a long text', '2024-03-03'.padEnd(200)],
])('returns null for %s: %s', (_, text) => {
  expect(parseDate(text)).toBeNull()
})

test('an impossible time is ignored and its date is kept', () => {
  expect(parseDate('2024-03-03T25:00:00Z')).toBe('2024-03-03')
  expect(parseDate('2024-03-03T10:00:00+99:00')).toBe('2024-03-03')
})
