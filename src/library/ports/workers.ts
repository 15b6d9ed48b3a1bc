import type { JobLog, JobRecord } from './job-log.ts'

/** Report of a worker about itself. */
export interface WorkerReport {
  readonly id: string
  /** Display location: `host/123`. */
  readonly name: string
  readonly version: string
  /** Whether the worker runs inside a server. */
  readonly isServer: boolean
  /** Maximum number of concurrent crawls. */
  readonly slots: number
  /** `draining`: the worker takes no new jobs and will exit soon. */
  readonly state: 'working' | 'draining'
  /** Ids of its running jobs. */
  readonly jobs: readonly string[]
  /** Ids of jobs of other workers that it helps with while idle. */
  readonly helps: readonly string[]
  /** Its crawl processes, as named in host leases. */
  readonly holders: readonly string[]
  /** Visits and bytes since its start. */
  readonly visits: number
  readonly bytes: number
  /** Visits per second over the last seconds. */
  readonly visitsPerSec: number
  readonly startedAt: number
}

/** A worker as other processes see it. */
export interface WorkerRecord extends WorkerReport {
  /** Time since its last report, by the clock of the library. */
  readonly silentMs: number
  /** Number of hosts leased by its processes. */
  readonly leases: number
}

/** A worker without a report for this long is lost: other workers take over its jobs. */
export const WORKER_TIMEOUT_MS = 10_000

/** Whether a worker is lost. */
export function isLost({ silentMs }: Pick<WorkerRecord, 'silentMs'>): boolean {
  return silentMs >= WORKER_TIMEOUT_MS
}

/** A worker for display. `lost`: it sends no heartbeats and other workers take over its jobs. */
export interface WorkerView extends Omit<WorkerRecord, 'state'> {
  readonly state: WorkerRecord['state'] | 'lost'
}

/** Converts a worker for display; the activity of a lost worker is cleared, because it is outdated. */
export function createWorkerView(worker: WorkerRecord): WorkerView {
  return isLost(worker) ? { ...worker, state: 'lost', jobs: [], helps: [], leases: 0, visitsPerSec: 0 } : worker
}

/** A command for a running job. */
export interface JobCommand {
  readonly jobId: string
  readonly end: 'stopped' | 'cancelled' | null
  readonly isPaused: boolean
}

/** A queued, running or recently ended job. */
export interface SharedJob {
  readonly record: JobRecord
  /** The worker that has the job, or had it last. */
  readonly worker: string | null
  readonly isPaused: boolean
}

/** A job that a worker has taken. */
export interface TakenJob extends SharedJob {
  readonly end: JobCommand['end']
  /** The crawl process that had the job before; it has lost the job even if it does not know yet. */
  readonly lastHolder: string | null
}

/** A batch of events that a worker relays. */
export interface RelayedBatch {
  /** Numbers grow over time. */
  readonly number: number
  readonly worker: string
  /** JSON of the batch. */
  readonly body: string
}

/** Kinds of notifications: jobs added, taken or ended; commands for jobs; relayed events; a crawl that can be joined. */
export type WorkerNotification = 'jobs' | 'asks' | 'passed' | 'shared'

/** Runs a statement of the queue inside the transaction that adds a job. */
export type RunStatement = (text: string, values?: unknown[]) => Promise<{ readonly rows: object[] }>

/** Load of all workers, for deciding whether to admit a job. */
export interface WorkerLoad {
  /** Queued and running jobs, oldest first. */
  readonly openJobs: readonly SharedJob[]
  /** Ids of jobs promised to begin at once. */
  readonly immediateJobIds: ReadonlySet<string>
  /** Total number of slots of all workers. */
  readonly slots: number
}

/**
 * Workers of a library that several processes share, with their jobs and events. All times are from the clock of the library, so that
 * clocks of machines need not agree.
 */
export interface Workers {
  /** Sends a heartbeat with the state of a worker; returns commands for its jobs. */
  report(report: WorkerReport): Promise<readonly JobCommand[]>
  /** Removes a worker from the list. */
  leave(id: string): Promise<void>
  /** Lists present workers and those seen within the last minute, sorted by name. */
  list(): Promise<readonly WorkerRecord[]>
  /** Counts host leases of all processes. */
  countLeases(): Promise<number>
  /**
   * Adds a job in one transaction that excludes other additions: `check` throws to refuse the job, `send` passes it to the queue. With
   * `isImmediate`, the job was promised to begin at once.
   */
  admit(
    job: JobRecord,
    isImmediate: boolean,
    check: (load: WorkerLoad) => void,
    send: (run: RunStatement) => Promise<void>,
  ): Promise<void>
  /** Runs work in one transaction that excludes the addition of jobs and other such work. */
  runExclusively(work: (run: RunStatement) => Promise<void>): Promise<void>
  /** Takes a job for a worker, even from another one; undefined if it has ended. */
  take(jobId: string, worker: string): Promise<TakenJob | undefined>
  /** Whether a worker still has a job and must continue it. */
  has(jobId: string, worker: string): Promise<boolean>
  /** Records the process that a worker uses for a job. */
  recordHolder(jobId: string, worker: string, holder: string): Promise<void>
  /** Returns a job that a worker cannot finish to the queue. */
  giveBack(jobId: string, worker: string): Promise<void>
  /** Sends a pause or resume command to a running job; returns false if there is none with this id. */
  askPause(jobId: string, isPaused: boolean): Promise<boolean>
  /**
   * Ends a job. Returns `ended` for a queued job or one of a lost worker, which ends at once; `asked` for a running job, which gets a
   * command; `over` for a job that had already ended; undefined for an unknown job.
   */
  askEnd(jobId: string, end: 'stopped' | 'cancelled'): Promise<'over' | 'ended' | 'asked' | undefined>
  /** Lists queued and running jobs, oldest first, and jobs that ended within a number of milliseconds. */
  listJobs(endedWithinMs: number): Promise<readonly SharedJob[]>
  /** Returns the job log for a worker; it ignores changes to jobs that the worker has lost. */
  logOf(worker: string): JobLog
  /** Relays events, which are kept for about a minute. */
  relay(worker: string, body: string): Promise<void>
  /** Reads the relayed batches after a number, oldest first, up to a limit; without a number, the latest ones. */
  listRelayed(after: number | undefined): Promise<readonly RelayedBatch[]>
  /**
   * Calls `wake` on notifications. Some connections to a database drop them, so listeners must also poll. Returns a function that
   * unsubscribes.
   */
  listen(wake: (about: WorkerNotification) => void): () => Promise<void>
}
