import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../../test/cpu-time.ts'
import { createRandom } from '../../../../test/seeded.ts'
import { textAnalyzer } from '../../text/analyzer.ts'
import { SearchIndex } from '../search-index.ts'
import type { IndexEntry } from './entry-table.ts'
import { type EncodedSegment, openSegment, SegmentBuilder, type SegmentView } from './segment.ts'
import { mergeSegments } from './segment-merge.ts'
import { SegmentSearch } from './segment-search.ts'

const FIELDS = { head: 1, names: 0.5, body: 2 } as const
const WEIGHTS = Object.values(FIELDS)
const FIELD_NAMES = Object.keys(FIELDS) as (keyof typeof FIELDS)[]

/** A document of these tests: the texts of its fields. */
type Texts = Readonly<Record<keyof typeof FIELDS, readonly string[]>>

const WORDS = [
  ...['connect', 'connected', 'connection', 'connecting', 'the', 'of', 'file', 'files', 'read_file', 'readFile'],
  ...[
    'fs.readFileSync',
    'utf-8',
    'UTF8',
    '3.11',
    'v3.11.4',
    'C++',
    'naïve',
    'Σίγμα',
    '東京',
    '京都',
    '東',
    '天気です',
    '😀',
  ],
]

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 12 }).map((words) => words.join(' '))
const texts: fc.Arbitrary<Texts> = fc.record({
  head: fc.array(text, { maxLength: 2 }),
  names: fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }),
  body: fc.array(text, { maxLength: 2 }),
})

function createDocument(number: number, documentCount: number): IndexEntry {
  // `order` differs from the order of the numbers and has no ties.
  return {
    number,
    source: number % 3,
    // Pages of up to six documents, each of one source.
    page: Math.floor(number / 18) * 3 + (number % 3),
    traits: number % 5,
    text: number % 3,
    order: (number * 7919) % (documentCount * 7920),
  }
}

function build(documents: readonly (readonly [IndexEntry, Texts])[]): EncodedSegment {
  const builder = new SegmentBuilder(textAnalyzer, WEIGHTS)
  for (const [document, fields] of documents) {
    builder.add(
      document,
      FIELD_NAMES.map((field) => fields[field]),
    )
  }
  return builder.build()
}

function open(encoded: EncodedSegment, isDead: (number: number) => boolean): SegmentView {
  const readBlock = (block: number): Uint8Array => {
    const bytes = encoded.blocks[block]
    if (!bytes) throw new RangeError(`no block ${block}`)
    return bytes
  }
  const segment = openSegment(encoded, WEIGHTS, readBlock)
  const dead = Uint8Array.from(segment.table.numbers, (number) => (isDead(number) ? 1 : 0))
  return { segment, dead: dead.includes(1) ? dead : undefined }
}

/** Cuts a list into parts of the given sizes; a last part holds the rest. */
function cut<T>(list: readonly T[], sizes: readonly number[]): T[][] {
  const parts: T[][] = []
  let at = 0
  for (const size of sizes) {
    if (at < list.length) parts.push(list.slice(at, at + size))
    at += size
  }
  return at < list.length ? [...parts, list.slice(at)] : parts
}

const keyOf = ({ order }: IndexEntry): string => String(order).padStart(12, '0')

