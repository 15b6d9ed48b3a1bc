import { describe, expect, test } from 'vitest'
import { addSourceTo, writePage } from '../../../test/embed/filled-store.ts'
import { createMemoryStore } from '../../store/memory/memory-store.ts'
import type { Library } from '../library.ts'
import type { Embedder, VectorSpace, VectorStore } from '../vectors.ts'
import { type EmbedProgress, embedLibrary } from './embed-library.ts'

const SPACE: VectorSpace = { model: 'letters', fingerprint: 'a'.repeat(64), dimensions: 26 }

/** An embedder of few words: a vector is how often each letter occurs. */
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
  readonly asked: string[][]
}

async function stage(texts: readonly string[], space = SPACE, embed = countLetters): Promise<Staged> {
  const store = createMemoryStore()
  await addSourceTo(store, 'docs')
  await writePage(store, 'docs', '/a', texts.join('\n---\n'))
  return { store, ...openOver(store, space, embed) }
}

function openOver(store: VectorStore, space = SPACE, embed = countLetters): Pick<Staged, 'library' | 'asked'> {
  const asked: string[][] = []
  const embedder: Embedder = {
    space,
    embed: async (texts, signal) => {
      signal?.throwIfAborted()
      asked.push([...texts])
      return texts.map(embed)
    },
    close: async () => {},
  }
  // Nothing else of a library takes part.
  const library = { store, vectors: store.vectors, openEmbedder: async () => embedder } as unknown as Library
  return { library, asked }
}

async function collect(progress: AsyncIterable<EmbedProgress>): Promise<number[]> {
  const seen: number[] = []
  for await (const { embedded } of progress) seen.push(embedded)
  return seen
}

const FIVE = ['one', 'two', 'three', 'four', 'five']

describe('embedding a library', () => {
  test('goes on in batches until nothing is missing, and does nothing when asked again', async () => {
    const { library, asked, store } = await stage(FIVE)
    expect(await collect(embedLibrary(library, { batch: 2 }))).toEqual([0, 2, 4, 5])
    expect(asked.map((texts) => texts.length)).toEqual([2, 2, 1])
    expect(await store.vectors.readSpace()).toEqual(SPACE)
    expect(await collect(embedLibrary(library))).toEqual([5])
    expect(asked).toHaveLength(3)
  })

  test('takes the sources that it is given, and counts those only', async () => {
    const { library, store } = await stage(FIVE)
    await addSourceTo(store, 'more')
    await writePage(store, 'more', '/b', 'six')
    expect(await collect(embedLibrary(library, { sourceIds: ['more'] }))).toEqual([0, 1])
    expect(await store.vectors.count()).toEqual({ embedded: 1, chunks: 6 })
  })

  test('stops when it is told to, keeps what it has, and goes on there', async () => {
    const { library, store } = await stage(FIVE)
    const stop = new AbortController()
    const run = async () => {
      for await (const { embedded } of embedLibrary(library, { batch: 2, signal: stop.signal })) {
        if (embedded === 2) stop.abort(new Error('enough'))
      }
    }
    await expect(run()).rejects.toThrow('enough')
    expect(await store.vectors.count()).toEqual({ embedded: 2, chunks: 5 })
    expect(await collect(embedLibrary(library))).toEqual([2, 5])
  })

  test('takes in what is added while it runs', async () => {
    const { library, store } = await stage(['one', 'two'])
    const seen: number[] = []
    for await (const { embedded } of embedLibrary(library, { batch: 1 })) {
      if (embedded === 1 && seen.length === 1) await writePage(store, 'docs', '/late', 'three')
      seen.push(embedded)
    }
    expect(seen).toEqual([0, 1, 2, 3])
  })

  test('refuses a model of another space, and makes everything anew where that is wanted', async () => {
    const { library, store } = await stage(FIVE)
    await collect(embedLibrary(library))
    const other = openOver(store, { ...SPACE, model: 'other', fingerprint: 'b'.repeat(64) })
    await expect(collect(embedLibrary(other.library))).rejects.toMatchObject({
      code: 'VECTOR_SPACE_OTHER',
      message: expect.stringContaining('letters (aaaaaaaa)'),
    })
    expect(await store.vectors.count()).toEqual({ embedded: 5, chunks: 5 })
    expect(await collect(embedLibrary(other.library, { replace: true, batch: 3 }))).toEqual([0, 3, 5])
    expect(await store.vectors.readSpace()).toMatchObject({ model: 'other' })
  })

  test('writes nothing of a batch when the model gives something that is no vector', async () => {
    const zeros = (text: string) => (text.endsWith('three') ? new Float32Array(26) : countLetters(text))
    const { library, store } = await stage(FIVE, SPACE, zeros)
    await expect(collect(embedLibrary(library))).rejects.toMatchObject({
      code: 'VECTOR_INVALID',
      message: expect.stringContaining('all its numbers are the same'),
    })
    expect(await store.vectors.count()).toEqual({ embedded: 0, chunks: 5 })
  })

  test('needs a model', async () => {
    const { library } = await stage(FIVE)
    const without = { ...library, openEmbedder: async () => undefined }
    await expect(collect(embedLibrary(without))).rejects.toMatchObject({ code: 'EMBEDDER_MISSING' })
  })
})
