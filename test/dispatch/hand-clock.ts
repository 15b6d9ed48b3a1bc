import type { Clock } from '../../src/crawl/ports.ts'

/** A clock that goes on by hand only. */
export interface HandClock extends Clock {
  /** Goes on by so many milliseconds; whoever sleeps till then wakes in the right order. */
  advance(ms: number): Promise<void>
}

/** Creates one that stands at the beginning of 2026. */
export function createHandClock(): HandClock {
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
        await settle()
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

/** Lets everything run that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}
