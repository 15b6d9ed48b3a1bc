import { messageOf } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Clock } from '../../crawl/ports.ts'
import { isLost, type Workers } from '../workers.ts'
import type { JobQueue } from './queue.ts'

/** How often is looked for work that no queue knows, and how old it has to be: it may be on its way. */
const SWEEP_MS = 60_000

/** What is looked through. */
export interface SweepOptions {
  readonly workers: Workers
  readonly queue: JobQueue
  readonly clock: Clock
  /** A run of analysis that nobody goes through; undefined where there is none. */
  readonly findLeftRun?: (() => Promise<string | undefined>) | undefined
  readonly warn: (message: string) => void
}

/**
 * Sends work that is open, and that no queue knows, now and every minute, until it is told to end: what was copied from another library,
 * whose queue was lost, or whose sender has died before it was sent.
 */
export async function keepSweeping(options: SweepOptions, signal: AbortSignal): Promise<void> {
  const { clock, warn } = options
  const complain = (error: unknown) => {
    if (!signal.aborted) warn(`work that was left cannot be looked for: ${messageOf(error)}`)
  }
  while (!signal.aborted) {
    await sweepJobs(options, complain).catch(complain)
    await sweepRuns(options).catch(complain)
    await clock.sleep(SWEEP_MS, signal).catch(() => undefined)
  }
}

async function sweepJobs({ workers, queue, clock }: SweepOptions, complain: (error: unknown) => void): Promise<void> {
  const there = new Map((await workers.list()).filter((one) => !isLost(one)).map(({ id, jobs }) => [id, jobs]))
  for (const { record, worker } of await workers.listJobs(0)) {
    const { id, url, createdAt } = record
    // A worker that is there, and does not say that it runs a job, has lost it.
    const isRunning = worker !== null && there.get(worker)?.includes(id) === true
    if (isRunning || clock.now() - createdAt < SWEEP_MS || (await queue.isOpen('crawl', id))) continue
    await workers.inTurn((run) => queue.sendAgain('crawl', { id, key: looseKey(url) }, run)).catch(complain)
  }
}

async function sweepRuns({ workers, queue, findLeftRun }: SweepOptions): Promise<void> {
  const id = await findLeftRun?.()
  if (id === undefined) return
  await workers.inTurn((run) => queue.sendAgain('analysis', { id, key: 'library' }, run))
}
