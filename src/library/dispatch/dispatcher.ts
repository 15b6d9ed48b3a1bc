import type { JobStatus } from '../job-log.ts'
import type { Feed } from './feed.ts'
import type { ProgressFrame } from './frames.ts'

/** A crawl that is asked for. */
export interface CrawlOrder {
  /** Where it starts, for those who look at a list. */
  readonly url: string
  /** What its process is told, besides its job id and the library. */
  readonly args: readonly string[]
  readonly sourceId?: string
}

/** A job as it stands. */
export interface JobView {
  readonly id: string
  readonly url: string
  readonly args: readonly string[]
  readonly pid: number | null
  readonly status: JobStatus
  /** `preparing` until the first report of its process. */
  readonly stage: 'queued' | 'preparing' | 'running' | 'ended'
  readonly stageChangedAt: number
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly paused: boolean
  readonly lastActivityAt: number | null
  readonly crawlId: string | null
  readonly sourceId: string | null
  readonly problem: string | null
  readonly code: number | null
  readonly signal: string | null
  /** How often its process was started again after it had broken off. */
  readonly restarts: number
  readonly progress: ProgressFrame | null
  readonly rates: JobRates
  readonly trouble: JobTrouble
}

/** Addresses that a job had trouble with; the first of each kind. */
export interface JobTrouble {
  readonly errorUrls: readonly { readonly url: string; readonly reason: string }[]
  /** How many were refused by the scope. */
  readonly filtered: number
  readonly filteredUrls: readonly { readonly url: string; readonly reason: string }[]
}

/** How fast a job goes, over the last seconds. */
export interface JobRates {
  readonly requestsPerSec: number
  readonly downloadsPerSec: number
  readonly errorRatePerMin: number
  readonly bytesPerSec: number
  /** Share of visits that were answered by what is stored. */
  readonly cacheHitRatio: number
}

/**
 * Runs crawls as processes, one or several at a time, tells what they say to whoever listens, keeps their history, and starts again
 * what was broken off. Ids that nobody knows are refused with `JOB_UNKNOWN`.
 */
export interface Dispatcher {
  /** Begins one at once; refused with `JOBS_FULL` while as many run as may, and with `CRAWL_RUNNING` while one for the same start does. */
  begin(order: CrawlOrder): Promise<JobView>
  /** Begins one as soon as there is room, and none for the same start runs; refused with `JOBS_FULL` when too many wait already. */
  enqueue(order: CrawlOrder): Promise<JobView>
  /** Those that wait, run, or ended a moment ago; newest first. */
  list(): readonly JobView[]
  /** One of them. */
  find(id: string): JobView | undefined
  /** Asks one to stop, and ends it if it does not within `escalatesInMs`; one that waits is cancelled. */
  stop(
    id: string,
    end?: 'stopped' | 'cancelled',
  ): Promise<{ readonly stopped: boolean; readonly escalatesInMs: number }>
  /** Makes one begin nothing new, or go on; false when it cannot be told. */
  pause(id: string): boolean | Promise<boolean>
  resume(id: string): boolean | Promise<boolean>
  /** Resolves when one has ended, or stands where it stood when all were closed. */
  wait(id: string): Promise<JobView>
  readonly feed: Feed
  /** Whether several may run at once. */
  readonly allowsSeveral: boolean
  /**
   * Takes up what an earlier server left: what still runs is ended, because nobody reads what it says, and all that was not ended goes
   * on in its order. While the log cannot be read that is tried again in the background. From then on the log is kept trimmed.
   */
  recover(): Promise<void>
  /** Ends all processes in such a way that they go on with the next server. */
  close(): Promise<void>
}
