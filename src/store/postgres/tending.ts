import { setTimeout as sleep } from 'node:timers/promises'
import { BRIEF_STEP, type IndexStep, SMALL_STEP } from '../../core/retrieval/chunk-index.ts'
import { causeOf } from '../../crawl/patience.ts'
import { advanceIndex, type Outcome } from './advance-index.ts'
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
/** How long others may keep it from tending before it gives up. */
const PATIENCE_MS = 2000
/** How often it tries meanwhile. */
const RETRY_MS = 20
/** How long it rests between two steps in the background: a process has other things to do. */
const REST_MS = 10
/** What takes longer than this in the background is not waited for by one search after the other. */
const LONG_MS = 1000
/** So many new chunks are worth a step. */
const WORTHWHILE = 1024

/** How the steps follow each other. */
interface Pace {
  /** Whether it begins although a search would miss nothing. */
  readonly isThorough?: boolean
  /** Whether the process stays for it. */
  readonly ref: boolean
  readonly step: IndexStep | undefined
  readonly signal?: AbortSignal | undefined
}

/** Makes what tends an index; whether there is anything to do is asked for each time. It keeps no process from ending. */
export function createTending(db: Database, isBehind: () => Promise<boolean>): Tending {
  let isClosed = false
  /** When it began to go on by itself. */
  let begunAt: number | undefined
  let announced = 0
  /** One step at a time: two of one process would only be in each other's way. */
  let last: Promise<unknown> = Promise.resolve()

  const advance = (step: IndexStep | undefined): Promise<Outcome | 'blocked'> => {
    const next = last.then(() => (isClosed ? 'complete' : advanceIndex(db, step))).catch(passBlocked)
    last = next.catch(() => undefined)
    return next
  }
  const advanceAll = async ({ isThorough = false, ref, step, signal }: Pace): Promise<void> => {
    let busyAt: number | undefined
    // Whoever begins goes on until everything is merged that can be: searches are faster then.
    if (isClosed || !(isThorough || (await isBehind()))) return
    while (!isClosed && signal?.aborted !== true) {
      const outcome = await advance(step)
      if (outcome === 'complete' || outcome === 'blocked') return
      const now = performance.now()
      busyAt = outcome === 'busy' ? (busyAt ?? now) : undefined
      if (busyAt !== undefined && now - busyAt > PATIENCE_MS) return
      await sleep(outcome === 'busy' ? RETRY_MS : REST_MS, undefined, { ref })
    }
  }
  /** Goes on behind the back of everybody; what goes wrong is met again by the next search. */
  const goOn = (): void => {
    if (begunAt !== undefined || isClosed) return
    begunAt = performance.now()
    sleep(REST_MS, undefined, { ref: false })
      .then(() => advanceAll({ ref: false, step: SMALL_STEP }))
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
    doAll: (signal) => advanceAll({ ref: true, step: SMALL_STEP, signal }),
    tidy: () => advanceAll({ isThorough: true, ref: true, step: undefined }),
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
