import { expect, test } from 'vitest'
import { parseAddressCursor, writeAddressCursor } from '../../src/http/records/address-cursor.ts'

const write = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

test('a cursor leads back to the entry it was written for', () => {
  const entry = { at: 1_700_000_000_000, id: 42, url: 'https://docs.test/\u{e4}?q=\u{1f5fc}' }
  expect(parseAddressCursor(writeAddressCursor(entry))).toEqual(entry)
})

test('a cursor with only an address and a time is accepted, in every variant of base64', () => {
  const expected = { at: Date.parse('2026-02-20T10:30:00Z'), url: 'https://docs.test/>>>???' }
  for (const ts of [expected.at, '2026-02-20T10:30:00Z']) {
    const cursor = write({ ts, url: expected.url })
    for (const form of [cursor, cursor.replaceAll('+', '-').replaceAll('/', '_'), cursor.replaceAll('+', ' ')]) {
      expect(parseAddressCursor(form)).toEqual(expected)
    }
  }
  // A malformed id is not accepted as an id.
  expect(parseAddressCursor(write({ ts: 1, url: 'u', id: '1; DROP' }))).toEqual({ at: 1, url: 'u' })
})

test.each(['', 'nonsense', write(null), write([]), write({ ts: 'never', url: 'u' }), write({ ts: 1 })])(
  'a cursor that this list never issued is refused: %s',
  (text) => {
    expect(() => parseAddressCursor(text)).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }))
  },
)
