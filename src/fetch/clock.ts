import type { Clock } from '../crawl/ports.ts'

/** Longest time a timer of Node can wait; it fires at once when told to wait longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),

  async sleep(ms, signal) {
    signal?.throwIfAborted()
    for (let left = Math.max(0, ms); ; left -= LONGEST_TIMER_MS) {
      await wait(Math.min(left, LONGEST_TIMER_MS), signal)
      if (left <= LONGEST_TIMER_MS) return
    }
  },
}

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
