import type { Clock } from '../../crawl/ports.ts'

/** Waits for a promise, but resolves after `ms` at the latest. */
export async function waitUpTo(clock: Clock, work: Promise<unknown>, ms: number): Promise<void> {
  const isOver = new AbortController()
  const late = clock.sleep(ms, isOver.signal).catch(() => undefined)
  await Promise.race([work, late]).finally(() => isOver.abort())
}
