import type { Clock } from '../../src/crawl/ports.ts'

/** A clock that skips all pauses and records them. */
export interface QuickClock extends Clock {
  /** All pauses so far, in milliseconds. */
  readonly pauses: number[]
  /** Advances the clock by the given milliseconds. */
  advance(ms: number): void
  /** Sets the function that is called before every pause. */
  onSleep(callback: () => void): void
}

/** Creates a clock that starts at the beginning of 2026. */
export function createQuickClock(): QuickClock {
  let now = Date.UTC(2026, 0, 1)
  let listener: () => void = () => undefined
  const pauses: number[] = []
  return {
    pauses,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      listener()
      pauses.push(ms)
      now += ms
    },
    advance(ms) {
      now += ms
    },
    onSleep(callback) {
      listener = callback
    },
  }
}
