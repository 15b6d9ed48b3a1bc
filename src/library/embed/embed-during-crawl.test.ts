import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../test/dispatch/manual-clock.ts'
import { addSourceTo, writePage } from '../../../test/embed/filled-store.ts'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Embedder, VectorSpace } from '../ports/vectors.ts'
import type { Source } from '../source.ts'
import { beginEmbedding, embedDuringCrawl } from './embed-during-crawl.ts'

const SPACE: VectorSpace = { model: 'small', fingerprint: 's'.repeat(64), dimensions: 4 }
const INDEXED_EVENT: CrawlEvent = {
  ...{ type: 'settled', url: 'https://docs.test/', state: 'indexed', reason: null, status: 200, detail: null },
  ...{ bytes: 100, chunks: 1 },
}

/** Stages a library with two sources, a manual clock, and a load set by `state`. */
async function stage(more: Partial<Library> = {}) {
  const store = createMemoryStore()
  for (const id of ['docs', 'other']) await addSourceTo(store, id)
  const clock = createManualClock()
  const state = { load: 0, batches: [] as number[] }
  const embedder: Embedder = {
    space: SPACE,
    batchSize: 64,
    embed: async (texts) => {
      state.batches.push(texts.length)
      return texts.map((_, i) => Float32Array.of(...[1, 2, i, 3].map((n) => n / Math.hypot(1, 2, i, 3))))
    },
    close: async () => undefined,
  }
  const library = {
    ...{ store, vectors: store.vectors, clock, newId: () => 'a run', embedsNew: true, load: () => state.load },
    openEmbedder: async () => embedder,
    ...more,
  } as unknown as Library
  const [source] = await store.listSources()
  if (source === undefined) throw new Error('there is no source')
  const add = (path: string, chunks = 1, id = 'docs') =>
    writePage(store, id, path, Array.from({ length: chunks }, (_, i) => `Part ${i} of ${path}.`).join('\n---\n'))
  const countOf = async (id = 'docs') => (await store.vectors.count([id])).embedded
  const pass = async (ms: number) => {
    for (let i = 0; i < 50; i++) await clock.advance(0)
    await clock.advance(ms)
    for (let i = 0; i < 50; i++) await clock.advance(0)
  }
  return { store, library, source: source as Source, state, add, countOf, pass, clock }
}

describe('embedDuringCrawl', () => {
  test('embeds new pages of its source in small batches, and none of another source', async () => {
    const { library, source, state, add, countOf, pass } = await stage()
    await add('/a', 12)
    await add('/b', 1, 'other')
    const embedding = embedDuringCrawl(library, source)
    await pass(1000)
    expect(await countOf()).toBe(0)
    embedding?.note(INDEXED_EVENT)
    await pass(250)
    expect(await countOf()).toBe(12)
    expect(state.batches).toEqual([8, 4])
    await add('/c')
    embedding?.note({ ...INDEXED_EVENT, chunks: 0 })
    await pass(1000)
    expect(await countOf()).toBe(12)
    embedding?.note(INDEXED_EVENT)
    await pass(250)
    expect(await countOf()).toBe(13)
    await embedding?.stop()
    expect(await countOf('other')).toBe(0)
  })

  test('pauses while the crawl keeps the process busy, and lets other processes embed meanwhile', async () => {
    const { library, source, state, add, countOf, pass, store, clock } = await stage()
    await add('/a', 30)
    const embedder = await library.openEmbedder?.()
    if (embedder === undefined) throw new Error('there is no model')
    const openBusyEmbedder = async (): Promise<Embedder> => ({
      ...embedder,
      embed: async (texts) => {
        state.load = 0.9
        return embedder.embed(texts)
      },
    })
    const busy: Library = { ...library, openEmbedder: openBusyEmbedder }
    const embedding = embedDuringCrawl(busy, source)
    state.load = 0.9
    embedding?.note(INDEXED_EVENT)
    await pass(1000)
    expect(await countOf()).toBe(0)
    state.load = 0.1
    await pass(250)
    expect(await countOf()).toBe(8)
    expect(await store.vectors.lease('another process', clock.now(), 1)).toBe(true)
    await clock.advance(10)
    state.load = 0
    await pass(250)
    expect(await countOf()).toBe(16)
    await embedding?.stop()
  })

  test('embeds nothing if embedding is off', async () => {
    const { library, source, add, countOf } = await stage({ embedsNew: false })
    await add('/a')
    expect(embedDuringCrawl(library, source)).toBeUndefined()
    await beginEmbedding(library, source)
    expect(await countOf()).toBe(0)
  })

  test('leaves chunks for later if the model fails', async () => {
    const { library, source, add, countOf, pass } = await stage({ openEmbedder: () => Promise.reject(new Error('no')) })
    await add('/a')
    const embedding = embedDuringCrawl(library, source)
    embedding?.note(INDEXED_EVENT)
    await pass(1000)
    await embedding?.stop()
    expect(await countOf()).toBe(0)
    await expect(beginEmbedding(library, source)).rejects.toThrow('no')
  })
})

describe('embedding over vectors of an earlier model', () => {
  const EARLIER: VectorSpace = { model: 'earlier', fingerprint: 'e'.repeat(64), dimensions: 4 }

  /** Stages two sources with one chunk each, with vectors of an earlier model. */
  async function stageEarlier(more: Partial<Library> = {}) {
    const staged = await stage()
    const { store, library } = staged
    for (const sourceId of ['docs', 'other']) {
      const [chunkId = ''] = await staged.add('/old', 1, sourceId)
      await store.vectors.write(EARLIER, [{ sourceId, chunkId, vector: Float32Array.of(0.6, 0.8, 0, 0) }])
    }
    const embedder = await library.openEmbedder?.()
    if (embedder === undefined) throw new Error('there is no model')
    const openEmbedder = async (): Promise<Embedder> => ({ ...embedder, earlierSpaces: [EARLIER.fingerprint] })
    return { ...staged, library: { ...library, openEmbedder, ...more } }
  }

  test('vectors of an earlier model are replaced when a crawl of their source indexes pages', async () => {
    const { library, source, store, countOf, pass } = await stageEarlier()
    const embedding = embedDuringCrawl(library, source)
    embedding?.note(INDEXED_EVENT)
    await pass(250)
    await embedding?.stop()
    expect(await store.vectors.readSpace()).toEqual(SPACE)
    expect([await countOf('docs'), await countOf('other')]).toEqual([1, 0])
  })

  test('vectors of an earlier model are replaced after a crawl without new pages', async () => {
    const { library, source, store, countOf, state } = await stageEarlier()
    await beginEmbedding(library, source)
    expect(await store.vectors.readSpace()).toEqual(SPACE)
    expect(await countOf('docs')).toBe(1)
    await beginEmbedding(library, source)
    expect(state.batches).toEqual([1])
  })

  test('vectors of an earlier model stay if embedding is off', async () => {
    const { library, source, store, countOf } = await stageEarlier({ embedsNew: false })
    expect(embedDuringCrawl(library, source)).toBeUndefined()
    await beginEmbedding(library, source)
    expect(await store.vectors.readSpace()).toEqual(EARLIER)
    expect(await countOf('docs')).toBe(1)
  })
})

test('beginEmbedding embeds a few chunks of a source, and none if the source already has vectors', async () => {
  const { library, source, state, add, countOf } = await stage()
  await beginEmbedding(library, source)
  expect(state.batches).toEqual([])
  await add('/a', 30)
  await beginEmbedding(library, source)
  expect(await countOf()).toBe(8)
  await beginEmbedding(library, source)
  expect(await countOf()).toBe(8)
})