describe('a search over segments', () => {
  test('gives the results of a single `SearchIndex` over all living documents, for any deletions and merges', () => {
    fc.assert(
      fc.property(
        fc.array(texts, { minLength: 1, maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 8 }),
        fc.array(fc.nat(29), { maxLength: 12 }),
        fc.array(fc.nat(29), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
        fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
        fc.integer({ min: 1, max: 40 }),
        (given, sizes, deletedBeforeMerge, deletedAfterMerge, merges, query, limit) => {
          const documents = given.map((fields, i) => [createDocument(i, given.length), fields] as const)
          const early = new Set(deletedBeforeMerge)
          const late = new Set(deletedAfterMerge)
          const segments = cut(documents, sizes).map(build)
          const merged = cut(segments, merges).flatMap(
            (group) =>
              mergeSegments(
                group.map((segment) => open(segment, (number) => early.has(number))),
                WEIGHTS,
                textAnalyzer,
              ) ?? [],
          )
          const views = merged.map((segment) => open(segment, (number) => late.has(number)))
          const search = new SegmentSearch(views, { fields: FIELDS, analyzer: textAnalyzer })

          const pages = new Map(documents.map(([document]) => [keyOf(document), `${document.page}`]))
          const options = { fields: FIELDS, analyzer: textAnalyzer, pageOf: (key: string) => pages.get(key) ?? '' }
          const index = new SearchIndex(options)
          const living = documents.filter(([{ number }]) => !early.has(number) && !late.has(number))
          for (const [document, fields] of living) index.add(keyOf(document), fields)

          const accept = ({ source }: Pick<IndexEntry, 'source'>) => source !== 1
          const livingOfSource = living.filter(([{ source }]) => source === 2)
          const sourceIndex = new SearchIndex(options)
          for (const [document, fields] of livingOfSource) sourceIndex.add(keyOf(document), fields)
          const scoresOf = (hits: readonly { readonly score: number; readonly pageScore: number }[]) =>
            hits.map(({ score, pageScore }) => [score, pageScore])
          expect(scoresOf(search.search(query, 40, { sources: new Set([2]) }))).toEqual(
            scoresOf(sourceIndex.search(query, { limit: 40 })),
          )
          const accepted = new Set(living.filter(([document]) => accept(document)).map(([document]) => keyOf(document)))
          for (const isFiltered of [false, true]) {
            const expected = index.search(query, {
              limit,
              explain: true,
              ...(isFiltered && { filter: (key) => accepted.has(key) }),
            })
            const hits = search.search(query, limit, { explain: true, ...(isFiltered && { accept }) })
            expect(hits.map(({ document, ...hit }) => ({ key: keyOf(document), ...hit }))).toEqual(expected)
          }
          expect(merged.reduce((sum, { count }) => sum + count, 0)).toBe(
            documents.filter(([{ number }]) => !early.has(number)).length,
          )
        },
      ),
      { numRuns: process.env['TEST_LONG'] ? 5000 : 120 },
    )
  })

  test('gives the results of a single `SearchIndex` over thousands of documents, of which it scores only some', () => {
    const vocabulary = Array.from({ length: 400 }, (_, i) => `w${i.toString(36)}`)
    // Frequent words have several forms, so that stems in many documents have several terms.
    const endings = ['', '', 's', 'ed', 'ing']
    // Documents of one span, or of several.
    const size = fc.oneof(fc.integer({ min: 300, max: 2600 }), fc.integer({ min: 5000, max: 9000 }))
    fc.assert(
      fc.property(fc.integer(), size, fc.boolean(), (seed, count, isMerged) => {
        const random = createRandom(seed)
        const pick = (size: number): number => Math.floor(size * random())
        const word = (): string =>
          `${vocabulary[Math.floor(vocabulary.length ** random()) - 1]}${endings[pick(endings.length)]}`
        const words = (max: number): string => Array.from({ length: pick(max) }, word).join(' ')
        const documents = Array.from({ length: count }, (_, i): [IndexEntry, Texts] => {
          const names = random() < 0.2 ? [word()] : []
          // Some documents are longer than all lengths that are told apart.
          const length = random() < 0.001 ? 6000 : count > 2600 ? 12 : 40
          return [createDocument(i, count), { head: [words(4)], names, body: [words(length), words(10)] }]
        })
        const dead = new Set(Array.from({ length: pick(60) }, () => pick(count)))
        const first = 1 + pick(count - 1)
        const parts = [documents.slice(0, first), documents.slice(first)].map(build)
        const open1 = (segment: EncodedSegment): SegmentView => open(segment, (number) => dead.has(number))
        const merged = mergeSegments(
          parts.map((part) => open(part, () => false)),
          WEIGHTS,
          textAnalyzer,
        )
        const views = (isMerged && merged ? [merged] : parts).map(open1)
        const search = new SegmentSearch(views, { fields: FIELDS, analyzer: textAnalyzer })
        const living = documents.filter(([{ number }]) => !dead.has(number))
        const [all, ofSources] = [living, living.filter(([{ source }]) => source !== 1)].map((found) => {
          const pages = new Map(found.map(([document]) => [keyOf(document), `${document.page}`]))
          const pageOf = (key: string): string => pages.get(key) ?? ''
          const index = new SearchIndex({ fields: FIELDS, analyzer: textAnalyzer, pageOf })
          for (const [document, fields] of found) index.add(keyOf(document), fields)
          return index
        })
        const accept = ({ traits }: Pick<IndexEntry, 'traits'>): boolean => traits === 3
        const accepted = new Set(living.filter(([document]) => accept(document)).map(([document]) => keyOf(document)))
        const [isPhrase, limit] = [random() < 0.3, random() < 0.8 ? 10 : 300]
        const asked = Array.from({ length: 1 + pick(12) }, word).join(' ')
        const query = isPhrase ? `"${asked}" ${word()}` : asked
        const options = { limit, explain: true }
        const listed = (hits: ReturnType<SegmentSearch['search']>) =>
          hits.map(({ document, ...hit }) => ({ key: keyOf(document), ...hit }))
        const also = [...living.keys()].filter(() => random() < 0.01).flatMap((i) => living[i]?.[0].number ?? [])
        const plain = listed(search.search(query, limit, { explain: true }))
        expect(plain).toEqual(all?.search(query, options))
        expect(listed(search.search(query, limit, { explain: true, also })).slice(0, plain.length)).toEqual(plain)
        const every = new Map(all?.search(query, { limit: count }).map((hit) => [hit.key, hit]))
        for (const hit of listed(search.search(query, 1, { also })).slice(1)) {
          // Documents beyond the best have no pair bonus.
          expect(hit.score).toBeLessThanOrEqual(every.get(hit.key)?.score ?? 0)
          expect(hit.terms).toEqual(every.get(hit.key)?.terms ?? [])
        }
        expect(listed(search.search(query, limit, { explain: true, accept }))).toEqual(
          all?.search(query, { ...options, filter: (key) => accepted.has(key) }),
        )
        expect(listed(search.search(query, limit, { explain: true, sources: new Set([0, 2]) }))).toEqual(
          ofSources?.search(query, options),
        )
      }),
      { numRuns: process.env['TEST_LONG'] ? 300 : 8 },
    )
  })

  test('finds the documents with the best scores even if others have higher limits', () => {
    // Terms of one stem saturate one by one in a limit, but together in a score.
    const bodies = [...Array(300).fill('connect connected'), ...Array(250).fill('connect connect connect')]
    const documents = bodies.map((body, i): [IndexEntry, Texts] => [
      createDocument(i, bodies.length),
      { head: [], names: [], body: [body] },
    ])
    const search = new SegmentSearch([open(build(documents), () => false)], { fields: FIELDS, analyzer: textAnalyzer })
    const found = search.search('connecting', 250).map(({ document }) => document.number)
    expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 250 }, (_, i) => 300 + i))
  })

  test('returns each document with the numbers it was added with', () => {
    const documents = Array.from({ length: 50 }, (_, i) => createDocument(i * 1000 + 2 ** 33, 50))
    const segment = build(documents.map((document, i) => [document, { head: [], names: [], body: [`word${i}`] }]))
    const search = new SegmentSearch([open(segment, () => false)], { fields: FIELDS, analyzer: textAnalyzer })
    expect(documents.map((_, i) => search.search(`word${i}`, 1)[0]?.document)).toEqual(documents)
    expect([segment.first, segment.last, segment.count]).toEqual([2 ** 33, 2 ** 33 + 49_000, 50])
  })

  test('finds every indexed stem among many blocks, and nothing for a word that is not indexed', () => {
    const words = Array.from({ length: 3000 }, (_, i) => `w${(i * 2654435761) % 2 ** 32}x`)
    const long = ['漢字'.repeat(31), `${'ß'.repeat(60)}end`, 'a', 'zzz']
    const all = [...words, ...long]
    const segment = build(all.map((word, i) => [createDocument(i, all.length), { head: [], names: [], body: [word] }]))
    expect(segment.blocks.length).toBeGreaterThan(5)
    const search = new SegmentSearch([open(segment, () => false)], { fields: FIELDS, analyzer: textAnalyzer })
    all.forEach((word, i) => {
      expect(search.search(word, 3, {}).map(({ document }) => document.number)).toContain(i)
    })
    for (const word of ['0', 'b', 'w1', 'w9999999999x', 'zzzz', '\u{10ffff}'])
      expect(search.search(word, 3)).toEqual([])
  })

  test('builds a segment of a script without spaces in linear time', () => {
    const measure = (pairs: number): number => {
      const body = Array.from({ length: pairs }, (_, i) => `一${String.fromCharCode(0x4e01 + i)}`).join(' ')
      const times = Array.from({ length: 3 }, () =>
        cpuMsOf(() => build([[createDocument(0, 1), { head: [], names: [], body: [body] }]])),
      )
      return Math.min(...times)
    }
    measure(500)
    // Eight times the input takes eight times as long. If every pair copied the pairs before it, it would take sixty-four times as long.
    expect(measure(16_000) / measure(2000)).toBeLessThan(32)
  })

  test('finds all pairs that begin with a single CJK character, and reads each block at most once', () => {
    const segments = Array.from({ length: 6 }, (_, segment) =>
      build(
        Array.from({ length: 300 }, (_, i) => {
          const word = `一${String.fromCharCode(0x5000 + segment * 300 + i)}`
          return [createDocument(segment * 300 + i, 1800), { head: [], names: [], body: [word] }]
        }),
      ),
    )
    const blocksRead = new Set<string>()
    let readCount = 0
    const views = segments.map((encoded, i) => {
      const { segment, dead } = open(encoded, () => false)
      const readBlock = (block: number): Uint8Array => {
        readCount++
        blocksRead.add(`${i} ${block}`)
        return segment.readBlock(block)
      }
      return { segment: { ...segment, readBlock }, dead }
    })
    const search = new SegmentSearch(views, { fields: FIELDS, analyzer: textAnalyzer })
    expect(search.search('一', 2000)).toHaveLength(1800)
    expect(readCount).toBe(blocksRead.size)
  })

  test('gives a word with more than 65,535 occurrences the same score as a single `SearchIndex`', () => {
    const documents = [{ head: [], names: [], body: ['many '.repeat(70_000), 'other'] }]
    const segment = build(documents.map((fields, i) => [createDocument(i, 1), fields]))
    const search = new SegmentSearch([open(segment, () => false)], { fields: FIELDS, analyzer: textAnalyzer })
    const index = new SearchIndex({ fields: FIELDS, analyzer: textAnalyzer })
    for (const fields of documents) index.add('0', fields)
    const [hit] = search.search('many other', 5)
    expect(hit?.score).toBe(index.search('many other')[0]?.score)
  })

  test('finds nothing in an empty index', () => {
    const search = new SegmentSearch([], { fields: FIELDS, analyzer: textAnalyzer })
    expect(search.search('word', 5)).toEqual([])
    const empty = build([[createDocument(1, 1), { head: [], names: [], body: [''] }]])
    expect(mergeSegments([open(empty, () => true)], WEIGHTS, textAnalyzer)).toBeUndefined()
    expect(
      new SegmentSearch([open(empty, () => false)], { fields: FIELDS, analyzer: textAnalyzer }).search('x', 5),
    ).toEqual([])
  })
})
