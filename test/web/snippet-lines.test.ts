import { expect, test } from 'vitest'
import { writeSnippetLines } from '../../web/local/work/snippet-lines.ts'

test('a result keeps the lines and the indentation around the line with the most terms', () => {
  const filler = Array.from({ length: 40 }, (_, i) => `filler words ${i}`)
  const text = [...filler, 'function lamp() {', '  light()', '}', '', '', '', ...filler].join('\n')
  const shown = writeSnippetLines(text, ['light'])
  expect(shown).toMatch(/^…\nfiller words 39\nfunction lamp\(\) \{\n {2}light\(\)\n\}\n\nfiller words 0\n/)
  expect(shown).toMatch(/\n…$/)
  expect(shown.length).toBeLessThan(600)
})

test('a short text is shown as it is', () => {
  expect(writeSnippetLines('One.\n\n- two\n- three\n', ['two'])).toBe('One.\n\n- two\n- three')
  expect(writeSnippetLines('One.', [])).toBe('One.')
})
