import type { QueueFrame } from '../../library/jobs/events/frames.ts'
import type {
  JobLog,
  JobNote,
  JobRecord,
  LogPage,
  NoteFilter,
  QueueEvent,
  StoredNote,
} from '../../library/ports/job-log.ts'
import { listColumns, valuesOf } from '../common/columns.ts'
import * as jobs from '../common/job-columns.ts'
import { trimJobLog } from '../common/job-log-trim.ts'
import type { Database, Sql } from './database/database.ts'
import { lock, lockNumber } from './database/locks.ts'
import { namesOf, toArrays, writeUnnest } from './database/row-arrays.ts'
import { createLogTrimmer } from './job-log-trim.ts'

const JOBS = `SELECT ${jobs.JOB_COLUMNS} FROM crawl_jobs`

/** Stores the job history. With a worker id, it never changes jobs of other workers. */
export function createJobLog(db: Database, worker: string | null = null): JobLog {
  const listNotes = async (table: string, { jobId, kind, scope, ...page }: NoteFilter): Promise<StoredNote[]> =>
    (await listRows<jobs.NoteColumns>(db, `${jobs.SELECT_NOTES} ${table}`, { job_id: jobId, kind, scope }, page)).map(
      jobs.toNote,
    )
  return {
    add: (job) => db.transaction((sql) => insertJob(sql, job)),
    change: (id, change) =>
      db.transaction(async (sql) => {
        const found = await sql.get<jobs.JobColumns>(
          `${JOBS} WHERE id = $1 AND ($2::text IS NULL OR worker = $2) FOR UPDATE`,
          [id, worker],
        )
        if (found === undefined) return
        await updateJob(sql, { ...jobs.toEntry(found), ...change })
        if (worker !== null && change.status !== undefined) await sql.run(`SELECT pg_notify($1, 'jobs')`, [db.channel])
      }),
    find: async (id) => {
      const found = await db.get<jobs.JobColumns>(`${JOBS} WHERE id = $1`, [id])
      if (found !== undefined) return jobs.toEntry(found)
      const other = await db.get<jobs.OtherCrawlColumns>(`${jobs.SELECT_OTHER_CRAWLS} AND i.uuid = $1`, [id])
      return other && jobs.toOtherEntry(other)
    },
    list: (limit) =>
      db.snapshot(async (sql) => {
        const counted = await sql.get<{ total: number }>(
          `SELECT (SELECT count(*) FROM crawl_jobs) + (SELECT count(*) ${jobs.FROM_OTHER_CRAWLS}) AS total`,
        )
        const items = await sql.all<jobs.JobColumns>(
          `${JOBS} ORDER BY status = 'queued' DESC, coalesce(started_at, created_at) DESC, number DESC LIMIT $1`,
          [limit],
        )
        const others = await sql.all<jobs.OtherCrawlColumns>(
          `${jobs.SELECT_OTHER_CRAWLS} ORDER BY c.id DESC LIMIT $1`,
          [limit],
        )
        const merged = jobs.mergeEntries(items.map(jobs.toEntry), others.map(jobs.toOtherEntry), limit)
        return { total: counted?.total ?? 0, items: merged }
      }),
    listOpen: async () => {
      const found = await db.all<jobs.JobColumns>(
        `${JOBS} WHERE status IN ('queued', 'running') ORDER BY created_at, number`,
      )
      return found.map((job) => jobs.toRecord(jobs.toEntry(job)))
    },
    append: async (notes) => {
      if (notes.length > 0) await db.transaction((sql) => append(sql, notes))
    },
    listQueueEvents: (jobId, { action, ...page }) =>
      listRows<QueueEvent>(db, jobs.SELECT_EVENTS, { job_id: jobId, action }, page),
    listProblems: (filter) => listNotes(jobs.NOTE_TABLES.problem, filter),
    listMilestones: (filter) => listNotes(jobs.NOTE_TABLES.milestone, filter),
    trim: (rule) => trimJobLog(createLogTrimmer(db), rule),
    listTypes: async () => (await db.all<jobs.CrawlTypeColumns>(jobs.SELECT_TYPES)).map(jobs.toCrawlType),
  }
}

