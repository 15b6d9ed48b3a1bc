import type { Clock } from '../crawl/ports.ts'

/** Work that yields regularly so that other work can run. */
export type CooperativeTask<T> = Generator<void, T, void>

/** Runs the work to its end without a pause. */
export function runToEnd<T>(work: CooperativeTask<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Runs the work with pauses for other work. */
export async function runCooperatively<T>(
  work: CooperativeTask<T>,
  clock: Pick<Clock, 'sleep'>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await clock.sleep(0, signal)
  }
}
