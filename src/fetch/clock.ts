import type { Clock } from '../crawl/ports.ts'

/** Longest delay of a Node timer; a timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Time sources of a clock, in milliseconds. */
export interface TimeSources {
  /** Milliseconds since 1970; may be set to anything at any moment. */
  readonly wall: () => number
  /** Monotonic time with an arbitrary start; may pause while the machine sleeps. */
  readonly steady: () => number
}

const MACHINE: TimeSources = { wall: () => Date.now(), steady: () => performance.now() }

/**
 * A clock that never goes back and never stops, even when the wall clock is changed. When the wall clock is ahead, because it was set or
 * the machine slept, this clock follows at once. When it is behind, this clock runs at half speed until both agree, so that processes
 * started before and after the change agree again.
 */
export function createClock({ wall, steady }: TimeSources = MACHINE): Clock {
  let offset = -Infinity
  let lastSteady = steady()
  return {
    now() {
      const steadyNow = steady()
      offset = Math.max(offset - (steadyNow - lastSteady) / 2, wall() - steadyNow)
      lastSteady = steadyNow
      return Math.floor(steadyNow + offset)
    },

    async sleep(ms, signal) {
      signal?.throwIfAborted()
      for (let remainingMs = Math.max(0, ms); ; remainingMs -= MAX_TIMER_MS) {
        await wait(Math.min(remainingMs, MAX_TIMER_MS), signal)
        if (remainingMs <= MAX_TIMER_MS) return
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
