import { expect, test } from 'vitest'
import { tokenize, visitTokens } from '../text/tokenize.ts'
import { writeSnippet } from './snippet.ts'

const filler = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. '.repeat(20)

function snippet(text: string, query: string, chars?: number): string {
  return writeSnippet(text, tokenize(query), chars === undefined ? { visitTokens } : { visitTokens, chars })
}

test('shows a short text whole, with its white space collapsed', () => {
  expect(snippet('  One\n\n  two\tthree. ', 'two')).toBe('One two three.')
})

test('shows the match with text on both sides, cut between words', () => {
  const shown = snippet(`${filler}The needle lies here. ${filler}`, 'needle')
  expect(shown).toContain('The needle lies here.')
  expect(shown).toMatch(/^…\S.*\S…$/)
  expect(shown.length).toBeLessThanOrEqual(202)
  expect(shown.length).toBeGreaterThan(150)
  for (const word of shown.slice(1, -1).split(' '))
    expect(`${filler}The needle lies here. ${filler}`.split(' ')).toContain(word)
})

test('prefers the window with more different terms over one with more matches', () => {
  const text = `alpha alpha alpha ${filler} alpha beta ${filler}`
  expect(snippet(text, 'alpha beta')).toContain('alpha beta')
})

test('shows the beginning when nothing matches, without an ellipsis before it', () => {
  const shown = snippet(filler, 'absent')
  expect(shown).toMatch(/^Lorem ipsum/)
  expect(shown).toMatch(/…$/)
})

test('puts no ellipsis after the end of the text', () => {
  const shown = snippet(`${filler}needle`, 'needle')
  expect(shown).toMatch(/^….*needle$/)
})

test.each([
  ['a word among ideographs', '本文'.repeat(300), '東京都庁', '東京都'],
  ['a part of an identifier', filler, 'fs.readFileSync(path)', 'file'],
  ['a word with an accent', filler.replaceAll('o', 'ö'), 'Café', 'cafe'],
  ['a word between long runs without spaces', 'x'.repeat(3000), ' needle ', 'needle'],
])('finds %s', (_, around, needle, query) => {
  expect(snippet(around + needle + around, query)).toContain(needle.trim())
})

test('does not split a surrogate pair', () => {
  for (const chars of [20, 21]) expect(snippet('𠮷'.repeat(500), '𠮷𠮷', chars).isWellFormed()).toBe(true)
})

test('respects the requested length', () => {
  expect(snippet(`${filler} needle ${filler}`, 'needle', 40).length).toBeLessThanOrEqual(42)
})
