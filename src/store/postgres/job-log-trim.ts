import type { RetentionRule } from '../../library/ports/job-log.ts'
import type { Database } from './database/database.ts'

/** Batch size of deletions, which limits how long other writers wait. */
const ROWS_AT_ONCE = 1000

type LogTable = 'queue_events' | 'crawl_problems' | 'crawl_milestones'
const LOG_TABLES: readonly LogTable[] = ['queue_events', 'crawl_problems', 'crawl_milestones']

const ENDED = `status NOT IN ('queued', 'running')`

/** Deletes everything that the retention rule does not keep, and returns the number of rows. */
export async function trimJobLog(db: Database, rule: RetentionRule): Promise<number> {
  const { eventsPerJob, events, notes, eventsSince, jobs } = rule
  return (
    (await removeJobs(db, jobs)) +
    (await removeOldEvents(db, eventsSince)) +
    (await removeSurplusPerJob(db, eventsPerJob)) +
    (await removeSurplus(db, 'queue_events', events)) +
    (await removeSurplus(db, 'crawl_problems', notes)) +
    (await removeSurplus(db, 'crawl_milestones', notes))
  )
}

async function removeJobs(db: Database, max: number): Promise<number> {
  const oldest = await db.all<{ id: string }>(
    `SELECT id FROM crawl_jobs WHERE ${ENDED} ORDER BY ended_at, number
     LIMIT greatest(0, (SELECT count(*) FROM crawl_jobs) - $1)`,
    [max],
  )
  let removed = 0
  for (const { id } of oldest) {
    for (const table of LOG_TABLES) removed += await removeOfJob(db, table, id, Number.MAX_SAFE_INTEGER)
    // The job is deleted last, so that an interrupted cleanup finds it again.
    removed += await db.run(`DELETE FROM crawl_jobs WHERE id = $1 AND ${ENDED}`, [id])
  }
  return removed
}

async function removeOldEvents(db: Database, since: number): Promise<number> {
  const oldJobs = await db.all<{ id: string }>(
    `SELECT id FROM crawl_jobs j WHERE ${ENDED} AND ended_at < $1
       AND EXISTS (SELECT 1 FROM queue_events e WHERE e.job_id = j.id)`,
    [since],
  )
  let removed = 0
  for (const { id } of oldJobs) removed += await removeOfJob(db, 'queue_events', id, Number.MAX_SAFE_INTEGER)
  return removed
}

async function removeSurplusPerJob(db: Database, max: number): Promise<number> {
  let removed = 0
  for (let jobId = ''; ; ) {
    const next = await db.get<{ id: string }>(
      'SELECT job_id AS id FROM queue_events WHERE job_id > $1 ORDER BY job_id LIMIT 1',
      [jobId],
    )
    if (next === undefined) return removed
    jobId = next.id
    const surplus = await db.get<{ id: number }>(
      'SELECT id FROM queue_events WHERE job_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2',
      [jobId, max],
    )
    if (surplus !== undefined) removed += await removeOfJob(db, 'queue_events', jobId, surplus.id)
  }
}

async function removeSurplus(db: Database, table: LogTable, max: number): Promise<number> {
  const surplus = await db.get<{ id: number }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1 OFFSET $1`, [max])
  if (surplus === undefined) return 0
  return removeAll(
    db,
    `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id <= $1 ORDER BY id LIMIT $2)`,
    [surplus.id],
  )
}

function removeOfJob(db: Database, table: LogTable, jobId: string, upTo: number): Promise<number> {
  const selectBatch = `SELECT id FROM ${table} WHERE job_id = $1 AND id <= $2 ORDER BY id LIMIT $3`
  return removeAll(db, `DELETE FROM ${table} WHERE id IN (${selectBatch})`, [jobId, upTo])
}

/** Repeats a deletion until nothing is left; its last parameter is the batch size. */
async function removeAll(db: Database, text: string, values: readonly unknown[]): Promise<number> {
  for (let removed = 0; ; ) {
    const changes = await db.run(text, [...values, ROWS_AT_ONCE])
    removed += changes
    if (changes < ROWS_AT_ONCE) return removed
  }
}
