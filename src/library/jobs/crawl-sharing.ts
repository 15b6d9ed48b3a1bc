import { maskSecretFields } from '../../core/secrets.ts'
import type { SharableCrawl } from '../ports/store.ts'
import type { SharedJob } from '../ports/workers.ts'
import { handleCrawlOutput, type OutputReceivers } from './crawl-output.ts'
import type { LogWriter } from './events/log-writer.ts'
import { restoreRequest } from './job-limits.ts'
import type { JobRunsOptions } from './job-runs.ts'
import { libraryFlags } from './library-flags.ts'
import { endProcesses } from './process-end.ts'
import type { CrawlProcess } from './runner.ts'
import { createTrackedJob, type TrackedJob } from './tracked-job.ts'

/** Options of {@link CrawlSharing}. */
export interface CrawlSharingOptions extends Pick<JobRunsOptions, 'runner' | 'feed' | 'clock' | 'libraryPath' | 'log'> {
  readonly writer: Pick<LogWriter, 'note'>
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** Lists crawls with idle hosts, most ready addresses first. */
  readonly listSharable: () => Promise<readonly SharableCrawl[]>
  /** Lists queued and running jobs of all workers. */
  readonly listJobs: () => Promise<readonly SharedJob[]>
  /** Jobs that this worker itself runs. */
  readonly running: () => ReadonlySet<TrackedJob>
  /** Maximum number of processes of this worker, helpers included. */
  readonly slots: number
  /** Maximum number of concurrent requests of one helper process. */
  readonly share: number
}

/** Poll interval for crawls to join, with ±50 % jitter so that idle workers do not all poll at once. */
const POLL_INTERVAL_MS = 3000
/** Shorter poll interval after a crawl was first seen as sharable. */
const SHORT_POLL_INTERVAL_MS = 750
/** Poll delay after a notification that a crawl has become sharable. */
const WAKE_DELAY_MS = 500
/** Poll interval for commands to the crawls that this worker helps with. */
const COMMAND_POLL_INTERVAL_MS = 1000
/** Cool-down before the next helper joins the same crawl: long after an idle helper, short after a useful one. */
const IDLE_COOLDOWN_MS = 15_000
const COOLDOWN_MS = 2000
/** A crawl with at least this many addresses on idle hosts gets a helper on first sight. */
const MIN_READY_ADDRESSES = 20

/** Flags that every process of a crawl must share: pacing of hosts and timeouts. */
const PACING_FLAGS = /^--(?:slow$|(?:rate-limit|request-timeout|pacer-jitter-(?:min|max))-ms=)/

/** Whether a job may have helpers. A job with an explicit concurrency keeps all its requests in one process. */
function canHaveHelpers({ status, args }: SharedJob['record']): boolean {
  return status === 'running' && !args.some((arg) => arg.startsWith('--concurrency='))
}

interface Helper {
  readonly crawlId: string
  readonly job: TrackedJob
  readonly child: CrawlProcess
}

/** Helper processes of an idle worker that take part in crawls of other workers. */
export class CrawlSharing {
  readonly #options: CrawlSharingOptions
  readonly #helpers: Helper[] = []
  readonly #closing = new AbortController()
  #woken = new AbortController()
  /** Visits and bytes of helpers that have ended. */
  readonly done: { visits: number; bytes: number } = { visits: 0, bytes: 0 }
  /** Crawls that were sharable at the last poll. */
  #seen: ReadonlySet<string> = new Set()
  /** Whether the last poll found a crawl that the poll before it had not. */
  #hasNew = false
  /** End of the cool-down of each crawl that had a helper. */
  readonly #cooldownUntil = new Map<string, number>()
  readonly #receivers: OutputReceivers

