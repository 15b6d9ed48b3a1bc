import { setTimeout as sleep } from 'node:timers/promises'
import { BRIEF_STEP, type IndexStep, SMALL_STEP } from '../../../core/retrieval/index/chunk-index.ts'
import { causeOf } from '../../../crawl/store-retry.ts'
import {
  type AdvanceOptions,
  advanceAll,
  BUSY_RETRY_DELAY_MS,
  STEP_PAUSE_MS,
  type StepOutcome,
} from '../../common/advance-all.ts'
import type { Database } from '../database/database.ts'
import { createAdvanceIndex } from './advance-index.ts'

/** Keeps the index up to date. Writers only announce their chunks. */
export interface IndexMaintenance {
  /** Works on the index for as long as a waiting search can afford; the rest follows in the background. */
  runBriefly(): Promise<void>
  /** Does all outstanding work, unless writing stays impossible. */
  runAll(signal?: AbortSignal): Promise<void>
  /** Starts background work, without waiting for it. */
  runLater(): void
  /** Announces that chunks were written or removed; starts background work when they are many. */
  announce(chunks: number): void
  /** Starts no further work. */
  close(): void
}

/** How long a search may wait for the index. */
const SEARCH_WAIT_MS = 300
/** Once background work has taken this long, searches no longer wait for it. */
const MAX_AWAITED_RUN_MS = 1000
/** Number of announced chunks that start background work. */
const MIN_ANNOUNCED_CHUNKS = 1024

/** Creates the index maintenance; each step asks `isBehind` whether there is work. It never keeps the process alive. */
export function createIndexMaintenance(db: Database, isBehind: () => Promise<boolean>): IndexMaintenance {
  const advanceIndex = createAdvanceIndex(db)
  let isClosed = false
  let isRunning = false
  /** When the background work began to add chunks that a search did not wait for; otherwise it only merges segments. */
  let begunAt: number | undefined
  let announcedChunks = 0
  /** Serializes steps, because two steps of one process would only block each other. */
  let lastStep: Promise<unknown> = Promise.resolve()

  const advance = (step: IndexStep): Promise<StepOutcome> => {
    const next = lastStep.then(() => (isClosed ? 'complete' : advanceIndex(step))).catch(toBlocked)
    lastStep = next.catch(() => undefined)
    return next
  }
  const advanceBy = (options: AdvanceOptions): Promise<void> =>
    advanceAll({ advance: () => advance(SMALL_STEP), isBehind, isClosed: () => isClosed }, options)
  /** Continues in the background. Errors are ignored, because the next search meets them again. */
  const continueInBackground = (): void => {
    if (isRunning || isClosed) return
    isRunning = true
    sleep(STEP_PAUSE_MS, undefined, { ref: false })
      .then(() => advanceBy({ isThorough: true, ref: false }))
      .catch(() => undefined)
      .finally(() => {
        isRunning = false
        begunAt = undefined
      })
  }
  const catchUpInBackground = (): void => {
    continueInBackground()
    begunAt ??= performance.now()
  }

  return {
    runBriefly: async () => {
      const now = performance.now()
      if (begunAt !== undefined && now - begunAt > MAX_AWAITED_RUN_MS) return
      while (!isClosed) {
        const outcome = await advance(BRIEF_STEP)
        if (outcome === 'blocked') return
        if (outcome === 'busy') await sleep(BUSY_RETRY_DELAY_MS)
        if (!(await isBehind())) return
        // Larger merges are left to the background.
        if (outcome === 'complete' || performance.now() - now > SEARCH_WAIT_MS) return catchUpInBackground()
      }
    },
    runLater: continueInBackground,
    runAll: (signal) => advanceBy({ isThorough: true, ref: true, signal }),
    announce: (chunks) => {
      announcedChunks += chunks
      if (announcedChunks < MIN_ANNOUNCED_CHUNKS) return
      announcedChunks = 0
      catchUpInBackground()
    },
    close: () => {
      isClosed = true
    },
  }
}

/** Returns `blocked` when the error means that the store cannot be written now; the next write reports the cause. */
function toBlocked(error: unknown): 'blocked' {
  if (causeOf(error) === undefined) throw error
  return 'blocked'
}
