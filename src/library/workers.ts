import type { JobLog, JobRecord } from './job-log.ts'

/** What a worker tells of itself. */
export interface WorkerReport {
  readonly id: string
  /** Where it is, for people: `host/123`. */
  readonly name: string
  readonly version: string
  /** Whether it is a server that works itself. */
  readonly isServer: boolean
  /** So many crawls it runs at once. */
  readonly slots: number
  /** `draining`: it takes nothing new, and will be gone soon. */
  readonly state: 'working' | 'draining'
  /** Ids of the jobs it runs. */
  readonly jobs: readonly string[]
  /** Ids of those that others run, and in which it takes part while it has nothing else to do. */
  readonly helps: readonly string[]
  /** Its crawl processes, as those that hold hosts. */
  readonly holders: readonly string[]
  /** Visits and bytes since it began. */
  readonly visits: number
  readonly bytes: number
  /** Visits a second, over the last seconds. */
  readonly visitsPerSec: number
  readonly startedAt: number
}

/** A worker as others see it. */
export interface WorkerRecord extends WorkerReport {
  /** How long it has said nothing; measured by the clock of the library. */
  readonly silentMs: number
  /** Hosts that its processes hold. */
  readonly leases: number
}

/** A worker that has said nothing for so long is gone: what it ran goes on with others. */
export const WORKER_LOST_MS = 10_000

/** Whether a worker is gone. */
export function isLost({ silentMs }: Pick<WorkerRecord, 'silentMs'>): boolean {
  return silentMs >= WORKER_LOST_MS
}

/** A worker as it is shown. `lost`: it gives no sign of life, and what it ran goes on with others. */
export interface ShownWorker extends Omit<WorkerRecord, 'state'> {
  readonly state: WorkerRecord['state'] | 'lost'
}

/** A worker as it is shown: of one that is lost, what it did when it was last seen is no news. */
export function showWorker(worker: WorkerRecord): ShownWorker {
  return isLost(worker) ? { ...worker, state: 'lost', jobs: [], helps: [], leases: 0, visitsPerSec: 0 } : worker
}

/** What is asked of a job that runs. */
export interface JobAsk {
  readonly jobId: string
  readonly end: 'stopped' | 'cancelled' | null
  readonly isPaused: boolean
}

/** A job that waits, runs or ended a moment ago. */
export interface SharedJob {
  readonly record: JobRecord
  /** The worker that has it, or had it last. */
  readonly worker: string | null
  readonly isPaused: boolean
}

/** A job that a worker has taken. */
export interface TakenJob extends SharedJob {
  readonly end: JobAsk['end']
  /** The process that had it before, as one that runs crawls. It has lost the job, whether it knows that or not. */
  readonly lastHolder: string | null
}

/** What happened in jobs, as a worker passes it on. */
export interface PassedOn {
  /** Grows with time. */
  readonly number: number
  readonly worker: string
  /** JSON of whoever passed it on. */
  readonly body: string
}

/**
 * What there is news of: jobs that were added, taken or ended; something that was asked of one; something that was
 * passed on; a crawl that can be shared.
 */
export type News = 'jobs' | 'asks' | 'passed' | 'shared'

/** Runs a statement of the queue inside the transaction in which a job is added. */
export type RunStatement = (text: string, values?: unknown[]) => Promise<{ readonly rows: object[] }>

/** What there is to know when one more job is asked for. */
export interface Occupation {
  /** Those that wait or run, the oldest first. */
  readonly open: readonly SharedJob[]
  /** Ids of those that were promised to begin at once. */
  readonly begun: ReadonlySet<string>
  /** How many crawls all workers together run at once. */
  readonly slots: number
}

/**
 * The workers of a library that many processes share, what runs where, and what is said about it. Moments are those of the clock of the
 * library, so that clocks of machines need not agree.
 */
export interface Workers {
  /** Says that a worker is there, and how it stands; what is asked of the jobs it has. */
  report(report: WorkerReport): Promise<readonly JobAsk[]>
  /** Takes a worker off the list. */
  leave(id: string): Promise<void>
  /** Those that are there, and those that were a minute ago; by their names. */
  list(): Promise<readonly WorkerRecord[]>
  /** How many hosts are held, by whatever process. */
  countLeases(): Promise<number>
  /**
   * Adds a job: `check` refuses it by what there is, `send` gives it to the queue, and nobody else adds one meanwhile. It is added in one
   * transaction, or not at all.
   */
  admit(
    job: JobRecord,
    isBegun: boolean,
    check: (occupation: Occupation) => void,
    send: (run: RunStatement) => Promise<void>,
  ): Promise<void>
  /** Does something in one transaction, while nobody else adds a job or does such a thing. */
  inTurn(work: (run: RunStatement) => Promise<void>): Promise<void>
  /** Takes a job for a worker, whoever had it before; undefined for one that is over. */
  take(jobId: string, worker: string): Promise<TakenJob | undefined>
  /** Whether a worker still has a job, and is to go on with it. */
  has(jobId: string, worker: string): Promise<boolean>
  /** Notes the process that a worker has for a job. */
  hold(jobId: string, worker: string, holder: string): Promise<void>
  /** Lets a job wait again that a worker cannot end. */
  giveBack(jobId: string, worker: string): Promise<void>
  /** Asks something of a job that runs; false where none of this id does. */
  askPause(jobId: string, isPaused: boolean): Promise<boolean>
  /**
   * Ends a job: one that waits, or whose worker is gone, is over at once; of one that runs it is asked. What it was then; undefined for
   * one that nobody knows.
   */
  askEnd(jobId: string, end: 'stopped' | 'cancelled'): Promise<'over' | 'ended' | 'asked' | undefined>
  /** Those that wait or run, the oldest first, and those that ended within so many milliseconds. */
  listJobs(endedWithinMs: number): Promise<readonly SharedJob[]>
  /** The history of jobs as a worker writes it: what it has lost, it does not change any more. */
  logOf(worker: string): JobLog
  /** Passes on what happened. It is kept for a minute or so. */
  passOn(worker: string, body: string): Promise<void>
  /** What was passed on after a number, oldest first, some of it; without one, the last of what is kept. */
  listPassedOn(after: number | undefined): Promise<readonly PassedOn[]>
  /**
   * Calls back when there is news, or may have been. Not every way to a database has that: whoever listens looks for itself now and
   * then. Gives what ends it.
   */
  listen(wake: (about: News) => void): () => Promise<void>
}
