import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDuplicateFinder } from './duplicate-finder.ts'
import type { FingerprintBits } from './fingerprint.ts'
import { type ComparablePage, findRelation } from './page-relation.ts'

const ALL = { byText: true, byLanguage: true }
/** Fingerprints that differ in a few bits or in many. */
const bits = fc
  .tuple(fc.constantFrom(0, 0x5a5a5a5a, -1), fc.array(fc.nat(63), { maxLength: 4 }), fc.nat(5))
  .map(([base, flipped, die]) => ({ base, flipped, isShort: die === 0 }))
  .map(({ base, flipped, isShort }) =>
    flipped.reduce<FingerprintBits>(
      ({ high, low, isShort }, bit) =>
        bit < 32 ? { high: high ^ (1 << bit), low, isShort } : { high, low: low ^ (1 << (bit - 32)), isShort },
      { high: base, low: base, isShort },
    ),
  )
const page: fc.Arbitrary<ComparablePage> = fc.record({
  sourceId: fc.constantFrom('a', 'b', 'c'),
  name: fc.constantFrom('guide', 'other'),
  place: fc.constantFrom('', 'a.html', 'b.html', 'c/d.html'),
  family: fc.constantFrom(null, null, 'https://docs.test/a', 'https://docs.test/b'),
  language: fc.constantFrom(null, 'en', 'de', 'fr'),
  bits: fc.option(bits, { freq: 8 }),
})

test('the finder finds the same groups as a comparison of all pairs', () => {
  fc.assert(
    fc.property(fc.array(page, { maxLength: 40 }), (pages) => {
      const finder = createDuplicateFinder()
      for (const one of pages) finder.add(one)
      expect([...finder.findGroups()]).toEqual(groupAll(pages))
    }),
  )
})

/** For each page the number of the first page of its group. */
function groupAll(pages: readonly ComparablePage[]): number[] {
  const groups = pages.map((_, i) => i)
  for (const [i, one] of pages.entries()) {
    for (const [j, other] of pages.entries()) {
      if (i >= j || findRelation(one, other, ALL) === undefined) continue
      const [from, into] = [Math.max(groups[i] ?? 0, groups[j] ?? 0), Math.min(groups[i] ?? 0, groups[j] ?? 0)]
      for (const [at, group] of groups.entries()) if (group === from) groups[at] = into
    }
  }
  return groups
}

test('the finder recognizes each page by its place, and puts unrelated pages into groups of their own', () => {
  const finder = createDuplicateFinder()
  const at = (number: number): ComparablePage => ({
    sourceId: 'a',
    name: 'guide',
    place: `${number}.html`,
    family: null,
    language: null,
    bits: null,
  })
  for (let number = 0; number < 3000; number++) finder.add(at(number))
  expect([
    finder.isSamePage(2999, at(2999)),
    finder.isSamePage(2998, at(2999)),
    finder.isSamePage(3000, at(3000)),
  ]).toEqual([true, false, false])
  expect(finder.findGroups()).toHaveLength(3000)
})
