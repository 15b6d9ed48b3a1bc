import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Page } from '../../src/core/model.ts'
import type { ChunkFilter } from '../../src/library/ports/store.ts'
import type { ChunkRef, VectorSpace, VectorStore } from '../../src/library/ports/vectors.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { addSourceTo, recordOf, writePage } from '../embed/filled-store.ts'

const SPACE: VectorSpace = { model: 'four', fingerprint: 'f'.repeat(64), dimensions: 4 }
const OTHER: VectorSpace = { model: 'other', fingerprint: '0'.repeat(64), dimensions: 4 }
const NORTH = Float32Array.of(1, 0, 0, 0)
const EAST = Float32Array.of(0, 1, 0, 0)
/** Between NORTH and EAST, nearer to NORTH. */
const NORTH_EAST = Float32Array.of(0.8, 0.6, 0, 0)

/** Settles a page of `docs` as unchanged with other metadata. */
async function storeAgain(store: VectorStore, path: string, text: string, changes: Partial<Page>): Promise<void> {
  const url = `https://docs.test${path}`
  const crawlId = `crawl after ${path}, ${JSON.stringify(changes)}`
  const find = { key: url, url, host: 'docs.test', depth: 1, foundOn: null, discovery: 'link', refusal: null } as const
  await store.offer('docs', crawlId, [find], 10)
  const request = { sourceId: 'docs', limit: 1, now: 20, until: 1000, horizon: 1_000_000, isBreadthFirst: false }
  const [visit] = await store.lease(request)
  if (visit === undefined) throw new Error(`${url} was not leased`)
  const { page, ...record } = recordOf(url, text, {})
  const settled = {
    visit,
    crawlId,
    now: 30,
    state: 'unchanged',
    record: { ...record, page: { ...page, ...changes } },
  } as const
  expect(await store.settle(settled)).toMatchObject({ state: 'unchanged' })
}

/** Changes to the metadata of a page that a copy of its vectors contains. */
const COPIED_FACTS: Readonly<Record<string, Partial<Page>>> = {
  title: { title: 'Another' },
  description: { description: 'New' },
  language: { language: 'de' },
  date: { modifiedAt: '2026-01-01T00:00:00.000Z' },
  'number of links': linkTo('/b'),
}

function linkTo(path: string): Pick<Page, 'links'> {
  return { links: [{ url: `https://docs.test${path}`, text: path, rel: [], isContent: true }] }
}

