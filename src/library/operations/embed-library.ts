import { PharosError } from '../../core/errors.ts'
import { findVectorProblem } from '../../core/search/quantized-vector.ts'
import { refuseOtherSpace } from '../check-vectors.ts'
import type { Library } from '../library.ts'
import type { ChunkName, Embedder, UnembeddedChunk, VectorIndex } from '../vectors.ts'

/** What to embed, and how. */
export interface EmbedInput {
  /** All sources when there are none. */
  readonly sourceIds?: readonly string[]
  /** Ends it at the next chunk. What was embedded stays, and the next run goes on there. */
  readonly signal?: AbortSignal
  /** Chunks that are written at once. @default 16 */
  readonly batch?: number
  /** Makes all vectors anew where the library has those of another model. @default false */
  readonly replace?: boolean
}

/** How far it is. */
export interface EmbedProgress {
  readonly embedded: number
  readonly chunks: number
  /** Chunks that the model makes no vector of. The next run tries them again. */
  readonly skipped: number
  /** What is wrong with the first of them, in words. */
  readonly problem: string | null
}

const BATCH = 16
/** So long others leave the work to whoever took a batch of it, and look after it again and again. */
const LEASE_MS = 20_000
const LOOK_MS = 1000
/** Counting takes as long as a chunk where there are many: in between, what was written is added. */
const BATCHES_PER_COUNT = 20

/**
 * Gives vectors to the chunks that have none, some at a time, and says how far it is after each. A chunk that the model makes no
 * vector of is left out. While another process embeds the library, it looks on. Refuses with `EMBEDDER_MISSING` where no model is
 * installed, and with `VECTOR_SPACE_OTHER` where there are vectors of another one.
 */
export async function* embedLibrary(library: Library, input: EmbedInput = {}): AsyncGenerator<EmbedProgress, void> {
  const { sourceIds, replace = false } = input
  const { vectors } = library
  const embedder = await library.openEmbedder?.()
  if (vectors === undefined || embedder === undefined) {
    throw new PharosError('EMBEDDER_MISSING')
  }
  await takeUpSpace(vectors, embedder, replace)
  const count = await vectors.count(sourceIds)
  yield { ...count, ...NOTHING_SKIPPED }
  if (count.embedded < count.chunks) yield* embedAlone(new Run(library, vectors, embedder, input))
}

const NOTHING_SKIPPED = { skipped: 0, problem: null } as const

/** Embeds as soon as nobody else does, if there is still something to embed then. */
async function* embedAlone(run: Run): AsyncGenerator<EmbedProgress, void> {
  let hasWaited = false
  for (; !(await run.takeLease()); hasWaited = true) {
    await run.library.clock.sleep(LOOK_MS, run.signal)
    const progress = await run.count()
    yield progress
    if (progress.embedded >= progress.chunks) return
  }
  try {
    if (hasWaited) yield await run.count()
    while (yield* run.goThrough());
  } finally {
    // Where it cannot be given back, it ends by itself.
    await run.endLease().catch(() => undefined)
  }
}

/** A run over the chunks without a vector. */
class Run {
  readonly library: Library
  readonly signal: AbortSignal | undefined
  readonly #vectors: VectorIndex
  readonly #embedder: Embedder
  readonly #sourceIds: readonly string[] | undefined
  readonly #batch: number
  readonly #holder: string
  readonly #skipped = new Set<string>()
  #problem: string | null = null
  #leasedUntil = 0

  constructor(library: Library, vectors: VectorIndex, embedder: Embedder, input: EmbedInput) {
    this.library = library
    this.signal = input.signal
    this.#vectors = vectors
    this.#embedder = embedder
    this.#sourceIds = input.sourceIds
    this.#batch = input.batch ?? BATCH
    this.#holder = library.newId()
  }

