import { messageOf } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Clock } from '../../crawl/ports.ts'
import { isLost, type Workers } from '../ports/workers.ts'
import type { WorkQueue } from './queue.ts'

/** Interval between searches for work that is missing from the queue. Jobs younger than this are left out: they may be about to be sent. */
const SWEEP_INTERVAL_MS = 60_000

/** Options of {@link keepSweeping}. */
export interface SweepOptions {
  readonly workers: Workers
  readonly queue: WorkQueue
  readonly clock: Clock
  /** Returns an analysis run that no process executes; undefined if there is none. */
  readonly findAbandonedRun?: (() => Promise<string | undefined>) | undefined
  readonly warn: (message: string) => void
}

/**
 * Sends open work that is missing from the queue, now and every minute until aborted. Work is missing after a library copy, after the loss
 * of a queue, or if its sender died before sending it.
 */
export async function keepSweeping(options: SweepOptions, signal: AbortSignal): Promise<void> {
  const { clock, warn } = options
  const reportError = (error: unknown) => {
    if (signal.aborted) return
    warn(`could not find or resend unfinished work that is missing from the queue: ${messageOf(error)}`)
  }
  while (!signal.aborted) {
    await sweepJobs(options, reportError).catch(reportError)
    await sweepRuns(options).catch(reportError)
    await clock.sleep(SWEEP_INTERVAL_MS, signal).catch(() => undefined)
  }
}

async function sweepJobs(
  { workers, queue, clock }: SweepOptions,
  reportError: (error: unknown) => void,
): Promise<void> {
  const liveWorkers = (await workers.list()).filter((one) => !isLost(one))
  const jobsByLiveWorker = new Map(liveWorkers.map(({ id, jobs }) => [id, jobs]))
  for (const { record, worker } of await workers.listJobs(0)) {
    const { id, url, createdAt } = record
    // A live worker that does not report a job as running has lost it.
    const isRunning = worker !== null && jobsByLiveWorker.get(worker)?.includes(id) === true
    if (isRunning || clock.now() - createdAt < SWEEP_INTERVAL_MS || (await queue.isOpen('crawl', id))) continue
    await workers.runExclusively((run) => queue.sendAgain('crawl', { id, key: looseKey(url) }, run)).catch(reportError)
  }
}

async function sweepRuns({ workers, queue, findAbandonedRun }: SweepOptions): Promise<void> {
  const id = await findAbandonedRun?.()
  if (id === undefined) return
  await workers.runExclusively((run) => queue.sendAgain('analysis', { id, key: 'library' }, run))
}
