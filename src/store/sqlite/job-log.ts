import type { QueueFrame } from '../../library/jobs/events/frames.ts'
import type {
  JobEntry,
  JobLog,
  JobNote,
  LogPage,
  NoteFilter,
  QueueEvent,
  StoredNote,
} from '../../library/ports/job-log.ts'
import { listColumns, valuesOf } from '../common/columns.ts'
import * as jobs from '../common/job-columns.ts'
import { trimJobLog } from '../common/job-log-trim.ts'
import type { Database, Write } from './database/database.ts'
import { createLogTrimmer } from './job-log-trim.ts'

/** Creates the job queries. */
export function createJobLog(db: Database, write: Write): JobLog {
  const insert = db.prepare<unknown[]>(
    `INSERT INTO crawl_jobs (${jobs.NEW_JOB_COLUMNS}) VALUES (${listColumns(jobs.NEW_JOB_COLUMNS).map(() => '?')})`,
  )
  const update = db.prepare<unknown[]>(
    `UPDATE crawl_jobs SET ${listColumns(jobs.CHANGING_JOB_COLUMNS).join(' = ?, ')} = ? WHERE id = ?`,
  )
  const selectJob = db.prepare<[string], jobs.JobColumns>(`SELECT ${jobs.JOB_COLUMNS} FROM crawl_jobs WHERE id = ?`)
  const selectJobs = db.prepare<[number], jobs.JobColumns>(
    `SELECT ${jobs.JOB_COLUMNS} FROM crawl_jobs ORDER BY status = 'queued' DESC, ifnull(started_at, created_at) DESC, rowid DESC LIMIT ?`,
  )
  const countJobs = db.prepare<[], number>('SELECT count(*) FROM crawl_jobs').pluck()
  const others = createOtherCrawls(db)
  const selectOpen = db.prepare<[], jobs.JobColumns>(
    `SELECT ${jobs.JOB_COLUMNS} FROM crawl_jobs WHERE status IN ('queued', 'running') ORDER BY created_at, rowid`,
  )
  const insertEvent = db.prepare<[QueueFrame & { jobId: string; at: number }]>(
    `INSERT INTO queue_events (job_id, ts, action, url, depth, host, reason, queue_size, alias)
     VALUES (@jobId, @at, @action, @url, @depth, @host, @reason, @queueSize, @alias)`,
  )
  const prepareInsert = (table: string, condition: string) =>
    db.prepare<[Omit<jobs.NoteColumns, 'id'>]>(
      `INSERT INTO ${table} (job_id, ts, kind, scope, target, message, details)
       SELECT @jobId, @at, @kind, @scope, @target, @message, @details ${condition}`,
    )
  // A milestone is stored once per job and scope, even when a restarted process reports it again.
  const isNewMilestone = `WHERE NOT EXISTS (SELECT 1 FROM ${jobs.NOTE_TABLES.milestone} INDEXED BY crawl_milestones_once
    WHERE job_id = @jobId AND kind = @kind AND scope IS @scope)`
  const insertNote = {
    problem: prepareInsert(jobs.NOTE_TABLES.problem, ''),
    milestone: prepareInsert(jobs.NOTE_TABLES.milestone, isNewMilestone),
  }
  const countEvents = db.prepare<[number, number, number, string]>(
    `UPDATE crawl_jobs SET events = events + ?, last_event_at = max(ifnull(last_event_at, ?), ?) WHERE id = ?`,
  )
  const selectTypes = db.prepare<[], jobs.CrawlTypeColumns>(jobs.SELECT_TYPES)

  const append = (notes: readonly JobNote[]): void => {
    const counted = new Map<string, { events: number; lastAt: number }>()
    for (const { jobId, at, type, data } of notes) {
      if (type === 'queue') {
        insertEvent.run({ ...data, jobId, at })
        const { events = 0, lastAt = at } = counted.get(jobId) ?? {}
        counted.set(jobId, { events: events + 1, lastAt: Math.max(lastAt, at) })
      } else {
        insertNote[type].run({ ...data, jobId, at, details: data.details && JSON.stringify(data.details) })
      }
    }
    for (const [jobId, { events, lastAt }] of counted) countEvents.run(events, lastAt, lastAt, jobId)
  }
  const listRows = createLister(db)
  const listNotes = (table: string, { jobId, kind, scope, ...page }: NoteFilter): StoredNote[] =>
    listRows<jobs.NoteColumns>(`${jobs.SELECT_NOTES} ${table}`, { job_id: jobId, kind, scope }, page).map(jobs.toNote)

  return {
    add: (job) => write(() => void insert.run(...valuesOf(jobs.NEW_JOB_COLUMNS, jobs.toColumns(job)))),
    change: (id, change) =>
      write(() => {
        const found = selectJob.get(id)
        if (found === undefined) return
        update.run(...valuesOf(jobs.CHANGING_JOB_COLUMNS, jobs.toColumns({ ...jobs.toEntry(found), ...change })), id)
      }),
    find: async (id) => selectJob.all(id).map(jobs.toEntry)[0] ?? others.find(id),
    list: async (limit) => ({
      total: (countJobs.get() ?? 0) + others.count(),
      items: jobs.mergeEntries(selectJobs.all(limit).map(jobs.toEntry), others.list(limit), limit),
    }),
    listOpen: async () => selectOpen.all().map((found) => jobs.toRecord(jobs.toEntry(found))),
    append: async (notes) => {
      if (notes.length > 0) await write(() => append(notes))
    },
    listQueueEvents: async (jobId, { action, ...page }) =>
      listRows<QueueEvent>(jobs.SELECT_EVENTS, { job_id: jobId, action }, page),
    listProblems: async (filter) => listNotes(jobs.NOTE_TABLES.problem, filter),
    listMilestones: async (filter) => listNotes(jobs.NOTE_TABLES.milestone, filter),
    trim: (rule) => trimJobLog(createLogTrimmer(db, write), rule),
    listTypes: async () => selectTypes.all().map(jobs.toCrawlType),
  }
}

