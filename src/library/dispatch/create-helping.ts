import { maskFields } from '../../core/secrets.ts'
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
/** The same for who has just heard that something can be shared. */
const WOKEN_MS = 500
/** While it helps, how often is looked what is asked of those crawls. */
const ASK_MS = 1000
/** After a process that found nothing to do no other comes before this, and after one that did something before that. */
const VAIN_REST_MS = 15_000
const REST_MS = 2000
/** A crawl with so many addresses on hosts that nobody has is worth a process, also if it is seen for the first time. */
const MANY = 20

/** What is asked of every process of a crawl: how it treats hosts, and how long it waits for an answer. */
const MANNERS = /^--(?:slow$|(?:rate-limit|request-timeout|pacer-jitter-(?:min|max))-ms=)/

/** Whether more than one process may run a job. One that is to make so many requests at once makes them in one process. */
function isHelped({ status, args }: SharedJob['record']): boolean {
  return status === 'running' && !args.some((arg) => arg.startsWith('--concurrency='))
}

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
  /** Crawls that could be shared when it was last looked, and those that were helped with, by when another may come. */
  let seen: ReadonlySet<string> = new Set()
  let hasNew = false
  const restsUntil = new Map<string, number>()
  const hearing: Hearing = {
    // How far the crawl is, whoever has begun it tells.
    feed: { tell: (name, jobId, payload) => (name === 'progress' ? undefined : feed.tell(name, jobId, payload)) },
    writer: { ...writer, change: () => undefined },
    clock,
    onFirstReport: () => undefined,
  }

  const end = (helper: Helper) => {
    helpers.splice(helpers.indexOf(helper), 1)
    const { visits, bytes } = helper.job.own
    restsUntil.set(helper.crawlId, clock.now() + (visits === 0 ? VAIN_REST_MS : REST_MS))
    done.visits += visits
    done.bytes += bytes
  }
  const help = (crawlId: string, { record, isPaused }: SharedJob) => {
    const job = createTrackedJob(record.id, orderOf(record), clock.now())
    const manners = record.args.filter((arg) => MANNERS.test(arg))
    const args = [`--join=${crawlId}`, `--job-id=${record.id}`, ...manners, ...libraryFlags(options.libraryPath)]
    const child = runner.start(args, (stream, line) => hearCrawl(hearing, job, stream, line))
    job.child = child
    job.paused = isPaused
    if (isPaused) child.send('PAUSE')
    child.send(`CONCURRENCY ${options.share}`)
    const helper = { crawlId, job, child }
    const url = maskFields(record.url)
    helpers.push(helper)
    log?.info(`helps with the crawl of ${url}, as process ${child.mark?.pid}`, { jobId: record.id })
    void child.ended.then(() => {
      end(helper)
      log?.info(`helps with the crawl of ${url} no more, after ${job.own.visits} visits`, { jobId: record.id })
    })
  }
  const hasRoom = () => options.running().size + helpers.length < options.slots
  const isOurs = (crawlId: string) =>
    helpers.some((helper) => helper.crawlId === crawlId) ||
    [...options.running()].some((job) => job.crawlId === crawlId)
  const isRested = (crawlId: string) => clock.now() >= (restsUntil.get(crawlId) ?? 0)
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
    // What could be shared only for a moment, and is little, is not worth a process.
    const isWorth = ({ crawlId, ready }: SharableCrawl) => seen.has(crawlId) || ready >= MANY
    const wanted = sharable.filter((one) => isWorth(one) && isRested(one.crawlId))
    hasNew = sharable.some(({ crawlId }) => !seen.has(crawlId))
    seen = new Set(sharable.map(({ crawlId }) => crawlId))
    if (wanted.length === 0 && helpers.length === 0) return
    const jobs = await options.listJobs()
    obey(jobs)
    if (!hasRoom() || closing.signal.aborted) return
    for (const { crawlId } of wanted) {
      const job = jobs.find(({ record }) => record.crawlId === crawlId && isHelped(record))
      if (job === undefined || job.isPaused) continue
      help(crawlId, job)
      return
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
        await clock.sleep(spread(WOKEN_MS), closing.signal).catch(() => undefined)
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
