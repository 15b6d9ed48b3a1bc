import { setImmediate as pause, setTimeout as sleep } from 'node:timers/promises'
import { BRIEF_STEP, type ChunkIndex, type IndexStep, SMALL_STEP } from '../../core/retrieval/chunk-index.ts'
import { causeOf } from '../../crawl/patience.ts'
import { advanceAll, type Outcome, type Pace, REST_MS } from '../common/advance-all.ts'
import { type Database, tryWriteTo } from './database.ts'

/** Brings the index up to date where nobody who writes does it. */
export interface Tending {
  /** Does what is done in a moment, for somebody who waits for an answer; the rest follows when the process has nothing else to do. */
  doSome(): Promise<void>
  /** Does all there is to do, unless nothing can be written for a while. */
  doAll(signal?: AbortSignal): Promise<void>
}

/** How long a search may be kept waiting. */
const MOMENT_MS = 300
/** Makes what tends an index. It stops when the database is closed, and keeps no process from ending. */
export function createTending(db: Database, index: ChunkIndex): Tending {
  /** Whether it goes on by itself, and whether others keep it from doing so. */
  let isTending = false
  let isKept = false

  const advance = (step: IndexStep): Outcome => {
    try {
      const outcome = tryWriteTo(db, () => index.advance(step))
      isKept = outcome === 'busy'
      if (outcome === 'busy') return 'busy'
      return outcome.result ? 'done' : 'complete'
    } catch (error) {
      if (causeOf(error) === undefined) throw error
      return 'blocked'
    }
  }
  const advanceBy = (pace: Pace): Promise<void> =>
    advanceAll({ advance: () => advance(SMALL_STEP), isBehind: () => index.isBehind(), isClosed: () => !db.open }, pace)
  /** Goes on behind the back of everybody; what goes wrong is met again by the next search. */
  const goOn = (): void => {
    if (isTending) return
    isTending = true
    sleep(REST_MS, undefined, { ref: false })
      .then(() => advanceBy({ ref: false }))
      .catch(() => undefined)
      .finally(() => {
        isTending = false
      })
  }

  return {
    doSome: async () => {
      const until = performance.now() + MOMENT_MS
      // What is on its way need not be waited for by one search after the other.
      while ((!isTending || isKept) && index.isBehind()) {
        const outcome = advance(BRIEF_STEP)
        if (outcome === 'blocked') return
        if (outcome !== 'done' || performance.now() >= until) return goOn()
        await pause()
      }
    },
    doAll: (signal) => advanceBy({ ref: true, signal }),
  }
}