/** Contract of the vectors of every store. Each test opens its own library. */
export function describeVectors(open: () => Promise<VectorStore>): void {
  let store: VectorStore

  beforeEach(async () => {
    store = await open()
    await addSourceTo(store, 'docs')
  })
  afterEach(() => store.close())

  const write = (sourceId: string, chunkId: string | undefined, vector: Float32Array, space = SPACE) =>
    store.vectors.write(space, [{ sourceId, chunkId: chunkId ?? '', vector }])
  const missing = async (limit = 100, sourceIds?: readonly string[]) =>
    new Set((await store.vectors.listMissing(limit, sourceIds)).map(({ chunkId }) => chunkId))

  test('are missing at first, listed with the language and the text to embed: title, headings, content without addresses', async () => {
    const content = '# Lights\n\nSee [the tower](https://docs.test/tower "Tower") and ![it](a(b).png).'
    const [id] = await writePage(store, 'docs', '/a', content, { title: 'Guide', headingPath: ['Guide', 'Lights'] })
    expect(await store.vectors.readSpace()).toBeUndefined()
    expect(await store.vectors.listMissing(10)).toEqual([
      { sourceId: 'docs', chunkId: id, text: 'Guide\nLights\n# Lights\n\nSee [the tower] and ![it].', language: 'en' },
    ])
    await writePage(store, 'docs', '/de', 'Licht', { language: 'de' })
    const languages = (await store.vectors.listMissing(10)).map(({ language }) => language)
    expect(new Set(languages)).toEqual(new Set(['de', 'en']))
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 2, refused: 0 })
  })

  test('are marked as copied per copy, until they are rewritten or removed', async () => {
    await addSourceTo(store, 'more')
    const [first, second] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
    const [third] = await writePage(store, 'more', '/b', 'three')
    const refOf = (chunkId: string | undefined, sourceId = 'docs') => ({ sourceId, chunkId: chunkId ?? '' })
    const count = (location = 'here') => store.vectors.countUncopied(location)
    expect(await count()).toBe(0)
    await write('docs', first, NORTH)
    await write('docs', second, EAST)
    await write('more', third, EAST)
    expect(await count()).toBe(3)
    await store.vectors.markCopied('here', SPACE, [refOf(first), refOf(third, 'more'), refOf(first, 'nobody')])
    expect(await count()).toBe(1)
    expect(await count('there')).toBe(3)
    // Chunks without a vector, or with one of another space, cannot have been copied.
    const [bare] = await writePage(store, 'docs', '/bare', 'four')
    await store.vectors.markCopied('here', SPACE, [refOf(bare)])
    await store.vectors.markCopied('here', OTHER, [refOf(second)])
    expect(await count()).toBe(1)
    await write('docs', first, EAST)
    expect(await count()).toBe(2)
    await store.vectors.markCopied('here', SPACE, [refOf(first), refOf(second)])
    expect(await count()).toBe(0)
    await store.removeSource('more')
    expect(await count()).toBe(0)
    await store.vectors.markCopied('there', SPACE, [refOf(second)])
    expect([await count('there'), await count()]).toEqual([1, 2])
    await store.vectors.replaceSpace(OTHER)
    await write('docs', second, EAST, OTHER)
    expect(await count('there')).toBe(1)
  })

  test.each(Object.entries(COPIED_FACTS))(
    'are no longer marked as copied once their page has another %s',
    async (_fact, changes) => {
      const [first = '', second = ''] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
      const [other = ''] = await writePage(store, 'docs', '/b', 'three')
      for (const id of [first, second, other]) await write('docs', id, NORTH)
      const refs = [first, second, other].map((chunkId) => ({ sourceId: 'docs', chunkId }))
      await store.vectors.markCopied('here', SPACE, refs)
      await storeAgain(store, '/a', 'one\n---\ntwo', changes)
      const { embedded } = await store.vectors.count()
      expect(embedded - (await store.vectors.countUncopied('here'))).toBe(1)
    },
  )

  test('belong to a library with a unique id', async () => {
    const other = await open()
    const ids = [await store.vectors.readLibraryId(), await other.vectors.readLibraryId()]
    await other.close()
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)])
    expect(new Set(ids).size).toBe(2)
    expect(await store.vectors.readLibraryId()).toBe(ids[0])
  })

  test('are listed as missing up to a limit, and by source', async () => {
    await addSourceTo(store, 'more')
    const docs = await writePage(store, 'docs', '/a', 'one\n---\ntwo\n---\nthree')
    const more = await writePage(store, 'more', '/b', 'four')
    expect(await missing()).toEqual(new Set([...docs, ...more]))
    expect((await missing(2)).size).toBe(2)
    expect(await missing(100, ['more'])).toEqual(new Set(more))
    expect(await missing(100, [])).toEqual(new Set())
    expect(await store.vectors.count(['docs'])).toEqual({ embedded: 0, chunks: 3, refused: 0 })
  })

  test('are listed as missing from a cursor on, so that each is seen once', async () => {
    await addSourceTo(store, 'more')
    const parts = Array.from({ length: 9 }, (_, i) => `part ${i}`)
    const docs = await writePage(store, 'docs', '/a', parts.join('\n---\n'))
    const more = await writePage(store, 'more', '/b', 'four\n---\nfive')
    const seen: string[] = []
    let after: ChunkRef | undefined
    do {
      const some = await store.vectors.listMissing(2, undefined, after)
      // A vector that is written in between does not affect the following chunks.
      if (seen.length === 4) await write('docs', some[0]?.chunkId, NORTH)
      seen.push(...some.map(({ chunkId }) => chunkId))
      after = some.at(-1)
    } while (after !== undefined)
    expect(seen).toHaveLength(11)
    expect(new Set(seen)).toEqual(new Set([...docs, ...more]))
    expect(await store.vectors.listMissing(9, ['nobody'], { sourceId: 'docs', chunkId: docs[0] ?? '' })).toEqual([])
  })

  test('are made by one process at a time, as long as it renews its lease', async () => {
    const { vectors } = store
    expect(await vectors.lease('one', 1000, 500)).toBe(true)
    expect(await vectors.lease('two', 1100, 500)).toBe(false)
    expect(await vectors.lease('one', 1400, 500)).toBe(true)
    expect(await vectors.lease('two', 1899, 500)).toBe(false)
    expect(await vectors.lease('two', 1900, 500)).toBe(true)
    expect(await vectors.lease('one', 2000, 500)).toBe(false)
    expect(await vectors.lease('two', 2000, 0)).toBe(true)
    expect(await vectors.lease('one', 2000, 500)).toBe(true)
  })

  test('exist once they are written, and set their space', async () => {
    const [first, second] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
    await write('docs', first, NORTH)
    expect(await missing()).toEqual(new Set([second]))
    expect(await store.vectors.readSpace()).toEqual(SPACE)
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 2, refused: 0 })
    expect(await store.vectors.count(['docs'])).toEqual({ embedded: 1, chunks: 2, refused: 0 })
  })

  test('are compared with a query, and missing ones are not', async () => {
    const [first, second] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
    await write('docs', first, NORTH_EAST)
    const refs = [second, first, 'nobody'].map((chunkId) => ({ sourceId: 'docs', chunkId: chunkId ?? '' }))
    const unknown = { sourceId: 'nobody', chunkId: first ?? '' }
    const [none, near, ...others] = await store.vectors.compare(NORTH, [...refs, unknown])
    expect([none, ...others]).toEqual([null, null, null])
    expect(near).toBeCloseTo(0.8, 2)
  })

  test('are replaced when they are written again', async () => {
    const [id = ''] = await writePage(store, 'docs', '/a', 'one')
    await write('docs', id, NORTH)
    await write('docs', id, EAST)
    expect(await store.vectors.compare(NORTH, [{ sourceId: 'docs', chunkId: id }])).toEqual([0])
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 1, refused: 0 })
  })

  test('are all refused if one of the batch is invalid', async () => {
    const [first = '', second = ''] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
    const bad = [Float32Array.of(0, 0, 0, 0), Float32Array.of(1, 0, 0), Float32Array.of(Number.NaN, 1, 0, 0)]
    for (const vector of [...bad, Float32Array.of(2, 0, 0, 0), Float32Array.of(0.5, 0.5, 0.5, 0.5)]) {
      const batch = [
        { sourceId: 'docs', chunkId: first, vector: NORTH },
        { sourceId: 'docs', chunkId: second, vector },
      ]
      await expect(store.vectors.write(SPACE, batch)).rejects.toMatchObject({
        code: 'VECTOR_INVALID',
        details: { chunk: second },
      })
    }
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 2, refused: 0 })
    expect(await store.vectors.readSpace()).toBeUndefined()
  })

  test('are refused in another space, or replace all others on request', async () => {
    const [first, second] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
    await write('docs', first, NORTH)
    await expect(write('docs', second, EAST, OTHER)).rejects.toMatchObject({ code: 'VECTOR_SPACE_OTHER' })
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 2, refused: 0 })
    await store.vectors.replaceSpace(OTHER)
    expect(await store.vectors.readSpace()).toEqual(OTHER)
    expect(await missing()).toEqual(new Set([first, second]))
    await write('docs', second, EAST, OTHER)
    await expect(write('docs', first, NORTH)).rejects.toMatchObject({ code: 'VECTOR_SPACE_OTHER' })
    // A later process with the same space removes nothing.
    await store.vectors.replaceSpace(OTHER)
    expect(await missing()).toEqual(new Set([first]))
    // The crawled content is unchanged.
    expect(await store.countContent('docs')).toEqual({ pages: 1, chunks: 2 })
  })

  test('are removed with their chunk when its page is rewritten', async () => {
    const [id] = await writePage(store, 'docs', '/a', 'one')
    await write('docs', id, NORTH)
    const [changed] = await writePage(store, 'docs', '/a', 'other words')
    expect(await missing()).toEqual(new Set([changed]))
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 1, refused: 0 })
    expect(await store.vectors.nearest(NORTH, 10)).toEqual([])
  })

  test('are removed with their source, and those of others stay', async () => {
    await addSourceTo(store, 'more')
    const [gone] = await writePage(store, 'docs', '/a', 'one')
    const [kept] = await writePage(store, 'more', '/b', 'two')
    await write('docs', gone, NORTH)
    await write('more', kept, EAST)
    await store.removeSource('docs')
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 1, refused: 0 })
    expect((await store.vectors.nearest(NORTH, 10)).map(({ chunkId }) => chunkId)).toEqual([kept])
  })

  test('are not stored for chunks that were removed meanwhile', async () => {
    await writePage(store, 'docs', '/a', 'one')
    await write('docs', 'nobody', NORTH)
    await write('nobody', 'nobody', NORTH)
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 1, refused: 0 })
  })

  describe('that the model refuses', () => {
    const refuse = (sourceId: string, chunkId = '', problem = 'too long', space = SPACE) =>
      store.vectors.refuse(space, [{ sourceId, chunkId, problem }])
    const refused = async (limit = 100, sourceIds?: readonly string[]) =>
      new Map((await store.vectors.listRefused(limit, sourceIds)).map(({ chunkId, problem }) => [chunkId, problem]))

    test('are not missing any more, and the reason is stored', async () => {
      const [first = '', second = ''] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
      await refuse('docs', first)
      expect(await missing()).toEqual(new Set([second]))
      expect(await store.vectors.listRefused(10)).toEqual([{ sourceId: 'docs', chunkId: first, problem: 'too long' }])
      expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 2, refused: 1 })
      expect(await store.vectors.readSpace()).toEqual(SPACE)
      await refuse('docs', first, 'no words')
      expect(await refused()).toEqual(new Map([[first, 'no words']]))
    })

    test('are listed up to a limit and by source, and reset by source', async () => {
      await addSourceTo(store, 'more')
      const docs = await writePage(store, 'docs', '/a', 'one\n---\ntwo\n---\nthree')
      const [more = ''] = await writePage(store, 'more', '/b', 'four')
      for (const id of docs) await refuse('docs', id)
      await refuse('more', more)
      expect((await refused(2)).size).toBe(2)
      expect((await refused(100, ['docs'])).size).toBe(3)
      expect(await refused(100, [])).toEqual(new Map())
      expect(await store.vectors.count(['more'])).toEqual({ embedded: 0, chunks: 1, refused: 1 })
      await store.vectors.forgetRefused(['docs'])
      expect([...(await refused()).keys()]).toEqual([more])
      expect(await missing()).toEqual(new Set(docs))
      await store.vectors.forgetRefused()
      expect(await missing()).toEqual(new Set([...docs, more]))
    })

    test('are stored if a process makes them later', async () => {
      const [first = '', second = ''] = await writePage(store, 'docs', '/a', 'one\n---\ntwo')
      await refuse('docs', first)
      await write('docs', first, NORTH)
      expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 2, refused: 0 })
      // A slower process reports that the vector cannot be made.
      await refuse('docs', first)
      expect(await refused()).toEqual(new Map())
      expect(await missing()).toEqual(new Set([second]))
    })

    test('are retried with another model, and not recorded for another space', async () => {
      const [id = ''] = await writePage(store, 'docs', '/a', 'one')
      await refuse('docs', id)
      await expect(refuse('docs', id, 'other', OTHER)).rejects.toMatchObject({ code: 'VECTOR_SPACE_OTHER' })
      expect(await refused()).toEqual(new Map([[id, 'too long']]))
      await store.vectors.replaceSpace(OTHER)
      expect(await refused()).toEqual(new Map())
      expect(await missing()).toEqual(new Set([id]))
    })

    test('are removed with their chunk, and with their source', async () => {
      await addSourceTo(store, 'more')
      const [id] = await writePage(store, 'docs', '/a', 'one')
      const [more] = await writePage(store, 'more', '/b', 'two')
      await refuse('docs', id)
      await refuse('more', more)
      await refuse('docs', 'nobody')
      await refuse('nobody', 'nobody')
      const [changed] = await writePage(store, 'docs', '/a', 'other words')
      expect(await missing()).toEqual(new Set([changed]))
      expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 2, refused: 1 })
      await store.removeSource('more')
      expect(await refused()).toEqual(new Map())
    })

    test('do not affect word search', async () => {
      const [id = ''] = await writePage(store, 'docs', '/a', 'a quarantined lighthouse')
      await refuse('docs', id)
      const [hit] = await searchHits(store, { query: 'lighthouse', limit: 5 })
      expect(hit).toMatchObject({ sourceId: 'docs', chunk: { id } })
    })
  })

  test('are listed as stored, from a cursor on, in the order of missing ones', async () => {
    await addSourceTo(store, 'more')
    const docs = await writePage(store, 'docs', '/a', 'one\n---\ntwo\n---\nthree\n---\nfour\n---\nfive')
    const more = await writePage(store, 'more', '/b', 'six\n---\nseven')
    const order = (await store.vectors.listMissing(100)).map(({ chunkId }) => chunkId)
    for (const id of docs.slice(1)) await write('docs', id, NORTH_EAST)
    for (const id of more) await write('more', id, EAST)
    const seen: string[] = []
    let after: ChunkRef | undefined
    for (;;) {
      const some = await store.vectors.list(2, after)
      if (some.length === 0) break
      for (const { vector } of some) expect(Math.hypot(...vector)).toBeCloseTo(1, 2)
      seen.push(...some.map(({ chunkId }) => chunkId))
      after = some.at(-1)
    }
    expect(seen).toEqual(order.filter((id) => id !== docs[0]))
    const [one] = await store.vectors.list(1, undefined, ['more'])
    expect(one).toEqual({ sourceId: 'more', chunkId: expect.any(String), vector: expect.any(Float32Array) })
    expect([...(one?.vector ?? [])]).toEqual([0, expect.closeTo(1, 5), 0, 0])
    expect(await store.vectors.list(9, undefined, [])).toEqual([])
    expect(await store.vectors.list(9, undefined, ['nobody'])).toEqual([])
  })

  describe('that are nearest', () => testNearest(() => store))
}

