import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from '../text/lines.ts'
import { createLineStarts } from './line-starts.ts'

test('createLineStarts finds the lines that splitLines returns, even from the last to the first', () => {
  const part = fc.constantFrom('a', 'bc', '\n', '\r\n', '\r', '')
  fc.assert(
    fc.property(
      fc.array(part).map((parts) => parts.join('')),
      (text) => {
        const lines = splitLines(text)
        const startOf = createLineStarts(text)
        for (let line = lines.length; line > 0; line--) {
          const start = startOf(line)
          expect(text.slice(start, startOf(line + 1)).replace(/(?:\r\n|\n|\r)$/, '')).toBe(lines[line - 1])
        }
        expect(startOf(lines.length + 1)).toBe(text.length)
        expect(startOf(lines.length + 9)).toBe(text.length)
      },
    ),
  )
})
