import type { Clock } from '../crawl/ports.ts'

/** A sleep that another part of the program can end early. */
export interface Alarm {
  /** Ends the current sleep, or the next one as soon as it starts. */
  ring(): void
  rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void>
}

/** Creates an alarm that a single loop sleeps on. */
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