/** Contract of nearest-neighbor search in a library with an empty source. Each test opens its own library. */
export function describeNearest(open: () => Promise<VectorStore>): void {
  let store: VectorStore

  beforeEach(async () => {
    store = await open()
    await addSourceTo(store, 'docs')
  })
  afterEach(() => store.close())
  testNearest(() => store)
}

function testNearest(store: () => VectorStore): void {
  const write = (sourceId: string, chunkId: string | undefined, vector: Float32Array) =>
    store().vectors.write(SPACE, [{ sourceId, chunkId: chunkId ?? '', vector }])

  test('are sorted by similarity, up to a limit', async () => {
    const [a, b, c, d] = await writePage(store(), 'docs', '/a', 'one\n---\ntwo\n---\nthree\n---\nfour')
    await write('docs', a, EAST)
    await write('docs', b, NORTH)
    await write('docs', c, NORTH_EAST)
    const found = await store().vectors.nearest(NORTH, 2)
    expect(found.map(({ chunkId }) => chunkId)).toEqual([b, c])
    expect(found.map(({ similarity }) => similarity)).toEqual([expect.closeTo(1, 2), expect.closeTo(0.8, 2)])
    expect((await store().vectors.nearest(NORTH, 10)).map(({ chunkId }) => chunkId)).toEqual([b, c, a])
    expect(d).toBeDefined()
  })

  test('are current at every query', async () => {
    const nearest = async () => (await store().vectors.nearest(NORTH, 10)).map(({ chunkId }) => chunkId)
    expect(await nearest()).toEqual([])
    const [first] = await writePage(store(), 'docs', '/a', 'one')
    const [second] = await writePage(store(), 'docs', '/b', 'two')
    await write('docs', second, EAST)
    expect(await nearest()).toEqual([second])
    await write('docs', first, NORTH)
    expect(await nearest()).toEqual([first, second])
    await write('docs', second, NORTH)
    await write('docs', first, EAST)
    expect(await nearest()).toEqual([second, first])
    await writePage(store(), 'docs', '/b', 'other words')
    expect(await nearest()).toEqual([first])
    await store().vectors.replaceSpace({ ...OTHER, dimensions: 3 })
    expect(await nearest()).toEqual([])
    const three = [{ sourceId: 'docs', chunkId: first ?? '', vector: Float32Array.of(0, 1, 0) }]
    await store().vectors.write({ ...OTHER, dimensions: 3 }, three)
    const [found] = await store().vectors.nearest(Float32Array.of(0, 0.6, 0.8), 10)
    expect(found).toMatchObject({ chunkId: first, similarity: expect.closeTo(0.6, 2) })
  })

  test('match every filter', async () => {
    await addSourceTo(store(), 'more')
    const [prose] = await writePage(store(), 'docs', '/guide/a', 'just words', { headingPath: ['Install', 'On Linux'] })
    const [code] = await writePage(store(), 'docs', '/api/b', '```c\nint x;\nint y;\n```', { language: 'de' })
    const [symbol] = await writePage(store(), 'more', '/api/c', '`json.dump(obj)`\n\nWrites it.')
    const all = { docs: [prose, code], more: [symbol] }
    for (const [sourceId, ids] of Object.entries(all)) for (const id of ids) await write(sourceId, id, NORTH)
    const found = async (filter: ChunkFilter) =>
      new Set((await store().vectors.nearest(NORTH, 10, filter)).map(({ chunkId }) => chunkId))
    expect(await found({})).toEqual(new Set([prose, code, symbol]))
    expect(await found({ sourceIds: ['more'] })).toEqual(new Set([symbol]))
    expect(await found({ sourceIds: [] })).toEqual(new Set())
    expect(await found({ path: '/api' })).toEqual(new Set([code, symbol]))
    expect(await found({ path: '/api/**', sourceIds: ['docs'] })).toEqual(new Set([code]))
    expect(await found({ heading: 'install/on-linux' })).toEqual(new Set([prose]))
    expect(await found({ symbol: 'json.d' })).toEqual(new Set([symbol]))
    expect(await found({ contentType: 'code' })).toEqual(new Set([code]))
    expect(await found({ language: 'de' })).toEqual(new Set([code]))
    expect(await found({ kind: 'json' })).toEqual(new Set())
  })
}