/** Creates the queries for crawls that no job ran. */
function createOtherCrawls(db: Database) {
  const count = db.prepare<[], number>(`SELECT count(*) ${jobs.FROM_OTHER_CRAWLS}`).pluck()
  const selectOne = db.prepare<[string], jobs.OtherCrawlColumns>(`${jobs.SELECT_OTHER_CRAWLS} AND i.uuid = ?`)
  // The numbers of crawls grow with their starts.
  const selectNewest = db.prepare<[number], jobs.OtherCrawlColumns>(
    `${jobs.SELECT_OTHER_CRAWLS} ORDER BY c.id DESC LIMIT ?`,
  )
  return {
    count: () => count.get() ?? 0,
    find: (id: string): JobEntry | undefined => selectOne.all(id).map(jobs.toOtherEntry)[0],
    list: (limit: number): JobEntry[] => selectNewest.all(limit).map(jobs.toOtherEntry),
  }
}

/** Creates a function that lists rows, newest first. Each of the few query variants is prepared once. */
function createLister(db: Database) {
  const prepared = new Map<string, ReturnType<Database['prepare']>>()
  return <T>(select: string, columns: Readonly<Record<string, string | undefined>>, page: LogPage): T[] => {
    const { limit, before, after } = page
    const filters = Object.entries(columns).filter(([, value]) => value !== undefined)
    const conditions = filters.map(([column]) => `${column} = ?`)
    if (before !== undefined) conditions.push('id < ?')
    if (after !== undefined) conditions.push('id > ?')
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
    const sql = `${select}${where} ORDER BY id ${after === undefined ? 'DESC' : 'ASC'} LIMIT ?`
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    const bounds = [before, after].filter((bound) => bound !== undefined)
    // The SELECT of the caller returns the columns of T.
    const found = statement.all(...filters.map(([, value]) => value), ...bounds, limit) as T[]
    return after === undefined ? found : found.reverse()
  }
}
