import { setTimeout as sleep } from 'node:timers/promises'
import { until as untilSoon } from '../e2e/server.ts'

/** Asks now and then until an answer is right: where many processes have to start, asking often makes them take longer. */
export function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, ms?: number): Promise<T> {
  let asked = 0
  const askRarely = async () => {
    if (asked++ > 0) await sleep(150)
    return ask()
  }
  return untilSoon(askRarely, isRight, ms)
}
