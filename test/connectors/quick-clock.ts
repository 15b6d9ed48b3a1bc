import type { Clock } from '../../src/crawl/ports.ts'

/** A clock on which every pause is over at once, and which remembers them. */
export interface QuickClock extends Clock {
  readonly pauses: number[]
  /** Goes on by so many milliseconds. */
  advance(ms: number): void
}

/** Creates one that stands at the beginning of 2026. */
export function createQuickClock(): QuickClock {
  let now = Date.UTC(2026, 0, 1)
  const pauses: number[] = []
  return {
    pauses,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      pauses.push(ms)
      now += ms
    },
    advance(ms) {
      now += ms
    },
  }
}
