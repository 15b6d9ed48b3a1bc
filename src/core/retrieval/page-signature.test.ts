import { expect, test } from 'vitest'
import type { Alternate } from '../model.ts'
import { createPageSignature } from './page-signature.ts'

const at = (language: string) => `https://docs.test/${language}/a.html`
const alternate = (language: string | null) => ({ url: at(language ?? 'feed'), language, type: null })

const familyOf = (url: string, alternates: readonly Alternate[]) =>
  createPageSignature({ url, language: 'en', alternates }).family

test('translations that name each other have one family', () => {
  const all = ['de', 'en', 'fr'].map(alternate)
  const families = ['de', 'en', 'fr'].map((language) => familyOf(at(language), all))
  expect(new Set(families).size).toBe(1)
  expect(families[0]).toMatch(/^[0-9a-f]{16}$/)
  expect(familyOf(`${at('de')}#top`, all.toReversed())).toBe(families[0])
})

test('pages of a site that names its front pages on every page have no common family', () => {
  const fronts = ['de', 'en'].map((language) => ({ url: `https://docs.test/${language}/`, language, type: null }))
  expect(familyOf(at('en'), fronts)).toBeNull()
  // The same holds if each page also names itself, or the front page for all other languages.
  const own = (name: string) => ({ url: `https://docs.test/en/${name}`, language: 'en', type: null })
  const [a, b] = ['a', 'b'].map((name) => familyOf(own(name).url, [own(name), ...fronts.slice(0, 1)]))
  expect(a).not.toBe(b)
  const other = { url: 'https://docs.test/', language: 'x-default', type: null }
  expect(familyOf(at('en'), [alternate('en'), other])).toBeNull()
})

test('a page without alternates has no family', () => {
  const page = { url: at('en'), language: 'en', fingerprint: '00ff00ff00ff00ff', alternates: [alternate(null)] }
  expect(createPageSignature(page)).toEqual({ fingerprint: '00ff00ff00ff00ff', language: 'en', family: null })
})
