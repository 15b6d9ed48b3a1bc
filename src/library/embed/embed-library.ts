import { messageOf, PharosError } from '../../core/errors.ts'
import { findVectorProblem } from '../../core/search/quantized-vector.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import type { Library } from '../library.ts'
import type { ChunkRef, Embedder, UnembeddedChunk, VectorIndex, VectorSpace } from '../ports/vectors.ts'
import { ServiceFailure } from '../service-call.ts'
import { refuseOtherSpace } from './check-vectors.ts'
import { PROBE_TEXT } from './embedded-text.ts'

/** Options of an embedding run. */
export interface EmbedInput {
  /** Restricts the run to these sources. @default all sources */
  readonly sourceIds?: readonly string[]
  /** Stops the run at the next chunk. Finished vectors stay, and the next run continues from there. */
  readonly signal?: AbortSignal
  /** Number of chunks embedded and written at once. @default the embedder's preference, or 16 */
  readonly batch?: number
  /** Replaces vectors of another model. @default false */
  readonly replace?: boolean
  /** Retries chunks that the model refused before. @default false */
  readonly retryRefused?: boolean
}

/** Progress of an embedding run. */
export interface EmbedProgress {
  readonly embedded: number
  readonly chunks: number
  /**
   * Chunks without a vector, from this or earlier runs: the model fails on them, or does not support the language of their page. They are
   * excluded until a retry is requested.
   */
  readonly refused: number
  /** Chunks that failed in this run, including timeouts of the service, which are retried later. */
  readonly skipped: number
  /** Describes the first failure. */
  readonly problem: string | null
}

const BATCH_SIZE = 16
/** Duration of the embedding lease. */
const LEASE_MS = 20_000
/** Poll interval of a process that waits for the lease. */
const POLL_INTERVAL_MS = 1000
/** Cool-down of a chunk that timed out: the service may be less busy afterwards. */
const TIMEOUT_COOLDOWN_MS = 3_600_000
/** A count takes as long as embedding a chunk in a large library, so it is refreshed only once in this many batches. */
const BATCHES_PER_COUNT = 20

/**
 * Embeds chunks without vectors in batches and yields the progress after each. Chunks that the model refuses are excluded until a retry is
 * requested; chunks on which a service times out are retried later. While another process embeds the library, this run only reports
 * progress. Throws `EMBEDDER_MISSING` without a model, and `VECTOR_SPACE_OTHER` if there are vectors of another model. Vectors of an
 * earlier built-in model are dropped: the next crawl of a source, or a run over all sources, makes new ones. A failing service throws
 * `SERVICE_UNUSABLE`; finished vectors stay.
 */
export async function* embedLibrary(library: Library, input: EmbedInput = {}): AsyncGenerator<EmbedProgress, void> {
  const { sourceIds, replace = false, retryRefused = false } = input
  const { vectors } = library
  const embedder = await library.openEmbedder?.()
  if (vectors === undefined || embedder === undefined) {
    throw new PharosError('EMBEDDER_MISSING')
  }
  await switchSpace(library, vectors, embedder, replace)
  if (retryRefused) {
    await vectors.forgetRefused(sourceIds)
    timedOutChunksOf(embedder).clear()
  }
  const run = new Run(library, vectors, embedder, input)
  const progress = await run.count()
  yield progress
  if (!isDone(progress)) yield* embedWithLease(run)
  await vectors.buildNearestIndex?.()
}

function isDone({ embedded, refused, chunks }: EmbedProgress): boolean {
  return embedded + refused >= chunks
}

