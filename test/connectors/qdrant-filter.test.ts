import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { KINDS } from '../../src/core/model.ts'
import { CONTENT_TYPES } from '../../src/core/retrieval/content-type.ts'
import { createQdrantCopy } from '../../src/embed/qdrant-copy.ts'
import { languagesOf, splitFilter } from '../../src/embed/qdrant-filter.ts'
import { createQdrantIndex } from '../../src/embed/qdrant-index.ts'
import type { ChunkFilter } from '../../src/library/ports/store.ts'
import type { VectorStore } from '../../src/library/ports/vectors.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addSourceTo, recordOf } from '../embed/filled-store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { countLetters, openQdrantFixture, type QdrantFixture, SPACE } from './qdrant-fixture.ts'

interface GeneratedPage {
  readonly sourceId: string
  readonly path: string
  readonly language: string | null
  readonly headingPath: readonly string[]
  readonly kind: (typeof KINDS)[number]
  readonly symbol: string | null
  readonly texts: readonly string[]
}

const isLong = process.env['TEST_LONG'] !== undefined
const POINTS = { library: 'one', fingerprint: 'f', sourceIds: ['a'] }
const SOURCES = ['alpha', 'beta', 'gamma']
const words = fc.stringMatching(/^[a-z]{1,6}( [a-z]{1,6}){0,4}$/)
const text = fc.oneof(
  words,
  words.map((name) => `\`\`\`js\n${name}()\n\`\`\``),
  words.map((name) => `\`${name.replaceAll(' ', '_')}(value)\`\n\nTells.`),
)
const path = fc.constantFrom('/', '/guide', '/guide/oil', '/guide/lens.html', '/api/v2/call', '/a%20b', '/ä')
const language = fc.constantFrom('en', 'en-GB', 'de', 'de-CH-1996', 'EN-us')
const heading = fc.constantFrom('Install guide', 'Install', 'Usage & more', 'API')
const page: fc.Arbitrary<GeneratedPage> = fc.record({
  sourceId: fc.constantFrom(...SOURCES),
  path: fc.tuple(path, fc.integer({ min: 0, max: 30 })).map(([start, n]) => `${start}${n === 0 ? '' : `/${n}`}`),
  language: fc.option(language),
  headingPath: fc.array(heading, { maxLength: 3 }),
  kind: fc.constantFrom(...KINDS),
  symbol: fc.option(fc.constantFrom('Parser.parse', 'open', 'Store::open')),
  texts: fc.uniqueArray(text, { minLength: 1, maxLength: 4 }),
})
const conditions = {
  sourceIds: fc.subarray([...SOURCES, 'nobody']),
  path: fc.constantFrom('/guide', 'guide/o', '/**/lens*', '/api/*/call', '/a b', '/ä', '/[', '*'),
  kind: fc.constantFrom('markdown', 'go', 'text'),
  heading: fc.constantFrom('install', 'Install guide > API', 'usage', '/', 'none'),
  symbol: fc.constantFrom('pars', 'Store', 'o', 'a', 'zzz'),
  contentType: fc.constantFrom(...CONTENT_TYPES),
  language: fc.constantFrom('en', 'EN-GB', 'de', 'de-ch', 'd', ''),
} as const
/** A filter of at most two conditions, because more would match hardly any chunk. */
const filter: fc.Arbitrary<ChunkFilter> = fc
  .tuple(fc.record(conditions), fc.subarray(Object.keys(conditions), { maxLength: 2 }))
  .map(([all, kept]) => Object.fromEntries(Object.entries(all).filter(([name]) => kept.includes(name))))

let stages: QdrantFixture[] = []
let stores: VectorStore[] = []

afterEach(async () => {
  for (const stage of stages) await stage.close()
  for (const store of stores) await store.close()
  stages = []
  stores = []
})

