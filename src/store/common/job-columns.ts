import type { CrawlSummary } from '../../crawl/events.ts'
import { NO_PROGRESS, type NoteFrame, type ProgressFrame } from '../../library/jobs/events/frames.ts'
import type { CrawlTypeRecord, JobEntry, JobRecord, StoredNote } from '../../library/ports/job-log.ts'
import { selectColumns } from './columns.ts'
import { parseStored } from './damage.ts'
import { IS_FOCUSED } from './ledger/crawl-record.ts'

/** The columns of a job. */
export interface JobColumns extends Omit<JobEntry, 'args' | 'process' | 'progress'> {
  readonly args: string
  readonly pid: number | null
  readonly processBegan: string | null
  readonly progress: string | null
}

/** The columns of a note. */
export interface NoteColumns extends Omit<StoredNote, 'details'> {
  readonly details: string | null
}

/** The columns that never change after a job was added, and those that do. */
const FIXED_JOB_COLUMNS = 'id, url, args, created_at'
export const CHANGING_JOB_COLUMNS =
  'pid, process_began, status, started_at, ended_at, crawl_id, source_id, restarts, progress, problem, code, signal'

/** The columns that are written when a job is added. */
export const NEW_JOB_COLUMNS: string = `${FIXED_JOB_COLUMNS}, ${CHANGING_JOB_COLUMNS}`

/** The selected columns of a job. */
export const JOB_COLUMNS: string = selectColumns(`${NEW_JOB_COLUMNS}, events, last_event_at`)

/** SQL that selects the columns of queue events and notes; a table follows. */
export const SELECT_EVENTS: string = `SELECT ts AS at, ${selectColumns('id, job_id, action, url, depth, host, reason, queue_size, alias')} FROM queue_events`
export const SELECT_NOTES: string = `SELECT ts AS at, ${selectColumns('id, job_id, kind, scope, target, message, details')} FROM`

/** A stored type of crawl, with its declaration as JSON. */
export type CrawlTypeColumns = Omit<CrawlTypeRecord, 'declaration'> & { readonly declaration: string }

export const SELECT_TYPES = `SELECT name, coalesce(description, '') AS description, declaration FROM crawl_types ORDER BY id`

/** Converts a stored type of crawl. */
export function toCrawlType({ declaration, ...type }: CrawlTypeColumns): CrawlTypeRecord {
  return { ...type, declaration: parseStored<CrawlTypeRecord['declaration']>(declaration) }
}

/** The table for each kind of note. */
export const NOTE_TABLES = { problem: 'crawl_problems', milestone: 'crawl_milestones' } as const

/** A new job as it is stored, before anything has happened in it. */
export function toColumns(job: JobRecord): JobColumns {
  return {
    ...job,
    args: JSON.stringify(job.args),
    pid: job.process?.pid ?? null,
    processBegan: job.process?.began ?? null,
    progress: job.progress && JSON.stringify(job.progress),
    events: 0,
    lastEventAt: null,
  }
}

/** Converts a stored job, whose JSON was written by {@link toColumns}. */
export function toEntry({ args, pid, processBegan, progress, ...job }: JobColumns): JobEntry {
  return {
    ...job,
    args: parseStored<string[]>(args),
    process: pid === null ? null : { pid, began: processBegan },
    progress: progress === null ? null : parseStored<ProgressFrame>(progress),
  }
}

/** A job without its event counts. */
export function toRecord({ events, lastEventAt, ...job }: JobEntry): JobRecord {
  return job
}

/**
 * SQL for the crawls c that no job ran: those of commands, MCP and other programs. Running crawls are not history yet, and runs for changes
 * in a watched folder are too frequent. A crawl that began between the request for a job of its source and the end of the job belongs to
 * the job, even if its process was killed before it reported the crawl, or its server before the process reported the source. The joins let
 * SQLite index the few jobs for the query.
 */
export const FROM_OTHER_CRAWLS: string = `FROM crawls c JOIN crawl_ids i ON i.id = c.id JOIN sources s ON s.id = c.source
  LEFT JOIN crawl_jobs b ON b.source_id = s.uuid
    AND (b.crawl_id = i.uuid OR c.started_at BETWEEN b.created_at AND coalesce(b.ended_at, c.started_at))
  LEFT JOIN crawl_jobs u ON u.source_id IS NULL AND u.url = s.url
    AND c.started_at BETWEEN u.created_at AND coalesce(u.ended_at, c.started_at)
  WHERE b.id IS NULL AND u.id IS NULL AND c.state <> 'running' AND NOT (${IS_FOCUSED}) AND NOT s.is_removed`

/** SQL that selects crawls that no job ran. */
export const SELECT_OTHER_CRAWLS: string = `SELECT i.uuid AS id, s.url, s.uuid AS "sourceId", c.state, c.started_at AS "startedAt",
  c.ended_at AS "endedAt", c.summary ${FROM_OTHER_CRAWLS}`

/** A crawl that no job ran. */
export interface OtherCrawlColumns extends Pick<JobEntry, 'id' | 'url' | 'sourceId' | 'endedAt'> {
  readonly state: CrawlSummary['end']
  readonly startedAt: number
  readonly summary: string | null
}

/** Converts a crawl that no job ran to a job of the same id. */
export function toOtherEntry({ state, summary, ...crawl }: OtherCrawlColumns): JobEntry {
  const { visited, indexed, unchanged, skipped, failed, bytes, unread, problem } =
    summary === null ? NO_SUMMARY : parseStored<CrawlSummary>(summary)
  const { id: crawlId, sourceId, startedAt: createdAt } = crawl
  const counts = { visited, downloaded: indexed + unchanged, saved: indexed, unchanged, skipped, errors: failed, bytes }
  return {
    ...crawl,
    ...{ args: [], process: null, restarts: 0, events: 0, lastEventAt: null, createdAt, crawlId, problem },
    ...{ code: null, signal: null },
    status: state === 'completed' ? 'done' : state === 'cancelled' ? 'stopped' : 'failed',
    progress: { ...NO_PROGRESS, ...counts, unread, crawlId, sourceId },
  }
}

/** A crawl whose process ended without a summary. */
const NO_SUMMARY = {
  ...{ visited: 0, indexed: 0, unchanged: 0, skipped: 0, failed: 0, bytes: 0 },
  ...{ unread: 0, problem: null },
}

/** The first jobs and other crawls, in the order of a job list; both lists are in it. */
export function mergeEntries(jobs: readonly JobEntry[], others: readonly JobEntry[], limit: number): JobEntry[] {
  const startOf = ({ status, startedAt, createdAt }: JobEntry) =>
    status === 'queued' ? Number.POSITIVE_INFINITY : (startedAt ?? createdAt)
  // Infinities have no difference, and the order of queued jobs stays.
  return [...jobs, ...others].toSorted((a, b) => startOf(b) - startOf(a) || 0).slice(0, limit)
}

/** Converts a stored note. */
export function toNote({ details, ...note }: NoteColumns): StoredNote {
  return { ...note, details: details === null ? null : parseStored<NoteFrame['details']>(details) }
}
