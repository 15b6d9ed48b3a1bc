import type { JobRecord } from '../../library/ports/job-log.ts'
import {
  type JobCommand,
  type RelayedBatch,
  type RunStatement,
  type SharedJob,
  type TakenJob,
  WORKER_TIMEOUT_MS,
  type WorkerLoad,
  type WorkerNotification,
  type WorkerRecord,
  type WorkerReport,
  type Workers,
} from '../../library/ports/workers.ts'
import { JOB_COLUMNS, type JobColumns, toEntry, toRecord } from '../common/job-columns.ts'
import type { Database, Sql } from './database/database.ts'
import { lock, lockNumber } from './database/locks.ts'
import { createJobLog, insertJob } from './job-log.ts'

/** Milliseconds since 1970 by the server clock, which all workers share. */
const NOW = 'extract(epoch FROM clock_timestamp()) * 1000'
const IS_ALIVE = `seen_at > ${NOW} - ${WORKER_TIMEOUT_MS}`

/** How long a lost worker stays listed, and how long relayed messages are kept. */
const RETENTION_MS = 60_000
/** Old rows are deleted after every so many reports of a process. */
const REPORTS_PER_CLEANUP = 10

interface SharedColumns extends JobColumns {
  readonly worker: string | null
  readonly wantsPause: boolean
  readonly askedEnd: JobCommand['end']
  readonly holder: string | null
  readonly isBegun: boolean
}

const SHARED = `SELECT ${JOB_COLUMNS}, worker, wants_pause AS "wantsPause", asked_end AS "askedEnd", holder, is_begun AS "isBegun"
  FROM crawl_jobs`

/** The registry of workers that share a library. */
export function createWorkers(db: Database): Workers {
  let reports = 0
  return {
    report: async (report) => {
      if (++reports % REPORTS_PER_CLEANUP === 0) await deleteOldRows(db)
      return writeReport(db, report)
    },
    leave: async (id) => {
      await db.run('DELETE FROM workers WHERE id = $1', [id])
    },
    list: () => listWorkers(db),
    countLeases: () => countLeases(db),
    admit: (job, isBegun, check, send) =>
      db.transaction(async (sql) => {
        await lock(sql, 'admission')
        check(await readLoad(sql))
        await insertJob(sql, job)
        if (isBegun) await sql.run('UPDATE crawl_jobs SET is_begun = true WHERE id = $1', [job.id])
        await send(createStatementRunner(sql))
        await notify(sql, db.channel, 'jobs')
      }),
    runExclusively: (work) =>
      db.transaction(async (sql) => {
        await lock(sql, 'admission')
        await work(createStatementRunner(sql))
      }),
    take: (jobId, worker) =>
      db.transaction(async (sql) => {
        const taken = await take(sql, jobId, worker)
        if (taken !== undefined) await notify(sql, db.channel, 'jobs')
        return taken
      }),
    has: async (jobId, worker) =>
      (await db.get(`SELECT 1 FROM crawl_jobs WHERE id = $1 AND worker = $2 AND status = 'running'`, [
        jobId,
        worker,
      ])) !== undefined,
    recordHolder: async (jobId, worker, holder) => {
      await db.run('UPDATE crawl_jobs SET holder = $3 WHERE id = $1 AND worker = $2', [jobId, worker, holder])
    },
    giveBack: async (jobId, worker) => {
      await db.run(
        `UPDATE crawl_jobs SET status = 'queued', worker = NULL, pid = NULL, process_began = NULL
         WHERE id = $1 AND worker = $2 AND status = 'running'`,
        [jobId, worker],
      )
      await notify(db, db.channel, 'jobs')
    },
    askPause: async (jobId, isPaused) => {
      const changedRows = await db.run(`UPDATE crawl_jobs SET wants_pause = $2 WHERE id = $1 AND status = 'running'`, [
        jobId,
        isPaused,
      ])
      if (changedRows > 0) await notify(db, db.channel, 'asks')
      return changedRows > 0
    },
    askEnd: async (jobId, end) => {
      const outcome = await db.transaction((sql) => requestEnd(sql, jobId, end))
      if (outcome === 'asked' || outcome === 'ended') await notify(db, db.channel, 'asks')
      return outcome
    },
    listJobs: async (endedWithinMs) => {
      const found = await db.all<SharedColumns>(
        `${SHARED} WHERE status IN ('queued', 'running') OR (status NOT IN ('queued', 'running') AND ended_at > ${NOW} - $1)
         ORDER BY created_at, number`,
        [endedWithinMs],
      )
      return found.map(toShared)
    },
    logOf: (worker) => createJobLog(db, worker),
    relay: (worker, body) => relayMessage(db, worker, body),
    listRelayed: (after) => listRelayed(db, after),
    // After a gap, notifications may have been missed, so listeners are woken as if jobs had changed.
    listen: (wake) => db.listen((topic) => wake(isTopic(topic) ? topic : 'jobs')),
  }
}

