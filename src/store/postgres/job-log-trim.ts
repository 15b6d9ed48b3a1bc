import { HAS_ENDED, type LogTrimmer } from '../common/job-log-trim.ts'
import type { Sql } from './database/database.ts'

/** Creates the queries for trimming the job log. */
export function createLogTrimmer(sql: Sql): LogTrimmer {
  const listIds = async <Id>(text: string, values: readonly unknown[]): Promise<Id[]> =>
    (await sql.all<{ id: Id }>(text, values)).map(({ id }) => id)
  const findId = async <Id>(text: string, values: readonly unknown[]): Promise<Id | undefined> =>
    (await listIds<Id>(text, values))[0]
  return {
    listSurplusJobs: (max) =>
      listIds(
        `SELECT id FROM crawl_jobs WHERE ${HAS_ENDED} ORDER BY ended_at, number
         LIMIT greatest(0, (SELECT count(*) FROM crawl_jobs) - $1)`,
        [max],
      ),
    listEndedBefore: (moment) =>
      listIds(
        `SELECT id FROM crawl_jobs j WHERE ${HAS_ENDED} AND ended_at < $1
           AND EXISTS (SELECT 1 FROM queue_events e WHERE e.job_id = j.id)`,
        [moment],
      ),
    findNextJob: (after) =>
      findId('SELECT job_id AS id FROM queue_events WHERE job_id > $1 ORDER BY job_id LIMIT 1', [after]),
    findSurplusOfJob: (jobId, max) =>
      findId('SELECT id FROM queue_events WHERE job_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2', [jobId, max]),
    findSurplus: (table, max) => findId(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1 OFFSET $1`, [max]),
    deleteRows: (table, jobId, upTo, limit) => {
      const ofJob = jobId === undefined ? '' : 'job_id = $3 AND'
      return sql.run(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${ofJob} id <= $1 ORDER BY id LIMIT $2)`,
        [upTo, limit, ...(jobId === undefined ? [] : [jobId])],
      )
    },
    deleteJob: (id) => sql.run(`DELETE FROM crawl_jobs WHERE id = $1 AND ${HAS_ENDED}`, [id]),
  }
}
