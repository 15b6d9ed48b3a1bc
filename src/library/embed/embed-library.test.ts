import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { addSourceTo, writePage } from '../../../test/embed/filled-store.ts'
import { createMemoryStore } from '../../../test/memory-store/memory-store.ts'
import { PharosError } from '../../core/errors.ts'
import type { Library } from '../library.ts'
import type { Embedder, VectorSpace, VectorStore } from '../ports/vectors.ts'
import { ServiceFailure } from '../service-call.ts'
import { type EmbedProgress, embedLibrary } from './embed-library.ts'

const SPACE: VectorSpace = { model: 'letters', fingerprint: 'a'.repeat(64), dimensions: 26 }

/** A simple embedder: a vector counts how often each letter occurs. */
function countLetters(text: string): Float32Array {
  const counts = new Float32Array(26)
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? ['a']) {
    const at = letter.charCodeAt(0) - 97
    counts[at] = (counts[at] ?? 0) + 1
  }
  const length = Math.hypot(...counts)
  return counts.map((count) => count / length)
}

interface Staged {
  readonly store: VectorStore
  readonly library: Library
  readonly requests: string[][]
}

async function stage(texts: readonly string[], space = SPACE, embed = countLetters): Promise<Staged> {
  const store = createMemoryStore()
  await addSourceTo(store, 'docs')
  await writePage(store, 'docs', '/a', texts.join('\n---\n'))
  return { store, ...openOver(store, space, embed) }
}

function openOver(store: VectorStore, space = SPACE, embed = countLetters): Pick<Staged, 'library' | 'requests'> {
  const requests: string[][] = []
  const embedder: Embedder = {
    space,
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      requests.push([...texts])
      return texts.map(embed)
    },
    close: async () => {},
  }
  const clock = {
    now: () => time,
    sleep: async (ms: number) => {
      time += ms
    },
  }
  const { vectors } = store
  // The run uses no other parts of a library.
  const library = { store, vectors, clock, newId: () => randomUUID(), openEmbedder: async () => embedder }
  return { library: library as unknown as Library, requests }
}

/** Time advances only during sleeps. */
let time = 1_000_000

async function collect(progress: AsyncIterable<EmbedProgress>): Promise<number[]> {
  const seen: number[] = []
  for await (const { embedded } of progress) seen.push(embedded)
  return seen
}

const FIVE = ['one', 'two', 'three', 'four', 'five']

