import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseHtml } from '../../../html/parse-html.ts'
import { lineOf } from '../../../html/tree.ts'
import { lineLength } from './line-length.ts'

test('lineLength returns the length of the line, up to the limit', () => {
  const part = fc.constantFrom(
    'a',
    '\u{1f600}',
    ' ',
    '\n\t',
    '\u00a0',
    '\u2003',
    '\ufeff',
    '\u200b',
    '<b>',
    '</b>',
    '<p>',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.nat(30), (parts, maxChars) => {
      const root = parseHtml(parts.join(''))
      expect(lineLength(root, maxChars)).toBe(Math.min(lineOf(root).length, maxChars))
    }),
  )
})

test('lineLength ignores dropped elements', () => {
  const root = parseHtml('<p>seen</p><p>dropped</p>')
  const [, dropped] = [...root.elements()]
  if (dropped !== undefined) dropped.dropped = { step: 'test', reason: 'test' }
  expect(lineLength(root, 100)).toBe(4)
})
