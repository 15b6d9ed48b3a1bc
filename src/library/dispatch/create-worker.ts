import { messageOf } from '../../core/errors.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import type { JobLog } from '../job-log.ts'
import type { SharableCrawl } from '../store.ts'
import type { TakenJob, WorkerReport, Workers } from '../workers.ts'
import type { AnalysisWorker } from './analysis-runner.ts'
import { createHelping } from './create-helping.ts'
import type { JobView } from './dispatcher.ts'
import type { Feed } from './feed.ts'
import { NO_PROGRESS, type ProgressFrame } from './frames.ts'
import { createJobRuns, type JobRunsOptions } from './job-runs.ts'
import { createLogWriter } from './log-writer.ts'
import { KEEP_ENDED_MS, MAX_MILESTONES, orderOf } from './open-jobs.ts'
import { createRelay } from './passed-on.ts'
import { END_MS, KILLED_MS, NOT_STARTED } from './process-end.ts'
import type { JobQueue, QueuedWork } from './queue.ts'
import { keepSweeping } from './sweep-jobs.ts'
import { createTrackedJob, milestoneKey, type TrackedJob, viewOf } from './tracked-job.ts'
import { keepTrimmed } from './trim-rule.ts'
import { within } from './within.ts'
import { createReporting } from './worker-reporting.ts'

/** What a worker is made with. */
export interface WorkerOptions extends Omit<JobRunsOptions, 'writer' | 'feed' | 'isOurs' | 'onChange' | 'onEnd'> {
  readonly workers: Workers
  readonly queue: JobQueue
  /** What it tells of itself. */
  readonly about: Pick<WorkerReport, 'id' | 'name' | 'version' | 'isServer' | 'slots'>
  /** A new UUID. */
  readonly newId: () => string
  /** The process of a number, as one that runs crawls. */
  readonly runnerOf: (pid: number) => string
  /** Creates what goes through runs of analysis; what they say goes to the feed. @default it takes none */
  readonly openAnalysis?: (feed: Pick<Feed, 'tell'>) => AnalysisWorker
  /** Crawls that have hosts which nobody asks: it takes part in one while it has nothing else to do. @default it takes part in none */
  readonly listSharable?: () => Promise<readonly SharableCrawl[]>
  /** What a crawl came to; undefined for one that is to go on. @default all are */
  readonly findEnd?: (sourceId: string, crawlId: string) => Promise<EndedCrawl | undefined>
  /** Number from 0 up to 1. */
  readonly random: () => number
  /** Gives vectors to chunks that have none. @default it takes none of that work */
  readonly embed?: (signal: AbortSignal) => Promise<void>
}

/** A crawl that came to its end. */
export interface EndedCrawl {
  readonly summary: Pick<CrawlSummary, 'visited' | 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'bytes'>
  /** Why its job has failed; null where it is done. */
  readonly problem: string | null
}

/** One that takes jobs from the queue of a library, as many as have room, and runs them. */
export interface Worker {
  /** Begins to take jobs. */
  start(): Promise<void>
  /**
   * Takes nothing new, lets what runs come to its end for so long, then leaves the rest to others, and goes. Whatever it takes, it is
   * gone within some seconds more.
   */
  drain(patienceMs: number): Promise<void>
}

/** A job that came to nothing this often, whoever had it, is given up. */
const MOST_VAIN = 8
/** How long the last words of a worker may take. */
const LAST_MS = 3_000