describe('embedLibrary', () => {
  test('embeds in batches until nothing is missing, and does nothing on a second run', async () => {
    const { library, requests, store } = await stage(FIVE)
    expect(await collect(embedLibrary(library, { batch: 2 }))).toEqual([0, 2, 4, 5])
    expect(requests.map((texts) => texts.length)).toEqual([2, 2, 1])
    expect(await store.vectors.readSpace()).toEqual(SPACE)
    expect(await collect(embedLibrary(library))).toEqual([5])
    expect(requests).toHaveLength(3)
  })

  test('embeds and counts only the given sources', async () => {
    const { library, store } = await stage(FIVE)
    await addSourceTo(store, 'more')
    await writePage(store, 'more', '/b', 'six')
    expect(await collect(embedLibrary(library, { sourceIds: ['more'] }))).toEqual([0, 1])
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 6, refused: 0 })
  })

  test('stops on abort, keeps finished vectors, and resumes there', async () => {
    const { library, store } = await stage(FIVE)
    const stop = new AbortController()
    const run = async () => {
      for await (const { embedded } of embedLibrary(library, { batch: 2, signal: stop.signal })) {
        if (embedded === 2) stop.abort(new Error('enough'))
      }
    }
    await expect(run()).rejects.toThrow('enough')
    expect(await store.vectors.count()).toEqual({ embedded: 2, chunks: 5, refused: 0 })
    expect(await collect(embedLibrary(library))).toEqual([2, 5])
  })

  test('includes chunks added while it runs', async () => {
    const { library, store } = await stage(['one', 'two'])
    const seen: number[] = []
    for await (const { embedded } of embedLibrary(library, { batch: 1 })) {
      if (embedded === 1 && seen.length === 1) await writePage(store, 'docs', '/late', 'three')
      seen.push(embedded)
    }
    expect(seen).toEqual([0, 1, 2, 3])
  })

  test('throws for a model of another space, and replaces all vectors on request', async () => {
    const { library, store } = await stage(FIVE)
    await collect(embedLibrary(library))
    const other = openOver(store, { ...SPACE, model: 'other', fingerprint: 'b'.repeat(64) })
    await expect(collect(embedLibrary(other.library))).rejects.toMatchObject({
      code: 'VECTOR_SPACE_OTHER',
      message: expect.stringContaining('letters (aaaaaaaa)'),
    })
    expect(await store.vectors.count()).toEqual({ embedded: 5, chunks: 5, refused: 0 })
    expect(await collect(embedLibrary(other.library, { replace: true, batch: 3 }))).toEqual([0, 3, 5])
    expect(await store.vectors.readSpace()).toMatchObject({ model: 'other' })
  })

  const TWENTY = Array.from({ length: 20 }, (_, i) => `chunk ${String.fromCharCode(97 + i).repeat(i + 1)}`)
  const isBad = (text: string) => text.endsWith(TWENTY[13] ?? '')

  test.each<[string, (text: string) => Float32Array, RegExp]>([
    [
      'returns NaN for',
      (text) => (isBad(text) ? new Float32Array(26).fill(Number.NaN) : countLetters(text)),
      /it holds NaN/,
    ],
    ['returns only zeros for', (text) => (isBad(text) ? new Float32Array(26) : countLetters(text)), /the same/],
    [
      'fails on',
      (text) => {
        if (isBad(text)) throw new Error('segmentation fault')
        return countLetters(text)
      },
      /segmentation fault/,
    ],
  ])('excludes one chunk that the model %s, and reports it', async (_what, embed, problem) => {
    const { library, requests, store } = await stage(TWENTY, SPACE, embed)
    let last: EmbedProgress | undefined
    for await (const progress of embedLibrary(library, { batch: 8 })) last = progress
    expect(last).toEqual({
      ...{ embedded: 19, chunks: 20, refused: 1, skipped: 1 },
      problem: expect.stringMatching(problem),
    })
    expect(await store.vectors.count()).toEqual({ embedded: 19, chunks: 20, refused: 1 })
    expect(await store.vectors.listRefused(9)).toEqual([
      { sourceId: 'docs', chunkId: expect.any(String), problem: expect.stringMatching(problem) },
    ])
    // The bad chunk is found by bisection, with few requests, and is not tried again at the end.
    const tries = () => requests.filter((texts) => texts.some(isBad)).length
    expect(tries()).toBeLessThanOrEqual(4)
    // The next run skips the bad chunk and embeds new chunks.
    requests.length = 0
    await writePage(store, 'docs', '/late', 'late')
    expect(await collect(embedLibrary(library))).toEqual([19, 20])
    expect(await collect(embedLibrary(library))).toEqual([20])
    expect(tries()).toBe(0)
    // A retry must be requested.
    expect(await collect(embedLibrary(library, { retryRefused: true, sourceIds: ['others'] }))).toEqual([0])
    for await (const progress of embedLibrary(library, { retryRefused: true })) last = progress
    expect(last).toMatchObject({ embedded: 20, refused: 1, skipped: 1 })
    expect(tries()).toBe(1)
  })

  test('retries a timed-out chunk after an hour and on its own, so that it delays no others', async () => {
    const cause = new ServiceFailure('timeout', 'TEI: no answer')
    const embed = (text: string) => {
      if (isBad(text)) throw new PharosError('EMBED_REFUSED', { service: 'TEI', problem: 'no answer' }, { cause })
      return countLetters(text)
    }
    const { library, requests, store } = await stage(TWENTY, SPACE, embed)
    let last: EmbedProgress | undefined
    for await (const progress of embedLibrary(library, { batch: 8 })) last = progress
    expect(last).toEqual({
      ...{ embedded: 19, chunks: 20, refused: 0, skipped: 1 },
      problem: expect.stringMatching(/no answer/),
    })
    const tries = () => requests.filter((texts) => texts.some(isBad)).map((texts) => texts.length)
    requests.length = 0
    await writePage(store, 'docs', '/late', 'late')
    expect((await collect(embedLibrary(library))).at(-1)).toBe(20)
    expect(tries()).toEqual([])
    time += 3_600_000
    expect((await collect(embedLibrary(library))).at(-1)).toBe(20)
    expect(tries()).toEqual([1])
    expect((await collect(embedLibrary(library, { retryRefused: true }))).at(-1)).toBe(20)
    expect(tries()).toHaveLength(2)
    expect(await store.vectors.count()).toEqual({ embedded: 20, chunks: 21, refused: 0 })
    // Another process, or a reopened model, retries at once.
    expect((await collect(embedLibrary(openOver(store).library))).at(-1)).toBe(21)
  })

  test('retries refused chunks on request once the model has improved', async () => {
    let isBroken = true
    const embed = (text: string) => (isBroken && isBad(text) ? new Float32Array(26) : countLetters(text))
    const { library, store } = await stage(TWENTY, SPACE, embed)
    await collect(embedLibrary(library))
    isBroken = false
    expect(await collect(embedLibrary(library, { retryRefused: true }))).toEqual([19, 20])
    expect(await store.vectors.count()).toEqual({ embedded: 20, chunks: 20, refused: 0 })
  })

  test('stops if a service is unusable, keeps finished vectors, and resumes there', async () => {
    let calls = 0
    const embed = (text: string) => {
      if (isBad(text) && ++calls > 1) throw new PharosError('SERVICE_UNUSABLE', { service: 'TEI', problem: 'gone' })
      if (isBad(text)) throw new PharosError('EMBED_REFUSED', { service: 'TEI', problem: 'too long' })
      return countLetters(text)
    }
    const { library, store, requests } = await stage(TWENTY, SPACE, embed)
    await expect(collect(embedLibrary(library, { batch: 20 }))).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    const { embedded, refused } = await store.vectors.count()
    // Finished halves are written, and no chunk is refused.
    expect({ embedded: embedded % 10, refused }).toEqual({ embedded: 0, refused: 0 })
    expect(requests.length).toBeLessThanOrEqual(3)
    expect(await collect(embedLibrary(openOver(store).library, { batch: 20 }))).toEqual([embedded, 20])
  })

  test('uses the batch size that the model prefers', async () => {
    const { library, requests } = await stage(TWENTY)
    const embedder = await library.openEmbedder?.()
    const preferring = { ...library, openEmbedder: async () => embedder && { ...embedder, batchSize: 12 } }
    await collect(embedLibrary(preferring))
    expect(requests.map((texts) => texts.length)).toEqual([12, 8])
  })

  test.each<[string, () => Float32Array, string]>([
    ['returns only zeros', () => new Float32Array(26), 'VECTOR_INVALID'],
    [
      'fails on every chunk',
      () => {
        throw new PharosError('MODEL_UNUSABLE', { problem: 'no such symbol' })
      },
      'MODEL_UNUSABLE',
    ],
  ])('throws if the model %s, and writes nothing', async (_what, embed, code) => {
    const { library, store, requests } = await stage(TWENTY, SPACE, embed)
    await expect(collect(embedLibrary(library))).rejects.toMatchObject({ code })
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 20, refused: 0 })
    expect(requests.length).toBeLessThan(10)
    // The failed run has released the lease.
    expect(await store.vectors.lease('another process', time, 1)).toBe(true)
  })

  test('lets one process work at a time, and reports progress meanwhile', async () => {
    const { store, library, requests } = await stage(TWENTY)
    const other = openOver(store)
    const first = embedLibrary(library, { batch: 4 })
    await first.next()
    expect((await first.next()).value).toMatchObject({ embedded: 4 })
    const second = embedLibrary(other.library, { batch: 4 })
    expect((await second.next()).value).toMatchObject({ embedded: 4 })
    expect((await second.next()).value).toMatchObject({ embedded: 4 })
    expect(await collect(first)).toEqual([8, 12, 16, 20])
    expect(await collect(second)).toEqual([20])
    expect({ first: requests.length, second: other.requests.length }).toEqual({ first: 5, second: 0 })
  })

  test('takes over from a process that stopped or stalled', async () => {
    const { store, library } = await stage(TWENTY)
    const first = embedLibrary(library, { batch: 4 })
    await first.next()
    await first.next()
    await first.return()
    const other = openOver(store)
    const second = embedLibrary(other.library, { batch: 4 })
    await second.next()
    expect((await second.next()).value).toMatchObject({ embedded: 8 })
    // The second process stalls without releasing its lease, which expires.
    const waiting = await collect(embedLibrary(openOver(store).library))
    expect(waiting.filter((embedded) => embedded === 8).length).toBeGreaterThan(10)
    expect(waiting.at(-1)).toBe(20)
  })

  test('stops waiting for the lease on abort', async () => {
    const { store, library } = await stage(TWENTY)
    await store.vectors.lease('another process', time, 1e9)
    const stop = new AbortController()
    const waiting = embedLibrary(library, { signal: stop.signal })
    await waiting.next()
    await waiting.next()
    stop.abort(new Error('enough'))
    await expect(waiting.next()).rejects.toThrow('enough')
  })

  test('throws without a model', async () => {
    const { library } = await stage(FIVE)
    const without = { ...library, openEmbedder: async () => undefined }
    await expect(collect(embedLibrary(without))).rejects.toMatchObject({ code: 'EMBEDDER_MISSING' })
  })
})
