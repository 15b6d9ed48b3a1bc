import type { Clock } from '../../crawl/ports.ts'
import { isLost, type Workers } from '../workers.ts'
import type { JobQueue } from './queue.ts'

/** How often is looked for jobs that no queue knows, and how old they have to be: they may be on their way. */
const SWEEP_MS = 60_000

/**
 * Sends jobs that are open, and that no queue knows, now and every minute, until it is told to end: those that were copied from another
 * library, or whose queue was lost.
 */
export async function keepSweeping(
  workers: Workers,
  queue: JobQueue,
  clock: Clock,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sweep(workers, queue, clock.now()).catch((error: unknown) => {
      if (!signal.aborted) warn(`jobs that were left cannot be looked for: ${String(error)}`)
    })
    await clock.sleep(SWEEP_MS, signal).catch(() => undefined)
  }
}

async function sweep(workers: Workers, queue: JobQueue, now: number): Promise<void> {
  const there = new Set((await workers.list()).filter((one) => !isLost(one)).map(({ id }) => id))
  for (const { record, worker } of await workers.listJobs(0)) {
    const isRunning = record.status === 'running' && worker !== null && there.has(worker)
    if (isRunning || now - record.createdAt < SWEEP_MS || (await queue.isOpen('crawl', record.id))) continue
    await queue.remove('crawl', record.id)
    await queue.send('crawl', { id: record.id, key: record.url })
  }
}
