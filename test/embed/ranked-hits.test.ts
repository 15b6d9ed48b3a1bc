import { describe, expect, test } from 'vitest'
import type { Library } from '../../src/library/library.ts'
import type { Embedder, VectorSpace, VectorStore } from '../../src/library/ports/vectors.ts'
import { type RankedQuery, rankHits } from '../../src/library/search/ranked-hits.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { addSourceTo, writePage } from './filled-store.ts'

const SPACE: VectorSpace = { model: 'topics', fingerprint: 't'.repeat(64), dimensions: 4 }
/** The fake embedder knows only these topics. */
const TOPICS = [/boat|ship|harbour/gi, /lamp|light/gi, /rain|storm/gi]

/** The vector of a text counts its topics; a text without any is far from the others. */
function embedTopics(text: string): Float32Array {
  const counts = TOPICS.map((topic) => text.match(topic)?.length ?? 0)
  const vector = Float32Array.of(...counts, counts.every((count) => count === 0) ? 1 : 0)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const PAGES = {
  '/harbour': 'Every ship waits in the harbour.',
  '/lamp': 'The lamp is lit at dusk.',
  '/weather': 'Rain and storm come from the west.',
  '/words': 'A glossary of words.',
}

interface Fixture {
  readonly store: VectorStore
  readonly library: Library
}

/** A library of four pages; those in `embedded` have vectors. */
async function createFixture(
  embedded: readonly string[] = Object.keys(PAGES),
  overrides: Partial<Library> = {},
): Promise<Fixture> {
  const store = createMemoryStore()
  for (const source of ['docs', 'more']) await addSourceTo(store, source)
  for (const [path, text] of Object.entries(PAGES)) {
    const [chunkId = ''] = await writePage(store, path === '/harbour' ? 'more' : 'docs', path, text, { title: 'Page' })
    if (!embedded.includes(path)) continue
    const sourceId = path === '/harbour' ? 'more' : 'docs'
    await store.vectors.write(SPACE, [{ sourceId, chunkId, vector: embedTopics(text) }])
  }
  const embedder: Embedder = {
    space: SPACE,
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      return texts.map(embedTopics)
    },
    close: async () => {},
  }
  // Ranking uses only these members of a library.
  const members = { store, vectors: store.vectors, openEmbedder: async () => embedder, ...overrides }
  const library = members as unknown as Library
  return { store, library }
}

const createQuery = (query: string, overrides: Partial<RankedQuery> = {}): RankedQuery => ({
  query,
  filter: {},
  fusion: 'convex',
  explain: false,
  ...overrides,
})
const rank = (library: Library, query: RankedQuery) => rankHits(library, query, 0)
const pathsOf = ({ hits }: Awaited<ReturnType<typeof rank>>) => hits.map(({ url }) => new URL(url).pathname)

describe('hits by words and meaning', () => {
  test('include passages that share only the meaning of the query, and no unrelated ones', async () => {
    const { library } = await createFixture()
    const ranked = await rank(library, createQuery('boat'))
    expect(pathsOf(ranked)).toEqual(['/harbour'])
    expect(ranked).toMatchObject({ engines: ['words', 'vectors'], notices: [] })
    expect(pathsOf(await rank(library, createQuery('nothing of that')))).toEqual(['/words'])
    expect(pathsOf(await rank(library, createQuery('boat', { fusion: 'words' })))).toEqual([])
  })

  test('satisfy the filter, whether found by words or by meaning', async () => {
    const { library } = await createFixture()
    expect(pathsOf(await rank(library, createQuery('boat', { filter: { sourceIds: ['docs'] } })))).toEqual([])
    expect(pathsOf(await rank(library, createQuery('boat', { filter: { path: '/harbour' } })))).toEqual(['/harbour'])
    expect(pathsOf(await rank(library, createQuery('boat', { filter: { language: 'fr' } })))).toEqual([])
  })

  test('explain each score', async () => {
    const { library } = await createFixture()
    const { hits } = await rank(library, createQuery('lamp', { explain: true }))
    const [first] = hits
    expect(first?.explanation).toMatchObject({
      words: { parts: [{ word: 'lamp', fields: { body: 1 }, terms: ['lamp'], documents: 1 }], pairs: 0 },
      similarity: expect.closeTo(1, 2),
      fusion: '0.60 × words 0.32 + 0.40 × meaning 1.00',
    })
    const { wordScore = 0, words, pageBonus = 0 } = first?.explanation ?? {}
    expect(words?.parts[0]?.score).toBeCloseTo(wordScore, 10)
    expect(first?.score).toBeCloseTo(0.6 * wordScore + 0.4 + pageBonus, 5)
  })

  test('include the passage nearest in meaning, however many hits the words have', async () => {
    const { store, library } = await createFixture()
    for (let i = 0; i < 12; i++) await writePage(store, 'docs', `/fitting-${i}`, `Notes on fitting number ${i}.`)
    const query = 'fitting a boat'
    const byWords = pathsOf(await rank(library, createQuery(query, { fusion: 'words' })))
    expect(byWords).toHaveLength(12)
    expect(byWords).not.toContain('/harbour')
    const { hits } = await rank(library, createQuery(query, { explain: true }))
    expect(hits).toHaveLength(13)
    const near = hits.find(({ url }) => new URL(url).pathname === '/harbour')
    expect(near?.score).toBeCloseTo(0.4, 5)
    expect(near?.explanation).toMatchObject({
      words: null,
      wordScore: 0,
      fusion: '0.60 × words 0.00 + 0.40 × meaning 1.00',
    })
  })

  test('add shares of the word scores of the whole page and of its next three hits to its best hit', async () => {
    const { store, library } = await createFixture()
    const texts = Array.from({ length: 5 }, (_, i) => `Rain${' and wind'.repeat(i)}.`)
    const chunkIds = await writePage(store, 'docs', '/rain', texts.join('\n---\n'))
    const vector = embedTopics('rain')
    await store.vectors.write(
      SPACE,
      chunkIds.map((chunkId) => ({ sourceId: 'docs', chunkId, vector })),
    )
    const { hits } = await rank(library, createQuery('rain', { explain: true }))
    const pageHits = hits.filter(({ url }) => new URL(url).pathname === '/rain')
    expect(pageHits).toHaveLength(5)
    const [best, second, third, fourth, fifth] = pageHits
    const { wordScore = 0, similarity, pageBonus = 0 } = best?.explanation ?? {}
    expect(similarity).toBeCloseTo(1, 2)
    expect(best?.pageScore).toBeGreaterThan(0)
    const nextWordScores = [second, third, fourth].map((hit) => hit?.explanation?.wordScore ?? 0)
    const support = nextWordScores.reduce((sum, score) => sum + score, 0)
    expect(pageBonus).toBeCloseTo(0.4 * (best?.pageScore ?? 0) + 0.06 * support, 10)
    expect(best?.score).toBeCloseTo(0.6 * wordScore + 0.4 + pageBonus, 5)
    expect([second, third, fourth, fifth].map((hit) => hit?.explanation?.pageBonus)).toEqual([0, 0, 0, 0])
  })

  test('come with a notice about chunks without vectors, which are ranked by words', async () => {
    const { library } = await createFixture(['/weather', '/words'])
    const ranked = await rank(library, createQuery('the lamp', { explain: true }))
    expect(pathsOf(ranked)[0]).toBe('/lamp')
    expect(ranked.hits[0]?.explanation).toMatchObject({ similarity: null })
    expect(ranked.notices).toEqual(['2 of 4 passages can be found by meaning, the others by words'])
  })
})

