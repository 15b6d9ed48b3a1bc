import { describe, expect, test } from 'vitest'
import { fingerprintOf, readFingerprint } from './fingerprint.ts'
import { type ComparablePage, findRelation, MAX_COPY_DISTANCE, MAX_VERSION_DISTANCE } from './page-relation.ts'

const ALL = { byText: true, byLanguage: true }
/** A page whose fingerprint has this many bits set. */
const page = (bits: number | null, more: Partial<ComparablePage> = {}): ComparablePage => ({
  sourceId: 'one',
  name: 'guide',
  place: 'a.html',
  family: null,
  language: 'en',
  bits: bits === null ? null : { high: 2 ** Math.min(bits, 30) - 1, low: 0, isShort: false },
  ...more,
})
const elsewhere = { place: 'b.html' }
const older = { sourceId: 'older' }
const german = { language: 'de' }

describe('two pages', () => {
  test('are copies if they differ in a few bits, in any place', () => {
    expect(findRelation(page(0), page(MAX_COPY_DISTANCE, elsewhere), ALL)).toBe('copy')
    expect(findRelation(page(0), page(MAX_COPY_DISTANCE + 1, elsewhere), ALL)).toBeUndefined()
    expect(findRelation(page(0), page(0, { sourceId: 'mirror', name: 'mirror', language: null }), ALL)).toBe('copy')
  })

  test('are versions if they have the same place, even with more differences', () => {
    expect(findRelation(page(0), page(MAX_VERSION_DISTANCE, older), ALL)).toBe('version')
    expect(findRelation(page(0), page(MAX_VERSION_DISTANCE + 1, older), ALL)).toBeUndefined()
    expect(findRelation(page(0), page(MAX_VERSION_DISTANCE, { ...older, ...elsewhere }), ALL)).toBeUndefined()
    expect(findRelation(page(0), page(MAX_VERSION_DISTANCE, { ...older, name: 'other' }), ALL)).toBeUndefined()
    // Pages that hold only pictures have no fingerprint.
    expect(findRelation(page(null), page(null, older), ALL)).toBeUndefined()
    expect(findRelation(page(null), page(0, older), ALL)).toBeUndefined()
    // Texts that are too short for similarity.
    const short = (high: number) => ({ bits: { high, low: 0, isShort: true } })
    expect(findRelation(page(0, short(1)), page(0, { ...short(1), ...older }), ALL)).toBe('version')
    expect(findRelation(page(0, short(1)), page(0, { ...short(3), ...older }), ALL)).toBeUndefined()
    expect(findRelation(page(0, short(1)), page(0, { ...short(1), ...elsewhere }), ALL)).toBeUndefined()
    expect(findRelation(page(1, short(1)), page(1, older), ALL)).toBeUndefined()
  })

  test('are versions if one sentence of a short page differs', () => {
    const bits = (text: string) => ({ bits: readFingerprint(fingerprintOf(text) ?? '') })
    const [before, after] = [
      'It is given in seconds, and thirty are waited.',
      'Milliseconds are what it takes from now on.',
    ]
    const text = (changed: string) =>
      `The timeout of a request is how long the client waits for the answer of the server. ${changed} A request that takes longer is
      broken off, and an error tells which address did not answer. Set it for all requests of a client, or for one of them.`
    expect(findRelation(page(0, bits(text(before))), page(0, { ...bits(text(after)), ...older }), ALL)).toBe('version')
  })

  test('are translations if they name each other, or have the same place in one source', () => {
    expect(findRelation(page(0), page(30, german), ALL)).toBe('translation')
    expect(findRelation(page(0), page(30, { ...german, ...older }), ALL)).toBeUndefined()
    expect(findRelation(page(0), page(30, { ...german, ...elsewhere }), ALL)).toBeUndefined()
    const family = { family: 'https://docs.test/de/a.html' }
    const named = page(30, { ...german, ...elsewhere, ...older, ...family })
    expect(findRelation(page(0, family), named, ALL)).toBe('translation')
    // Pages in two languages are never copies, even if they share much code.
    expect(findRelation(page(0), page(0, { ...german, ...elsewhere }), ALL)).toBeUndefined()
  })

  test('are related only by the requested kinds of relation', () => {
    expect(findRelation(page(0), page(0, older), { byText: false, byLanguage: true })).toBeUndefined()
    expect(findRelation(page(0), page(0, german), { byText: true, byLanguage: false })).toBeUndefined()
  })
})