/** Waits until no other process embeds, then embeds the chunks that still lack a vector. */
async function* embedWithLease(run: Run): AsyncGenerator<EmbedProgress, void> {
  let hasWaited = false
  for (; !(await run.takeLease()); hasWaited = true) {
    await run.library.clock.sleep(POLL_INTERVAL_MS, run.signal)
    const progress = await run.count()
    yield progress
    if (isDone(progress)) return
  }
  try {
    if (hasWaited) yield await run.count()
    while (yield* run.embedPass());
  } finally {
    // A lease that cannot be released expires.
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
  /** Due times of chunks that timed out, by name. */
  readonly #timedOut: Map<string, number>
  #skipped = 0
  #problem: string | null = null
  #leasedUntil = 0

  constructor(library: Library, vectors: VectorIndex, embedder: Embedder, input: EmbedInput) {
    this.library = library
    this.signal = input.signal
    this.#vectors = vectors
    this.#embedder = embedder
    this.#sourceIds = input.sourceIds
    this.#batch = input.batch ?? embedder.batchSize ?? BATCH_SIZE
    this.#holder = library.newId()
    this.#timedOut = timedOutChunksOf(embedder)
  }

  /** Renews the lease only after half of its duration, because every renewal is a write. */
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

  /**
   * Visits every chunk without a vector once. Returns true if it made vectors, because chunks may have been added meanwhile before the
   * current position.
   */
  async *embedPass(): AsyncGenerator<EmbedProgress, boolean> {
    let counted = await this.#vectors.count(this.#sourceIds)
    let after: ChunkRef | undefined
    let total = 0
    for (let batches = 1; ; batches++) {
      this.signal?.throwIfAborted()
      const chunks = await this.#vectors.listMissing(this.#batch, this.#sourceIds, after)
      after = chunks.at(-1)
      if (after === undefined) return total > 0
      const made = await this.#embedDue(chunks)
      total += made
      const isDue = batches % BATCHES_PER_COUNT === 0 || chunks.length < this.#batch || made < chunks.length
      counted = isDue ? await this.#vectors.count(this.#sourceIds) : { ...counted, embedded: counted.embedded + made }
      yield this.#progress(counted)
    }
  }

  #progress(count: Count): EmbedProgress {
    return { ...count, skipped: this.#skipped, problem: this.#problem }
  }

  /**
   * Embeds chunks; returns how many. Chunks that timed out before are skipped until they are due, then tried one by one so that they delay
   * no others.
   */
  async #embedDue(chunks: readonly UnembeddedChunk[]): Promise<number> {
    const now = this.library.clock.now()
    const embeddable = chunks.filter(({ language }) => canEmbed(this.#embedder, language))
    if (embeddable.length < chunks.length) await this.#refuseForeign(chunks.filter((one) => !embeddable.includes(one)))
    const others = embeddable.filter((chunk) => !this.#timedOut.has(writeName(chunk)))
    const due = embeddable.filter((chunk) => (this.#timedOut.get(writeName(chunk)) ?? Number.POSITIVE_INFINITY) <= now)
    let made = others.length === 0 ? 0 : await this.#embed(others)
    for (const chunk of due) made += await this.#embed([chunk])
    return made
  }

  /**
   * Embeds and writes chunks; returns how many. If the model fails, the batch is split down to the chunk at fault; vectors made until then
   * are written.
   */
  async #embed(chunks: readonly UnembeddedChunk[]): Promise<number> {
    // A process that stalls loses the lease; two processes may then do the same work, and both may write.
    await this.takeLease()
    let made: readonly Float32Array[]
    try {
      made = await this.#embedder.embed(
        chunks.map(({ text }) => text),
        this.signal,
      )
    } catch (error) {
      this.signal?.throwIfAborted()
      if (error instanceof PharosError && error.code === 'SERVICE_UNUSABLE') throw error
      const [first, second] = chunks
      if (first !== undefined && second === undefined) {
        if (isTimeout(error)) this.#setAside(first, error)
        else await this.#refuse(chunks, error)
        return 0
      }
      const half = chunks.length >> 1
      return (await this.#embed(chunks.slice(0, half))) + (await this.#embed(chunks.slice(half)))
    }
    const withVectors = chunks.map((chunk, i) => ({ ...chunk, vector: made[i] ?? NO_VECTOR }))
    const bad = withVectors.filter(({ vector }) => this.#problemOf(vector) !== undefined)
    const good = withVectors.filter((one) => !bad.includes(one))
    const [first] = bad
    if (first !== undefined) await this.#refuse(bad, createVectorError(first.chunkId, this.#problemOf(first.vector)))
    if (good.length > 0) await this.#vectors.write(this.#embedder.space, good, this.signal)
    for (const chunk of good) this.#timedOut.delete(writeName(chunk))
    return good.length
  }

  /** Excludes chunks from later runs, after a check that the model works: a broken one would exclude every chunk. */
  async #refuse(chunks: readonly ChunkRef[], error: unknown): Promise<void> {
    const [vector = NO_VECTOR] = await this.#embedder.embed([PROBE_TEXT], this.signal)
    if (this.#problemOf(vector) !== undefined) throw error
    const problem = messageOf(error)
    const refusals = chunks.map(({ sourceId, chunkId }) => ({ sourceId, chunkId, problem }))
    await this.#vectors.refuse(this.#embedder.space, refusals)
    this.#skip(chunks.length, problem)
  }

  /** Excludes chunks of pages in other languages: the model would give them arbitrary vectors. */
  async #refuseForeign(chunks: readonly UnembeddedChunk[]): Promise<void> {
    const { space, language: own } = this.#embedder
    const refusals = chunks.map(({ sourceId, chunkId, language }) => {
      const problem = `its page is in another language (${language}) than the model (${own})`
      return { sourceId, chunkId, problem }
    })
    await this.#vectors.refuse(space, refusals)
  }

  /** Postpones a chunk that timed out. Excluding it would leave it without a vector for good. */
  #setAside(chunk: ChunkRef, { message }: Error): void {
    this.#timedOut.set(writeName(chunk), this.library.clock.now() + TIMEOUT_COOLDOWN_MS)
    this.#skip(1, message)
  }

  #skip(count: number, problem: string): void {
    this.#skipped += count
    this.#problem ??= problem
  }

  #problemOf(vector: Float32Array): string | undefined {
    return findVectorProblem(vector, this.#embedder.space.dimensions)
  }
}

/** Due times of chunks that timed out, by name. A new process starts without any. */
const TIMED_OUT_CHUNKS = new WeakMap<Embedder, Map<string, number>>()

function timedOutChunksOf(embedder: Embedder): Map<string, number> {
  const timedOut = TIMED_OUT_CHUNKS.get(embedder) ?? new Map<string, number>()
  TIMED_OUT_CHUNKS.set(embedder, timedOut)
  return timedOut
}

function writeName({ sourceId, chunkId }: ChunkRef): string {
  return `${sourceId}/${chunkId}`
}

/** Whether an error is a timeout, which proves nothing about the text. */
function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.cause instanceof ServiceFailure && error.cause.type === 'timeout'
}

type Count = Pick<EmbedProgress, 'embedded' | 'refused' | 'chunks'>

/** Placeholder for a vector that the model did not return. */
const NO_VECTOR = new Float32Array(0)

function createVectorError(chunk: string, problem = ''): PharosError {
  return new PharosError('VECTOR_INVALID', { chunk, problem })
}

/** Whether a model supports a language; an unknown language counts as supported. */
export function canEmbed({ language: own }: Pick<Embedder, 'language'>, language: string | null): boolean {
  const code = language === null ? null : primaryLanguageOf(language)
  return own === undefined || code === null || code === own
}

/** Whether a space belongs to an earlier version of the model, whose vectors must be made again. */
export function isEarlierSpace({ earlierSpaces = [] }: Embedder, found: VectorSpace | undefined): boolean {
  return found !== undefined && earlierSpaces.includes(found.fingerprint)
}

/** Switches to the space of an embedder and drops vectors of an earlier version of its model. Rejects as {@link checkSpace} does. */
export async function switchSpace(
  library: Pick<Library, 'hasEmbeddingService'>,
  vectors: VectorIndex,
  embedder: Embedder,
  replace = false,
): Promise<void> {
  if (await checkSpace(library, vectors, embedder, replace)) await vectors.replaceSpace(embedder.space)
}

/**
 * Whether the library must switch to the space of an embedder. Rejects with `VECTOR_SPACE_OTHER` if it has vectors of another model, which
 * only the owner may replace.
 */
export async function checkSpace(
  { hasEmbeddingService: isService = false }: Pick<Library, 'hasEmbeddingService'>,
  vectors: VectorIndex,
  embedder: Embedder,
  replace = false,
): Promise<boolean> {
  const found = await vectors.readSpace()
  if (found?.fingerprint === embedder.space.fingerprint) return false
  // The service may have changed its model since it was opened; this request detects that, and the next call opens the embedder again.
  if (isService && found !== undefined) await embedder.embed([PROBE_TEXT])
  if (!replace && !isEarlierSpace(embedder, found)) refuseOtherSpace(found, embedder.space)
  return true
}
