import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createQdrantCopy, type QdrantCopy } from '../../src/embed/qdrant-copy.ts'
import { createQdrantIndex } from '../../src/embed/qdrant-index.ts'
import { type SyncProgress, syncVectors } from '../../src/library/embed/sync-vectors.ts'
import type { ChunkRef, VectorIndex, VectorSpace, VectorStore } from '../../src/library/ports/vectors.ts'
import { until } from '../e2e/server.ts'
import { addSourceTo, recordOf, writePage } from '../embed/filled-store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { countLetters, openQdrantFixture, type QdrantFixture, SPACE } from './qdrant-fixture.ts'
import type { StoredPoint } from './servers/qdrant.ts'

const PUT_POINTS = 'PUT /collections/:name/points'
const QUERY = 'POST /collections/:name/points/query'
const COUNT = 'POST /collections/:name/points/count'
const DELETE_POINTS = 'POST /collections/:name/points/delete'

let stage: QdrantFixture
let store: VectorStore
let copy: QdrantCopy
let index: VectorIndex

beforeEach(async () => {
  stage = await openQdrantFixture()
  store = createMemoryStore()
  await addSourceTo(store, 'docs')
  ;({ copy, index } = openIndex())
})
afterEach(() => stage.close())

interface OpenedCopy {
  readonly copy: QdrantCopy
  readonly index: VectorIndex
}

/** Opens the copy of a library with the given id. */
function openIndex(library = 'one', waits: { readonly searchMs?: number; readonly writeMs?: number } = {}): OpenedCopy {
  const { client, clock, server } = stage
  const opened = createQdrantCopy({ url: server.origin, collection: 'pharos', library, client, clock })
  return { copy: opened, index: createQdrantIndex({ vectors: store.vectors, copy: opened, store, clock, ...waits }) }
}

/** Gives vectors to all chunks that have none. */
async function embedAll(into: VectorIndex = index, space: VectorSpace = SPACE): Promise<void> {
  const missing = await into.listMissing(10_000)
  await into.write(
    space,
    missing.map(({ sourceId, chunkId, text }) => ({ sourceId, chunkId, vector: vectorOf(text, space) })),
  )
}

