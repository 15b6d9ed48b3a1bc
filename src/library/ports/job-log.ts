import type { NoteFrame, ProgressFrame, QueueAction, QueueFrame } from '../jobs/events/frames.ts'
import type { ProcessIdentity } from '../jobs/runner.ts'

/** Job id of milestones found by analysis. */
export const ANALYSIS_JOB_ID = 'analysis-run'

/** Statuses of a job. A `queued` job waits for other jobs to end; the last four statuses are final. */
export const JOB_STATUSES = ['queued', 'running', 'done', 'failed', 'stopped', 'cancelled'] as const

/** One of {@link JOB_STATUSES}. */
export type JobStatus = (typeof JOB_STATUSES)[number]

/** Stored record of a crawl job. */
export interface JobRecord {
  /** UUID. */
  readonly id: string
  /** Start address. */
  readonly url: string
  /** Arguments of its process. */
  readonly args: readonly string[]
  /** The current or last process; null before the first. */
  readonly process: ProcessIdentity | null
  readonly status: JobStatus
  /** Time of the request. */
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** Crawl and source in the library, once known. */
  readonly crawlId: string | null
  readonly sourceId: string | null
  /** How often the process was restarted after an interruption. */
  readonly restarts: number
  /** Last known progress. */
  readonly progress: ProgressFrame | null
  /** Why the job failed or was interrupted, in words. */
  readonly problem: string | null
  /** Exit code and signal of its last process, once it has ended. */
  readonly code: number | null
  readonly signal: string | null
}

/** A job in a list. */
export interface JobEntry extends JobRecord {
  /** Number of recorded queue events, including trimmed ones. */
  readonly events: number
  readonly lastEventAt: number | null
}

/** Fields of a job that may change. */
export type JobChange = Partial<Omit<JobRecord, 'id' | 'url' | 'args' | 'createdAt'>>

/** An event of a job for the log. */
export type JobNote = { readonly jobId: string; readonly at: number } & (
  | { readonly type: 'queue'; readonly data: QueueFrame }
  | { readonly type: 'problem' | 'milestone'; readonly data: NoteFrame }
)

/** A stored queue event. */
export interface QueueEvent extends QueueFrame {
  /** Ids grow over time. */
  readonly id: number
  readonly jobId: string
  readonly at: number
}

/** A stored problem or milestone. */
export interface StoredNote extends NoteFrame {
  /** Ids grow over time. */
  readonly id: number
  readonly jobId: string
  readonly at: number
}

/** One page of a list of events. The events are sorted newest first, also with `after`. */
export interface LogPage {
  readonly limit: number
  /** Only smaller ids. */
  readonly before?: number
  /** Only larger ids; if there are more than `limit`, the ids nearest to this one. */
  readonly after?: number
}

/** Filter for problems or milestones. */
export interface NoteFilter extends LogPage {
  readonly jobId?: string
  readonly kind?: string
  readonly scope?: string
}

/** A named crawl type. */
export interface CrawlTypeRecord {
  readonly name: string
  readonly description: string
  /** Options that the type sets, named as in a crawl request. */
  readonly declaration: Readonly<Record<string, unknown>>
}

/** Retention rule of the log. */
export interface RetentionRule {
  /** Maximum number of queue events per job; the newest are kept. */
  readonly eventsPerJob: number
  /** Maximum number of queue events in total; the oldest are removed first. */
  readonly events: number
  /** Maximum number of problems, and of milestones; the oldest are removed first. */
  readonly notes: number
  /** Jobs that ended before this time lose their queue events; milliseconds since 1970. */
  readonly eventsSince: number
  /** Maximum number of jobs; the oldest ended jobs are removed entirely. */
  readonly jobs: number
}

/** History of the jobs of a server: requests, results and events. One contract suite runs on every implementation. */
export interface JobLog {
  add(job: JobRecord): Promise<void>
  /** Changes a job; does nothing if it does not exist. */
  change(id: string, change: JobChange): Promise<void>
  find(id: string): Promise<JobEntry | undefined>
  /** Lists jobs by start, newest first; queued ones come before all others. */
  list(limit: number): Promise<{ readonly total: number; readonly items: readonly JobEntry[] }>
  /** Lists queued and running jobs, oldest first. */
  listOpen(): Promise<readonly JobRecord[]>
  /** Appends events in one transaction. A milestone is stored once per job, kind and scope; the first one counts. */
  append(notes: readonly JobNote[]): Promise<void>
  listQueueEvents(jobId: string, page: LogPage & { readonly action?: QueueAction }): Promise<readonly QueueEvent[]>
  listProblems(filter: NoteFilter): Promise<readonly StoredNote[]>
  listMilestones(filter: NoteFilter): Promise<readonly StoredNote[]>
  /** Removes what the rule does not keep, in batches; returns the number of removed rows. */
  trim(rule: RetentionRule): Promise<number>
  /** Lists crawl types in the order in which they were added. */
  listTypes(): Promise<readonly CrawlTypeRecord[]>
}
