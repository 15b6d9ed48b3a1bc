import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../test/dispatch/manual-clock.ts'
import { addSourceTo, writePage } from '../../test/embed/filled-store.ts'
import { createMemoryStore } from '../store/memory/memory-store.ts'
import { keepEmbedding } from './background-embedding.ts'
import type { Library } from './library.ts'
import { embedLibrary } from './operations/embed-library.ts'
import type { CopyEntryRef, VectorCopy } from './vector-copy.ts'
import type { Embedder, VectorSpace } from './vectors.ts'
import { createWakeableSleep } from './wakeable-sleep.ts'

const OPTIONS = {
  ...{ full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} },
}

const SPACE: VectorSpace = { model: 'small', fingerprint: 's'.repeat(64), dimensions: 4 }

/** Stages a library with two chunks, and an embedder that can be opened and used while `isUp`. */
async function stage() {
  const store = createMemoryStore()
  await addSourceTo(store, 'docs')
  const add = (path: string) => writePage(store, 'docs', path, `The page at ${path}.`)
  await add('/a')
  await add('/b')
  const clock = createManualClock()
  const state = { isUp: true, isInstalled: true, opened: 0 }
  const embedder: Embedder = {
    space: SPACE,
    embed: async (texts) => {
      if (!state.isUp) throw new Error('it answered 503')
      return texts.map((_, i) => Float32Array.of(...[1, 2, i, 3].map((n) => n / Math.hypot(1, 2, i, 3))))
    },
    close: async () => undefined,
  }
  const library = {
    store,
    vectors: store.vectors,
    clock,
    newId: () => 'a run',
    embedsNew: true,
    hasEmbeddingService: true,
    openEmbedder: async () => {
      state.opened++
      if (!state.isUp) throw new Error('no answer')
      return state.isInstalled ? embedder : undefined
    },
  } as unknown as Library
  const told: string[] = []
  const log = { info: (text: string) => void told.push(text), warn: (text: string) => void told.push(`! ${text}`) }
  const alarm = createWakeableSleep()
  const stop = new AbortController()
  const countEmbedded = async () => (await store.vectors.count()).embedded
  /** Lets pending work finish, advances the clock, and lets work finish again. */
  const pass = async (ms: number) => {
    for (let i = 0; i < 20; i++) await clock.advance(0)
    await clock.advance(ms)
    for (let i = 0; i < 20; i++) await clock.advance(0)
  }
  const run = (given = library) => keepEmbedding(given, stop.signal, { wakeableSleep: alarm, log })
  return { store, library, state, told, alarm, stop, add, pass, run, countEmbedded }
}

/** Creates a copy that responds while `isUp`, and counts its listings. */
function createCopy() {
  const places = new Map<string, CopyEntryRef>()
  const state = { isUp: true, lists: 0, places }
  const reach = (): void => {
    if (!state.isUp) throw new Error('the copy is away')
  }
  const copy: VectorCopy = {
    location: 'the copy',
    problem: null,
    prepare: async () => reach(),
    async *list() {
      reach()
      state.lists++
      yield* places.values()
    },
    count: async () => {
      reach()
      return places.size
    },
    describe: (_space, { stored, vector }) => ({ id: stored.chunk.id, mark: 'mark', vector, payload: {} }),
    write: async (_space, entries) => {
      reach()
      for (const { id, mark } of entries) places.set(id, { id, mark, sourceId: 'docs', chunkId: id })
    },
    remove: async (_space, ids) => {
      for (const id of ids) places.delete(id)
    },
    setProblem: () => undefined,
  }
  return { copy, state }
}

