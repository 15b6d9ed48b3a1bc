import type { JobRecord } from '../ports/job-log.ts'
import type { Feed } from './events/feed.ts'

/** A request for a crawl. */
export interface CrawlRequest {
  /** Start address, for display in lists. */
  readonly url: string
  /** Arguments of the process, apart from job id and library. */
  readonly args: readonly string[]
  readonly sourceId?: string
}

/** Current state of a job. */
export interface JobView extends Omit<JobRecord, 'process'> {
  readonly pid: number | null
  /** `preparing` until the first report of the process. */
  readonly stage: 'queued' | 'preparing' | 'running' | 'ended'
  readonly stageChangedAt: number
  readonly paused: boolean
  readonly lastActivityAt: number | null
  readonly rates: JobRates
  readonly trouble: JobTrouble
}

/** Addresses with errors or refused by the scope; only the first of each kind are listed. */
export interface JobTrouble {
  readonly errorUrls: readonly { readonly url: string; readonly reason: string }[]
  /** Number of addresses refused by the scope. */
  readonly filtered: number
  readonly filteredUrls: readonly { readonly url: string; readonly reason: string }[]
}

/** Rates of a job over the last seconds. */
export interface JobRates {
  readonly requestsPerSec: number
  readonly downloadsPerSec: number
  readonly errorRatePerMin: number
  readonly bytesPerSec: number
  /** Share of visits answered from stored pages. */
  readonly cacheHitRatio: number
}

/**
 * Runs crawls as processes, publishes their output to the feed, stores their history and restarts interrupted ones. Unknown ids throw
 * `JOB_UNKNOWN`.
 */
export interface Dispatcher {
  /**
   * Starts a crawl immediately. Throws `JOBS_FULL` if the maximum number of jobs is running, and `CRAWL_RUNNING` if the same start is being
   * crawled.
   */
  begin(request: CrawlRequest): Promise<JobView>
  /** Queues a crawl until a slot is free and no crawl of the same start is running. Throws `JOBS_FULL` if the queue is full. */
  enqueue(request: CrawlRequest): Promise<JobView>
  /** Lists queued, running and recently ended jobs, newest first. */
  list(): readonly JobView[]
  /** Finds a queued, running or recently ended job. */
  find(id: string): JobView | undefined
  /** Asks a job to stop and kills its process after `escalatesInMs`; a queued job is cancelled. */
  stop(
    id: string,
    end?: 'stopped' | 'cancelled',
  ): Promise<{ readonly stopped: boolean; readonly escalatesInMs: number }>
  /** Pauses or resumes a job; returns false if its process cannot receive the command. */
  pause(id: string): boolean | Promise<boolean>
  resume(id: string): boolean | Promise<boolean>
  /** Resolves when the job has ended, or with its last state when the dispatcher is closed. */
  wait(id: string): Promise<JobView>
  readonly feed: Feed
  /** How many jobs may run at once. */
  readonly slots: number
  /**
   * Resumes the jobs of an earlier server in their order. Processes that still run are ended first, because their output is lost. If the
   * log cannot be read, recovery retries in the background; afterwards the log is trimmed regularly.
   */
  recover(): Promise<void>
  /** Ends all processes so that the next server resumes their jobs. */
  close(): Promise<void>
}
