import type { Clock } from '../crawl/ports.ts'

/** Longest time a timer of Node can wait; it fires at once when told to wait longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What tells the time, in milliseconds. */
export interface TimeSources {
  /** Since 1970; may be set to anything at any moment. */
  readonly wall: () => number
  /** Since some moment; only ever goes on, but may stand still while the machine sleeps. */
  readonly steady: () => number
}

const MACHINE: TimeSources = { wall: () => Date.now(), steady: () => performance.now() }

/**
 * A clock that goes on, whatever is done to the one on the wall: it never goes back, nor does it stand still. When that one is ahead,
 * because it was set or because the machine slept, it is followed at once; when it is behind, this one goes at half the speed until
 * both agree, so that processes which were started before and after have one time again.
 */
export function createClock({ wall, steady }: TimeSources = MACHINE): Clock {
  let offset = -Infinity
  let lookedAt = steady()
  return {
    now() {
      const passed = steady()
      offset = Math.max(offset - (passed - lookedAt) / 2, wall() - passed)
      lookedAt = passed
      return Math.floor(passed + offset)
    },

    async sleep(ms, signal) {
      signal?.throwIfAborted()
      for (let left = Math.max(0, ms); ; left -= LONGEST_TIMER_MS) {
        await wait(Math.min(left, LONGEST_TIMER_MS), signal)
        if (left <= LONGEST_TIMER_MS) return
      }
    },
  }
}

/** The clock of this machine. */
export const systemClock: Clock = createClock()

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
