import type { NoteFrame, ProgressFrame, QueueAction, QueueFrame } from './dispatch/frames.ts'
import type { ProcessMark } from './dispatch/runner.ts'

/** How a job can stand. `queued`: it waits for others to end. The last four are its true ends. */
export const JOB_STATUSES = ['queued', 'running', 'done', 'failed', 'stopped', 'cancelled'] as const

/** One of {@link JOB_STATUSES}. */
export type JobStatus = (typeof JOB_STATUSES)[number]

/** A crawl that a server was asked for, as it is kept. */
export interface JobRecord {
  /** UUID. */
  readonly id: string
  /** Where it starts. */
  readonly url: string
  /** What its process was told. */
  readonly args: readonly string[]
  /** The process that runs it, or ran it last; null before there was one. */
  readonly process: ProcessMark | null
  readonly status: JobStatus
  /** When it was asked for. */
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** The crawl of the library it runs and its source, once they are known. */
  readonly crawlId: string | null
  readonly sourceId: string | null
  /** How often its process was started again after it had broken off. */
  readonly restarts: number
  /** Where it last stood. */
  readonly progress: ProgressFrame | null
  /** Why it did not come to a good end, in words. */
  readonly problem: string | null
}

/** A job in a list. */
export interface JobEntry extends JobRecord {
  /** Queue events that were recorded, those that were trimmed since included. */
  readonly events: number
  readonly lastEventAt: number | null
}

/** What may change of a job. */
export type JobChange = Partial<Omit<JobRecord, 'id' | 'url' | 'args' | 'createdAt'>>

/** Something that happened in a job, to be kept. */
export type JobNote = { readonly jobId: string; readonly at: number } & (
  | { readonly type: 'queue'; readonly data: QueueFrame }
  | { readonly type: 'problem' | 'milestone'; readonly data: NoteFrame }
)

/** A queue event as it is kept. */
export interface QueueEvent extends QueueFrame {
  /** Grows with time. */
  readonly id: number
  readonly jobId: string
  readonly at: number
}

/** A problem or milestone as it is kept. */
export interface KeptNote extends NoteFrame {
  /** Grows with time. */
  readonly id: number
  readonly jobId: string
  readonly at: number
}

/** A part of a list, newest first: those before an id, or those right after one. */
export interface LogPage {
  readonly limit: number
  /** Only those with smaller ids. */
  readonly before?: number
  /** Only those with larger ids, the nearest ones first chosen; still newest first. */
  readonly after?: number
}

/** Which problems or milestones are asked for. */
export interface NoteFilter extends LogPage {
  readonly jobId?: string
  readonly kind?: string
  readonly scope?: string
}

/** A named way to crawl. */
export interface CrawlType {
  readonly name: string
  readonly description: string
  /** What it sets, as the contract has it. */
  readonly declaration: Readonly<Record<string, unknown>>
}

/** What of the log is kept. */
export interface TrimRule {
  /** Queue events of one job; its newest are kept. */
  readonly eventsPerJob: number
  /** Queue events altogether; the oldest go first. */
  readonly events: number
  /** Problems, and as many milestones; the oldest go first. */
  readonly notes: number
  /** Jobs that ended before this lose their queue events, in milliseconds since 1970. */
  readonly eventsSince: number
  /** Jobs altogether; of the oldest that ended, nothing is kept. */
  readonly jobs: number
}

/**
 * The history of the jobs of a server: what was asked for, what became of it, and what happened meanwhile. One contract suite runs on
 * every implementation.
 */
export interface JobLog {
  add(job: JobRecord): Promise<void>
  /** Changes a job; one that is not there is left alone. */
  change(id: string, change: JobChange): Promise<void>
  find(id: string): Promise<JobEntry | undefined>
  /** Newest first, by when they began; those that wait come before. */
  list(limit: number): Promise<{ readonly total: number; readonly items: readonly JobEntry[] }>
  /** Those that are queued or running, the oldest first. */
  listOpen(): Promise<readonly JobRecord[]>
  /** Keeps what happened, all of it or nothing. A milestone of one kind and scope is kept once for each job: the first counts. */
  append(notes: readonly JobNote[]): Promise<void>
  listQueueEvents(jobId: string, page: LogPage & { readonly action?: QueueAction }): Promise<readonly QueueEvent[]>
  listProblems(filter: NoteFilter): Promise<readonly KeptNote[]>
  listMilestones(filter: NoteFilter): Promise<readonly KeptNote[]>
  /** Removes what the rule does not keep, some at a time; how many rows went. */
  trim(rule: TrimRule): Promise<number>
  /** In the order in which they were added. */
  listTypes(): Promise<readonly CrawlType[]>
}
