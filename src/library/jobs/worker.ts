import { messageOf } from '../../core/errors.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import type { JobLog } from '../ports/job-log.ts'
import type { SharableCrawl } from '../ports/store.ts'
import type { TakenJob, WorkerReport, Workers } from '../ports/workers.ts'
import type { RunWorker } from './background-runs.ts'
import { CrawlSharing } from './crawl-sharing.ts'
import type { JobView } from './dispatcher.ts'
import { createRelay, type Relay } from './events/event-relay.ts'
import type { Feed } from './events/feed.ts'
import { NO_PROGRESS, type ProgressFrame } from './events/frames.ts'
import { trimPeriodically } from './events/log-retention.ts'
import { LogWriter } from './events/log-writer.ts'
import { ENDED_RETENTION_MS, MAX_MILESTONES, restoreRequest } from './job-limits.ts'
import { JobRuns, type JobRunsOptions } from './job-runs.ts'
import { KILL_TIMEOUT_MS, NOT_STARTED, TERM_GRACE_MS } from './process-end.ts'
import type { QueuedWork, WorkQueue } from './queue.ts'
import { keepSweeping } from './sweep-jobs.ts'
import { createTrackedJob, milestoneKey, type TrackedJob, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'
import { WorkerReporter } from './worker-reporter.ts'

/** Options of {@link Worker}. */
export interface WorkerOptions extends Omit<JobRunsOptions, 'writer' | 'feed' | 'isOurs' | 'onChange' | 'onEnd'> {
  readonly workers: Workers
  readonly queue: WorkQueue
  /** Identity of the worker in its reports. */
  readonly identity: Pick<WorkerReport, 'id' | 'name' | 'version' | 'isServer' | 'slots'>
  /** Returns a new UUID. */
  readonly newId: () => string
  /** Names a crawl process by its pid, in the form that the library stores as runner. */
  readonly runnerOf: (pid: number) => string
  /** Creates the runner for analyses; its events go to the feed. @default the worker takes no analyses */
  readonly openAnalysis?: (feed: Pick<Feed, 'tell'>) => RunWorker
  /** Lists crawls with idle hosts; an idle worker takes part in one. @default the worker takes part in none */
  readonly listSharable?: () => Promise<readonly SharableCrawl[]>
  /** Returns the result of a crawl; undefined if it must continue. @default every crawl must continue */
  readonly findEndedCrawl?: (sourceId: string, crawlId: string) => Promise<EndedCrawl | undefined>
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Embeds chunks without vectors. @default the worker does no embedding */
  readonly embed?: (signal: AbortSignal) => Promise<void>
}

/** A crawl that has ended. */
export interface EndedCrawl {
  readonly summary: Pick<CrawlSummary, 'visited' | 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'bytes'>
  /** Why its job failed; null if the job is done. */
  readonly problem: string | null
}

/** A job that made no progress after this many attempts, by any worker, has failed. */
const MAX_FRUITLESS_ATTEMPTS = 8
/** Timeout for each step of a shutdown, and for asking the library which worker has a job. */
const STEP_TIMEOUT_MS = 3_000

/** Takes jobs from the queue of a library, up to its number of slots, and runs them. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #id: string
  readonly #ended: { readonly job: TrackedJob; readonly at: number }[] = []
  readonly #closing = new AbortController()
  readonly #relay: Relay
  readonly #storedLog: JobLog
  readonly #writer: LogWriter
  readonly #runs: JobRuns
  readonly #analysis: RunWorker | undefined
  readonly #sharing: CrawlSharing
  readonly #reporter: WorkerReporter
  readonly #taking = new Map<string, Promise<boolean>>()
  /** Number of running tasks other than crawls. */
  #otherTaskCount = 0
  #stopListening = async (): Promise<void> => undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    const { workers, clock, identity, listSharable = async () => [], maxRequests } = options
    const { id, slots } = identity
    this.#id = id
    const relay = createRelay({ clock, listViews: this.#listViews, sendBatch: (body) => workers.relay(id, body) })
    this.#relay = relay
    const storedLog = workers.logOf(id)
    this.#storedLog = storedLog
    const jobLog: JobLog = {
      ...storedLog,
      async change(jobId, change) {
        // Listeners must receive the events of a job before its end.
        if (change.endedAt !== undefined) await relay.flush()
        await storedLog.change(jobId, change)
      },
    }
    const writer = new LogWriter({ jobLog: async () => jobLog, clock, warn: this.#warn })
    this.#writer = writer
    const outputs = { feed: relay, writer }
    const noteEnded = (job: TrackedJob) => void this.#ended.push({ job, at: clock.now() })
    const runs = new JobRuns({
      ...options,
      ...outputs,
      isOurs: this.#isOurs,
      onChange: () => undefined,
      onEnd: noteEnded,
    })
    this.#runs = runs
    this.#analysis = options.openAnalysis?.(relay)
    const jobs = { listSharable, listJobs: () => workers.listJobs(0), running: () => runs.running }
    const share = Math.max(1, Math.floor(maxRequests / slots))
    this.#sharing = new CrawlSharing({ ...options, ...outputs, ...jobs, slots, share })
    this.#reporter = new WorkerReporter({ ...options, runs, sharing: this.#sharing })
  }

  /** Starts taking jobs. */
  async start(): Promise<void> {
    const { workers, queue, identity, log, clock, embed } = this.#options
    await this.#reporter.start()
    this.#stopListening = workers.listen((notification) => {
      if (notification === 'asks') this.#reporter.wake()
      if (notification === 'shared') this.#sharing.wake()
    })
    this.#relay.start()
    await queue.take('crawl', identity.slots, this.#runCrawl)
    const analysis = this.#analysis
    if (analysis !== undefined) {
      await queue.take('analysis', 1, ({ id, signal }) => this.#countTask(analysis.take(id, signal)))
    }
    if (embed !== undefined) {
      const embedAll = async ({ signal }: QueuedWork) => {
        await embed(AbortSignal.any([signal, this.#closing.signal]))
        return !this.#closing.signal.aborted
      }
      await queue.take('embedding', 1, (work) => this.#countTask(embedAll(work)))
    }
    this.#sharing.start()
    const logWarning = (message: string) => log?.warn(message)
    const findAbandonedRun = analysis && (() => analysis.findAbandoned())
    void keepSweeping({ workers, queue, clock, findAbandonedRun, warn: logWarning }, this.#closing.signal)
    void trimPeriodically(async () => this.#storedLog, clock, logWarning, this.#closing.signal)
  }

  /**
   * Stops taking jobs, waits up to `graceMs` for running jobs, then gives the rest back and exits. The exit itself takes only a few
   * seconds more.
   */
  async drain(graceMs: number): Promise<void> {
    const { queue, workers } = this.#options
    this.#reporter.drain()
    await this.#runStep(queue.stopTaking(), STEP_TIMEOUT_MS)
    // Crawls that this worker only helps with continue without it.
    await this.#runStep(this.#sharing.close(), TERM_GRACE_MS + KILL_TIMEOUT_MS)
    await this.#waitUntilIdle(graceMs)
    this.#closing.abort()
    await this.#runStep(Promise.all([this.#handOverAll(), this.#analysis?.close()]), TERM_GRACE_MS + KILL_TIMEOUT_MS)
    await this.#runStep(Promise.all([this.#reporter.close(), this.#relay.close()]), STEP_TIMEOUT_MS)
    // Settles taken work before closing the queue, so that other workers need not wait for the heartbeat timeout.
    await this.#runStep(queue.close(), STEP_TIMEOUT_MS)
    await this.#runStep(this.#writer.close(), TERM_GRACE_MS)
    await this.#runStep(Promise.all([this.#stopListening(), workers.leave(this.#id)]), STEP_TIMEOUT_MS)
  }

  readonly #listViews = (): JobView[] => {
    const { clock } = this.#options
    while (this.#ended[0] !== undefined && clock.now() - this.#ended[0].at > ENDED_RETENTION_MS) this.#ended.shift()
    return [...this.#ended.map(({ job }) => job), ...this.#runs.running].map((job) => viewOf(job, clock.now()))
  }

  readonly #warn = (message: string): void => {
    this.#relay.tell('log', null, { stream: 'server', line: message })
    this.#options.log?.warn(message)
  }

  /** If the library does not answer in time, the job counts as ours; the library later rejects a stale write. */
  readonly #isOurs = async ({ id }: TrackedJob): Promise<boolean> => {
    let answer = true
    const check = this.#options.workers.has(id, this.#id).then((has) => {
      answer = has
    })
    await waitUpTo(
      this.#options.clock,
      check.catch(() => undefined),
      STEP_TIMEOUT_MS,
    )
    return answer
  }

  async #restoreJob({ record, isPaused }: TakenJob): Promise<TrackedJob> {
    const job = createTrackedJob(record.id, restoreRequest(record), this.#options.clock.now(), record)
    job.paused = isPaused
    if (record.startedAt === null) return job
    job.restarts++
    const reached = await this.#storedLog.listMilestones({ jobId: record.id, limit: MAX_MILESTONES })
    for (const note of reached) job.milestones.add(milestoneKey(note))
    return job
  }

  /** Runs a job until it ends or another worker takes it over. */
  async #run(job: TrackedJob, lastHolder: string | null, signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => job.waiters.push(resolve))
    const handOver = () => void this.#runs.handOver(job)
    signal.addEventListener('abort', handOver, { once: true })
    this.#runs.start(job, lastHolder === null ? [] : [`--gone-runner=${lastHolder}`])
    this.#sharing.endSurplusHelpers()
    this.#reporter.wake()
    if (signal.aborted || this.#closing.signal.aborted) handOver()
    await ended
    signal.removeEventListener('abort', handOver)
    this.#reporter.addEndedJob(job)
  }

  /** Ends a job whose crawl is over but whose worker could not report that; returns false if the crawl must continue. */
  async #endIfCrawlIsOver(job: TrackedJob): Promise<boolean> {
    const { sourceId, crawlId } = job
    const ended =
      sourceId === null || crawlId === null ? undefined : await this.#options.findEndedCrawl?.(sourceId, crawlId)
    if (ended === undefined) return false
    const { summary, problem } = ended
    job.progress = addSummary(job.progress, summary)
    this.#runs.finish(job, problem === null ? 'done' : 'failed', { ...NOT_STARTED, problem })
    return true
  }

  /** A worker that lost a job and gets it again must first end its old process. */
  async #handOverOldRun(id: string, taken: Promise<boolean> | undefined): Promise<void> {
    for (const job of [...this.#runs.running].filter((one) => one.id === id)) await this.#runs.handOver(job)
    await taken?.catch(() => undefined)
  }

  readonly #runCrawl = ({ id, ...work }: QueuedWork): Promise<boolean> => {
    const run = this.#handOverOldRun(id, this.#taking.get(id)).then(() => this.#runTaken({ id, ...work }))
    this.#taking.set(id, run)
    return run.finally(() => this.#taking.get(id) === run && this.#taking.delete(id))
  }

  async #runTaken({ id, attempt, signal }: QueuedWork): Promise<boolean> {
    const { workers } = this.#options
    const taken = await workers.take(id, this.#id)
    // The job was cancelled before a worker took it.
    if (taken === undefined) return true
    const job = await this.#restoreJob(taken)
    // A paused job makes no progress, which does not count as a failed attempt.
    const isFruitless = attempt >= MAX_FRUITLESS_ATTEMPTS && (job.progress?.visited ?? 0) === 0 && !job.paused
    if (taken.end !== null) this.#runs.finish(job, taken.end, NOT_STARTED)
    else if (!(await this.#endIfCrawlIsOver(job))) {
      if (isFruitless) {
        const problem = `workers took the job ${attempt + 1} times, and it never made progress`
        this.#runs.finish(job, 'failed', { ...NOT_STARTED, problem })
      } else await this.#run(job, taken.lastHolder, signal)
    }
    // The end of the job must be stored before the queue forgets it.
    await this.#writer.flush()
    if (job.endedAt === null) {
      if (!signal.aborted) await workers.giveBack(id, this.#id)
      return false
    }
    await this.#sendEmbedding(job)
    return true
  }

  /** Queues an embedding task if the job saved pages, because new pages may need vectors. */
  async #sendEmbedding({ id, progress }: TrackedJob): Promise<void> {
    if ((progress?.saved ?? 0) === 0) return
    await this.#options.queue
      .send('embedding', { id: this.#options.newId(), key: 'library' })
      .catch((error: unknown) => this.#options.log?.warn(messageOf(error), { jobId: id }))
  }

  async #handOverAll(): Promise<void> {
    for (const job of this.#runs.running)
      this.#runs.logMessage(job, `the crawl of ${job.request.url} moves to another worker`)
    await Promise.all([...this.#runs.running].map((job) => this.#runs.handOver(job)))
  }

  #countTask(work: Promise<boolean>): Promise<boolean> {
    this.#otherTaskCount++
    return work.finally(() => this.#otherTaskCount--)
  }

  async #waitUntilIdle(graceMs: number): Promise<void> {
    const { clock } = this.#options
    const until = clock.now() + graceMs
    while (this.#runs.running.size + this.#otherTaskCount > 0 && clock.now() < until)
      await clock.sleep(Math.min(100, graceMs))
  }

  /** A step that fails or times out must not block the remaining steps of the shutdown. */
  #runStep(work: Promise<unknown>, ms: number) {
    return waitUpTo(
      this.#options.clock,
      work.catch((error: unknown) => this.#options.log?.warn(`while closing: ${messageOf(error)}`)),
      ms,
    )
  }
}

/** Merges the crawl summary into the progress, because the last reports of the process may be lost. */
function addSummary(progress: TrackedJob['progress'], summary: EndedCrawl['summary']): ProgressFrame {
  const known = progress ?? NO_PROGRESS
  return {
    ...known,
    visited: Math.max(known.visited, summary.visited),
    saved: Math.max(known.saved, summary.indexed),
    unchanged: Math.max(known.unchanged, summary.unchanged),
    skipped: Math.max(known.skipped, summary.skipped),
    errors: Math.max(known.errors, summary.failed),
    bytes: Math.max(known.bytes, summary.bytes),
    queueSize: 0,
    currentDownloadsCount: 0,
    currentDownloads: [],
  }
}
