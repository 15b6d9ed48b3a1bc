import { setTimeout as sleep } from 'node:timers/promises'
import { until as untilSoon } from '../e2e/server.ts'

/** Polls until a result is right. The interval is long, because frequent polling slows down the start of many processes. */
export function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, ms?: number): Promise<T> {
  let calls = 0
  const askRarely = async () => {
    if (calls++ > 0) await sleep(150)
    return ask()
  }
  return untilSoon(askRarely, isRight, ms)
}
