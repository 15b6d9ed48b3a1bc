import { messageOf, PharosError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { JobLog, JobRecord } from '../ports/job-log.ts'
import type { CrawlRequest, Dispatcher, JobView } from './dispatcher.ts'
import type { Feed } from './events/feed.ts'
import type { NoteFrame } from './events/frames.ts'
import { trimPeriodically } from './events/log-retention.ts'
import { LogWriter } from './events/log-writer.ts'
import {
  ENDED_RETENTION_MS,
  MAX_MILESTONES,
  MAX_WAITING,
  refuseFull,
  refuseFullQueue,
  refuseLongArgs,
  restoreRequest,
  writeJobList,
} from './job-limits.ts'
import { JobRuns, type JobRunsOptions } from './job-runs.ts'
import { endLeftoverProcess, NOT_STARTED, TERM_GRACE_MS } from './process-end.ts'
import { createTrackedJob, isSameStart, milestoneKey, recordOf, type TrackedJob, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** Options of {@link LocalDispatcher}. */
export interface DispatcherOptions extends Omit<JobRunsOptions, 'writer' | 'onChange' | 'onEnd'> {
  readonly feed: Feed
  /** Opens the history of jobs, retrying until it succeeds. */
  readonly jobLog: () => Promise<JobLog>
  /** Returns a new UUID. */
  readonly newId: () => string
  /** Maximum number of running jobs. */
  readonly maxJobs: number
  /** Maximum number of queued jobs. @default 1000 */
  readonly maxWaiting?: number
}

/** How long a request waits for its job to be stored; after that the job runs anyway and is stored once the log can be written. */
const STORE_TIMEOUT_MS = 2000
/** Retry interval if the log cannot be read at startup. */
const RECOVERY_RETRY_MS = 5_000

/** Runs crawls as processes. */
export class LocalDispatcher implements Dispatcher {
  readonly #options: DispatcherOptions
  /** All known jobs, in the order of their requests. */
  readonly #jobs = new Map<string, TrackedJob>()
  readonly #waiting: TrackedJob[] = []
  readonly #closing = new AbortController()
  #closed: Promise<void> | undefined
  readonly #writer: LogWriter
  readonly #runs: JobRuns
  readonly #maxWaiting: number
  readonly feed: Feed
  readonly slots: number

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING
    this.feed = options.feed
    this.slots = options.maxJobs
    const { feed, log } = options
    const warn = (message: string) => {
      feed.tell('log', null, { stream: 'server', line: message })
      log?.warn(message)
    }
    this.#writer = new LogWriter({ ...options, warn })
    this.#runs = new JobRuns({
      ...options,
      writer: this.#writer,
      onChange: this.#tellJobs,
      onEnd: () => this.#launchNext(),
    })
  }

  async begin(request: CrawlRequest): Promise<JobView> {
    this.#checkRequest(request)
    // No await between the check and the start: two simultaneous requests cannot both take the last slot.
    const starts = [...this.#runs.running].map((job) => job.request.url)
    refuseFull(starts, this.#options.maxJobs, 'the setting maxCrawls allows')
    if (this.#isUnderWay(request)) throw new PharosError('CRAWL_RUNNING', { source: maskSecretFields(request.url) })
    return this.#track(request, (job) => this.#runs.start(job))
  }

  async enqueue(request: CrawlRequest): Promise<JobView> {
    this.#checkRequest(request)
    refuseFullQueue(this.#waiting.length, this.#maxWaiting)
    return this.#track(request, (job) => {
      this.#waiting.push(job)
      this.#launchNext()
      if (job.stage === 'queued') this.#tellJobs()
    })
  }

  list(): readonly JobView[] {
    this.#forgetOld()
    return [...this.#jobs.values()].map((job) => viewOf(job, this.#options.clock.now())).reverse()
  }

  find(id: string): JobView | undefined {
    this.#forgetOld()
    const job = this.#jobs.get(id)
    return job === undefined ? undefined : viewOf(job, this.#options.clock.now())
  }

  async stop(
    id: string,
    end: 'stopped' | 'cancelled' = 'stopped',
  ): Promise<{ readonly stopped: boolean; readonly escalatesInMs: number }> {
    const job = this.#requireJob(id)
    if (job.endedAt !== null) return { stopped: false, escalatesInMs: 0 }
    // A job that waits, or that was restored and does not wait yet.
    if (!this.#runs.running.has(job)) {
      const index = this.#waiting.indexOf(job)
      if (index >= 0) this.#waiting.splice(index, 1)
      this.#runs.finish(job, 'cancelled', NOT_STARTED)
      return { stopped: true, escalatesInMs: 0 }
    }
    return { stopped: true, escalatesInMs: this.#runs.stop(job, end) }
  }

  pause(id: string): boolean | Promise<boolean> {
    return this.#command(id, true)
  }

  resume(id: string): boolean | Promise<boolean> {
    return this.#command(id, false)
  }

  async wait(id: string): Promise<JobView> {
    const job = this.#requireJob(id)
    if (job.endedAt === null && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => job.waiters.push(resolve))
    }
    return viewOf(job, this.#options.clock.now())
  }

  readonly recover = async (): Promise<void> => {
    const { runner, clock, log } = this.#options
    try {
      const jobLog = await this.#options.jobLog()
      const unfinished = (await jobLog.listOpen()).filter(({ id }) => !this.#jobs.has(id))
      const milestonesOf = new Map<string, readonly NoteFrame[]>()
      for (const { id: jobId, startedAt } of unfinished) {
        if (startedAt !== null) milestonesOf.set(jobId, await jobLog.listMilestones({ jobId, limit: MAX_MILESTONES }))
      }
      // Known before they can start, because the end of a leftover process may take seconds.
      const jobs = unfinished.map((record) => this.#restore(record, milestonesOf.get(record.id) ?? []))
      await Promise.all(unfinished.map((record) => endLeftoverProcess(runner, clock, record.process)))
      if (this.#closing.signal.aborted) return
      for (const job of jobs) if (job.endedAt === null) this.#requeue(job)
      this.#logResumed(unfinished.filter(({ status }) => status === 'running').length)
      this.#launchNext()
      this.#tellJobs()
      void trimPeriodically(this.#options.jobLog, clock, (message) => log?.warn(message), this.#closing.signal)
    } catch (error) {
      log?.warn(`could not read the unfinished jobs of an earlier server; retrying: ${messageOf(error)}`)
      void clock.sleep(RECOVERY_RETRY_MS, this.#closing.signal).then(this.recover, () => undefined)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  readonly #tellJobs = (): void => {
    const open = [...[...this.#runs.running].reverse(), ...this.#waiting]
    this.#options.feed.tell('jobs', null, {
      ...writeJobList(open.map((job) => viewOf(job, this.#options.clock.now()))),
    })
  }

  #forgetOld(): void {
    for (const [id, { endedAt }] of this.#jobs) {
      if (endedAt !== null && this.#options.clock.now() - endedAt >= ENDED_RETENTION_MS) this.#jobs.delete(id)
    }
  }

  #requireJob(id: string): TrackedJob {
    this.#forgetOld()
    const job = this.#jobs.get(id)
    if (job === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
    return job
  }

  #isUnderWay(request: CrawlRequest) {
    return [...this.#runs.running].some((job) => isSameStart(request, job))
  }

  #launchNext(): void {
    while (!this.#closing.signal.aborted && this.#runs.running.size < this.#options.maxJobs) {
      // A process for a source that is already being crawled would only wait.
      const index = this.#waiting.findIndex(({ request }) => !this.#isUnderWay(request))
      const [job] = index < 0 ? [] : this.#waiting.splice(index, 1)
      if (job === undefined) return
      this.#runs.start(job)
    }
  }

  /** Registers a new job, stores it, and starts or queues it with `launch`. */
  async #track(request: CrawlRequest, launch: (job: TrackedJob) => void): Promise<JobView> {
    const { clock } = this.#options
    this.#forgetOld()
    const job = createTrackedJob(this.#options.newId(), request, clock.now())
    this.#jobs.set(job.id, job)
    const stored = this.#writer.add(recordOf(job))
    launch(job)
    const view = viewOf(job, clock.now())
    // An accepted job must survive a crash.
    await waitUpTo(clock, stored, STORE_TIMEOUT_MS)
    return view
  }

  #command(id: string, paused: boolean): boolean {
    const job = this.#requireJob(id)
    // A job between two processes gets the command with its next process; a queued job can resume but has nothing to pause.
    const isOpen = job.endedAt === null && (this.#runs.running.has(job) || (!paused && job.paused))
    return isOpen && this.#runs.command(job, paused)
  }

  #restore(record: JobRecord, milestones: readonly NoteFrame[]): TrackedJob {
    const { id } = record
    const job = createTrackedJob(id, restoreRequest(record), this.#options.clock.now(), record)
    this.#jobs.set(id, job)
    for (const note of milestones) job.milestones.add(milestoneKey(note))
    return job
  }

  #requeue(job: TrackedJob): void {
    this.#waiting.push(job)
    this.#writer.change(job.id, { status: 'queued' })
  }

  #logResumed(count: number): void {
    if (count === 0) return
    const what = count === 1 ? '1 crawl that was' : `${count} crawls that were`
    const line = `resuming ${what} interrupted when an earlier server stopped`
    this.#options.feed.tell('log', null, { stream: 'server', line })
    this.#options.log?.info(line)
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    // The log still lists unfinished jobs as open, so the next server resumes them.
    await this.#runs.close()
    await waitUpTo(this.#options.clock, this.#writer.close(), TERM_GRACE_MS)
    for (const job of this.#jobs.values()) for (const resolve of job.waiters.splice(0)) resolve()
  }

  #checkRequest(request: CrawlRequest): void {
    if (this.#closing.signal.aborted) throw new PharosError('INTERRUPTED')
    refuseLongArgs(request)
  }
}
