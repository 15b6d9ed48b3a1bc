import { messageOf } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobStatus } from '../ports/job-log.ts'
import { handleCrawlOutput, type OutputReceivers } from './crawl-output.ts'
import type { Feed } from './events/feed.ts'
import type { LogWriter } from './events/log-writer.ts'
import { writeDone } from './job-item.ts'
import { libraryFlags } from './library-flags.ts'
import { isInterruption, KILL_TIMEOUT_MS, problemOf, statusOf, TERM_GRACE_MS } from './process-end.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd, ProcessIdentity } from './runner.ts'
import { createStoredProgress, setStage, type TrackedJob, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** Options of {@link createJobRuns}. */
export interface JobRunsOptions {
  readonly runner: CrawlRunner
  readonly feed: Pick<Feed, 'tell'>
  readonly writer: LogWriter
  readonly clock: Clock
  /** Library that crawl processes write to, safe to display. */
  readonly libraryPath: string
  /** Maximum number of requests in flight over all jobs. */
  readonly maxRequests: number
  /**
   * Pauses before consecutive restarts of an interrupted job that makes no progress. An interruption after the last restart fails the job.
   * @default 1 s, 5 s, 20 s
   */
  readonly restartDelaysMs?: readonly number[]
  /** Ends a crawl in the library whose process was killed before it could do so itself. */
  readonly endCrawl?: (sourceId: string, crawlId: string, identity: ProcessIdentity | null) => Promise<void>
  /** Returns false if another worker has taken the job over without notice. @default the job is ours */
  readonly isOurs?: (job: TrackedJob) => Promise<boolean>
  /** Receives log messages. */
  readonly log?: DispatcherLog
  /** Called when a change affects the list of jobs. */
  readonly onChange: () => void
  /** Called when a job has ended and freed its slot. */
  readonly onEnd: (job: TrackedJob) => void
}

/** Log of a dispatcher. */
export interface DispatcherLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** The jobs that this server or worker runs, each in a process that is restarted after an interruption. */
export interface JobRuns {
  /** Jobs that occupy a slot, with a process or between two. */
  readonly running: ReadonlySet<TrackedJob>
  /** Logs a message about a job, and sends it to the feed. */
  logMessage(job: TrackedJob, text: string): void
  /** Starts a job; `extraArgs` are additional arguments for its process. */
  start(job: TrackedJob, extraArgs?: readonly string[]): void
  /** Asks a running job to stop, and kills its process after the returned number of milliseconds. */
  stop(job: TrackedJob, end: 'stopped' | 'cancelled'): number
  /** Pauses or resumes a job; returns false if its process cannot receive the command. */
  command(job: TrackedJob, paused: boolean): boolean
  /** Ends a job with the given status and process end. */
  finish(job: TrackedJob, status: JobStatus, end: ProcessEnd): void
  /** Ends the process of a job so that the job continues elsewhere. A job that completes meanwhile has ended normally. */
  handOver(job: TrackedJob): Promise<void>
  /** Ends all processes without ending their jobs, which the log still lists as running. */
  close(): Promise<void>
}

/** Time before a process that was asked to stop is killed. */
export const STOP_GRACE_MS = 800
/** How long a process may be silent after its start before each warning. */
const SILENCE_WARNINGS_MS = [3_000, 10_000]
const RESTART_DELAYS_MS = [1_000, 5_000, 20_000]

/** Creates the runner of jobs. */
export function createJobRuns(options: JobRunsOptions): JobRuns {
  const { runner, feed, writer, clock, log, maxRequests, onChange } = options
  const { restartDelaysMs = RESTART_DELAYS_MS } = options
  const running = new Set<TrackedJob>()
  const closing = new AbortController()
  /** Pending decisions about jobs whose process has ended: to end the job or to restart it. */
  const conclusions = new WeakMap<TrackedJob, Promise<void>>()
  const receivers: OutputReceivers = { feed, writer, clock, onFirstReport: onChange }

  const logMessage = (job: TrackedJob, text: string) => {
    const line = maskSecretFields(text)
    feed.tell('log', job.id, { stream: 'server', line })
    log?.info(line, { jobId: job.id })
  }
  /** Splits the maximum number of requests evenly among the running jobs. */
  const shareRequests = () => {
    const share = Math.max(1, Math.floor(maxRequests / Math.max(1, running.size)))
    for (const job of running) {
      if (job.share !== share && job.child?.send(`CONCURRENCY ${share}`) === true) job.share = share
    }
  }
  const startProcess = (job: TrackedJob, extraArgs: readonly string[] = []) => {
    const args = [...job.request.args, `--job-id=${job.id}`, ...extraArgs, ...libraryFlags(options.libraryPath)]
    job.silenceAbort = new AbortController()
    const child = runner.start(args, (stream, line) => handleCrawlOutput(receivers, job, stream, line))
    job.child = child
    job.processIdentity = child.identity
    job.share = 0
    setStage(job, 'preparing', clock.now())
    const { status, processIdentity, startedAt, restarts } = job
    writer.change(job.id, { status, process: processIdentity, startedAt, restarts })
    shareRequests()
    if (job.paused) child.send('PAUSE')
    onChange()
    if (child.identity !== null)
      logMessage(job, `the crawl of ${job.request.url} was started as process ${child.identity.pid}`)
    void watchSilence(job, job.silenceAbort.signal)
    void child.ended.then((end) => settle(job, end))
  }
  const watchSilence = async (job: TrackedJob, outputSignal: AbortSignal) => {
    let warnedAfterMs = 0
    for (const silenceMs of SILENCE_WARNINGS_MS) {
      // The sleep is aborted by the first output of the process.
      const hasOutput = await clock.sleep(silenceMs - warnedAfterMs, outputSignal).then(
        () => false,
        () => true,
      )
      if (hasOutput) return
      warnedAfterMs = silenceMs
      logMessage(
        job,
        `the crawl process has written nothing for ${silenceMs / 1000} s; it may be waiting for a slow site or a busy library`,
      )
    }
  }
  const settle = (job: TrackedJob, end: ProcessEnd) => {
    job.child = null
    job.silenceAbort.abort()
    const wasInterrupted = end.problem === null && isInterruption(end) && job.requestedEnd === null
    // The next server resumes the job.
    if (wasInterrupted && closing.signal.aborted) return
    // The job continues elsewhere, so a failure of its process here does not count.
    if (job.isHandedOver && end.code !== 0 && job.requestedEnd === null) return
    conclusions.set(job, conclude(job, end, wasInterrupted))
  }
  /** Ends a job or restarts it. If another worker has taken it over, that worker reports its end. */
  const conclude = async (job: TrackedJob, end: ProcessEnd, wasInterrupted: boolean) => {
    const delayMs = restartDelaysMs[job.fruitlessRestarts]
    if (options.isOurs !== undefined && job.requestedEnd === null && !(await options.isOurs(job))) release(job)
    else if (wasInterrupted && delayMs !== undefined) void restart(job, end, delayMs)
    else finish(job, statusOf(job, end), end)
  }
  const release = (job: TrackedJob) => {
    if (!running.delete(job)) return
    job.endAbort.abort()
    for (const resolve of job.waiters.splice(0)) resolve()
    shareRequests()
    onChange()
  }
  const restart = async (job: TrackedJob, end: ProcessEnd, delayMs: number) => {
    job.restarts++
    job.fruitlessRestarts++
    job.earlierProgress = job.progress
    job.earlierOwnWork = job.ownWork
    setStage(job, 'preparing', clock.now())
    const how = end.signal ?? `code ${end.code}`
    logMessage(job, `the crawl process ended with ${how}; restarting it in ${delayMs / 1000} s`)
    writer.change(job.id, { restarts: job.restarts })
    onChange()
    await clock.sleep(delayMs, AbortSignal.any([job.endAbort.signal, closing.signal])).catch(() => undefined)
    if (closing.signal.aborted || job.isHandedOver) return
    if (job.requestedEnd === null) startProcess(job)
    else finish(job, job.requestedEnd, end)
  }
  const finish = (job: TrackedJob, status: JobStatus, end: ProcessEnd) => {
    running.delete(job)
    job.status = status
    job.endedAt = clock.now()
    job.code = end.code
    job.signal = end.signal
    job.problem = status === 'failed' ? problemOf(job, end, options.libraryPath) : null
    setStage(job, 'ended', clock.now())
    const { endedAt, problem, progress, crawlId, sourceId } = job
    writer.change(job.id, { status, endedAt, problem, progress, crawlId, sourceId })
    if (end.signal !== null && sourceId !== null && crawlId !== null) {
      void options
        .endCrawl?.(sourceId, crawlId, job.processIdentity)
        .catch((error: unknown) => log?.warn(messageOf(error), { jobId: job.id }))
    }
    feed.tell('done', job.id, writeDone(viewOf(job, clock.now())))
    logMessage(
      job,
      problem === null
        ? `the crawl of ${job.request.url} is ${status}`
        : `the crawl of ${job.request.url} failed: ${problem}`,
    )
    job.endAbort.abort()
    for (const resolve of job.waiters.splice(0)) resolve()
    options.onEnd(job)
    shareRequests()
    onChange()
  }
  const escalate = async (job: TrackedJob, child: CrawlProcess) => {
    const hasEnded = await clock.sleep(STOP_GRACE_MS, job.endAbort.signal).then(
      () => false,
      () => true,
    )
    if (!hasEnded) child.kill('SIGKILL')
  }
  const endProcesses = async (jobs: readonly TrackedJob[]) => {
    const children = jobs.flatMap(({ child }) => (child === null ? [] : [child]))
    for (const child of children) child.kill('SIGTERM')
    const ended = Promise.all(children.map((child) => child.ended))
    await waitUpTo(clock, ended, TERM_GRACE_MS)
    for (const child of children) child.kill('SIGKILL')
    await waitUpTo(clock, ended, KILL_TIMEOUT_MS)
  }

  return {
    running,
    logMessage,
    start(job, extraArgs) {
      running.add(job)
      job.status = 'running'
      job.startedAt ??= clock.now()
      startProcess(job, extraArgs)
    },
    stop(job, end) {
      const isFirst = job.requestedEnd === null
      job.requestedEnd ??= end
      const { child } = job
      if (child === null) job.endAbort.abort()
      child?.kill('SIGTERM')
      if (child !== null && isFirst) void escalate(job, child)
      return child === null ? 0 : STOP_GRACE_MS
    },
    command(job, paused) {
      if (job.child?.send(paused ? 'PAUSE' : 'RESUME') === false) return false
      job.paused = paused
      // The next server must know about the pause, too.
      writer.change(job.id, { progress: createStoredProgress(job) }, true)
      onChange()
      return true
    },
    finish,
    async handOver(job) {
      job.isHandedOver = true
      job.endAbort.abort()
      await endProcesses([job])
      await conclusions.get(job)
      if (!running.has(job)) return
      writer.change(job.id, { progress: createStoredProgress(job) })
      release(job)
    },
    async close() {
      closing.abort()
      await endProcesses([...running])
      for (const job of running) writer.change(job.id, { progress: createStoredProgress(job) })
    },
  }
}
