import type { RetentionRule } from '../../library/ports/job-log.ts'
import type { Database, Write } from './database/database.ts'

/** Batch size of deletions, which limits how long other writers wait. */
const ROWS_AT_ONCE = 1000
/** Batch size for counting ids, because each batch blocks the event loop. */
const IDS_AT_ONCE = 20_000

type LogTable = 'queue_events' | 'crawl_problems' | 'crawl_milestones'
const LOG_TABLES: readonly LogTable[] = ['queue_events', 'crawl_problems', 'crawl_milestones']

/** Creates the function that deletes everything the retention rule does not keep. It pauses between its steps. */
export function createTrim(
  db: Database,
  write: Write,
  pause: () => Promise<unknown>,
): (rule: RetentionRule) => Promise<number> {
  const ended = `status NOT IN ('queued', 'running')`
  const countJobs = db.prepare<[], number>('SELECT count(*) FROM crawl_jobs').pluck()
  const selectOldest = db
    .prepare<[number], string>(`SELECT id FROM crawl_jobs WHERE ${ended} ORDER BY ended_at, rowid LIMIT ?`)
    .pluck()
  const deleteJob = db.prepare<[string]>(`DELETE FROM crawl_jobs WHERE id = ? AND ${ended}`)
  const selectEndedBefore = db
    .prepare<[number], string>(
      `SELECT id FROM crawl_jobs j WHERE ${ended} AND ended_at < ?
         AND EXISTS (SELECT 1 FROM queue_events e WHERE e.job_id = j.id)`,
    )
    .pluck()
  const selectNextJob = db
    .prepare<[string], string>('SELECT job_id FROM queue_events WHERE job_id > ? ORDER BY job_id LIMIT 1')
    .pluck()
  const selectNewestSurplus = db
    .prepare<[string, number], number>('SELECT id FROM queue_events WHERE job_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?')
    .pluck()

  const prepareFor = (table: LogTable) => ({
    deleteOfJob: db.prepare<[string, number, number]>(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE job_id = ? AND id <= ? ORDER BY id LIMIT ?)`,
    ),
    deleteOldest: db.prepare<[number, number]>(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id <= ? ORDER BY id LIMIT ?)`,
    ),
    // Two queries, because SQLite finds one end of a table directly, but scans all of it for both.
    selectFirst: db.prepare<[], number | null>(`SELECT min(id) FROM ${table}`).pluck(),
    selectLast: db.prepare<[], number | null>(`SELECT max(id) FROM ${table}`).pluck(),
    count: db.prepare<[number, number], number>(`SELECT count(*) FROM ${table} WHERE id > ? AND id <= ?`).pluck(),
    selectAt: db
      .prepare<[number, number], number>(`SELECT id FROM ${table} WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?`)
      .pluck(),
  })
  const tables = Object.fromEntries(LOG_TABLES.map((table) => [table, prepareFor(table)])) as Record<
    LogTable,
    ReturnType<typeof prepareFor>
  >

  /** Repeats a deletion until nothing is left. */
  const removeAll = async (removeBatch: () => { readonly changes: number }): Promise<number> => {
    for (let removed = 0; ; await pause()) {
      const { changes } = await write(removeBatch)
      removed += changes
      if (changes < ROWS_AT_ONCE) return removed
    }
  }
  const removeOfJob = (table: LogTable, jobId: string, upTo: number): Promise<number> =>
    removeAll(() => tables[table].deleteOfJob.run(jobId, upTo, ROWS_AT_ONCE))

  /** The id of the newest row beyond the maximum number of rows; undefined when the table has no more rows than that. */
  const findSurplus = async (table: LogTable, max: number): Promise<number | undefined> => {
    const { selectFirst, selectLast, count, selectAt } = tables[table]
    const first = selectFirst.get() ?? 0
    let last = selectLast.get() ?? 0
    // A table has at most as many rows as there are ids between its first and its last.
    if (last - first < max) return undefined
    for (let rowsToKeep = max; last >= first; last -= IDS_AT_ONCE) {
      const rows = count.get(last - IDS_AT_ONCE, last) ?? 0
      if (rows > rowsToKeep) return selectAt.get(last, rowsToKeep)
      rowsToKeep -= rows
      await pause()
    }
    return undefined
  }
  const removeSurplus = async (table: LogTable, max: number): Promise<number> => {
    const surplus = await findSurplus(table, max)
    return surplus === undefined ? 0 : removeAll(() => tables[table].deleteOldest.run(surplus, ROWS_AT_ONCE))
  }

  const removeJobs = async (max: number): Promise<number> => {
    let removed = 0
    for (const id of selectOldest.all(Math.max(0, (countJobs.get() ?? 0) - max))) {
      for (const table of LOG_TABLES) removed += await removeOfJob(table, id, Number.MAX_SAFE_INTEGER)
      // The job is deleted last, so that an interrupted cleanup finds it again.
      removed += await write(() => deleteJob.run(id).changes)
    }
    return removed
  }
  const removeOldEvents = async (since: number): Promise<number> => {
    let removed = 0
    for (const id of selectEndedBefore.all(since)) {
      removed += await removeOfJob('queue_events', id, Number.MAX_SAFE_INTEGER)
    }
    return removed
  }
  const removeSurplusPerJob = async (max: number): Promise<number> => {
    let removed = 0
    for (let id = selectNextJob.get(''); id !== undefined; id = selectNextJob.get(id)) {
      const surplus = selectNewestSurplus.get(id, max)
      if (surplus !== undefined) removed += await removeOfJob('queue_events', id, surplus)
    }
    return removed
  }

  return async ({ eventsPerJob, events, notes, eventsSince, jobs }) =>
    (await removeJobs(jobs)) +
    (await removeOldEvents(eventsSince)) +
    (await removeSurplusPerJob(eventsPerJob)) +
    (await removeSurplus('queue_events', events)) +
    (await removeSurplus('crawl_problems', notes)) +
    (await removeSurplus('crawl_milestones', notes))
}