  constructor(options: CrawlSharingOptions) {
    this.#options = options
    const { feed, writer, clock } = options
    this.#receivers = {
      // The process that owns the crawl reports its progress.
      feed: { tell: (name, jobId, payload) => (name === 'progress' ? undefined : feed.tell(name, jobId, payload)) },
      writer: { note: (note) => writer.note(note), change: () => undefined },
      clock,
      onFirstReport: () => undefined,
    }
  }

  /** Jobs that this worker helps with; their counts cover only the helper's own share. */
  get jobs(): readonly TrackedJob[] {
    return this.#helpers.map(({ job }) => job)
  }

  start(): void {
    void this.#keepPolling()
  }

  /** Signals that a crawl has become sharable. */
  wake(): void {
    this.#woken.abort()
  }

  /** Ends helpers that exceed the slots of the worker, newest first. */
  endSurplusHelpers(): void {
    const surplus = this.#options.running().size + this.#helpers.length - this.#options.slots
    for (const { child } of this.#helpers.slice(Math.max(0, this.#helpers.length - Math.max(0, surplus))))
      child.kill('SIGTERM')
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await endProcesses(
      this.#options.clock,
      this.#helpers.map(({ child }) => child),
    )
  }

  #removeHelper(helper: Helper): void {
    this.#helpers.splice(this.#helpers.indexOf(helper), 1)
    const { visits, bytes } = helper.job.ownWork
    this.#cooldownUntil.set(helper.crawlId, this.#options.clock.now() + (visits === 0 ? IDLE_COOLDOWN_MS : COOLDOWN_MS))
    this.done.visits += visits
    this.done.bytes += bytes
  }

  #startHelper(crawlId: string, { record, isPaused }: SharedJob): void {
    const { clock, runner, log } = this.#options
    const job = createTrackedJob(record.id, restoreRequest(record), clock.now())
    const pacingFlags = record.args.filter((arg) => PACING_FLAGS.test(arg))
    const args = [
      `--join=${crawlId}`,
      `--job-id=${record.id}`,
      ...pacingFlags,
      ...libraryFlags(this.#options.libraryPath),
    ]
    const child = runner.start(args, (stream, line) => handleCrawlOutput(this.#receivers, job, stream, line))
    job.child = child
    job.paused = isPaused
    if (isPaused) child.send('PAUSE')
    child.send(`CONCURRENCY ${this.#options.share}`)
    const helper = { crawlId, job, child }
    const url = maskSecretFields(record.url)
    this.#helpers.push(helper)
    log?.info(`joined the crawl of ${url} as process ${child.identity?.pid}`, { jobId: record.id })
    void child.ended.then(() => {
      this.#removeHelper(helper)
      log?.info(`left the crawl of ${url} after ${job.ownWork.visits} visits`, { jobId: record.id })
    })
  }

  #hasFreeSlot() {
    return this.#options.running().size + this.#helpers.length < this.#options.slots
  }

  #isOurs(crawlId: string) {
    return (
      this.#helpers.some((helper) => helper.crawlId === crawlId) ||
      [...this.#options.running()].some((job) => job.crawlId === crawlId)
    )
  }

  #hasCooledDown(crawlId: string) {
    return this.#options.clock.now() >= (this.#cooldownUntil.get(crawlId) ?? 0)
  }

  #applyCommands(jobs: readonly SharedJob[]): void {
    for (const { job, child } of this.#helpers) {
      const found = jobs.find(({ record }) => record.id === job.id)
      if (found === undefined) child.kill('SIGTERM')
      else if (found.isPaused !== job.paused && child.send(found.isPaused ? 'PAUSE' : 'RESUME')) {
        job.paused = found.isPaused
      }
    }
  }

  async #poll(): Promise<void> {
    const sharable = this.#hasFreeSlot()
      ? (await this.#options.listSharable()).filter(({ crawlId }) => !this.#isOurs(crawlId))
      : []
    // A crawl that is sharable only briefly, with few addresses, is not worth a process.
    const isWorthJoining = ({ crawlId, ready }: SharableCrawl) =>
      this.#seen.has(crawlId) || ready >= MIN_READY_ADDRESSES
    const wanted = sharable.filter((one) => isWorthJoining(one) && this.#hasCooledDown(one.crawlId))
    this.#hasNew = sharable.some(({ crawlId }) => !this.#seen.has(crawlId))
    this.#seen = new Set(sharable.map(({ crawlId }) => crawlId))
    if (wanted.length === 0 && this.#helpers.length === 0) return
    const jobs = await this.#options.listJobs()
    this.#applyCommands(jobs)
    if (!this.#hasFreeSlot() || this.#closing.signal.aborted) return
    for (const { crawlId } of wanted) {
      const job = jobs.find(({ record }) => record.crawlId === crawlId && canHaveHelpers(record))
      if (job === undefined || job.isPaused) continue
      this.#startHelper(crawlId, job)
      return
    }
  }

  #withJitter(ms: number) {
    return ms * (0.5 + this.#options.random())
  }

  async #keepPolling(): Promise<void> {
    const { clock } = this.#options
    while (!this.#closing.signal.aborted) {
      const usualMs = this.#helpers.length > 0 ? COMMAND_POLL_INTERVAL_MS : POLL_INTERVAL_MS
      await clock
        .sleep(
          this.#withJitter(this.#hasNew ? SHORT_POLL_INTERVAL_MS : usualMs),
          AbortSignal.any([this.#woken.signal, this.#closing.signal]),
        )
        .catch(() => undefined)
      if (this.#woken.signal.aborted) {
        this.#woken = new AbortController()
        await clock.sleep(this.#withJitter(WAKE_DELAY_MS), this.#closing.signal).catch(() => undefined)
      }
      // A failure is ignored, because the worker's own reporting shows whether the library can be reached.
      if (!this.#closing.signal.aborted) await this.#poll().catch(() => undefined)
    }
  }
}