async function countLeases(db: Database): Promise<number> {
  const sql = `SELECT count(*) AS leases FROM hosts WHERE leased_until > 0 AND leased_until > ${NOW}`
  return (await db.get<{ leases: number }>(sql))?.leases ?? 0
}

function toShared({ worker, wantsPause, askedEnd, holder, isBegun, ...columns }: SharedColumns): SharedJob {
  return { record: toRecord(toEntry(columns)), worker, isPaused: wantsPause }
}

/** The topics of notifications. */
const TOPICS: readonly string[] = ['jobs', 'asks', 'passed', 'shared'] satisfies readonly WorkerNotification[]

function isTopic(topic: string): topic is WorkerNotification {
  return TOPICS.includes(topic)
}

/** Notifies all processes that share the library, once the transaction is committed. */
export async function notify(sql: Sql, channel: string, topic: WorkerNotification): Promise<void> {
  await sql.run('SELECT pg_notify($1, $2)', [channel, topic])
}

async function deleteOldRows(sql: Sql): Promise<void> {
  await sql.run(`DELETE FROM workers WHERE seen_at < ${NOW} - $1`, [RETENTION_MS])
  await sql.run(`DELETE FROM passed_on WHERE at < ${NOW} - $1`, [RETENTION_MS])
}

function writeReport(sql: Sql, report: WorkerReport): Promise<JobCommand[]> {
  const { id, name, version, isServer, slots, state, jobs, helps, holders, visits, bytes, visitsPerSec, startedAt } =
    report
  return sql.all<JobCommand>(
    `WITH written AS (
       INSERT INTO workers (id, name, version, is_server, slots, state, jobs, helps, holders, visits, bytes, visits_per_sec,
         started_at, seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${NOW})
       ON CONFLICT (id) DO UPDATE SET slots = excluded.slots, state = excluded.state, jobs = excluded.jobs,
         helps = excluded.helps, holders = excluded.holders, visits = excluded.visits, bytes = excluded.bytes,
         visits_per_sec = excluded.visits_per_sec, seen_at = excluded.seen_at
     )
     SELECT id AS "jobId", asked_end AS "end", wants_pause AS "isPaused" FROM crawl_jobs WHERE worker = $1 AND status = 'running'`,
    [id, name, version, isServer, slots, state, jobs, helps, holders, visits, bytes, visitsPerSec, startedAt],
  )
}

function listWorkers(sql: Sql): Promise<WorkerRecord[]> {
  return sql.all<WorkerRecord>(
    `SELECT w.id, w.name, w.version, w.is_server AS "isServer", w.slots, w.state, w.jobs, w.helps, w.holders, w.visits, w.bytes,
       w.visits_per_sec AS "visitsPerSec", w.started_at AS "startedAt", greatest(0, (${NOW} - w.seen_at)::bigint) AS "silentMs",
       -- The holder of a host is the name of its process, '#' and a suffix.
       (SELECT count(*) FROM unnest(w.holders) AS r (name) JOIN hosts h ON h.holder >= r.name || '#' AND h.holder < r.name || '$'
         WHERE h.leased_until > 0 AND h.leased_until > ${NOW}) AS leases
     FROM workers w WHERE w.seen_at > ${NOW} - $1 ORDER BY w.name, w.id`,
    [RETENTION_MS],
  )
}

