import { messageOf } from '../../../core/errors.ts'
import type { Clock } from '../../../crawl/ports.ts'
import type { JobLog, RetentionRule } from '../../ports/job-log.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Pause between two batches of deletions, so that other work can run. */
const BATCH_PAUSE_MS = 25

/**
 * Retention of the job history. A queue event takes about 250 bytes with its indexes, so the log stays near 125 MB. The newest 50,000
 * events of a job show its recent activity, and 500,000 cover ten such jobs. After 30 days dropped addresses no longer matter. Problems,
 * milestones and jobs are few and small, so they are kept for years.
 */
export const RETENTION_DEFAULTS: Omit<RetentionRule, 'eventsSince'> & { readonly eventsForMs: number } = {
  eventsPerJob: 50_000,
  events: 500_000,
  notes: 20_000,
  jobs: 2_000,
  eventsForMs: 30 * DAY_MS,
}

/** The retention rule at a point in time. */
function createRetentionRule(now: number): RetentionRule {
  const { eventsForMs, ...rule } = RETENTION_DEFAULTS
  return { ...rule, eventsSince: now - eventsForMs }
}

/** Trims a history of jobs now and every hour, until aborted. */
export async function trimPeriodically(
  jobLog: () => Promise<JobLog>,
  clock: Clock,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const log = await jobLog()
      while ((await log.trim(createRetentionRule(clock.now()))) > 0) await clock.sleep(BATCH_PAUSE_MS, signal)
    } catch (error) {
      if (!signal.aborted) warn(`could not delete old entries from the job history: ${messageOf(error)}`)
    }
    await clock.sleep(HOUR_MS, signal).catch(() => undefined)
  }
}
