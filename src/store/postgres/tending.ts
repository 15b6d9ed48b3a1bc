import { setTimeout as sleep } from 'node:timers/promises'
import { BRIEF_STEP, type IndexStep, SMALL_STEP } from '../../core/retrieval/chunk-index.ts'
import { causeOf } from '../../crawl/patience.ts'
import { advanceAll, type Outcome, type Pace, REST_MS, RETRY_MS } from '../common/advance-all.ts'
import { advanceIndex } from './advance-index.ts'
import type { Database } from './database.ts'

/** Brings the index up to date. Whoever writes chunks only says so. */
export interface Tending {
  /** Does what is done in a moment, for somebody who waits for an answer; the rest follows in the background. */
  doSome(): Promise<void>
  /** Does all there is to do, unless nothing can be written for a while. */
  doAll(signal?: AbortSignal): Promise<void>
  /** The same after a large change: also merges that no search would ask for. */
  tidy(): Promise<void>
  /** Says that so many chunks were written or removed; goes to work in the background when they are many. */
  announce(chunks: number): void
  /** Begins nothing any more. */
  close(): void
}

/** How long a search may be kept waiting. */
const MOMENT_MS = 300
/** What takes longer than this in the background is not waited for by one search after the other. */
const LONG_MS = 1000
/** So many new chunks are worth a step. */
const WORTHWHILE = 1024

/** Makes what tends an index; whether there is anything to do is asked for each time. It keeps no process from ending. */
export function createTending(db: Database, isBehind: () => Promise<boolean>): Tending {
  let isClosed = false
  /** When it began to go on by itself. */
  let begunAt: number | undefined
  let announced = 0
  /** One step at a time: two of one process would only be in each other's way. */
  let last: Promise<unknown> = Promise.resolve()

  const advance = (step: IndexStep | undefined): Promise<Outcome> => {
    const next = last.then(() => (isClosed ? 'complete' : advanceIndex(db, step))).catch(passBlocked)
    last = next.catch(() => undefined)
    return next
  }
  const advanceBy = (step: IndexStep | undefined, pace: Pace): Promise<void> =>
    advanceAll({ advance: () => advance(step), isBehind, isClosed: () => isClosed }, pace)
  /** Goes on behind the back of everybody; what goes wrong is met again by the next search. */
  const goOn = (): void => {
    if (begunAt !== undefined || isClosed) return
    begunAt = performance.now()
    sleep(REST_MS, undefined, { ref: false })
      .then(() => advanceBy(SMALL_STEP, { ref: false }))
      .catch(() => undefined)
      .finally(() => {
        begunAt = undefined
      })
  }

  return {
    doSome: async () => {
      const now = performance.now()
      if (begunAt !== undefined && now - begunAt > LONG_MS) return
      while (!isClosed) {
        const outcome = await advance(BRIEF_STEP)
        if (outcome === 'blocked') return
        if (outcome === 'busy') await sleep(RETRY_MS)
        if (!(await isBehind())) return
        // Larger merges are left to the background.
        if (outcome === 'complete' || performance.now() - now > MOMENT_MS) return goOn()
      }
    },
    doAll: (signal) => advanceBy(SMALL_STEP, { ref: true, signal }),
    tidy: () => advanceBy(undefined, { isThorough: true, ref: true }),
    announce: (chunks) => {
      announced += chunks
      if (announced < WORTHWHILE) return
      announced = 0
      goOn()
    },
    close: () => {
      isClosed = true
    },
  }
}

/** What has to change before the library can be written is met by whoever has something to write. */
function passBlocked(error: unknown): 'blocked' {
  if (causeOf(error) === undefined) throw error
  return 'blocked'
}
