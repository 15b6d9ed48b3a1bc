import { messageOf, PharosError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import type { Library, SourceState } from '../library.ts'
import { isInSync, readCopyState } from '../ports/vector-copy.ts'
import type { VectorIndex } from '../ports/vectors.ts'
import { isBeingCrawled } from '../sources/source-status.ts'
import { createWakeableSleep, type WakeableSleep } from '../wakeable-sleep.ts'
import { withTimeout } from '../with-timeout.ts'
import { embedLibrary, isEarlierSpace } from './embed-library.ts'
import { syncVectors } from './sync-vectors.ts'

/** Options of {@link keepEmbedding}. */
export interface BackgroundEmbeddingOptions {
  /** Ends a pause early when there may be new chunks, such as after a crawl. */
  readonly wakeableSleep?: WakeableSleep
  /** Receives a warning when embedding or copying starts to fail, and a message when work is done. */
  readonly log?: BackgroundEmbeddingLog
}

/** Log of background embedding. */
export interface BackgroundEmbeddingLog {
  info(message: string): void
  warn(message: string): void
}

/** Pause when no chunk lacks a vector; other processes may add chunks meanwhile. */
const POLL_INTERVAL_MS = 60_000

/** Back-off after consecutive failures of embedding or copying; the last value repeats. */
const RETRY_DELAYS_MS = [15_000, 30_000, 60_000, 120_000, 300_000]

/** Timeout for opening the embedder. */
const OPEN_TIMEOUT_MS = 60_000

/**
 * Embeds chunks without vectors, and syncs the external vector copy, until the signal aborts. Such chunks remain after a crawl, or after an
 * outage of the model or its service. With the built-in model, only sources with at least one vector are continued; `embed run` or the next
 * crawl starts the others. It fetches no pages.
 */
export async function keepEmbedding(
  library: Library,
  signal: AbortSignal,
  options: BackgroundEmbeddingOptions = {},
): Promise<void> {
  const { wakeableSleep = createWakeableSleep(), log } = options
  let failures = 0
  // At startup the copy may lack anything, even its search index.
  let isCopyDoubted = true
  while (!signal.aborted) {
    const problems: string[] = []
    try {
      const count = await embedMissing(library, signal)
      if (count > 0) log?.info(`embedded ${countOf(count, 'chunk')} in the background: search by meaning is up to date`)
    } catch (error) {
      problems.push(messageOf(error))
    }
    if (signal.aborted) return
    // Existing vectors can be copied even while embedding fails.
    try {
      const copied = await copyMissing(library, isCopyDoubted, signal)
      if (copied > 0) log?.info(`copied ${countOf(copied, 'vector')} to ${library.vectorCopy?.location}`)
      isCopyDoubted = false
    } catch (error) {
      problems.push(messageOf(error))
      isCopyDoubted = true
    }
    if (signal.aborted) return
    failures = problems.length === 0 ? 0 : failures + 1
    // Every search reports the problem; the log gets it once.
    if (failures === 1) log?.warn(`could not update the vectors; retrying: ${problems.join('; ')}`)
    if (failures === 0) await wakeableSleep.sleep(library.clock, POLL_INTERVAL_MS, signal)
    else await library.clock.sleep(retryDelayAfter(failures), signal).catch(() => undefined)
  }
}

/** Embeds missing chunks and syncs the vector copy once. */
export async function embedBacklog(library: Library, signal: AbortSignal): Promise<void> {
  await embedMissing(library, signal)
  await copyMissing(library, true, signal)
}

function retryDelayAfter(failures: number): number {
  return RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length) - 1] ?? POLL_INTERVAL_MS
}

/** Embeds chunks without a vector and returns how many. Sends no request to a service when there is nothing to do. */
async function embedMissing(library: Library, signal: AbortSignal): Promise<number> {
  const { vectors, openEmbedder, clock } = library
  if (vectors === undefined || openEmbedder === undefined || library.embedsNew !== true) return 0
  const sourceIds = await listUnfinished(library, vectors)
  if (sourceIds.length === 0) return 0
  // `openEmbedder` takes no signal; a service that hangs must not delay the end.
  const embedder = await withTimeout(OPEN_TIMEOUT_MS, signal, () => openEmbedder())
  // Vectors of an earlier version of the model must all be made again, which is not done in the background.
  if (embedder === undefined || isEarlierSpace(embedder, await vectors.readSpace())) return 0
  let first: number | undefined
  let reached = 0
  try {
    for await (const progress of embedLibrary(library, { sourceIds, signal })) {
      first ??= progress.embedded
      reached = progress.embedded
      // Yields after every batch so that pending requests run first.
      await clock.sleep(0, signal)
    }
  } catch (error) {
    // Only the owner can replace vectors of another model, so a retry would fail again.
    if (!(error instanceof PharosError) || error.code !== 'VECTOR_SPACE_OTHER') throw error
  }
  return Math.max(0, reached - (first ?? 0))
}

/**
 * Lists sources with missing vectors, except those being crawled, because a crawl embeds its own pages. With the built-in model, a source
 * without any vector is skipped; a configured service embeds all sources.
 */
async function listUnfinished(
  library: SourceState & Pick<Library, 'hasEmbeddingService'>,
  vectors: VectorIndex,
): Promise<string[]> {
  const { store, hasEmbeddingService = false } = library
  const unfinished: string[] = []
  for (const { id } of await store.listSources()) {
    const { embedded, refused, chunks } = await vectors.count([id])
    const done = embedded + refused
    if (done === chunks || (done === 0 && !hasEmbeddingService) || (await isBeingCrawled(library, id))) continue
    unfinished.push(id)
  }
  return unfinished
}

/**
 * Syncs the external vector copy if its state differs or is in doubt, and returns how many vectors it lacked. Checking the state takes one
 * request.
 */
async function copyMissing(
  library: Pick<Library, 'store' | 'vectorCopy' | 'vectors'>,
  isDoubted: boolean,
  signal: AbortSignal,
): Promise<number> {
  const { store, vectors, vectorCopy: copy } = library
  if (vectors === undefined || copy === undefined) return 0
  if (!isDoubted) {
    const state = await readCopyState(vectors, copy, signal)
    if (state === undefined || isInSync(state)) return 0
  }
  let copied = 0
  for await (const progress of syncVectors({ store, vectors, copy }, {}, signal)) copied = progress.copied
  return copied
}