function createStatementRunner(sql: Sql): RunStatement {
  return async (text, values) => ({ rows: await sql.all(text, values) })
}

async function readLoad(sql: Sql): Promise<WorkerLoad> {
  const open = await sql.all<SharedColumns>(
    `${SHARED} WHERE status IN ('queued', 'running') ORDER BY created_at, number`,
  )
  const counted = await sql.get<{ slots: number }>(
    `SELECT coalesce(sum(slots), 0)::bigint AS slots FROM workers WHERE state = 'working' AND ${IS_ALIVE}`,
  )
  const immediateJobIds = new Set(open.filter(({ isBegun }) => isBegun).map(({ id }) => id))
  return { openJobs: open.map(toShared), immediateJobIds, slots: counted?.slots ?? 0 }
}

async function take(sql: Sql, jobId: string, worker: string): Promise<TakenJob | undefined> {
  const found = await sql.get<SharedColumns>(`${SHARED} WHERE id = $1 AND status IN ('queued', 'running') FOR UPDATE`, [
    jobId,
  ])
  if (found === undefined) return undefined
  await sql.run(`UPDATE crawl_jobs SET status = 'running', worker = $2 WHERE id = $1`, [jobId, worker])
  return { ...toShared(found), end: found.askedEnd, lastHolder: found.holder }
}

async function requestEnd(
  sql: Sql,
  jobId: string,
  end: 'stopped' | 'cancelled',
): Promise<'over' | 'ended' | 'asked' | undefined> {
  const found = await sql.get<{ status: JobRecord['status']; hasWorker: boolean }>(
    `SELECT status, EXISTS (SELECT 1 FROM workers w WHERE w.id = j.worker AND ${IS_ALIVE}) AS "hasWorker"
     FROM crawl_jobs j WHERE id = $1 FOR UPDATE OF j`,
    [jobId],
  )
  if (found === undefined) return undefined
  const { status, hasWorker } = found
  if (status !== 'queued' && status !== 'running') return 'over'
  if (status === 'running' && hasWorker) {
    await sql.run('UPDATE crawl_jobs SET asked_end = coalesce(asked_end, $2) WHERE id = $1', [jobId, end])
    return 'asked'
  }
  const ended = status === 'queued' ? 'cancelled' : end
  await sql.run(`UPDATE crawl_jobs SET status = $2, ended_at = ${NOW} WHERE id = $1`, [jobId, ended])
  return 'ended'
}

async function listRelayed(sql: Sql, after: number | undefined): Promise<RelayedBatch[]> {
  const select = 'SELECT id AS number, worker, body FROM passed_on'
  if (after === undefined)
    return (await sql.all<RelayedBatch>(`${select} ORDER BY id DESC LIMIT ${MESSAGES_AT_ONCE}`)).reverse()
  return sql.all<RelayedBatch>(
    // After a server crash the unlogged table is empty, and ids may start again.
    `${select} WHERE id > CASE WHEN $1 > coalesce((SELECT max(id) FROM passed_on), 0) THEN 0 ELSE $1 END
     ORDER BY id LIMIT ${MESSAGES_AT_ONCE}`,
    [after],
  )
}

/** Batch size for reading relayed messages. */
const MESSAGES_AT_ONCE = 500

/** Relays a message. A lock serializes inserts, so that ids become visible in order. */
async function relayMessage(db: Database, worker: string, body: string): Promise<void> {
  await db.all(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${lockNumber('passing on')})),
       added AS (INSERT INTO passed_on (worker, at, body) SELECT $1, ${NOW}, $2 FROM turn RETURNING id)
     SELECT pg_notify($3, 'passed') FROM added`,
    [worker, body, db.channel],
  )
}
