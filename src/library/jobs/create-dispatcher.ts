import { messageOf, PharosError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { JobLog, JobRecord } from '../ports/job-log.ts'
import type { CrawlRequest, Dispatcher, JobView } from './dispatcher.ts'
import type { Feed } from './events/feed.ts'
import type { NoteFrame } from './events/frames.ts'
import { trimPeriodically } from './events/log-retention.ts'
import { createLogWriter } from './events/log-writer.ts'
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
import { createJobRuns, type JobRunsOptions } from './job-runs.ts'
import { endLeftoverProcess, NOT_STARTED, TERM_GRACE_MS } from './process-end.ts'
import { createTrackedJob, isSameStart, milestoneKey, recordOf, type TrackedJob, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** Options of {@link createDispatcher}. */
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
const STORE_TIMEOUT_MS = 50
/** Retry interval if the log cannot be read at startup. */
const RECOVERY_RETRY_MS = 5_000

/** Runs crawls as processes. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { runner, feed, clock, log, maxJobs } = options
  const { maxWaiting = MAX_WAITING } = options
  /** All known jobs, in the order of their requests. */
  const jobs = new Map<string, TrackedJob>()
  const waiting: TrackedJob[] = []
  const closing = new AbortController()
  let closed: Promise<void> | undefined
  const writer = createLogWriter({
    jobLog: options.jobLog,
    clock,
    warn(message) {
      feed.tell('log', null, { stream: 'server', line: message })
      log?.warn(message)
    },
  })

  const tellJobs = () => {
    const open = [...[...running].reverse(), ...waiting]
    feed.tell('jobs', null, { ...writeJobList(open.map((job) => viewOf(job, clock.now()))) })
  }
  const forgetOld = () => {
    for (const [id, { endedAt }] of jobs) {
      if (endedAt !== null && clock.now() - endedAt >= ENDED_RETENTION_MS) jobs.delete(id)
    }
  }
  const requireJob = (id: string): TrackedJob => {
    forgetOld()
    const job = jobs.get(id)
    if (job === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
    return job
  }

  const runs = createJobRuns({ ...options, writer, onChange: tellJobs, onEnd: () => launchNext() })
  const { running } = runs
  const isUnderWay = (request: CrawlRequest) => [...running].some((job) => isSameStart(request, job))
  const launchNext = () => {
    while (!closing.signal.aborted && running.size < maxJobs) {
      // A process for a source that is already being crawled would only wait.
      const index = waiting.findIndex(({ request }) => !isUnderWay(request))
      const [job] = index < 0 ? [] : waiting.splice(index, 1)
      if (job === undefined) return
      runs.start(job)
    }
  }
  /** Registers a new job, stores it, and starts or queues it with `launch`. */
  const track = async (request: CrawlRequest, launch: (job: TrackedJob) => void): Promise<JobView> => {
    forgetOld()
    const job = createTrackedJob(options.newId(), request, clock.now())
    jobs.set(job.id, job)
    const stored = writer.add(recordOf(job))
    launch(job)
    const view = viewOf(job, clock.now())
    // An accepted job must survive a crash.
    await waitUpTo(clock, stored, STORE_TIMEOUT_MS)
    return view
  }
  const command = (id: string, paused: boolean): boolean => {
    const job = requireJob(id)
    // A job between two processes gets the command with its next process; a queued job can resume but has nothing to pause.
    const isOpen = job.endedAt === null && (running.has(job) || (!paused && job.paused))
    return isOpen && runs.command(job, paused)
  }

  const requeue = (record: JobRecord, milestones: readonly NoteFrame[]) => {
    const { id } = record
    const job = createTrackedJob(id, restoreRequest(record), clock.now(), record)
    jobs.set(id, job)
    for (const note of milestones) job.milestones.add(milestoneKey(note))
    waiting.push(job)
    writer.change(id, { status: 'queued' })
  }
  const logResumed = (count: number) => {
    if (count === 0) return
    const what = count === 1 ? '1 crawl that was' : `${count} crawls that were`
    const line = `resuming ${what} interrupted when an earlier server stopped`
    feed.tell('log', null, { stream: 'server', line })
    log?.info(line)
  }
  const recover = async (): Promise<void> => {
    try {
      const jobLog = await options.jobLog()
      const unfinished = (await jobLog.listOpen()).filter(({ id }) => !jobs.has(id))
      await Promise.all(unfinished.map((record) => endLeftoverProcess(runner, clock, record.process)))
      const milestonesOf = new Map<string, readonly NoteFrame[]>()
      for (const { id: jobId, startedAt } of unfinished) {
        if (startedAt !== null) milestonesOf.set(jobId, await jobLog.listMilestones({ jobId, limit: MAX_MILESTONES }))
      }
      if (closing.signal.aborted) return
      for (const record of unfinished) requeue(record, milestonesOf.get(record.id) ?? [])
      logResumed(unfinished.filter(({ status }) => status === 'running').length)
      launchNext()
      tellJobs()
      void trimPeriodically(options.jobLog, clock, (message) => log?.warn(message), closing.signal)
    } catch (error) {
      log?.warn(`could not read the unfinished jobs of an earlier server; retrying: ${messageOf(error)}`)
      void clock.sleep(RECOVERY_RETRY_MS, closing.signal).then(recover, () => undefined)
    }
  }
  const close = async () => {
    closing.abort()
    // The log still lists unfinished jobs as open, so the next server resumes them.
    await runs.close()
    await waitUpTo(clock, writer.close(), TERM_GRACE_MS)
    for (const job of [...running, ...waiting]) for (const resolve of job.waiters.splice(0)) resolve()
  }

  const checkRequest = (request: CrawlRequest) => {
    if (closing.signal.aborted) throw new PharosError('INTERRUPTED')
    refuseLongArgs(request)
  }
  return {
    feed,
    slots: maxJobs,
    async begin(request) {
      checkRequest(request)
      // No await between the check and the start: two simultaneous requests cannot both take the last slot.
      const starts = [...running].map((job) => job.request.url)
      refuseFull(starts, maxJobs, 'the setting maxCrawls allows')
      if (isUnderWay(request)) throw new PharosError('CRAWL_RUNNING', { source: maskSecretFields(request.url) })
      return track(request, runs.start)
    },
    async enqueue(request) {
      checkRequest(request)
      refuseFullQueue(waiting.length, maxWaiting)
      return track(request, (job) => {
        waiting.push(job)
        launchNext()
        if (job.stage === 'queued') tellJobs()
      })
    },
    list() {
      forgetOld()
      return [...jobs.values()].map((job) => viewOf(job, clock.now())).reverse()
    },
    find(id) {
      forgetOld()
      const job = jobs.get(id)
      return job === undefined ? undefined : viewOf(job, clock.now())
    },
    async stop(id, end = 'stopped') {
      const job = requireJob(id)
      if (job.endedAt !== null) return { stopped: false, escalatesInMs: 0 }
      const index = waiting.indexOf(job)
      if (index >= 0) {
        waiting.splice(index, 1)
        runs.finish(job, 'cancelled', NOT_STARTED)
        return { stopped: true, escalatesInMs: 0 }
      }
      return { stopped: true, escalatesInMs: runs.stop(job, end) }
    },
    pause: (id) => command(id, true),
    resume: (id) => command(id, false),
    async wait(id) {
      const job = requireJob(id)
      if (job.endedAt === null && !closing.signal.aborted) {
        await new Promise<void>((resolve) => job.waiters.push(resolve))
      }
      return viewOf(job, clock.now())
    },
    recover,
    close() {
      closed ??= close()
      return closed
    },
  }
}
