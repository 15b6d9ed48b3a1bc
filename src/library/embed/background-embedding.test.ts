import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../../test/dispatch/manual-clock.ts'
import { addSourceTo, writePage } from '../../../test/embed/filled-store.ts'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import type { Library } from '../library.ts'
import type { CopyEntryRef, VectorCopy } from '../ports/vector-copy.ts'
import type { Embedder, VectorSpace } from '../ports/vectors.ts'
import { createWakeableSleep } from '../wakeable-sleep.ts'
import { keepEmbedding } from './background-embedding.ts'
import { embedLibrary } from './embed-library.ts'

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
  const messages: string[] = []
  const log = {
    info: (text: string) => void messages.push(text),
    warn: (text: string) => void messages.push(`! ${text}`),
  }
  const wakeableSleep = createWakeableSleep()
  const stop = new AbortController()
  const countEmbedded = async () => (await store.vectors.count()).embedded
  /** Lets pending work finish, advances the clock, and lets work finish again. */
  const pass = async (ms: number) => {
    for (let i = 0; i < 20; i++) await clock.advance(0)
    await clock.advance(ms)
    for (let i = 0; i < 20; i++) await clock.advance(0)
  }
  const run = (given = library) => keepEmbedding(given, stop.signal, { wakeableSleep, log })
  return { store, library, state, messages, wakeableSleep, stop, add, pass, run, countEmbedded }
}

/** Creates a copy that responds while `isUp`, and counts its listings. */
function createCopy() {
  const points = new Map<string, CopyEntryRef>()
  const state = { isUp: true, lists: 0, points }
  const requireUp = (): void => {
    if (!state.isUp) throw new Error('the copy is away')
  }
  const copy: VectorCopy = {
    location: 'the copy',
    problem: null,
    prepare: async () => requireUp(),
    async *list() {
      requireUp()
      state.lists++
      yield* points.values()
    },
    count: async () => {
      requireUp()
      return points.size
    },
    describe: (_space, { stored, vector }) => ({ id: stored.chunk.id, mark: 'mark', vector, payload: {} }),
    write: async (_space, entries) => {
      requireUp()
      for (const { id, mark } of entries) points.set(id, { id, mark, sourceId: 'docs', chunkId: id })
    },
    remove: async (_space, ids) => {
      for (const id of ids) points.delete(id)
    },
    setProblem: () => undefined,
  }
  return { copy, state }
}

describe('keepEmbedding', () => {
  test('embeds missing chunks at the start, after a crawl, and after a minute', async () => {
    const { messages, wakeableSleep, stop, add, pass, run, countEmbedded, state } = await stage()
    const running = run()
    await pass(0)
    expect(await countEmbedded()).toBe(2)
    await add('/c')
    wakeableSleep.wake()
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
    const caughtUp = 'in the background: search by meaning is up to date'
    expect(messages).toEqual([
      `embedded 2 chunks ${caughtUp}`,
      `embedded 1 chunk ${caughtUp}`,
      `embedded 1 chunk ${caughtUp}`,
    ])
    stop.abort()
    await running
  })

  test('retries a failing service with growing pauses, then catches up', async () => {
    const { messages, wakeableSleep, stop, pass, run, countEmbedded, state } = await stage()
    state.isUp = false
    const running = run()
    await pass(0)
    expect(messages).toEqual(['! could not update the vectors; retrying: no answer'])
    expect(state.opened).toBe(1)
    // New chunks do not trigger a request to a failing service.
    wakeableSleep.wake()
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
    expect(messages).toHaveLength(1)
    state.isUp = true
    await pass(300_000)
    expect(await countEmbedded()).toBe(2)
    expect(messages[1]).toBe('embedded 2 chunks in the background: search by meaning is up to date')
    stop.abort()
    await running
  })

  test('embeds nothing without a model, or if the vectors belong to another model', async () => {
    const { store, library, messages, stop, pass, run, state } = await stage()
    state.isInstalled = false
    const running = run()
    await pass(120_000)
    expect(state.opened).toBe(3)
    await store.vectors.replaceSpace({ ...SPACE, fingerprint: 'o'.repeat(64) })
    state.isInstalled = true
    await pass(120_000)
    expect(messages).toEqual([])
    stop.abort()
    await running
    const { vectors: _, ...without } = library
    const ended = keepEmbedding(without as Library, stop.signal)
    await expect(ended).resolves.toBeUndefined()
  })

  test('skips a source without vectors and a source being crawled if the model is the built-in one', async () => {
    const { store, library, stop, add, pass, run, wakeableSleep, countEmbedded } = await stage()
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
    wakeableSleep.wake()
    await pass(0)
    expect(await countEmbedded()).toBe(1)
    await store.endCrawl('c', null, library.clock.now(), 'r')
    await add('/c')
    wakeableSleep.wake()
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
    const { copy, state: copyState } = createCopy()
    const running = staged.run({ ...staged.library, vectorCopy: copy })
    await staged.pass(0)
    expect(copyState.points.size).toBe(2)
    await staged.add('/c')
    const end = async () => {
      staged.stop.abort()
      await running
    }
    return { ...staged, copyState, end }
  }

  test('syncs the copy even while embedding fails, and does not list it again once it is in sync', async () => {
    const { messages, copyState, pass, end, state } = await stageCopy()
    state.isUp = false
    copyState.points.clear()
    await pass(60_000)
    expect(copyState.points.size).toBe(2)
    const { lists } = copyState
    await pass(15_000)
    await pass(30_000)
    expect(copyState.lists).toBe(lists)
    expect(messages.slice(2)).toEqual([
      'copied 2 vectors to the copy',
      '! could not update the vectors; retrying: no answer',
    ])
    await end()
  })

  test('reports an unreachable copy together with the failure to embed', async () => {
    const { messages, copyState, pass, end, state, countEmbedded } = await stageCopy()
    state.isUp = false
    copyState.isUp = false
    await pass(60_000)
    expect(messages.slice(2)).toEqual(['! could not update the vectors; retrying: no answer; the copy is away'])
    state.isUp = true
    await pass(15_000)
    expect([await countEmbedded(), copyState.points.size]).toEqual([3, 2])
    copyState.isUp = true
    await pass(30_000)
    expect(copyState.points.size).toBe(3)
    expect(messages.filter((text) => text.startsWith('!'))).toHaveLength(1)
    await end()
  })
})
