import type { Clock } from '../../src/crawl/ports.ts'

/** A clock that advances only by hand. */
export interface ManualClock extends Clock {
  /** Advances the clock by some milliseconds, and wakes sleepers in the right order. */
  advance(ms: number): Promise<void>
}

/** Creates a clock that shows the beginning of 2026. */
export function createManualClock(): ManualClock {
  let now = Date.UTC(2026, 0, 1)
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { at: now + ms, wake: resolve }
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(signal.reason)
        })
        if (signal?.aborted === true) reject(signal.reason)
        else sleepers.add(sleeper)
      }),
    async advance(ms) {
      const end = now + ms
      for (;;) {
        await flushPromises()
        const [next] = [...sleepers].sort((a, b) => a.at - b.at)
        if (next === undefined || next.at > end) break
        now = Math.max(now, next.at)
        sleepers.delete(next)
        next.wake()
      }
      now = end
    },
  }
}

/** Lets pending microtasks run, and those that they queue, up to 20 levels deep. */
async function flushPromises(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}
