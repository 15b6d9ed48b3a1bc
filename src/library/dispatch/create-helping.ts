import type { Clock } from '../../crawl/ports.ts'
import type { SharableCrawl } from '../store.ts'
import type { SharedJob } from '../workers.ts'
import type { Feed } from './feed.ts'
import { type Hearing, hearCrawl } from './hear-crawl.ts'
import type { DispatcherLog } from './job-runs.ts'
import { libraryFlags } from './library-flags.ts'
import type { LogWriter } from './log-writer.ts'
import { orderOf } from './open-jobs.ts'
import { END_MS, KILLED_MS } from './process-end.ts'
import type { CrawlProcess, CrawlRunner } from './runner.ts'
import { createTrackedJob, type TrackedJob } from './tracked-job.ts'
import { within } from './within.ts'

/** What a worker helps with. */
export interface HelpingOptions {
  readonly runner: CrawlRunner
  readonly feed: Pick<Feed, 'tell'>
  readonly writer: LogWriter
  readonly clock: Clock
  /** Number from 0 up to 1. */
  readonly random: () => number
  readonly libraryPath: string
  /** Crawls that have hosts which nobody asks, those first that have most. */
  readonly listSharable: () => Promise<readonly SharableCrawl[]>
  /** Jobs that wait or run, wherever. */
  readonly listJobs: () => Promise<readonly SharedJob[]>
  /** Jobs that this worker runs itself. */
  readonly running: () => ReadonlySet<TrackedJob>
  /** So many processes it has at once, helping or not. */
  readonly slots: number
  /** Requests in flight of one that helps. */
  readonly share: number
  readonly log?: DispatcherLog
}

/** Processes of a worker that take part in crawls of others, while it has nothing else to do. */
export interface Helping {
  /** Jobs that are helped with, as they are heard here: what a process counts is its own part alone. */
  readonly jobs: readonly TrackedJob[]
  /** Visits and bytes of those that help no more. */
  readonly done: { readonly visits: number; readonly bytes: number }
  start(): void
  /** Says that a crawl can be shared which could not before. */
  wake(): void
  /** Ends as many as there is no room for, those first that came last. */
  makeRoom(): void
  close(): Promise<void>
}

/** How often is looked for crawls that can be shared, give or take a half: not all who have nothing to do come at once. */
const LOOK_MS = 3000
/** How soon is looked whether a crawl can still be shared, which was not looked at before. */
const AGAIN_MS = 750
/** While it helps, how often is looked what is asked of those crawls. */
const ASK_MS = 1000
/** A process that found nothing to do is not followed by another before this. */
const REST_MS = 15_000

interface Helper {
  readonly crawlId: string
  readonly job: TrackedJob
  readonly child: CrawlProcess
}

/** Creates what helps. */
export function createHelping(options: HelpingOptions): Helping {
  const { runner, feed, writer, clock, log } = options
  const helpers: Helper[] = []
  const closing = new AbortController()
  let woken = new AbortController()
  const done = { visits: 0, bytes: 0 }
  /** Crawls that could be shared when it was last looked, and those that were helped with, by when that ended. */
  let seen: ReadonlySet<string> = new Set()
  let hasNew = false
  const rested = new Map<string, number>()
  const hearing: Hearing = {
    // How far the crawl is, whoever has begun it tells.
    feed: { tell: (name, jobId, payload) => (name === 'progress' ? undefined : feed.tell(name, jobId, payload)) },
    writer: { ...writer, change: () => undefined },
    clock,
    onFirstReport: () => undefined,
  }

  const end = (helper: Helper) => {
    helpers.splice(helpers.indexOf(helper), 1)
    rested.set(helper.crawlId, clock.now())
    done.visits += helper.job.progress?.visited ?? 0
    done.bytes += helper.job.progress?.bytes ?? 0
  }
  const help = (crawlId: string, { record, isPaused }: SharedJob) => {
    // Counted from nothing: what was done before was done by others.
    const job = createTrackedJob(record.id, orderOf(record), clock.now())
    const args = [`--join=${crawlId}`, `--job-id=${record.id}`, ...libraryFlags(options.libraryPath)]
    const child = runner.start(args, (stream, line) => hearCrawl(hearing, job, stream, line))
    job.child = child
    job.paused = isPaused
    if (isPaused) child.send('PAUSE')
    child.send(`CONCURRENCY ${options.share}`)
    const helper = { crawlId, job, child }
    helpers.push(helper)
    log?.info(`helps with the crawl of ${record.url}, as process ${child.mark?.pid}`, { jobId: record.id })
    void child.ended.then(() => end(helper))
  }
  const hasRoom = () => options.running().size + helpers.length < options.slots
  const isOurs = (crawlId: string) =>
    helpers.some((helper) => helper.crawlId === crawlId) ||
    [...options.running()].some((job) => job.crawlId === crawlId)
  const isRested = (crawlId: string) => clock.now() - (rested.get(crawlId) ?? Number.NEGATIVE_INFINITY) >= REST_MS
  const obey = (jobs: readonly SharedJob[]) => {
    for (const { job, child } of helpers) {
      const found = jobs.find(({ record }) => record.id === job.id)
      if (found === undefined) child.kill('SIGTERM')
      else if (found.isPaused !== job.paused && child.send(found.isPaused ? 'PAUSE' : 'RESUME')) {
        job.paused = found.isPaused
      }
    }
  }
  const look = async () => {
    const sharable = hasRoom() ? (await options.listSharable()).filter(({ crawlId }) => !isOurs(crawlId)) : []
    // What could be shared only for a moment is not worth a process.
    const lasting = sharable.find(({ crawlId }) => seen.has(crawlId) && isRested(crawlId))
    hasNew = sharable.some(({ crawlId }) => !seen.has(crawlId))
    seen = new Set(sharable.map(({ crawlId }) => crawlId))
    if (lasting === undefined && helpers.length === 0) return
    const jobs = await options.listJobs()
    obey(jobs)
    const job = jobs.find(({ record }) => record.crawlId === lasting?.crawlId && record.status === 'running')
    if (lasting !== undefined && job !== undefined && !job.isPaused && hasRoom() && !closing.signal.aborted) {
      help(lasting.crawlId, job)
    }
  }
  const spread = (ms: number) => ms * (0.5 + options.random())
  const keepLooking = async () => {
    while (!closing.signal.aborted) {
      const usualMs = helpers.length > 0 ? ASK_MS : LOOK_MS
      await clock
        .sleep(spread(hasNew ? AGAIN_MS : usualMs), AbortSignal.any([woken.signal, closing.signal]))
        .catch(() => undefined)
      if (woken.signal.aborted) {
        woken = new AbortController()
        await clock.sleep(spread(AGAIN_MS), closing.signal).catch(() => undefined)
      }
      // A library that cannot be reached is told by whoever reports to it.
      if (!closing.signal.aborted) await look().catch(() => undefined)
    }
  }
  return {
    get jobs() {
      return helpers.map(({ job }) => job)
    },
    done,
    start: () => void keepLooking(),
    wake: () => woken.abort(),
    makeRoom() {
      const surplus = options.running().size + helpers.length - options.slots
      for (const { child } of helpers.slice(Math.max(0, helpers.length - Math.max(0, surplus)))) child.kill('SIGTERM')
    },
    async close() {
      closing.abort()
      const children = helpers.map(({ child }) => child)
      for (const child of children) child.kill('SIGTERM')
      const ended = Promise.all(children.map((child) => child.ended))
      await within(clock, ended, END_MS)
      for (const child of children) child.kill('SIGKILL')
      await within(clock, ended, KILLED_MS)
    },
  }
}
