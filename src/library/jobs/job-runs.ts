import { messageOf } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobStatus } from '../ports/job-log.ts'
import { handleCrawlOutput, type OutputReceivers } from './crawl-output.ts'
import type { Feed } from './events/feed.ts'
import type { LogWriter } from './events/log-writer.ts'
import { writeDone } from './job-item.ts'
import { libraryFlags } from './library-flags.ts'
import { endProcesses, isInterruption, problemOf, statusOf } from './process-end.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd, ProcessIdentity } from './runner.ts'
import { createStoredProgress, setStage, type TrackedJob, viewOf } from './tracked-job.ts'

/** Options of {@link JobRuns}. */
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

/** Time before a process that was asked to stop is killed. */
export const STOP_GRACE_MS = 800
/** How long a process may be silent after its start before each warning. */
const SILENCE_WARNINGS_MS = [3_000, 10_000]
const RESTART_DELAYS_MS = [1_000, 5_000, 20_000]

/** The jobs that this server or worker runs, each in a process that is restarted after an interruption. */
export class JobRuns {
  readonly #options: JobRunsOptions
  /** Jobs that occupy a slot, with a process or between two. */
  readonly running: Set<TrackedJob> = new Set()
  readonly #closing = new AbortController()
  /** Pending decisions about jobs whose process has ended: to end the job or to restart it. */
  readonly #conclusions = new WeakMap<TrackedJob, Promise<void>>()
  readonly #receivers: OutputReceivers
  readonly #restartDelaysMs: readonly number[]

  constructor(options: JobRunsOptions) {
    this.#options = options
    this.#restartDelaysMs = options.restartDelaysMs ?? RESTART_DELAYS_MS
    const { feed, writer, clock, onChange } = options
    this.#receivers = { feed, writer, clock, onFirstReport: onChange }
  }

  /** Logs a message about a job, and sends it to the feed. */
  readonly logMessage = (job: TrackedJob, text: string): void => {
    const line = maskSecretFields(text)
    this.#options.feed.tell('log', job.id, { stream: 'server', line })
    this.#options.log?.info(line, { jobId: job.id })
  }

  /** Starts a job; `extraArgs` are additional arguments for its process. */
  start(job: TrackedJob, extraArgs?: readonly string[]): void {
    this.running.add(job)
    job.status = 'running'
    job.startedAt ??= this.#options.clock.now()
    this.#startProcess(job, extraArgs)
  }

  /** Asks a running job to stop, and kills its process after the returned number of milliseconds. */
  stop(job: TrackedJob, end: 'stopped' | 'cancelled'): number {
    const isFirst = job.requestedEnd === null
    job.requestedEnd ??= end
    const { child } = job
    if (child === null) job.endAbort.abort()
    child?.kill('SIGTERM')
    if (child !== null && isFirst) void this.#escalate(job, child)
    return child === null ? 0 : STOP_GRACE_MS
  }

  /** Pauses or resumes a job; returns false if its process cannot receive the command. */
  command(job: TrackedJob, paused: boolean): boolean {
    if (job.child?.send(paused ? 'PAUSE' : 'RESUME') === false) return false
    job.paused = paused
    // The next server must know about the pause, too.
    this.#options.writer.change(job.id, { progress: createStoredProgress(job) }, true)
    this.#options.onChange()
    return true
  }

