import type { RetentionRule } from '../../library/ports/job-log.ts'

/** Batch size of deletions, which limits how long other writers wait. */
const ROWS_AT_ONCE = 1000

/** A table with events or notes of jobs. */
export type LogTable = 'queue_events' | 'crawl_problems' | 'crawl_milestones'
const LOG_TABLES: readonly LogTable[] = ['queue_events', 'crawl_problems', 'crawl_milestones']

/** SQL condition for jobs that have ended. */
export const HAS_ENDED = `status NOT IN ('queued', 'running')`

/** The queries and deletions of a store that trimming needs. */
export interface LogTrimmer {
  /** The oldest ended jobs beyond the maximum number of jobs. */
  listSurplusJobs(max: number): Promise<readonly string[]>
  /** Jobs that ended before a moment and have events. */
  listEndedBefore(moment: number): Promise<readonly string[]>
  /** The next job with events, in the order of ids. */
  findNextJob(after: string): Promise<string | undefined>
  /** The id of the newest event of a job beyond the maximum number of its events. */
  findSurplusOfJob(jobId: string, max: number): Promise<number | undefined>
  /** The id of the newest row beyond the maximum number of rows of a table. */
  findSurplus(table: LogTable, max: number): Promise<number | undefined>
  /** Deletes up to `limit` of the oldest rows up to an id, of one job or of all. Returns their number. */
  deleteRows(table: LogTable, jobId: string | undefined, upTo: number, limit: number): Promise<number>
  /** Deletes a job that has ended. Returns the number of deleted rows. */
  deleteJob(id: string): Promise<number>
}

/** Deletes everything that the retention rule does not keep, and returns the number of rows. */
export async function trimJobLog(trimmer: LogTrimmer, rule: RetentionRule): Promise<number> {
  const { eventsPerJob, events, notes, eventsSince, jobs } = rule
  let removed = 0
  const removeRows = async (table: LogTable, upTo: number | undefined, jobId?: string): Promise<void> => {
    for (let changes = ROWS_AT_ONCE; upTo !== undefined && changes === ROWS_AT_ONCE; ) {
      changes = await trimmer.deleteRows(table, jobId, upTo, ROWS_AT_ONCE)
      removed += changes
    }
  }
  for (const id of await trimmer.listSurplusJobs(jobs)) {
    for (const table of LOG_TABLES) await removeRows(table, Number.MAX_SAFE_INTEGER, id)
    // The job is deleted last, so that an interrupted cleanup finds it again.
    removed += await trimmer.deleteJob(id)
  }
  for (const id of await trimmer.listEndedBefore(eventsSince)) {
    await removeRows('queue_events', Number.MAX_SAFE_INTEGER, id)
  }
  for (let id = await trimmer.findNextJob(''); id !== undefined; id = await trimmer.findNextJob(id)) {
    await removeRows('queue_events', await trimmer.findSurplusOfJob(id, eventsPerJob), id)
  }
  for (const table of LOG_TABLES) {
    await removeRows(table, await trimmer.findSurplus(table, table === 'queue_events' ? events : notes))
  }
  return removed
}
