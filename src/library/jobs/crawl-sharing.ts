import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { SharableCrawl } from '../ports/store.ts'
import type { SharedJob } from '../ports/workers.ts'
import { handleCrawlOutput, type OutputReceivers } from './crawl-output.ts'
import type { Feed } from './events/feed.ts'
import type { LogWriter } from './events/log-writer.ts'
import { restoreRequest } from './job-limits.ts'
import type { DispatcherLog } from './job-runs.ts'
import { libraryFlags } from './library-flags.ts'
import { KILL_TIMEOUT_MS, TERM_GRACE_MS } from './process-end.ts'
import type { CrawlProcess, CrawlRunner } from './runner.ts'
import { createTrackedJob, type TrackedJob } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** Options of {@link createCrawlSharing}. */
export interface CrawlSharingOptions {
  readonly runner: CrawlRunner
  readonly feed: Pick<Feed, 'tell'>
  readonly writer: LogWriter
  readonly clock: Clock
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  readonly libraryPath: string
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
  readonly log?: DispatcherLog
}

/** Helper processes of an idle worker that take part in crawls of other workers. */
export interface CrawlSharing {
  /** Jobs that this worker helps with; their counts cover only the helper's own share. */
  readonly jobs: readonly TrackedJob[]
  /** Visits and bytes of helpers that have ended. */
  readonly done: { readonly visits: number; readonly bytes: number }
  start(): void
  /** Signals that a crawl has become sharable. */
  wake(): void
  /** Ends helpers that exceed the slots of the worker, newest first. */
  endSurplusHelpers(): void
  close(): Promise<void>
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

/** Creates the helpers of a worker. */
export function createCrawlSharing(options: CrawlSharingOptions): CrawlSharing {
  const { runner, feed, writer, clock, log } = options
  const helpers: Helper[] = []
  const closing = new AbortController()
  let woken = new AbortController()
  const done = { visits: 0, bytes: 0 }
  /** Crawls that were sharable at the last poll. */
  let seen: ReadonlySet<string> = new Set()
  /** Whether the last poll found a crawl that the poll before it had not. */
  let hasNew = false
  /** End of the cool-down of each crawl that had a helper. */
  const cooldownUntil = new Map<string, number>()
  const receivers: OutputReceivers = {
    // The process that owns the crawl reports its progress.
    feed: { tell: (name, jobId, payload) => (name === 'progress' ? undefined : feed.tell(name, jobId, payload)) },
    writer: { ...writer, change: () => undefined },
    clock,
    onFirstReport: () => undefined,
  }

  const removeHelper = (helper: Helper) => {
    helpers.splice(helpers.indexOf(helper), 1)
    const { visits, bytes } = helper.job.ownWork
    cooldownUntil.set(helper.crawlId, clock.now() + (visits === 0 ? IDLE_COOLDOWN_MS : COOLDOWN_MS))
    done.visits += visits
    done.bytes += bytes
  }
  const startHelper = (crawlId: string, { record, isPaused }: SharedJob) => {
    const job = createTrackedJob(record.id, restoreRequest(record), clock.now())
    const pacingFlags = record.args.filter((arg) => PACING_FLAGS.test(arg))
    const args = [`--join=${crawlId}`, `--job-id=${record.id}`, ...pacingFlags, ...libraryFlags(options.libraryPath)]
    const child = runner.start(args, (stream, line) => handleCrawlOutput(receivers, job, stream, line))
    job.child = child
    job.paused = isPaused
    if (isPaused) child.send('PAUSE')
    child.send(`CONCURRENCY ${options.share}`)
    const helper = { crawlId, job, child }
    const url = maskSecretFields(record.url)
    helpers.push(helper)
    log?.info(`joined the crawl of ${url} as process ${child.identity?.pid}`, { jobId: record.id })
    void child.ended.then(() => {
      removeHelper(helper)
      log?.info(`left the crawl of ${url} after ${job.ownWork.visits} visits`, { jobId: record.id })
    })
  }
  const hasFreeSlot = () => options.running().size + helpers.length < options.slots
  const isOurs = (crawlId: string) =>
    helpers.some((helper) => helper.crawlId === crawlId) ||
    [...options.running()].some((job) => job.crawlId === crawlId)
  const hasCooledDown = (crawlId: string) => clock.now() >= (cooldownUntil.get(crawlId) ?? 0)
  const applyCommands = (jobs: readonly SharedJob[]) => {
    for (const { job, child } of helpers) {
      const found = jobs.find(({ record }) => record.id === job.id)
      if (found === undefined) child.kill('SIGTERM')
      else if (found.isPaused !== job.paused && child.send(found.isPaused ? 'PAUSE' : 'RESUME')) {
        job.paused = found.isPaused
      }
    }
  }
  const poll = async () => {
    const sharable = hasFreeSlot() ? (await options.listSharable()).filter(({ crawlId }) => !isOurs(crawlId)) : []
    // A crawl that is sharable only briefly, with few addresses, is not worth a process.
    const isWorthJoining = ({ crawlId, ready }: SharableCrawl) => seen.has(crawlId) || ready >= MIN_READY_ADDRESSES
    const wanted = sharable.filter((one) => isWorthJoining(one) && hasCooledDown(one.crawlId))
    hasNew = sharable.some(({ crawlId }) => !seen.has(crawlId))
    seen = new Set(sharable.map(({ crawlId }) => crawlId))
    if (wanted.length === 0 && helpers.length === 0) return
    const jobs = await options.listJobs()
    applyCommands(jobs)
    if (!hasFreeSlot() || closing.signal.aborted) return
    for (const { crawlId } of wanted) {
      const job = jobs.find(({ record }) => record.crawlId === crawlId && canHaveHelpers(record))
      if (job === undefined || job.isPaused) continue
      startHelper(crawlId, job)
      return
    }
  }
  const withJitter = (ms: number) => ms * (0.5 + options.random())
  const keepPolling = async () => {
    while (!closing.signal.aborted) {
      const usualMs = helpers.length > 0 ? COMMAND_POLL_INTERVAL_MS : POLL_INTERVAL_MS
      await clock
        .sleep(withJitter(hasNew ? SHORT_POLL_INTERVAL_MS : usualMs), AbortSignal.any([woken.signal, closing.signal]))
        .catch(() => undefined)
      if (woken.signal.aborted) {
        woken = new AbortController()
        await clock.sleep(withJitter(WAKE_DELAY_MS), closing.signal).catch(() => undefined)
      }
      // A failure is ignored, because the worker's own reporting shows whether the library can be reached.
      if (!closing.signal.aborted) await poll().catch(() => undefined)
    }
  }
  return {
    get jobs() {
      return helpers.map(({ job }) => job)
    },
    done,
    start: () => void keepPolling(),
    wake: () => woken.abort(),
    endSurplusHelpers() {
      const surplus = options.running().size + helpers.length - options.slots
      for (const { child } of helpers.slice(Math.max(0, helpers.length - Math.max(0, surplus)))) child.kill('SIGTERM')
    },
    async close() {
      closing.abort()
      const children = helpers.map(({ child }) => child)
      for (const child of children) child.kill('SIGTERM')
      const ended = Promise.all(children.map((child) => child.ended))
      await waitUpTo(clock, ended, TERM_GRACE_MS)
      for (const child of children) child.kill('SIGKILL')
      await waitUpTo(clock, ended, KILL_TIMEOUT_MS)
    },
  }
}