  /** Ends a job with the given status and process end. */
  readonly finish = (job: TrackedJob, status: JobStatus, end: ProcessEnd): void => {
    const { clock, writer, log, feed, onChange } = this.#options
    this.running.delete(job)
    job.status = status
    job.endedAt = clock.now()
    job.code = end.code
    job.signal = end.signal
    job.problem = status === 'failed' ? problemOf(job, end, this.#options.libraryPath) : null
    setStage(job, 'ended', clock.now())
    const { endedAt, problem, progress, crawlId, sourceId, code, signal } = job
    writer.change(job.id, { status, endedAt, problem, progress, crawlId, sourceId, code, signal })
    if (end.signal !== null && sourceId !== null && crawlId !== null) {
      void this.#options
        .endCrawl?.(sourceId, crawlId, job.processIdentity)
        .catch((error: unknown) => log?.warn(messageOf(error), { jobId: job.id }))
    }
    feed.tell('done', job.id, writeDone(viewOf(job, clock.now())))
    this.logMessage(
      job,
      problem === null
        ? `the crawl of ${job.request.url} is ${status}`
        : `the crawl of ${job.request.url} failed: ${problem}`,
    )
    job.endAbort.abort()
    for (const resolve of job.waiters.splice(0)) resolve()
    this.#options.onEnd(job)
    this.#shareRequests()
    onChange()
  }

  /** Ends the process of a job so that the job continues elsewhere. A job that completes meanwhile has ended normally. */
  async handOver(job: TrackedJob): Promise<void> {
    job.isHandedOver = true
    job.endAbort.abort()
    await this.#endProcesses([job])
    await this.#conclusions.get(job)
    if (!this.running.has(job)) return
    this.#options.writer.change(job.id, { progress: createStoredProgress(job) })
    this.#release(job)
  }

  /** Ends all processes without ending their jobs, which the log still lists as running. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#endProcesses([...this.running])
    for (const job of this.running) this.#options.writer.change(job.id, { progress: createStoredProgress(job) })
  }

  /** Splits the maximum number of requests evenly among the running jobs. */
  #shareRequests(): void {
    const share = Math.max(1, Math.floor(this.#options.maxRequests / Math.max(1, this.running.size)))
    for (const job of this.running) {
      if (job.share !== share && job.child?.send(`CONCURRENCY ${share}`) === true) job.share = share
    }
  }

  #startProcess(job: TrackedJob, extraArgs: readonly string[] = []): void {
    const { runner, clock, writer, onChange } = this.#options
    const args = [...job.request.args, `--job-id=${job.id}`, ...extraArgs, ...libraryFlags(this.#options.libraryPath)]
    job.silenceAbort = new AbortController()
    const child = runner.start(args, (stream, line) => handleCrawlOutput(this.#receivers, job, stream, line))
    job.child = child
    job.processIdentity = child.identity
    job.share = 0
    setStage(job, 'preparing', clock.now())
    const { status, processIdentity, startedAt, restarts } = job
    writer.change(job.id, { status, process: processIdentity, startedAt, restarts })
    this.#shareRequests()
    if (job.paused) child.send('PAUSE')
    onChange()
    if (child.identity !== null)
      this.logMessage(job, `the crawl of ${job.request.url} was started as process ${child.identity.pid}`)
    void this.#watchSilence(job, job.silenceAbort.signal)
    void child.ended.then((end) => this.#settle(job, end))
  }

  async #watchSilence(job: TrackedJob, outputSignal: AbortSignal): Promise<void> {
    let warnedAfterMs = 0
    for (const silenceMs of SILENCE_WARNINGS_MS) {
      // The sleep is aborted by the first output of the process.
      const hasOutput = await this.#options.clock.sleep(silenceMs - warnedAfterMs, outputSignal).then(
        () => false,
        () => true,
      )
      if (hasOutput) return
      warnedAfterMs = silenceMs
      this.logMessage(
        job,
        `the crawl process has written nothing for ${silenceMs / 1000} s; it may be waiting for a slow site or a busy library`,
      )
    }
  }

  #settle(job: TrackedJob, end: ProcessEnd): void {
    job.child = null
    job.silenceAbort.abort()
    const wasInterrupted = end.problem === null && isInterruption(end) && job.requestedEnd === null
    // The next server resumes the job.
    if (wasInterrupted && this.#closing.signal.aborted) return
    // The job continues elsewhere, so a failure of its process here does not count.
    if (job.isHandedOver && end.code !== 0 && job.requestedEnd === null) return
    this.#conclusions.set(job, this.#conclude(job, end, wasInterrupted))
  }

  /** Ends a job or restarts it. If another worker has taken it over, that worker reports its end. */
  async #conclude(job: TrackedJob, end: ProcessEnd, wasInterrupted: boolean): Promise<void> {
    const delayMs = this.#restartDelaysMs[job.fruitlessRestarts]
    if (this.#options.isOurs !== undefined && job.requestedEnd === null && !(await this.#options.isOurs(job)))
      this.#release(job)
    else if (wasInterrupted && delayMs !== undefined) void this.#restart(job, end, delayMs)
    else this.finish(job, statusOf(job, end), end)
  }

  #release(job: TrackedJob): void {
    if (!this.running.delete(job)) return
    job.endAbort.abort()
    for (const resolve of job.waiters.splice(0)) resolve()
    this.#shareRequests()
    this.#options.onChange()
  }

  async #restart(job: TrackedJob, end: ProcessEnd, delayMs: number): Promise<void> {
    const { clock, writer, onChange } = this.#options
    job.restarts++
    job.fruitlessRestarts++
    job.earlierProgress = job.progress
    job.earlierOwnWork = job.ownWork
    setStage(job, 'preparing', clock.now())
    const how = end.signal ?? `code ${end.code}`
    this.logMessage(job, `the crawl process ended with ${how}; restarting it in ${delayMs / 1000} s`)
    writer.change(job.id, { restarts: job.restarts })
    onChange()
    await clock.sleep(delayMs, AbortSignal.any([job.endAbort.signal, this.#closing.signal])).catch(() => undefined)
    if (this.#closing.signal.aborted || job.isHandedOver) return
    if (job.requestedEnd === null) this.#startProcess(job)
    else this.finish(job, job.requestedEnd, end)
  }

  async #escalate(job: TrackedJob, child: CrawlProcess): Promise<void> {
    const hasEnded = await this.#options.clock.sleep(STOP_GRACE_MS, job.endAbort.signal).then(
      () => false,
      () => true,
    )
    if (!hasEnded) child.kill('SIGKILL')
  }

  #endProcesses(jobs: readonly TrackedJob[]): Promise<void> {
    return endProcesses(
      this.#options.clock,
      jobs.flatMap(({ child }) => child ?? []),
    )
  }
}