/** Adds a job. */
export async function insertJob(sql: Sql, job: JobRecord): Promise<void> {
  const parameters = listColumns(jobs.NEW_JOB_COLUMNS).map((_, i) => `$${i + 1}`)
  await sql.run(
    `INSERT INTO crawl_jobs (${jobs.NEW_JOB_COLUMNS}) VALUES (${parameters})`,
    valuesOf(jobs.NEW_JOB_COLUMNS, jobs.toColumns(job)),
  )
}

async function updateJob(sql: Sql, job: JobRecord): Promise<void> {
  const sets = listColumns(jobs.CHANGING_JOB_COLUMNS).map((column, i) => `${column} = $${i + 2}`)
  await sql.run(`UPDATE crawl_jobs SET ${sets} WHERE id = $1`, [
    job.id,
    ...valuesOf(jobs.CHANGING_JOB_COLUMNS, jobs.toColumns(job)),
  ])
}

/** Appends notes inside the caller's transaction; notes of one call stay adjacent. */
async function append(sql: Sql, notes: readonly JobNote[]): Promise<void> {
  const events = notes.flatMap(({ jobId, at, type, data }) => (type === 'queue' ? [{ ...data, jobId, ts: at }] : []))
  // Readers page through events by job, and through the few other notes globally. These locks ensure that ids become visible in order, so
  // that no reader skips a lower id that is committed later.
  await lockJobs(sql, [...new Set(events.map(({ jobId }) => jobId))])
  if (events.length < notes.length) await lock(sql, 'log')
  await insertEvents(sql, events)
  for (const kind of ['problem', 'milestone'] as const) {
    const notesOfKind = notes.flatMap(({ jobId, at, type, data }) =>
      type === kind ? [{ ...data, jobId, ts: at, details: data.details && JSON.stringify(data.details) }] : [],
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

const EVENT_COLUMNS =
  'job_id text, ts bigint, action text, url text, depth int, host text, reason text, queue_size bigint, alias text'
const NOTE_COLUMNS = 'job_id text, ts bigint, kind text, scope text, target text, message text, details text'

type NewEvent = QueueFrame & { readonly jobId: string; readonly ts: number }
type NewNote = Omit<jobs.NoteColumns, 'id' | 'at'> & { readonly ts: number }

async function insertEvents(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const names = namesOf(EVENT_COLUMNS)
  await sql.run(
    `INSERT INTO queue_events (${names}) SELECT ${names} FROM ${writeUnnest(EVENT_COLUMNS, 'n')} ORDER BY place`,
    toArrays(EVENT_COLUMNS, events),
  )
  const columns = 'job_id text, ts bigint'
  await sql.run(
    `UPDATE crawl_jobs j SET events = j.events + n.events, last_event_at = greatest(j.last_event_at, n.last_at)
     FROM (SELECT job_id, count(*) AS events, max(ts) AS last_at FROM ${writeUnnest(columns, 'e')} GROUP BY 1) n
     WHERE j.id = n.job_id`,
    toArrays(columns, events),
  )
}

async function insertNotes(sql: Sql, kind: keyof typeof jobs.NOTE_TABLES, notes: readonly NewNote[]): Promise<void> {
  if (notes.length === 0) return
  // A milestone is stored once per job, even when a restarted process reports it again.
  const isNewMilestone = `WHERE NOT EXISTS (SELECT 1 FROM ${jobs.NOTE_TABLES.milestone} m
    WHERE m.job_id = n.job_id AND m.kind = n.kind AND left(m.scope, 512) IS NOT DISTINCT FROM left(n.scope, 512)
      AND m.scope IS NOT DISTINCT FROM n.scope)`
  const names = namesOf(NOTE_COLUMNS)
  await sql.run(
    `INSERT INTO ${jobs.NOTE_TABLES[kind]} (${names}) SELECT ${names} FROM ${writeUnnest(NOTE_COLUMNS, 'n')}
     ${kind === 'milestone' ? isNewMilestone : ''} ORDER BY place`,
    toArrays(NOTE_COLUMNS, notes),
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