/** Creates a worker. */
export function createWorker(options: WorkerOptions): Worker {
  const { workers, queue, about, clock, log } = options
  const { id: me } = about
  const ended: { readonly job: TrackedJob; readonly at: number }[] = []
  const closing = new AbortController()

  const listViews = (): JobView[] => {
    while (ended[0] !== undefined && clock.now() - ended[0].at > KEEP_ENDED_MS) ended.shift()
    return [...ended.map(({ job }) => job), ...runs.running].map((job) => viewOf(job, clock.now()))
  }
  const noteEnded = (job: TrackedJob) => void ended.push({ job, at: clock.now() })
  const relay = createRelay({ clock, listViews, passOn: (body) => workers.passOn(me, body) })
  const warn = (message: string) => {
    relay.tell('log', null, { stream: 'server', line: message })
    log?.warn(message)
  }
  const kept = workers.logOf(me)
  const jobLog: JobLog = {
    ...kept,
    async change(id, change) {
      // Whoever learns that a job has ended has learnt before what happened in it.
      if (change.endedAt !== undefined) await relay.flush()
      await kept.change(id, change)
    },
  }
  const writer = createLogWriter({ jobLog: async () => jobLog, clock, warn })
  /** A library that does not answer refuses what is late when it does. */
  const isOurs = async ({ id }: TrackedJob): Promise<boolean> => {
    let answer = true
    const asked = workers.has(id, me).then((has) => {
      answer = has
    })
    await within(
      clock,
      asked.catch(() => undefined),
      LAST_MS,
    )
    return answer
  }
  const runs = createJobRuns({ ...options, feed: relay, writer, isOurs, onChange: () => undefined, onEnd: noteEnded })
  const analysis = options.openAnalysis?.(relay)
  const { listSharable = async () => [] } = options
  const helping = createHelping({
    ...options,
    ...{ feed: relay, writer, listSharable, listJobs: () => workers.listJobs(0), running: () => runs.running },
    slots: about.slots,
    share: Math.max(1, Math.floor(options.maxRequests / about.slots)),
  })

  const reporting = createReporting({ ...options, runs, helping })

  const takeUp = async ({ record, isPaused }: TakenJob): Promise<TrackedJob> => {
    const job = createTrackedJob(record.id, orderOf(record), clock.now(), record)
    job.paused = isPaused
    if (record.startedAt === null) return job
    job.restarts++
    const reached = await kept.listMilestones({ jobId: record.id, limit: MAX_MILESTONES })
    for (const note of reached) job.milestones.add(milestoneKey(note))
    return job
  }
  /** Runs a job until it ends, or is no longer this worker's. */
  const run = async (job: TrackedJob, lastHolder: string | null, signal: AbortSignal): Promise<void> => {
    const over = new Promise<void>((resolve) => job.waiters.push(resolve))
    const leave = () => void runs.leave(job)
    signal.addEventListener('abort', leave, { once: true })
    runs.start(job, lastHolder === null ? [] : [`--gone-runner=${lastHolder}`])
    helping.makeRoom()
    reporting.wake()
    if (signal.aborted || closing.signal.aborted) leave()
    await over
    signal.removeEventListener('abort', leave)
    reporting.noteLeft(job)
  }
  /** Ends a job whose crawl is over, and whose worker could not say so; false for one that is to go on. */
  const endLate = async (job: TrackedJob): Promise<boolean> => {
    const { sourceId, crawlId } = job
    const ended = sourceId === null || crawlId === null ? undefined : await options.findEnd?.(sourceId, crawlId)
    if (ended === undefined) return false
    const { summary, problem } = ended
    job.progress = addSummary(job.progress, summary)
    runs.finish(job, problem === null ? 'done' : 'failed', { ...NOT_STARTED, problem })
    return true
  }
  const taking = new Map<string, Promise<boolean>>()
  /** One that lost a job for a while, and is given it again, has its old process to end first. */
  const leaveOld = async (id: string, taken: Promise<boolean> | undefined) => {
    for (const job of [...runs.running].filter((one) => one.id === id)) await runs.leave(job)
    await taken?.catch(() => undefined)
  }
  const runCrawl = ({ id, ...work }: QueuedWork): Promise<boolean> => {
    const run = leaveOld(id, taking.get(id)).then(() => runTaken({ id, ...work }))
    taking.set(id, run)
    return run.finally(() => taking.get(id) === run && taking.delete(id))
  }
  const runTaken = async ({ id, attempt, signal }: QueuedWork): Promise<boolean> => {
    const taken = await workers.take(id, me)
    // It was cancelled before anybody came to it.
    if (taken === undefined) return true
    const job = await takeUp(taken)
    // One that is to pause does nothing, which is not its fault.
    const isVain = attempt >= MOST_VAIN && (job.progress?.visited ?? 0) === 0 && !job.paused
    if (taken.end !== null) runs.finish(job, taken.end, NOT_STARTED)
    else if (!(await endLate(job))) {
      if (isVain) {
        const problem = `it was taken ${attempt + 1} times, and each time came to nothing`
        runs.finish(job, 'failed', { ...NOT_STARTED, problem })
      } else await run(job, taken.lastHolder, signal)
    }
    // Its end has to be known before the queue forgets it.
    await writer.flush()
    if (job.endedAt === null) {
      if (!signal.aborted) await workers.giveBack(id, me)
      return false
    }
    await sendEmbedding(job)
    return true
  }
  /** What a crawl brought may want vectors. */
  const sendEmbedding = async ({ id, progress }: TrackedJob) => {
    if ((progress?.saved ?? 0) === 0) return
    await queue
      .send('embedding', { id: options.newId(), key: 'library' })
      .catch((error: unknown) => log?.warn(messageOf(error), { jobId: id }))
  }
  const leaveAll = async () => {
    for (const job of runs.running) runs.say(job, `the crawl of ${job.order.url} is left to another worker`)
    await Promise.all([...runs.running].map((job) => runs.leave(job)))
  }
  /** Work besides crawls that is under way. */
  let others = 0
  const count = async (work: Promise<boolean>): Promise<boolean> => {
    others++
    return work.finally(() => others--)
  }
  const untilIdle = async (patienceMs: number) => {
    const until = clock.now() + patienceMs
    while (runs.running.size + others > 0 && clock.now() < until) await clock.sleep(Math.min(100, patienceMs))
  }
  /** Whatever fails on the way out, or takes too long, must not keep the rest. */
  const attempt = (work: Promise<unknown>, ms: number) =>
    within(
      clock,
      work.catch((error: unknown) => log?.warn(`while closing: ${messageOf(error)}`)),
      ms,
    )
  let stopListening = async (): Promise<void> => undefined
  return {
    async start() {
      await reporting.start()
      stopListening = workers.listen((news) => {
        if (news === 'asks') reporting.wake()
        if (news === 'shared') helping.wake()
      })
      relay.start()
      await queue.take('crawl', about.slots, runCrawl)
      if (analysis !== undefined) await queue.take('analysis', 1, ({ id, signal }) => count(analysis.take(id, signal)))
      const { embed } = options
      if (embed !== undefined) {
        const embedAll = async ({ signal }: QueuedWork) => {
          await embed(AbortSignal.any([signal, closing.signal]))
          return !closing.signal.aborted
        }
        await queue.take('embedding', 1, (work) => count(embedAll(work)))
      }
      helping.start()
      const complain = (message: string) => log?.warn(message)
      const findLeftRun = analysis && (() => analysis.findLeft())
      void keepSweeping({ workers, queue, clock, findLeftRun, warn: complain }, closing.signal)
      void keepTrimmed(async () => kept, clock, complain, closing.signal)
    },
    async drain(patienceMs) {
      reporting.drain()
      await attempt(queue.stopTaking(), LAST_MS)
      // Others go on with what it only helps with.
      await attempt(helping.close(), END_MS + KILLED_MS)
      await untilIdle(patienceMs)
      closing.abort()
      await attempt(Promise.all([leaveAll(), analysis?.close()]), END_MS + KILLED_MS)
      await attempt(Promise.all([reporting.close(), relay.close()]), LAST_MS)
      // What was taken is settled before the queue is closed: so others need not wait for a sign of life.
      await attempt(queue.close(), LAST_MS)
      await attempt(writer.close(), END_MS)
      await attempt(Promise.all([stopListening(), workers.leave(me)]), LAST_MS)
    },
  }
}

/** Where a job stands by what its crawl came to: the last words of its process may not have been heard. */
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
