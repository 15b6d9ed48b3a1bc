import type { QueueFrame } from '../../library/jobs/events/frames.ts'
import type {
  CrawlTypeRecord,
  JobLog,
  JobNote,
  JobRecord,
  LogPage,
  NoteFilter,
  QueueEvent,
  StoredNote,
} from '../../library/ports/job-log.ts'
import {
  type JobColumns,
  NOTE_TABLES,
  type NoteColumns,
  toColumns,
  toEntry,
  toNote,
  toRecord,
} from '../common/job-columns.ts'
import type { Database, Sql } from './database/database.ts'
import { lock, lockNumber } from './database/locks.ts'
import { trimJobLog } from './job-log-trim.ts'

/** The columns of a job. */
export const JOB_COLUMNS = `id, url, args, pid, process_began AS "processBegan", status, created_at AS "createdAt",
    started_at AS "startedAt", ended_at AS "endedAt", crawl_id AS "crawlId", source_id AS "sourceId", restarts, progress,
    problem, events, last_event_at AS "lastEventAt"`

const JOBS = `SELECT ${JOB_COLUMNS} FROM crawl_jobs`

const EVENTS = `SELECT id, job_id AS "jobId", ts AS at, action, url, depth, host, reason, queue_size AS "queueSize", alias
  FROM queue_events`

const NOTES = 'SELECT id, job_id AS "jobId", ts AS at, kind, scope, target, message, details FROM'

/** Stores the job history. With a worker id, it never changes jobs of other workers. */
export function createJobLog(db: Database, worker: string | null = null): JobLog {
  const listNotes = async (table: string, { jobId, kind, scope, ...page }: NoteFilter): Promise<StoredNote[]> =>
    (await listRows<NoteColumns>(db, `${NOTES} ${table}`, { job_id: jobId, kind, scope }, page)).map(toNote)
  return {
    add: (job) => db.transaction((sql) => insertJob(sql, job)),
    change: (id, change) =>
      db.transaction(async (sql) => {
        const found = await sql.get<JobColumns>(
          `${JOBS} WHERE id = $1 AND ($2::text IS NULL OR worker = $2) FOR UPDATE`,
          [id, worker],
        )
        if (found === undefined) return
        await updateJob(sql, { ...toEntry(found), ...change })
        if (worker !== null && change.status !== undefined) await sql.run(`SELECT pg_notify($1, 'jobs')`, [db.channel])
      }),
    find: async (id) => {
      const found = await db.get<JobColumns>(`${JOBS} WHERE id = $1`, [id])
      return found && toEntry(found)
    },
    list: (limit) =>
      db.snapshot(async (sql) => {
        const counted = await sql.get<{ total: number }>('SELECT count(*) AS total FROM crawl_jobs')
        const items = await sql.all<JobColumns>(
          `${JOBS} ORDER BY status = 'queued' DESC, coalesce(started_at, created_at) DESC, number DESC LIMIT $1`,
          [limit],
        )
        return { total: counted?.total ?? 0, items: items.map(toEntry) }
      }),
    listOpen: async () => {
      const found = await db.all<JobColumns>(
        `${JOBS} WHERE status IN ('queued', 'running') ORDER BY created_at, number`,
      )
      return found.map((job) => toRecord(toEntry(job)))
    },
    append: async (notes) => {
      if (notes.length > 0) await db.transaction((sql) => append(sql, notes))
    },
    listQueueEvents: (jobId, { action, ...page }) => listRows<QueueEvent>(db, EVENTS, { job_id: jobId, action }, page),
    listProblems: (filter) => listNotes(NOTE_TABLES.problem, filter),
    listMilestones: (filter) => listNotes(NOTE_TABLES.milestone, filter),
    trim: (rule) => trimJobLog(db, rule),
    listTypes: async () => {
      const found = await db.all<Omit<CrawlTypeRecord, 'declaration'> & { declaration: string }>(
        `SELECT name, coalesce(description, '') AS description, declaration FROM crawl_types ORDER BY id`,
      )
      return found.map(({ declaration, ...type }) => ({
        ...type,
        declaration: JSON.parse(declaration) as CrawlTypeRecord['declaration'],
      }))
    },
  }
}

