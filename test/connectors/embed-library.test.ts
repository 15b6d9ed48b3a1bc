import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import type { PharosError } from '../../src/core/errors.ts'
import { type EmbedInput, type EmbedProgress, embedLibrary } from '../../src/library/embed/embed-library.ts'
import type { Library } from '../../src/library/library.ts'
import type { VectorStore } from '../../src/library/ports/vectors.ts'
import { rankHits } from '../../src/library/search/ranked-hits.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { isLong } from '../faults/bounded.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { createEmbedFixture, createShortTimeoutClient, KINDS, type Kind } from './embed-fixture.ts'
import { createQuickClock } from './quick-clock.ts'
import type { Fault } from './servers/faults.ts'
import { openOpenAiServer } from './servers/openai.ts'
import { openTeiServer } from './servers/tei.ts'
import { toyVector } from './servers/toy-vectors.ts'

const STORES: Readonly<Record<string, () => Promise<VectorStore>>> = {
  SQLite: () => openSqliteStore(':memory:'),
  memory: async () => createMemoryStore(),
}

const SERVICES = ['tei', 'openai'] as const

const stage = createEmbedFixture()
afterEach(() => stage.end())

const CHUNKS = 30
/** Whether services refuse to embed a text. */
const isBad = (text: string): boolean => text.includes('quarantined')
const textOf = (i: number): string =>
  i === 17 ? 'a quarantined lighthouse' : `harbour ${'abcdefghij'.repeat(i + 1)} ${i}`

/** A library of thirty chunks and an embedder over a service of a kind. */
async function stageLibrary(kind: Kind, openStore: () => Promise<VectorStore>, isRefused = isBad) {
  const server = stage.later(
    await (kind === 'tei'
      ? openTeiServer({ maxBatch: 8, isUnreadable: isRefused })
      : openOpenAiServer({ isTooLong: isRefused })),
  )
  const store = stage.later(await openStore())
  await addSourceTo(store, 'docs')
  await writePage(store, 'docs', '/a', Array.from({ length: CHUNKS }, (_, i) => textOf(i)).join('\n---\n'))
  const clock = createQuickClock()
  const client = stage.later(createShortTimeoutClient(server.origin))
  const open = () => stage.open(kind, server, { clock, client, batch: 4 })
  const embedder = await open()
  const library = {
    store,
    vectors: store.vectors,
    clock,
    newId: () => randomUUID(),
    openEmbedder: async () => embedder,
  }
  server.clearRequests()
  // The tests use no other part of a library.
  return { server, store, clock, client, open, library: library as unknown as Library, route: KINDS[kind].route }
}

async function run(library: Library, input: EmbedInput = {}): Promise<EmbedProgress | undefined> {
  let last: EmbedProgress | undefined
  for await (const progress of embedLibrary(library, input)) last = progress
  return last
}

async function failureOf(work: Promise<unknown>): Promise<PharosError> {
  return work.then(
    () => expect.unreachable(),
    (error: unknown) => error as PharosError,
  )
}

async function search(library: Library, query: string) {
  const { hits, engines, notices } = await rankHits(library, { query, filter: {}, fusion: 'convex', explain: false }, 0)
  return { found: hits.map(({ chunk }) => chunk.content), engines, notices }
}

/** In a short run each kind of service is tested with one of the stores. */
const CASES = Object.entries(STORES).flatMap(([name, open], i) =>
  (isLong ? SERVICES : SERVICES.slice(i, i + 1)).map((kind) => ({ name, kind, open })),
)