describe('fallback to words', () => {
  test.each<[string, Partial<Library>, string]>([
    ['where there is no model', { openEmbedder: async () => undefined }, 'topics, which is not configured here'],
    [
      'where another model is configured',
      {
        openEmbedder: async () => ({
          space: { ...SPACE, model: 'other', fingerprint: 'o'.repeat(64) },
          embed: async () => [],
          close: async () => {},
        }),
      },
      'another model (topics) than the built-in one (other)',
    ],
    [
      'where the model fails',
      {
        openEmbedder: async () => ({
          space: SPACE,
          embed: () => Promise.reject(new Error('no such symbol')),
          close: async () => {},
        }),
      },
      'the model cannot be used: no such symbol',
    ],
    [
      'where the model cannot be opened',
      { openEmbedder: () => Promise.reject(new Error('gone')) },
      'the model cannot be used: gone',
    ],
  ])('only words are searched, with a notice, %s', async (_where, overrides, notice) => {
    const { library } = await createFixture(undefined, overrides)
    const ranked = await rank(library, createQuery('lamp'))
    expect(pathsOf(ranked)).toEqual(['/lamp'])
    expect(ranked.engines).toEqual(['words'])
    expect(ranked.notices.join()).toContain(notice)
  })

  test('a search for the nearest vectors that times out is left out, and other hits are still ranked by meaning', async () => {
    const { store, library } = await createFixture()
    const vectors = { ...store.vectors, nearest: () => new Promise<never>(() => undefined) }
    const ranked = await rank({ ...library, vectors } as Library, createQuery('lamp'))
    expect(pathsOf(ranked)).toEqual(['/lamp'])
    expect(ranked).toMatchObject({
      engines: ['words', 'vectors'],
      notices: ['search by meaning took longer than 3 s and was left out'],
    })
  })

  test('an incomplete copy of the vectors causes a notice', async () => {
    const vectorCopy = { location: 'http://a.test (docs)', problem: 'it has 1 of 4 vectors' }
    const { library } = await createFixture(undefined, { vectorCopy } as unknown as Partial<Library>)
    const { engines, notices } = await rank(library, createQuery('lamp'))
    expect({ engines, notices }).toEqual({
      engines: ['words', 'vectors'],
      notices: [
        'the vector copy at http://a.test (docs) was not used: it has 1 of 4 vectors; the library was searched instead',
      ],
    })
  })

  test('vectors that cannot be compared leave only the words, with a notice', async () => {
    const { store, library } = await createFixture()
    const vectors = { ...store.vectors, compare: () => Promise.reject(new Error('a bad page')) }
    const ranked = await rank({ ...library, vectors } as Library, createQuery('lamp'))
    expect(pathsOf(ranked)).toEqual(['/lamp'])
    expect(ranked).toMatchObject({
      engines: ['words'],
      notices: ['the vectors cannot be used: a bad page; answered by words alone'],
    })
  })

  test('a library without any vectors causes no notice', async () => {
    const { library } = await createFixture([])
    expect(await rank(library, createQuery('lamp'))).toMatchObject({ engines: ['words'], notices: [] })
  })

  test('an aborted search is rejected', async () => {
    const { library } = await createFixture()
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(rankHits(library, createQuery('lamp'), 0, aborted)).rejects.toThrow('enough')
  })
})