/** The vector of a text in a space. */
function vectorOf(text: string, { dimensions }: VectorSpace): Float32Array {
  const vector = new Float32Array(dimensions)
  vector.set(countLetters(text).subarray(0, dimensions))
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

async function sync(rebuild = false, signal?: AbortSignal): Promise<SyncProgress | undefined> {
  let last: SyncProgress | undefined
  for await (const progress of syncVectors({ store, vectors: index, copy }, { rebuild }, signal)) last = progress
  return last
}

function countPoints(): number {
  return stage.server.pointsOf('pharos')?.size ?? 0
}

const TEXTS = ['lamp and lens', 'oil and wick', 'tower by the sea', 'fog horn', 'keeper of the light']
const [SEA = ''] = [TEXTS[2]]

async function fill(path = '/a', texts: readonly string[] = TEXTS): Promise<string[]> {
  return writePage(store, 'docs', path, texts.join('\n---\n'))
}

describe('writing vectors', () => {
  test('writes to the store and the copy, with metadata of page, chunk and library as payload', async () => {
    const [first] = await fill()
    await embedAll()
    expect(await store.vectors.count()).toMatchObject({ embedded: 5 })
    const points = [...(stage.server.pointsOf('pharos')?.values() ?? [])]
    expect(points).toHaveLength(5)
    const point = points.find(({ payload }) => payload['chunk_id'] === first)
    expect(point?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(point?.payload).toEqual({
      source: 'https://docs.test/a',
      source_url: 'https://docs.test/a',
      title: 'Title of /a',
      description: '',
      status_code: 200,
      crawl_timestamp: '1970-01-01T00:00:00.003Z',
      internal_links_count: 0,
      external_links_count: 0,
      source_type: 'web_crawl',
      chunk_index: 0,
      chunk_text: 'lamp and lens',
      section_path: 'Heading',
      heading_level: 1,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      source_id: 'docs',
      chunk_id: first,
      page_key: 'https://docs.test/a',
      kind: 'markdown',
      content_type: 'prose',
      languages: ['en'],
      has_symbols: false,
      vector_space: SPACE.fingerprint,
      library_id: 'one',
      copy_mark: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('the point of a chunk from a folder also has the path of its file', async () => {
    const url = 'file:///home/notes/guide/oil.md'
    const record = recordOf(url, 'whale oil', { title: 'Oil' })
    const key = 'guide/oil.md'
    const chunks = record.chunks.map((chunk) => ({ ...chunk, path: key }))
    const find = { key, url, host: '', depth: 0, foundOn: null, discovery: 'link', refusal: null } as const
    await store.adopt({ sourceId: 'docs', crawlId: 'c', now: 3, find, record: { ...record, chunks }, finds: [] })
    await embedAll()
    const [point] = stage.server.pointsOf('pharos')?.values() ?? []
    expect(point?.payload).toMatchObject({
      file_path_relative: 'guide/oil.md',
      filename: 'oil.md',
      modification_date: '1970-01-01T00:00:00.003Z',
      tags: [],
      source_type: 'file',
      status_code: 0,
    })
    const found = await index.nearest(countLetters('whale oil'), 5, { path: '/guide/' })
    expect(found).toHaveLength(1)
  })

  test('vectors are written to the store if the copy fails, and the problem is reported until the copy is in sync', async () => {
    await fill()
    await stage.server.stopListening()
    await embedAll()
    expect(await store.vectors.count()).toMatchObject({ embedded: 5 })
    expect(copy.problem).toMatch(/Qdrant at .* cannot be used/)
    // The store answers the search instead.
    const found = await index.nearest(countLetters(SEA), 2)
    expect(found).toEqual(await store.vectors.nearest(countLetters(SEA), 2))
    await stage.server.resumeListening()
    expect(await sync()).toEqual({ looked: 5, vectors: 5, copied: 5, removed: 0 })
    expect(copy.problem).toBeNull()
    stage.clock.advance(60_000)
    await index.nearest(countLetters(SEA), 2)
    expect(stage.server.count(QUERY)).toBe(1)
  })

  test('a failing copy is tried once, within a time limit', async () => {
    await fill()
    stage.server.setFault('GET /collections/:name', { type: 'answer', status: 503, text: '' })
    await embedAll()
    expect(stage.server.count()).toBe(1)
    expect(stage.clock.pauses).toEqual([])
    expect(copy.problem).toMatch(/answered 503/)
    // Long enough for a request to arrive on a busy machine.
    const hurried = openIndex('one', { writeMs: 300 })
    stage.server.clearFaults()
    stage.server.setFault('GET /collections/:name', { type: 'hang' })
    await fill('/b', ['more'])
    await embedAll(hurried.index)
    expect(hurried.copy.problem).toBe('no answer within 0.3 s')
    expect(await store.vectors.count()).toMatchObject({ embedded: 6 })
    // The copy is not requested again at once, and its problem stays reported.
    await fill('/c', ['still more'])
    await embedAll(hurried.index)
    expect(stage.server.count()).toBe(2)
    expect(hurried.copy.problem).toMatch(/no answer/)
    hurried.copy.setProblem(null)
    await fill('/d', ['even more'])
    await embedAll(hurried.index)
    expect(hurried.copy.problem).toMatch(/skipped after repeated failures/)
    expect(await store.vectors.countUncopied(copy.location)).toBe(8)
  })

  test('an abort stops waiting for a copy that hangs, and keeps the vectors in the store', async () => {
    await fill()
    stage.server.setFault('GET /collections/:name', { type: 'hang' })
    const stop = new AbortController()
    const missing = await index.listMissing(10)
    const written = missing.map((chunk) => ({ ...chunk, vector: countLetters(chunk.text) }))
    const writing = index.write(SPACE, written, stop.signal)
    await until(
      async () => stage.server.count(),
      (count) => count === 1,
    )
    stop.abort(new Error('enough'))
    await writing
    expect(await store.vectors.count()).toMatchObject({ embedded: 5 })
    // An abort says nothing about the service.
    expect(copy.problem).toBeNull()
    stage.server.clearFaults()
    await index.write(SPACE, written)
    expect(countPoints()).toBe(5)
    const abortedSignal = AbortSignal.abort(new Error('enough'))
    await expect(index.nearest(countLetters(SEA), 2, {}, abortedSignal)).rejects.toThrow('enough')
  })

  test('an abort by one caller does not cancel the opening that other callers wait for', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.server.setFault('GET /collections/:name', { type: 'wait', for: promise })
    const hurry = new AbortController()
    const hurried = copy.writeWithoutRetries(SPACE, [], hurry.signal)
    const patient = copy.write(SPACE, [])
    await stage.server.waitForRequests('GET /collections/:name', 1)
    hurry.abort(new Error('enough'))
    await expect(hurried).rejects.toThrow('enough')
    resolve()
    await patient
    expect(stage.server.count('PUT /collections/:name')).toBe(1)
    await expect(copy.write(SPACE, [], hurry.signal)).rejects.toThrow('enough')
  })

  test('the location of the copy does not depend on a slash at the end of its address', async () => {
    const { client, clock, server } = stage
    const options = { collection: 'pharos', library: 'one', client, clock }
    const [plain, slashed] = ['', '/'].map((end) => createQdrantCopy({ ...options, url: `${server.origin}${end}` }))
    expect(slashed?.location).toBe(`${server.origin} (pharos)`)
    expect(plain?.location).toBe(slashed?.location)
  })

  test('chunks that were removed meanwhile are left out', async () => {
    await fill()
    const missing = await index.listMissing(10)
    await store.removeSource('docs')
    await addSourceTo(store, 'docs')
    await index.write(
      SPACE,
      missing.map((chunk) => ({ ...chunk, vector: countLetters(chunk.text) })),
    )
    expect(countPoints()).toBe(0)
    expect(copy.problem).toBeNull()
  })
})

describe('nearest neighbors', () => {
  const idsOf = (found: readonly ChunkRef[]): string[] => found.map(({ chunkId }) => chunkId)

  test('come from the copy, with the similarities of the store', async () => {
    await fill()
    await embedAll()
    const found = await index.nearest(countLetters(SEA), 3)
    expect(stage.server.count(QUERY)).toBe(1)
    expect(found).toEqual(await store.vectors.nearest(countLetters(SEA), 3))
  })

  test('are empty without a query to the copy if there are no vectors, or no known sources', async () => {
    expect(await index.nearest(countLetters(SEA), 3)).toEqual([])
    await fill()
    await embedAll()
    expect(await index.nearest(countLetters(SEA), 3, { sourceIds: [] })).toEqual([])
    expect(await index.nearest(countLetters(SEA), 3, { sourceIds: ['other'] })).toEqual([])
    expect(stage.server.count(QUERY)).toBe(0)
  })

  test('never include removed chunks, nor points of other libraries in the same collection', async () => {
    const ids = await fill('/a')
    await fill('/b', ['lamp and lens and oil'])
    await embedAll()
    const other = createMemoryStore()
    await addSourceTo(other, 'elsewhere')
    await writePage(other, 'elsewhere', '/x', SEA)
    const parts = { vectors: other.vectors, copy: openIndex('two').copy, store: other, clock: stage.clock }
    await embedAll(createQdrantIndex(parts))
    expect(countPoints()).toBe(7)
    expect(await index.nearest(countLetters(SEA), 10)).toHaveLength(6)
    expect(stage.server.count(QUERY)).toBe(1)
    // The page is written again with two of its texts.
    await writePage(store, 'docs', '/a', TEXTS.slice(0, 2).join('\n---\n'))
    await embedAll()
    const found = idsOf(await index.nearest(countLetters(SEA), 10))
    expect(found).toHaveLength(3)
    expect(found).not.toContain(ids[2])
    expect(copy.problem).toContain('it has 3 of 3 vectors, and 3 outdated points; `pharos embed sync`')
    // A sync of this library keeps the points of the other one.
    expect(await sync()).toMatchObject({ copied: 0, removed: 3 })
    expect(countPoints()).toBe(4)
  })

  test('come from the store while the copy fails, and the copy gets no requests during its cool-down', async () => {
    await fill()
    await embedAll()
    const expected = await store.vectors.nearest(countLetters(SEA), 2)
    stage.server.setFault(QUERY, { type: 'answer', status: 500, text: 'broken' })
    for (let i = 0; i < 5; i++) expect(await index.nearest(countLetters(SEA), 2)).toEqual(expected)
    expect(stage.server.count(QUERY)).toBe(1)
    expect(copy.problem).toMatch(/^Qdrant at .+ cannot be used: Qdrant answered 500/)
    stage.server.clearFaults()
    stage.clock.advance(31_000)
    expect(await index.nearest(countLetters(SEA), 2)).toEqual(expected)
    expect(stage.server.count(QUERY)).toBe(2)
    expect(copy.problem).toBeNull()
  })

  test('come from the store if the copy does not answer in time', async () => {
    await fill()
    await embedAll()
    stage.server.setFault(QUERY, { type: 'hang' })
    const hurried = openIndex('one', { searchMs: 50 })
    const expected = await store.vectors.nearest(countLetters(SEA), 2)
    expect(await hurried.index.nearest(countLetters(SEA), 2)).toEqual(expected)
    expect(hurried.copy.problem).toMatch(/no answer within 0.05 s/)
  })

  test('come from the store while the copy lacks vectors that another program wrote', async () => {
    await fill('/a', ['harbour'])
    await embedAll()
    await fill('/b', TEXTS.slice(1))
    await embedAll(store.vectors)
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(0)
    // The copy is not checked again for a while, and then found to be in sync.
    await sync()
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(0)
    stage.clock.advance(11_000)
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(1)
  })

  test('come from the store if stale points take up the result limit', async () => {
    await fill(
      '/a',
      Array.from({ length: 80 }, (_, i) => `sea sea ${i}`),
    )
    await fill('/b', ['lamp', 'lens', 'oil'])
    await embedAll()
    await writePage(store, 'docs', '/a', 'fog')
    await embedAll()
    // The faked count hides the stale points, as if their chunks had been removed after the count was taken.
    stage.server.setFault(COUNT, { type: 'answer', status: 200, json: { result: { count: 4 }, status: 'ok', time: 0 } })
    const problems: (string | null)[] = []
    for (const filter of [{}, { path: '/' }]) {
      const found = await index.nearest(countLetters('sea'), 3, filter)
      expect(found).toEqual(await store.vectors.nearest(countLetters('sea'), 3, filter))
      expect(found).toHaveLength(3)
      problems.push(copy.problem)
    }
    expect(problems).toEqual([expect.stringContaining('outdated points that displace current ones'), null])
    expect(stage.server.count(QUERY)).toBe(2)
  })

  test('come from the store if the copy has as many stale points as missing ones, whichever process wrote them', async () => {
    await fill('/a')
    await embedAll()
    await fill('/a', ['quartz', 'zinc', 'jade', 'onyx', 'opal'])
    await embedAll(store.vectors)
    expect(countPoints()).toBe(5)
    // Another process opens the copy without knowing about the changes.
    const other = openIndex()
    expect(await other.index.nearest(countLetters('quartz'), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(0)
    expect(other.copy.problem).toContain('it has 0 of 5 vectors, and 5 outdated points')
    expect(await sync()).toMatchObject({ copied: 5, removed: 5 })
    stage.clock.advance(60_000)
    expect(await other.index.nearest(countLetters('quartz'), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(1)
    expect(other.copy.problem).toBeNull()
  })

  test('come from the store while points are known to be missing, whatever the count', async () => {
    await fill('/a')
    await embedAll()
    stage.server.queueFaults(PUT_POINTS, { type: 'answer', status: 400, text: 'no' })
    // One page leaves stale points, and another cannot be copied.
    await writePage(store, 'docs', '/a', 'lamp')
    await fill('/b', ['sea'])
    await embedAll()
    stage.clock.advance(60_000)
    expect(await index.nearest(countLetters('sea'), 9)).toHaveLength(2)
    expect(stage.server.count(QUERY)).toBe(0)
    expect(await sync()).toMatchObject({ copied: 2, removed: 5 })
  })
})

describe('syncing the copy', () => {
  test('does nothing without vectors, and copies nothing if nothing has changed', async () => {
    expect(await sync()).toEqual({ looked: 0, vectors: 0, copied: 0, removed: 0 })
    expect(stage.server.count()).toBe(0)
    await fill()
    await embedAll()
    expect(await sync()).toEqual({ looked: 5, vectors: 5, copied: 0, removed: 0 })
    expect(stage.server.count(PUT_POINTS)).toBe(1)
  })

  test('writes missing and changed points, and removes stale ones, but no points of other libraries', async () => {
    await fill('/a')
    await embedAll()
    const points = stage.server.pointsOf('pharos') as Map<unknown, StoredPoint>
    const [lost, changed] = [...points.keys()]
    const kept = points.get(changed)
    if (kept === undefined) throw new Error('nothing was copied')
    points.delete(lost)
    points.set(changed, { ...kept, payload: { ...kept.payload, copy_mark: 'old' } })
    const foreign = '00000000-0000-0000-0000-000000000001'
    points.set(foreign, { ...kept, id: foreign, payload: { source_url: 'https://else.test/' } })
    await writePage(store, 'docs', '/b', 'new page')
    await embedAll(store.vectors)
    await writePage(store, 'docs', '/b', 'newer page')
    await embedAll(store.vectors)
    expect(await sync()).toEqual({ looked: 6, vectors: 6, copied: 3, removed: 0 })
    await writePage(store, 'docs', '/b', 'newest page')
    expect(await sync()).toEqual({ looked: 5, vectors: 5, copied: 0, removed: 1 })
    expect(points.has(foreign)).toBe(true)
    expect(points.size).toBe(6)
  })

  test('a rebuild writes everything before it removes anything', async () => {
    await fill('/a')
    await embedAll()
    await writePage(store, 'docs', '/a', 'one text only')
    await embedAll()
    stage.server.clearRequests()
    expect(await sync(true)).toEqual({ looked: 1, vectors: 1, copied: 1, removed: 5 })
    const changes = stage.server.requests.filter(({ method, path }) => method === 'PUT' || path.endsWith('/delete'))
    expect(changes.map(({ path }) => path.split('/').at(-1))).toEqual(['points', 'delete'])
    expect(countPoints()).toBe(1)
  })

  test('keeps new and old points if removing the old ones fails, and the next sync removes them', async () => {
    await fill('/a')
    await embedAll()
    await writePage(store, 'docs', '/a', 'one text only')
    await embedAll(store.vectors)
    stage.server.setFault(DELETE_POINTS, { type: 'reset' })
    await expect(sync()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect(countPoints()).toBe(6)
    expect(await index.nearest(countLetters('one text only'), 9)).toHaveLength(1)
    stage.server.clearFaults()
    expect(await sync()).toMatchObject({ copied: 0, removed: 5 })
  })

  test('keeps points that are written while it runs', async () => {
    await fill('/a')
    await embedAll()
    const run = syncVectors({ store, vectors: index, copy })
    await run.next()
    await writePage(store, 'docs', '/late', 'late text')
    await embedAll()
    for await (const _ of run);
    expect(countPoints()).toBe(6)
  })

  test('remembers vectors that could not be copied while it ran', async () => {
    await fill('/a')
    await embedAll()
    const run = syncVectors({ store, vectors: index, copy })
    await run.next()
    stage.server.queueFaults(PUT_POINTS, { type: 'answer', status: 400, text: 'no' })
    await writePage(store, 'docs', '/late', 'late text')
    await embedAll()
    for await (const _ of run);
    expect(copy.problem).toMatch(/400/)
    await sync()
    expect(copy.problem).toBeNull()
  })

  test('stops when it is aborted', async () => {
    await fill('/a')
    await embedAll()
    const stop = new AbortController()
    const run = syncVectors({ store, vectors: index, copy }, {}, stop.signal)
    await run.next()
    stop.abort(new Error('enough'))
    await expect(run.next()).rejects.toThrow('enough')
  })

  test('leaves the points of other libraries alone, even with the same path or the same source id', async () => {
    await fill('/a')
    await embedAll()
    const other = createMemoryStore()
    await addSourceTo(other, 'docs')
    await writePage(other, 'docs', '/a', TEXTS.join('\n---\n'))
    const library = await other.vectors.readLibraryId()
    expect(library).not.toBe(await store.vectors.readLibraryId())
    const theirs = openIndex(library).copy
    await embedAll(createQdrantIndex({ vectors: other.vectors, copy: theirs, store: other, clock: stage.clock }))
    expect(countPoints()).toBe(10)
    await fill('/a', ['one text only'])
    await embedAll()
    expect(await sync()).toMatchObject({ removed: 5 })
    expect(await sync(true)).toMatchObject({ copied: 1, removed: 0 })
    expect(await theirs.count(SPACE)).toBe(5)
    expect(await copy.count(SPACE)).toBe(1)
  })

  test('removes the points of a removed source', async () => {
    await fill('/a')
    await addSourceTo(store, 'more')
    await writePage(store, 'more', '/b', 'removed soon')
    await embedAll()
    await store.removeSource('more')
    expect(await sync()).toMatchObject({ copied: 0, removed: 1 })
    expect(countPoints()).toBe(5)
  })

  test('can run in two processes at once', async () => {
    await fill('/a')
    await embedAll(store.vectors)
    const other = openIndex()
    await Promise.all([
      sync(),
      (async () => {
        for await (const _ of syncVectors({ store, vectors: index, copy: other.copy }));
      })(),
    ])
    expect(countPoints()).toBe(5)
    expect(await sync()).toMatchObject({ copied: 0, removed: 0 })
  })

  test('creates a dropped collection again', async () => {
    await fill('/a')
    await embedAll()
    await fetch(`${stage.server.origin}/collections/pharos`, { method: 'DELETE' })
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(5)
    expect(await sync()).toMatchObject({ copied: 5 })
    expect(countPoints()).toBe(5)
  })
})

describe('another model', () => {
  const OTHER: VectorSpace = { model: 'other', fingerprint: 'b'.repeat(64), dimensions: 26 }
  const SHORT: VectorSpace = { model: 'short', fingerprint: 'c'.repeat(64), dimensions: 13 }

  test('is never mixed with the previous one if it has the same dimensions', async () => {
    await fill('/a')
    await embedAll()
    await index.replaceSpace(OTHER)
    const [first] = await index.listMissing(1)
    await index.write(OTHER, [{ sourceId: 'docs', chunkId: first?.chunkId ?? '', vector: countLetters('zebra') }])
    expect(countPoints()).toBe(5)
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(1)
    expect(stage.server.count(QUERY)).toBe(0)
    await embedAll(index, OTHER)
    expect(await index.nearest(countLetters(SEA), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(1)
    expect(await sync()).toMatchObject({ copied: 0, removed: 0 })
    expect(countPoints()).toBe(5)
  })

  test('is refused by the copy until a rebuild if it has other dimensions', async () => {
    await fill('/a')
    await embedAll()
    await index.replaceSpace(SHORT)
    await embedAll(index, SHORT)
    expect(copy.problem).toMatch(/26 dimensions instead of 13/)
    expect(await index.nearest(vectorOf(SEA, SHORT), 9)).toHaveLength(5)
    await expect(sync()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect(countPoints()).toBe(5)
    expect(await sync(true)).toEqual({ looked: 5, vectors: 5, copied: 5, removed: 0 })
    stage.clock.advance(60_000)
    expect(await index.nearest(vectorOf(SEA, SHORT), 9)).toHaveLength(5)
    expect(stage.server.count(QUERY)).toBe(1)
  })

  test('does not drop a collection that holds points of another program', async () => {
    await fill('/a')
    await embedAll()
    await embedAll(openIndex('two').index)
    const points = stage.server.pointsOf('pharos') as Map<unknown, StoredPoint>
    const [kept] = points.values()
    if (kept === undefined) throw new Error('nothing was copied')
    const foreign = '00000000-0000-0000-0000-000000000001'
    points.set(foreign, { ...kept, id: foreign, payload: { name: 'of another program' } })
    await index.replaceSpace(SHORT)
    await embedAll(index, SHORT)
    const details = expect.objectContaining({
      problem: expect.stringContaining(
        'collection pharos: its vectors have 26 dimensions instead of 13, and it also holds',
      ),
      advice: expect.stringContaining('qdrantCollection'),
    })
    await expect(sync(true)).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE', details })
    expect(points.size).toBe(6)
    points.delete(foreign)
    await sync(true)
    expect(countPoints()).toBe(5)
  })
})
