import type { Clock } from '../crawl/ports.ts'

/** A sleep that another part of the program can end early. */
export interface WakeableSleep {
  /** Ends the current sleep, or the next one as soon as it starts. */
  wake(): void
  sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void>
}

/** Creates a wakeable sleep for a single loop. */
export function createWakeableSleep(): WakeableSleep {
  let isWakePending = false
  let wake = (): void => undefined
  return {
    wake() {
      isWakePending = true
      wake()
    },
    async sleep(clock, ms, signal) {
      const awake = new AbortController()
      wake = () => awake.abort()
      if (isWakePending) wake()
      await clock.sleep(ms, AbortSignal.any([signal, awake.signal])).catch(() => undefined)
      isWakePending = false
    },
  }
}
