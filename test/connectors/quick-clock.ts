import type { Clock } from '../../src/crawl/ports.ts'

/** A clock that skips all pauses and records them. */
export interface QuickClock extends Clock {
  /** In milliseconds. */
  readonly pauses: number[]
  /** Advances the clock by the given milliseconds. */
  advance(ms: number): void
  /** Registers a function that is called before every pause. */
  onSleep(tell: () => void): void
}

/** Creates a clock that starts at the beginning of 2026. */
export function createQuickClock(): QuickClock {
  let now = Date.UTC(2026, 0, 1)
  let told: () => void = () => undefined
  const pauses: number[] = []
  return {
    pauses,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      told()
      pauses.push(ms)
      now += ms
    },
    advance(ms) {
      now += ms
    },
    onSleep(tell) {
      told = tell
    },
  }
}