describe('keepEmbedding', () => {
  test('embeds missing chunks at the start, after a crawl, and after a minute', async () => {
    const { told, alarm, stop, add, pass, run, countEmbedded, state } = await stage()
    const running = run()
    await pass(0)
    expect(await countEmbedded()).toBe(2)
    await add('/c')
    alarm.wake()
    await pass(0)
    expect(await countEmbedded()).toBe(3)
    await add('/d')
    await pass(59_000)
    expect(await countEmbedded()).toBe(3)
    await pass(1000)
    expect(await countEmbedded()).toBe(4)
    const { opened } = state
    await pass(600_000)
    expect(state.opened).toBe(opened)
    const caughtUp = 'in the background: search by meaning has caught up'
    expect(told).toEqual([
      `embedded 2 chunks ${caughtUp}`,
      `embedded 1 chunk ${caughtUp}`,
      `embedded 1 chunk ${caughtUp}`,
    ])
    stop.abort()
    await running
  })

  test('retries a failing service with growing pauses, then catches up', async () => {
    const { told, alarm, stop, pass, run, countEmbedded, state } = await stage()
    state.isUp = false
    const running = run()
    await pass(0)
    expect(told).toEqual(['! catching up with vectors fails and is tried again: no answer'])
    expect(state.opened).toBe(1)
    // New chunks do not trigger a request to a failing service.
    alarm.wake()
    for (const [ms, opened] of [
      [14_000, 1],
      [1000, 2],
      [30_000, 3],
      [60_000, 4],
      [120_000, 5],
      [300_000, 6],
      [300_000, 7],
    ] as const) {
      await pass(ms)
      expect(state.opened).toBe(opened)
    }
    expect(told).toHaveLength(1)
    state.isUp = true
    await pass(300_000)
    expect(await countEmbedded()).toBe(2)
    expect(told[1]).toBe('embedded 2 chunks in the background: search by meaning has caught up')
    stop.abort()
    await running
  })

  test('embeds nothing without a model, or if the vectors belong to another model', async () => {
    const { store, library, told, stop, pass, run, state } = await stage()
    state.isInstalled = false
    const running = run()
    await pass(120_000)
    expect(state.opened).toBe(3)
    await store.vectors.replaceSpace({ ...SPACE, fingerprint: 'o'.repeat(64) })
    state.isInstalled = true
    await pass(120_000)
    expect(told).toEqual([])
    stop.abort()
    await running
    const { vectors: _, ...without } = library
    const ended = keepEmbedding(without as Library, stop.signal)
    await expect(ended).resolves.toBeUndefined()
  })

  test('skips a source without vectors, or one being crawled, with the built-in model', async () => {
    const { store, library, stop, add, pass, run, alarm, countEmbedded } = await stage()
    const builtIn = {
      ...library,
      hasEmbeddingService: false,
      limits: { aliveMs: 60_000 },
      runner: { isGone: () => false },
    }
    const running = run(builtIn as unknown as Library)
    await pass(120_000)
    expect(await countEmbedded()).toBe(0)
    for await (const _ of embedLibrary(library)) break
    for await (const { embedded } of embedLibrary(library, { batch: 1 })) if (embedded === 1) break
    const crawl = { id: 'c', sourceId: 'docs', kind: 'recrawl', state: 'running', runner: 'r' } as const
    const times = { startedAt: library.clock.now(), heartbeatAt: library.clock.now(), endedAt: null, summary: null }
    await store.beginCrawl({ ...crawl, ...times, options: OPTIONS }, 60_000)
    alarm.wake()
    await pass(0)
    expect(await countEmbedded()).toBe(1)
    await store.endCrawl('c', null, library.clock.now(), 'r')
    await add('/c')
    alarm.wake()
    await pass(0)
    expect(await countEmbedded()).toBe(3)
    stop.abort()
    await running
  })

  test('stops at once while the embedder hangs on opening', async () => {
    const { library, stop, pass, run } = await stage()
    const running = run({ ...library, openEmbedder: () => new Promise(() => undefined) })
    await pass(0)
    stop.abort()
    await running
  })
})

describe('keepEmbedding with a vector copy', () => {
  /** Stages a library with a copy of both its vectors, and a third chunk. */
  async function stageCopy() {
    const staged = await stage()
    const { copy, state: place } = createCopy()
    const running = staged.run({ ...staged.library, vectorCopy: copy })
    await staged.pass(0)
    expect(place.places.size).toBe(2)
    await staged.add('/c')
    const end = async () => {
      staged.stop.abort()
      await running
    }
    return { ...staged, place, end }
  }

  test('syncs the copy even while embedding fails, and does not list it again once it is in sync', async () => {
    const { told, place, pass, end, state } = await stageCopy()
    state.isUp = false
    place.places.clear()
    await pass(60_000)
    expect(place.places.size).toBe(2)
    const { lists } = place
    await pass(15_000)
    await pass(30_000)
    expect(place.lists).toBe(lists)
    expect(told.slice(2)).toEqual([
      'copied 2 vectors to the copy',
      '! catching up with vectors fails and is tried again: no answer',
    ])
    await end()
  })

  test('reports an unreachable copy together with the failure to embed', async () => {
    const { told, place, pass, end, state, countEmbedded } = await stageCopy()
    state.isUp = false
    place.isUp = false
    await pass(60_000)
    expect(told.slice(2)).toEqual(['! catching up with vectors fails and is tried again: no answer; the copy is away'])
    state.isUp = true
    await pass(15_000)
    expect([await countEmbedded(), place.places.size]).toEqual([3, 2])
    place.isUp = true
    await pass(30_000)
    expect(place.places.size).toBe(3)
    expect(told.filter((text) => text.startsWith('!'))).toHaveLength(1)
    await end()
  })
})
