import type { Clock } from '../crawl/ports.ts'

/** Wakes whoever rests before its time. */
export interface Alarm {
  /** Ends the rest that is under way, or the next one at its beginning. */
  ring(): void
  rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void>
}

/** Creates an alarm for one sleeper. */
export function createAlarm(): Alarm {
  let isRung = false
  let wake = (): void => undefined
  return {
    ring() {
      isRung = true
      wake()
    },
    async rest(clock, ms, signal) {
      const awake = new AbortController()
      wake = () => awake.abort()
      if (isRung) wake()
      await clock.sleep(ms, AbortSignal.any([signal, awake.signal])).catch(() => undefined)
      isRung = false
    },
  }
}
