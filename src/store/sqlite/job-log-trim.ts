import { setImmediate as pause } from 'node:timers/promises'
import { HAS_ENDED, type LogTable, type LogTrimmer } from '../common/job-log-trim.ts'
import type { Database, Write } from './database/database.ts'

/** Batch size for counting ids, because each batch blocks the event loop. */
const IDS_AT_ONCE = 20_000

/** Creates the queries for trimming the job log. It pauses between its steps. */
export function createLogTrimmer(db: Database, write: Write): LogTrimmer {
  const countJobs = db.prepare<[], number>('SELECT count(*) FROM crawl_jobs').pluck()
  const selectOldest = db
    .prepare<[number], string>(`SELECT id FROM crawl_jobs WHERE ${HAS_ENDED} ORDER BY ended_at, rowid LIMIT ?`)
    .pluck()
  const deleteJob = db.prepare<[string]>(`DELETE FROM crawl_jobs WHERE id = ? AND ${HAS_ENDED}`)
  const selectEndedBefore = db
    .prepare<[number], string>(
      `SELECT id FROM crawl_jobs j WHERE ${HAS_ENDED} AND ended_at < ?
         AND EXISTS (SELECT 1 FROM queue_events e WHERE e.job_id = j.id)`,
    )
    .pluck()
  const selectNextJob = db
    .prepare<[string], string>('SELECT job_id FROM queue_events WHERE job_id > ? ORDER BY job_id LIMIT 1')
    .pluck()
  const selectNewestSurplus = db
    .prepare<[string, number], number>('SELECT id FROM queue_events WHERE job_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?')
    .pluck()
  const selectNumber = (sql: string, ...values: number[]): number =>
    db
      .prepare<unknown[], number | null>(sql)
      .pluck()
      .get(...values) ?? 0

  return {
    listSurplusJobs: async (max) => selectOldest.all(Math.max(0, (countJobs.get() ?? 0) - max)),
    listEndedBefore: async (moment) => selectEndedBefore.all(moment),
    findNextJob: async (after) => selectNextJob.get(after),
    findSurplusOfJob: async (jobId, max) => selectNewestSurplus.get(jobId, max),
    findSurplus: async (table, max) => {
      // Two queries, because SQLite finds one end of a table directly, but scans all of it for both.
      const first = selectNumber(`SELECT min(id) FROM ${table}`)
      let last = selectNumber(`SELECT max(id) FROM ${table}`)
      // A table has at most as many rows as there are ids between its first and its last.
      if (last - first < max) return undefined
      for (let rowsToKeep = max; last >= first; last -= IDS_AT_ONCE) {
        const rows = selectNumber(`SELECT count(*) FROM ${table} WHERE id > ? AND id <= ?`, last - IDS_AT_ONCE, last)
        const selectSurplus = `SELECT id FROM ${table} WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?`
        if (rows > rowsToKeep) return selectNumber(selectSurplus, last, rowsToKeep)
        rowsToKeep -= rows
        await pause()
      }
      return undefined
    },
    deleteRows: async (table: LogTable, jobId, upTo, limit) => {
      await pause()
      const ofJob = jobId === undefined ? '' : 'job_id = @jobId AND'
      const remove = db.prepare<[{ jobId: string; upTo: number; limit: number }]>(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${ofJob} id <= @upTo ORDER BY id LIMIT @limit)`,
      )
      return write(() => remove.run({ jobId: jobId ?? '', upTo, limit }).changes)
    },
    deleteJob: (id) => write(() => deleteJob.run(id).changes),
  }
}
