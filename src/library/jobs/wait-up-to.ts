import type { Clock } from '../../crawl/ports.ts'

/** Waits for a promise, but resolves after `ms` at the latest. */
export async function waitUpTo(clock: Clock, work: Promise<unknown>, ms: number): Promise<void> {
  const finished = new AbortController()
  const timeout = clock.sleep(ms, finished.signal).catch(() => undefined)
  await Promise.race([work, timeout]).finally(() => finished.abort())
}
