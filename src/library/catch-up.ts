import { messageOf, PharosError } from '../core/errors.ts'
import { countOf } from '../core/text/count.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import type { Library } from './library.ts'
import { embedLibrary, isEarlierSpace } from './operations/embed-library.ts'
import { isCrawled } from './operations/source-status.ts'
import { syncVectors } from './operations/sync-vectors.ts'
import { isInStep, readCopyState } from './vector-copy.ts'
import type { VectorIndex } from './vectors.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Options of catching up. */
export interface CatchUpOptions {
  /** Rung when there may be new chunks, as after a crawl. */
  readonly alarm?: Alarm
  /** Told when embedding or copying begins to fail, and when it has caught up. */
  readonly log?: CatchUpLog
}

/** Where it says how it fares. */
export interface CatchUpLog {
  info(message: string): void
  warn(message: string): void
}

/** How long it rests when there was nothing to do: chunks may come from other processes too. */
const REST_MS = 60_000

/** How long it rests while embedding or copying fails, time after time. */
const PAUSES_MS = [15_000, 30_000, 60_000, 120_000, 300_000]

/** How long the opening of an embedder may take. */
const OPENING_MS = 60_000

/**
 * Gives vectors to chunks that have none, until the signal ends it: those that a crawl left, or that were left while the model or its
 * service could not be used. The built-in model only goes on with sources that were begun: others are embedded by `embed run`, or when
 * they are next read. Nothing is fetched for it. A copy of the vectors is brought in step as well.
 */
export async function keepEmbedding(
  library: Library,
  signal: AbortSignal,
  options: CatchUpOptions = {},
): Promise<void> {
  const { alarm = createAlarm(), log } = options
  let failures = 0
  // At the start the copy may lack anything, even what it is searched by.
  let isCopyDoubted = true
  while (!signal.aborted) {
    const problems: string[] = []
    try {
      const made = await embedMissing(library, signal)
      if (made > 0) log?.info(`embedded ${countOf(made, 'chunk')} in the background: search by meaning has caught up`)
    } catch (error) {
      problems.push(messageOf(error))
    }
    if (signal.aborted) return
    // The vectors that there are can be copied also while no more can be made.
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
    if (failures === 1) log?.warn(`catching up with vectors fails and is tried again: ${problems.join('; ')}`)
    if (failures === 0) await alarm.rest(library.clock, REST_MS, signal)
    else await library.clock.sleep(pauseAfter(failures), signal).catch(() => undefined)
  }
}

/** The same once. */
export async function catchUp(library: Library, signal: AbortSignal): Promise<void> {
  await embedMissing(library, signal)
  await copyMissing(library, true, signal)
}

function pauseAfter(failures: number): number {
  return PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? REST_MS
}

/** Embeds chunks without a vector and returns how many. Sends no request to a service when there is nothing to do. */
async function embedMissing(library: Library, signal: AbortSignal): Promise<number> {
  const { vectors, openEmbedder, clock } = library
  if (vectors === undefined || openEmbedder === undefined || library.embedsNew !== true) return 0
  const sourceIds = await listUnfinished(library, vectors)
  if (sourceIds.length === 0) return 0
  // `openEmbedder` takes no signal; a service that hangs must not delay the end.
  const embedder = await waitAtMost(OPENING_MS, signal, () => openEmbedder())
  // Vectors of an earlier model do not count as begun.
  if (embedder === undefined || isEarlierSpace(embedder, await vectors.readSpace())) return 0
  let first: number | undefined
  let reached = 0
  try {
    for await (const progress of embedLibrary(library, { sourceIds, signal })) {
      first ??= progress.embedded
      reached = progress.embedded
      // Every batch lets the requests that came meanwhile go first.
      await clock.sleep(0, signal)
    }
  } catch (error) {
    // Vectors of another model are for their owner to replace: trying again would change nothing.
    if (!(error instanceof PharosError) || error.code !== 'VECTOR_SPACE_OTHER') throw error
  }
  return Math.max(0, reached - (first ?? 0))
}

/**
 * The sources that lack vectors, without those that are being crawled: their crawls embed what they bring. With the built-in model only
 * those that were begun; an owner who configured a service wants vectors of all.
 */
async function listUnfinished(library: Library, vectors: VectorIndex): Promise<string[]> {
  const { store, wantsVectors = false } = library
  const unfinished: string[] = []
  for (const { id } of await store.listSources()) {
    const { embedded, refused, chunks } = await vectors.count([id])
    const done = embedded + refused
    if (done === chunks || (done === 0 && !wantsVectors) || (await isCrawled(library, id))) continue
    unfinished.push(id)
  }
  return unfinished
}

/**
 * Brings the copy of the vectors in step, where there is one that is not or is doubted, and says how many it lacked. To know that it is
 * takes one question to it.
 */
async function copyMissing(library: Library, isDoubted: boolean, signal: AbortSignal): Promise<number> {
  const { store, vectors, vectorCopy: copy } = library
  if (vectors === undefined || copy === undefined) return 0
  if (!isDoubted) {
    const state = await readCopyState(vectors, copy, signal)
    if (state === undefined || isInStep(state)) return 0
  }
  let copied = 0
  for await (const progress of syncVectors({ store, vectors, copy }, {}, signal)) copied = progress.copied
  return copied
}