/** Adds a job. */
export async function insertJob(sql: Sql, job: JobRecord): Promise<void> {
  const { id, url, args, createdAt } = toColumns(job)
  await sql.run(
    `INSERT INTO crawl_jobs (id, url, args, created_at, pid, process_began, status, started_at, ended_at, crawl_id,
       source_id, restarts, progress, problem)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [id, url, args, createdAt, ...changingColumns(job)],
  )
}

async function updateJob(sql: Sql, job: JobRecord): Promise<void> {
  await sql.run(
    `UPDATE crawl_jobs SET pid = $2, process_began = $3, status = $4, started_at = $5, ended_at = $6, crawl_id = $7,
       source_id = $8, restarts = $9, progress = $10, problem = $11
     WHERE id = $1`,
    [job.id, ...changingColumns(job)],
  )
}

function changingColumns(job: JobRecord): unknown[] {
  const { pid, processBegan, status, startedAt, endedAt, crawlId, sourceId, restarts, progress, problem } =
    toColumns(job)
  return [pid, processBegan, status, startedAt, endedAt, crawlId, sourceId, restarts, progress, problem]
}

/** Appends notes inside the caller's transaction; notes of one call stay adjacent. */
async function append(sql: Sql, notes: readonly JobNote[]): Promise<void> {
  const events = notes.flatMap(({ jobId, at, type, data }) => (type === 'queue' ? [{ ...data, jobId, at }] : []))
  // Readers page through events by job, and through the few other notes globally. These locks ensure that ids become visible in order, so
  // that no reader skips a lower id that is committed later.
  await lockJobs(sql, [...new Set(events.map(({ jobId }) => jobId))])
  if (events.length < notes.length) await lock(sql, 'log')
  await insertEvents(sql, events)
  for (const kind of ['problem', 'milestone'] as const) {
    const notesOfKind = notes.flatMap(({ jobId, at, type, data }) =>
      type === kind ? [{ ...data, jobId, at, details: data.details && JSON.stringify(data.details) }] : [],
    )
    await insertNotes(sql, kind, kind === 'problem' ? notesOfKind : firstOfEach(notesOfKind))
  }
}

/** Locks the logs of jobs. Locks are taken in numeric order, which prevents deadlocks. */
async function lockJobs(sql: Sql, jobs: readonly string[]): Promise<void> {
  if (jobs.length === 0) return
  await sql.run(
    `SELECT pg_advisory_xact_lock(number) FROM (
       SELECT ${lockNumber('log', 'job')} AS number FROM unnest($1::text[]) AS n (job) ORDER BY 1) k`,
    [jobs],
  )
}

type NewEvent = QueueFrame & { readonly jobId: string; readonly at: number }
type NewNote = Omit<NoteColumns, 'id'>

async function insertEvents(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const column = <Name extends keyof NewEvent>(name: Name) => events.map((event) => event[name])
  await sql.run(
    `INSERT INTO queue_events (job_id, ts, action, url, depth, host, reason, queue_size, alias)
     SELECT job_id, ts, action, url, depth, host, reason, queue_size, alias
     FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::bigint[], $9::text[])
       WITH ORDINALITY AS n (job_id, ts, action, url, depth, host, reason, queue_size, alias, place) ORDER BY place`,
    [
      column('jobId'),
      column('at'),
      column('action'),
      column('url'),
      column('depth'),
      column('host'),
      column('reason'),
      column('queueSize'),
      column('alias'),
    ],
  )
  await sql.run(
    `UPDATE crawl_jobs j SET events = j.events + n.events, last_event_at = greatest(j.last_event_at, n.last_at)
     FROM (SELECT job_id, count(*) AS events, max(ts) AS last_at FROM unnest($1::text[], $2::bigint[]) AS e (job_id, ts)
       GROUP BY 1) n WHERE j.id = n.job_id`,
    [column('jobId'), column('at')],
  )
}

async function insertNotes(sql: Sql, kind: keyof typeof NOTE_TABLES, notes: readonly NewNote[]): Promise<void> {
  if (notes.length === 0) return
  const column = <Name extends keyof NewNote>(name: Name) => notes.map((note) => note[name])
  // A milestone is stored once per job, even when a restarted process reports it again.
  const isNewMilestone = `WHERE NOT EXISTS (SELECT 1 FROM ${NOTE_TABLES.milestone} m
    WHERE m.job_id = n.job_id AND m.kind = n.kind AND left(m.scope, 512) IS NOT DISTINCT FROM left(n.scope, 512)
      AND m.scope IS NOT DISTINCT FROM n.scope)`
  await sql.run(
    `INSERT INTO ${NOTE_TABLES[kind]} (job_id, ts, kind, scope, target, message, details)
     SELECT job_id, ts, kind, scope, target, message, details
     FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       WITH ORDINALITY AS n (job_id, ts, kind, scope, target, message, details, place)
     ${kind === 'milestone' ? isNewMilestone : ''} ORDER BY place`,
    [
      column('jobId'),
      column('at'),
      column('kind'),
      column('scope'),
      column('target'),
      column('message'),
      column('details'),
    ],
  )
}

/** The first note of each job, kind and scope. */
function firstOfEach(notes: readonly NewNote[]): NewNote[] {
  const first = new Map<string, NewNote>()
  for (const note of notes) {
    const key = JSON.stringify([note.jobId, note.kind, note.scope])
    if (!first.has(key)) first.set(key, note)
  }
  return [...first.values()]
}

/** Lists rows by id, newest first. Few combinations of conditions occur, so few statements are prepared. */
async function listRows<Row extends object>(
  sql: Sql,
  select: string,
  columns: Readonly<Record<string, string | undefined>>,
  { limit, before, after }: LogPage,
): Promise<Row[]> {
  const values: unknown[] = []
  const addValue = (value: unknown) => `$${values.push(value)}`
  const conditions = Object.entries(columns).flatMap(([column, value]) => {
    if (value === undefined) return []
    const parameter = addValue(value)
    return column === 'scope'
      ? [`left(scope, 512) = left(${parameter}, 512)`, `scope = ${parameter}`]
      : [`${column} = ${parameter}`]
  })
  if (before !== undefined) conditions.push(`id < ${addValue(before)}`)
  if (after !== undefined) conditions.push(`id > ${addValue(after)}`)
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const direction = after === undefined ? 'DESC' : 'ASC'
  const found = await sql.all<Row>(`${select}${where} ORDER BY id ${direction} LIMIT ${addValue(limit)}`, values)
  return after === undefined ? found : found.reverse()
}