/** Contract of stores whose library other processes can open too. */
export function describeSharedVectors(
  createLocation: () => Promise<string>,
  openAt: (location: string) => Promise<VectorStore>,
): void {
  test('are the same when the library is opened again, and visible to other processes at once', async () => {
    const location = await createLocation()
    const first = await openAt(location)
    const second = await openAt(location)
    await addSourceTo(first, 'docs')
    const [id = ''] = await writePage(first, 'docs', '/a', 'one')
    expect(await second.vectors.count()).toEqual({ embedded: 0, chunks: 1, refused: 0 })
    await first.vectors.refuse(SPACE, [{ sourceId: 'docs', chunkId: id, problem: 'no words' }])
    expect(await second.vectors.count()).toEqual({ embedded: 0, chunks: 1, refused: 1 })
    await first.vectors.write(SPACE, [{ sourceId: 'docs', chunkId: id, vector: NORTH }])
    expect(await second.vectors.count()).toEqual({ embedded: 1, chunks: 1, refused: 0 })
    await first.close()
    await second.close()
    const third = await openAt(location)
    expect(await third.vectors.readSpace()).toEqual(SPACE)
    expect(await third.vectors.compare(NORTH, [{ sourceId: 'docs', chunkId: id }])).toEqual([expect.closeTo(1, 2)])
    await third.close()
  })

  test('stay copied if no metadata that a copy contains has changed', async () => {
    const store = await openAt(await createLocation())
    await addSourceTo(store, 'docs')
    const [id = ''] = await writePage(store, 'docs', '/a', 'one')
    await store.vectors.write(SPACE, [{ sourceId: 'docs', chunkId: id, vector: NORTH }])
    await store.vectors.markCopied('here', SPACE, [{ sourceId: 'docs', chunkId: id }])
    await storeAgain(store, '/a', 'one', { generator: 'another' })
    expect(await store.vectors.countUncopied('here')).toBe(0)
    await storeAgain(store, '/a', 'one', linkTo('/b'))
    await store.vectors.markCopied('here', SPACE, [{ sourceId: 'docs', chunkId: id }])
    // A copy contains the number of links, not their targets.
    await storeAgain(store, '/a', 'one', linkTo('/c'))
    expect(await store.vectors.countUncopied('here')).toBe(0)
    await store.close()
  })
}