async function fill(store: VectorStore, pages: readonly GeneratedPage[]): Promise<void> {
  for (const id of SOURCES) await addSourceTo(store, id)
  for (const made of pages) {
    const url = `https://${made.sourceId}.test${made.path}`
    const record = recordOf(url, made.texts.join('\n---\n'), { title: 'T', headingPath: made.headingPath })
    const chunks = record.chunks.map((chunk) => ({ ...chunk, kind: made.kind, symbol: made.symbol }))
    const whole = { ...record, page: { ...record.page, language: made.language }, chunks }
    const find = { key: url, url, host: 'h', depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
    await store.adopt({ sourceId: made.sourceId, crawlId: 'c', now: 3, find, record: whole, finds: [] })
  }
}

const STORES: Readonly<Record<string, () => Promise<VectorStore>>> = {
  'the memory store': async () => createMemoryStore(),
  'the SQLite store': () => openSqliteStore(':memory:'),
}

describe('filters', () => {
  test.each(Object.entries(STORES))('find the same chunks in Qdrant as in %s', async (_name, open) => {
    const stage = await openQdrantFixture()
    stages.push(stage)
    let runs = 0
    let found = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(page, { minLength: 15, maxLength: 40 }),
        fc.array(fc.tuple(filter, words, fc.integer({ min: 1, max: 12 })), { minLength: 50, maxLength: 50 }),
        async (pages, questions) => {
          const store = await open()
          stores.push(store)
          await fill(store, pages)
          const { client, clock, server } = stage
          const location = { url: server.origin, collection: `run${runs++}`, library: 'one' }
          const copy = createQdrantCopy({ ...location, client, clock })
          const index = createQdrantIndex({ vectors: store.vectors, copy, store, clock })
          const missing = await index.listMissing(1000)
          await index.write(
            SPACE,
            missing.map((chunk) => ({ ...chunk, vector: countLetters(chunk.text) })),
          )
          expect(copy.problem).toBeNull()
          for (const [chunkFilter, question, limit] of questions) {
            const query = countLetters(question)
            const nearest = await index.nearest(query, limit, chunkFilter)
            // Only the SQLite store returns the number of a chunk.
            const all = (await store.vectors.nearest(query, 1000, chunkFilter)).map(({ number: _, ...chunk }) => chunk)
            // Chunks of equal similarity may come in any order.
            expect(nearest.map(({ similarity }) => similarity)).toEqual(
              all.slice(0, limit).map(({ similarity }) => similarity),
            )
            expect(all).toEqual(expect.arrayContaining(nearest))
            expect(new Set(nearest.map(({ chunkId }) => chunkId)).size).toBe(nearest.length)
            found += nearest.length
          }
        },
      ),
      { numRuns: isLong ? 6 : 3 },
    )
    expect(stage.server.count('POST /collections/:name/points/query')).toBeGreaterThan(100)
    expect(found).toBeGreaterThan(100)
  })

  test('leave to the store all conditions that Qdrant cannot compare as values', () => {
    const chunkFilter = { kind: 'go', contentType: 'code', language: 'EN' } as const
    const { filter: qdrantFilter, postFilter } = splitFilter(POINTS, chunkFilter)
    expect(postFilter).toBeUndefined()
    expect(qdrantFilter.must).toEqual([
      { key: 'library_id', match: { value: 'one' } },
      { key: 'vector_space', match: { value: 'f' } },
      { key: 'source_id', match: { any: ['a'] } },
      { key: 'kind', match: { value: 'go' } },
      { key: 'content_type', match: { value: 'code' } },
      { key: 'languages', match: { value: 'en' } },
    ])
    expect(splitFilter(POINTS, { heading: 'install' }).postFilter).toBeDefined()
  })

  test('match a language by its own tag and all of its parent tags', () => {
    expect(languagesOf('de-CH-1996')).toEqual(['de', 'de-ch', 'de-ch-1996'])
    expect(languagesOf(null)).toEqual([])
  })
})