describe.each(CASES)('embedding a library in $name by a service ($kind)', ({ kind, open }) => {
  test('embeds every chunk except for one that the service refuses, which word search still finds', async () => {
    const { library, store, server, route } = await stageLibrary(kind, open)
    expect(await run(library)).toEqual({
      embedded: CHUNKS - 1,
      chunks: CHUNKS,
      refused: 1,
      skipped: 1,
      problem: expect.stringMatching(/could not embed the input: .* answered 4\d\d/),
    })
    expect(await store.vectors.listRefused(9)).toEqual([
      { sourceId: 'docs', chunkId: expect.any(String), problem: expect.stringMatching(/answered 4\d\d/) },
    ])
    const { found, engines, notices } = await search(library, 'lighthouse')
    expect(found[0]).toBe(textOf(17))
    expect(engines).toEqual(['words', 'vectors'])
    // No notice is expected, because no chunk is still waiting.
    expect(notices).toEqual([])
    const requestCount = server.count(route)
    expect(await run(library)).toMatchObject({ embedded: CHUNKS - 1, refused: 1, skipped: 0 })
    expect(server.count(route)).toBe(requestCount)
  })

  test.each<[string, Fault]>([
    ['cannot be reached', { type: 'reset' }],
    ['is down', { type: 'answer', status: 503 }],
    ['limits the rate', { type: 'answer', status: 429, headers: { 'retry-after': '1' } }],
    ['cuts its answers', { type: 'cut' }],
    ['fails at everything', { type: 'answer', status: 500 }],
    ['gives vectors of other dimensions', { type: 'answer', status: 200, json: wrongAnswer(kind) }],
  ])('stops if the service %s, search uses words alone, and a later run catches up', async (_what, fault) => {
    const { library, store, server, route } = await stageLibrary(kind, open, () => false)
    // The first two batches are answered.
    server.queueFaults(route, { type: 'none' }, { type: 'none' })
    server.setFault(route, fault)
    const failure = await failureOf(run(library))
    expect(failure).toMatchObject({ code: 'SERVICE_UNUSABLE', details: { url: server.origin } })
    expect(await store.vectors.count()).toEqual({ embedded: 8, chunks: CHUNKS, refused: 0 })
    const { found, engines, notices } = await search(library, 'lighthouse')
    expect({ found, engines }).toEqual({ found: [textOf(17)], engines: ['words'] })
    expect(notices).toEqual([expect.stringMatching(/cannot be used.*; answered by words alone/)])
    server.clearFaults()
    expect(await run(library)).toMatchObject({ embedded: CHUNKS, refused: 0 })
    expect((await search(library, 'lighthouse')).engines).toEqual(['words', 'vectors'])
  })

  test('skips a chunk that crashes the service, and continues', async () => {
    const { library, store, server, route } = await stageLibrary(kind, open, () => false)
    server.setFault(route, ({ text }) => (isBad(text) ? { type: 'reset' } : { type: 'none' }))
    expect(await run(library)).toMatchObject({ embedded: CHUNKS - 1, refused: 1, skipped: 1 })
    expect(await store.vectors.listRefused(9)).toMatchObject([
      { problem: expect.stringMatching(/the connection .+ broke/) },
    ])
  })

  test('does not refuse a chunk after a timeout, but retries it an hour later', async () => {
    const { library, store, server, clock, client, route } = await stageLibrary(kind, open, () => false)
    client.setTimeoutMs(30, isBad)
    server.setFault(route, ({ text }) => (isBad(text) ? { type: 'hang' } : { type: 'none' }))
    expect(await run(library)).toEqual({
      embedded: CHUNKS - 1,
      chunks: CHUNKS,
      refused: 0,
      skipped: 1,
      problem: expect.stringMatching(/gave no complete answer within 30 ms/),
    })
    expect(await store.vectors.listRefused(9)).toEqual([])
    server.clearFaults()
    client.setTimeoutMs(undefined)
    server.clearRequests()
    expect(await run(library)).toMatchObject({ embedded: CHUNKS - 1, skipped: 0 })
    expect(server.count(route)).toBe(0)
    clock.advance(3_600_000)
    expect(await run(library)).toMatchObject({ embedded: CHUNKS, refused: 0, skipped: 0 })
  })

  test.each<[string, readonly number[]]>([
    ['no numbers', toyVector('a', 8).fill(Number.NaN)],
    ['nothing but zeros', toyVector('a', 8).fill(0)],
  ])('stops if the service returns %s for everything, and writes nothing', async (_what, vector) => {
    const { library, store, server, route } = await stageLibrary(kind, open)
    const json = KINDS[kind].answerOf(Array.from({ length: 4 }, () => vector))
    server.setFault(route, { type: 'answer', status: 200, json })
    expect((await failureOf(run(library))).code).toMatch(/^(EMBED_REFUSED|SERVICE_UNUSABLE)$/)
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: CHUNKS, refused: 0 })
  })

  test('sends smaller batches after a 413 response', async () => {
    const { library, server, route } = await stageLibrary(kind, open, () => false)
    server.queueFaults(route, ...Array.from({ length: 3 }, (): Fault => ({ type: 'answer', status: 413 })))
    expect(await run(library)).toMatchObject({ embedded: CHUNKS, refused: 0 })
  })

  test('retries refused chunks on request', async () => {
    let isStrict = true
    const { library } = await stageLibrary(kind, open, (text) => isStrict && isBad(text))
    expect(await run(library)).toMatchObject({ embedded: CHUNKS - 1, refused: 1 })
    isStrict = false
    expect(await run(library, { retryRefused: true })).toMatchObject({ embedded: CHUNKS, refused: 0, skipped: 0 })
  })
})

function wrongAnswer(kind: Kind): unknown {
  return KINDS[kind].answerOf(Array.from({ length: 4 }, () => toyVector('a', 5)))
}

test('a service with another model requires that all vectors are made again', async () => {
  const { library, store, open, server } = await stageLibrary('tei', STORES['SQLite'] ?? expect.unreachable())
  await run(library)
  const tei = server as Awaited<ReturnType<typeof openTeiServer>>
  tei.serve({ id: 'BAAI/bge-m3', dimensions: 12 })
  const embedder = await open()
  const other: Library = { ...library, openEmbedder: async () => embedder }
  expect(await failureOf(run(other))).toMatchObject({
    code: 'VECTOR_SPACE_OTHER',
    message: expect.stringMatching(/thenlper\/gte-base .* BAAI\/bge-m3/),
    entry: { advice: expect.stringMatching(/embed run --replace/) },
  })
  expect(await run(other, { replace: true })).toMatchObject({ embedded: CHUNKS - 1, refused: 1, skipped: 1 })
  expect(await store.vectors.readSpace()).toMatchObject({ model: 'BAAI/bge-m3', dimensions: 12 })
})
