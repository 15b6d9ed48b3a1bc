import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareUtf8 } from './order.ts'

test('orders strings as their UTF-8 bytes', () => {
  const bytes = (text: string) => Buffer.from(text, 'utf8')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(bytes(a), bytes(b)))
    }),
  )
})

test('puts characters above U+FFFF last, unlike the UTF-16 order of JavaScript', () => {
  expect(['\u{1f600}', '\uff01', 'z', ''].toSorted(compareUtf8)).toEqual(['', 'z', '\uff01', '\u{1f600}'])
  expect('\u{1f600}' < '\uff01').toBe(true)
})

test('is a total order even with lone surrogates', () => {
  expect(compareUtf8('\ud800', '\udc00')).toBeLessThan(0)
  expect(compareUtf8('\udc00', '\ud800')).toBeGreaterThan(0)
  expect(compareUtf8('\ud800', '\ud800')).toBe(0)
})