  /** Not asked for again before half of its time is over: each time something is written. */
  async takeLease(): Promise<boolean> {
    this.signal?.throwIfAborted()
    const now = this.library.clock.now()
    if (now < this.#leasedUntil - LEASE_MS / 2) return true
    const isOurs = await this.#vectors.lease(this.#holder, now, LEASE_MS)
    if (isOurs) this.#leasedUntil = now + LEASE_MS
    return isOurs
  }

  async endLease(): Promise<void> {
    await this.#vectors.lease(this.#holder, this.library.clock.now(), 0)
  }

  async count(): Promise<EmbedProgress> {
    return this.#progress(await this.#vectors.count(this.#sourceIds))
  }

  /** Goes once through all that have no vector. True when it made some: others may have been added before the place it had come to. */
  async *goThrough(): AsyncGenerator<EmbedProgress, boolean> {
    let counted = await this.#vectors.count(this.#sourceIds)
    let after: ChunkName | undefined
    let made = 0
    for (let batches = 1; ; batches++) {
      this.signal?.throwIfAborted()
      const chunks = await this.#vectors.listMissing(this.#batch, this.#sourceIds, after)
      after = chunks.at(-1)
      if (after === undefined) return made > 0
      const untried = chunks.filter((chunk) => !this.#skipped.has(keyOf(chunk)))
      if (untried.length === 0) continue
      // Lost by one that was held up for long: then two do the same work, and either may write it.
      await this.takeLease()
      const vectors = await this.#embed(untried)
      if (vectors.length > 0) await this.#vectors.write(this.#embedder.space, vectors)
      made += vectors.length
      const isDue = batches % BATCHES_PER_COUNT === 0 || chunks.length < this.#batch
      counted = isDue
        ? await this.#vectors.count(this.#sourceIds)
        : { ...counted, embedded: counted.embedded + vectors.length }
      yield this.#progress(counted)
    }
  }

  #progress(count: { readonly embedded: number; readonly chunks: number }): EmbedProgress {
    return { ...count, skipped: this.#skipped.size, problem: this.#problem }
  }

  /** The vectors of chunks. Where the model fails, it is asked for fewer at a time, down to the chunk that it fails at. */
  async #embed(chunks: readonly UnembeddedChunk[]): Promise<NamedVector[]> {
    let made: readonly Float32Array[]
    try {
      made = await this.#embedder.embed(
        chunks.map(({ text }) => text),
        this.signal,
      )
    } catch (error) {
      this.signal?.throwIfAborted()
      const [first, ...others] = chunks
      if (first === undefined || others.length === 0) {
        await this.#skip(chunks, error)
        return []
      }
      const half = chunks.length >> 1
      return [...(await this.#embed(chunks.slice(0, half))), ...(await this.#embed(chunks.slice(half)))]
    }
    const named = chunks.map((chunk, i) => ({ ...chunk, vector: made[i] ?? NO_VECTOR }))
    const bad = named.filter(({ vector }) => this.#problemOf(vector) !== undefined)
    const [first] = bad
    if (first !== undefined) await this.#skip(bad, invalid(first.chunkId, this.#problemOf(first.vector)))
    return named.filter((one) => !bad.includes(one))
  }

  /** Leaves chunks out for this run, provided that the model works: with one that does not, every chunk would be left out. */
  async #skip(chunks: readonly ChunkName[], error: unknown): Promise<void> {
    const [vector = NO_VECTOR] = await this.#embedder.embed([PROOF], this.signal)
    if (this.#problemOf(vector) !== undefined) throw error
    for (const chunk of chunks) this.#skipped.add(keyOf(chunk))
    this.#problem ??= error instanceof Error ? error.message : String(error)
  }

  #problemOf(vector: Float32Array): string | undefined {
    return findVectorProblem(vector, this.#embedder.space.dimensions)
  }
}

type NamedVector = ChunkName & { readonly vector: Float32Array }

/** Stands for one that the model did not give. */
const NO_VECTOR = new Float32Array(0)

/** A text that every model makes a vector of. */
const PROOF = 'A lighthouse shows where the harbour is.'

function invalid(chunk: string, problem = ''): PharosError {
  return new PharosError('VECTOR_INVALID', { chunk, problem })
}

function keyOf({ sourceId, chunkId }: ChunkName): string {
  return `${sourceId}/${chunkId}`
}

/** Vectors are added to those of the same space only. */
async function takeUpSpace(vectors: VectorIndex, { space }: Embedder, replace: boolean): Promise<void> {
  const found = await vectors.readSpace()
  if (found?.fingerprint === space.fingerprint) return
  if (found === undefined || replace) await vectors.replaceSpace(space)
  else refuseOtherSpace(found, space)
}
