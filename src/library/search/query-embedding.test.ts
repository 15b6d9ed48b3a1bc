import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createManualClock } from '../../../test/dispatch/manual-clock.ts'
import { addSourceTo, writePage } from '../../../test/embed/filled-store.ts'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import { PharosError } from '../../core/errors.ts'
import type { Library } from '../library.ts'
import type { Embedder, EmbedUse, VectorSpace } from '../ports/vectors.ts'
import { findQueryEmbedding } from './query-embedding.ts'

const SPACE: VectorSpace = { model: 'small', fingerprint: 's'.repeat(64), dimensions: 2 }
const WAIT_MS = 40

/** Stages a library with the given embedder, and counts how often the embedder is opened. */
async function stage(
  open: () => Promise<Embedder>,
  { waitMs = WAIT_MS, isEmbedded = true, hasEmbeddingService = false } = {},
) {
  const store = createMemoryStore()
  const { vectors } = store
  await addSourceTo(store, 'docs')
  await writePage(store, 'docs', '/a', 'a text')
  await vectors.replaceSpace(SPACE)
  const [chunk] = isEmbedded ? await vectors.listMissing(1) : []
  if (chunk !== undefined) await vectors.write(SPACE, [{ ...chunk, vector: Float32Array.of(0.6, 0.8) }])
  const clock = createManualClock()
  const calls = { opened: 0 }
  const library = {
    vectors,
    clock,
    hasEmbeddingService,
    openEmbedder: () => {
      calls.opened++
      return open()
    },
  } as unknown as Library
  const find = (signal?: AbortSignal) => findQueryEmbedding(library, 'where is it', {}, signal, waitMs)
  return { library, find, clock, calls }
}

const uses: (EmbedUse | undefined)[] = []
const working: Embedder = {
  space: SPACE,
  embed: async (_texts, _signal, use) => {
    uses.push(use)
    return [Float32Array.of(0.6, 0.8)]
  },
  close: async () => undefined,
}

const LATE_NOTICE = 'the model cannot be used: no answer within 0.04 s; answered by words alone'

test('findQueryEmbedding embeds a question with the use `query`', async () => {
  const { find } = await stage(async () => working)
  expect(await find()).toMatchObject({ meaning: { vector: Float32Array.of(0.6, 0.8) }, notices: [] })
  expect(uses).toEqual(['query'])
})

test('findQueryEmbedding pauses after an embedder hung twice while it was opened', async () => {
  let isHanging = true
  const { find, clock, calls } = await stage(() =>
    isHanging ? new Promise(() => undefined) : Promise.resolve(working),
  )
  expect(await find()).toEqual({ notices: [LATE_NOTICE] })
  expect(await find()).toEqual({ notices: [LATE_NOTICE] })
  expect((await find())?.notices[0]).toContain('skipped after repeated failures; next request in 15 s')
  expect(calls.opened).toBe(2)
  isHanging = false
  await clock.advance(15_000)
  expect(await find()).toMatchObject({ notices: [], meaning: {} })
})

test('findQueryEmbedding tries to open the embedder for every question if opening fails fast', async () => {
  const { find, calls } = await stage(() => Promise.reject(new Error('refused')))
  for (let i = 1; i <= 4; i++) {
    expect((await find())?.notices).toEqual(['the model cannot be used: refused; answered by words alone'])
    expect(calls.opened).toBe(i)
  }
})

test('findQueryEmbedding rejects on abort, and further questions still open the embedder', async () => {
  const { find, calls } = await stage(() => new Promise(() => undefined), { waitMs: 60_000 })
  for (let i = 1; i <= 3; i++) {
    const stop = new AbortController()
    const found = find(stop.signal)
    while (calls.opened < i) await Promise.resolve()
    stop.abort(new Error('enough'))
    await expect(found).rejects.toThrow('enough')
  }
})

test('findQueryEmbedding waits longer for the built-in model than for a service', async () => {
  const slow: Embedder = {
    ...working,
    embed: async (texts, signal, use) => {
      await sleep(2200)
      return working.embed(texts, signal, use)
    },
  }
  const findWith = async (hasEmbeddingService: boolean) => {
    const { library } = await stage(async () => slow, { hasEmbeddingService })
    return findQueryEmbedding(library, 'where is it', {})
  }
  const [builtIn, service] = await Promise.all([findWith(false), findWith(true)])
  expect(builtIn).toMatchObject({ meaning: {}, notices: [] })
  expect(service).toEqual({
    notices: ['the model cannot be used: no answer within 2 s; answered by words alone'],
  })
})

test('findQueryEmbedding opens no embedder while nothing is embedded', async () => {
  const { find, calls } = await stage(async () => working, { isEmbedded: false })
  expect(await find()).toEqual({
    notices: ['no chunk has a vector yet (make them with pharos embed run); answered by words alone'],
  })
  expect(calls.opened).toBe(0)
})

test('findQueryEmbedding reports a different model, and asks a service again because it may have its old model back', async () => {
  let texts = 0
  const other: Embedder = {
    ...working,
    space: { ...SPACE, model: 'big', fingerprint: 'b'.repeat(64) },
    embed: async (given, signal, use) => {
      texts++
      return working.embed(given, signal, use)
    },
  }
  const resultFor = (which: string) => ({
    notices: [`the library has vectors of another model (small) than the ${which} one (big); answered by words alone`],
  })
  expect(await (await stage(async () => other)).find()).toEqual(resultFor('built-in'))
  expect(texts).toBe(0)
  expect(await (await stage(async () => other, { hasEmbeddingService: true })).find()).toEqual(resultFor('configured'))
  expect(texts).toBe(1)
})

test('findQueryEmbedding names a failing service once', async () => {
  const details = { service: 'TEI', url: 'http://a.test', problem: 'it answered 503', advice: '' }
  const { find } = await stage(() => Promise.reject(new PharosError('SERVICE_UNUSABLE', details)))
  expect((await find())?.notices).toEqual([
    'the model cannot be used: TEI at http://a.test: it answered 503; answered by words alone',
  ])
})
