import type { Clock } from '../crawl/ports.ts'

/** Work that stops now and then, where others may have their turn. */
export type Turns<T> = Generator<void, T, void>

/** Does it at once. */
export function doAtOnce<T>(work: Turns<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Does it with others in between. */
export async function doInTurns<T>(work: Turns<T>, clock: Pick<Clock, 'sleep'>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await clock.sleep(0, signal)
  }
}
