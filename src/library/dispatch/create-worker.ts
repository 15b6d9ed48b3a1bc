import type { JobLog } from '../job-log.ts'
import type { SharableCrawl } from '../store.ts'
import type { TakenJob, WorkerReport, Workers } from '../workers.ts'
import type { AnalysisWorker } from './analysis-runner.ts'
import { createHelping } from './create-helping.ts'
import type { JobView } from './dispatcher.ts'
import type { Feed } from './feed.ts'
import { createJobRuns, type JobRunsOptions } from './job-runs.ts'
import { createLogWriter } from './log-writer.ts'
import { KEEP_ENDED_MS, MAX_MILESTONES, orderOf } from './open-jobs.ts'
import { createRelay } from './passed-on.ts'
import { END_MS, NOT_STARTED } from './process-end.ts'
import type { JobQueue, QueuedWork } from './queue.ts'
import { keepSweeping } from './sweep-jobs.ts'
import { createTrackedJob, milestoneKey, type TrackedJob, viewOf } from './tracked-job.ts'
import { keepTrimmed } from './trim-rule.ts'
import { within } from './within.ts'
import { createReporting } from './worker-reporting.ts'

/** What a worker is made with. */
export interface WorkerOptions extends Omit<JobRunsOptions, 'writer' | 'feed' | 'onChange' | 'onEnd'> {
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
  /** Number from 0 up to 1. */
  readonly random: () => number
  /** Gives vectors to chunks that have none. @default it takes none of that work */
  readonly embed?: (signal: AbortSignal) => Promise<void>
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
  const runs = createJobRuns({ ...options, feed: relay, writer, onChange: () => undefined, onEnd: noteEnded })
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
    reporting.noteTaken(job)
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
  const runCrawl = async ({ id, attempt, signal }: QueuedWork): Promise<boolean> => {
    const taken = await workers.take(id, me)
    // It was cancelled before anybody came to it.
    if (taken === undefined) return true
    const job = await takeUp(taken)
    const isVain = attempt >= MOST_VAIN && (job.progress?.visited ?? 0) === 0
    if (taken.end !== null) runs.finish(job, taken.end, NOT_STARTED)
    else if (isVain) {
      const problem = `it was taken ${attempt + 1} times, and each time came to nothing`
      runs.finish(job, 'failed', { ...NOT_STARTED, problem })
    } else await run(job, taken.lastHolder, signal)
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
      .catch((error: unknown) => log?.warn(String(error), { jobId: id }))
  }
  const leaveAll = () => Promise.all([...runs.running].map((job) => runs.leave(job)))
  const isIdle = async (patienceMs: number) => {
    const until = clock.now() + patienceMs
    while (runs.running.size > 0 && clock.now() < until) await clock.sleep(Math.min(100, patienceMs))
  }
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
      if (analysis !== undefined) await queue.take('analysis', 1, ({ id, signal }) => analysis.take(id, signal))
      const { embed } = options
      if (embed !== undefined) {
        await queue.take('embedding', 1, async ({ signal }) => {
          await embed(AbortSignal.any([signal, closing.signal]))
          return !closing.signal.aborted
        })
      }
      helping.start()
      const complain = (message: string) => log?.warn(message)
      void keepSweeping(workers, queue, clock, complain, closing.signal)
      void keepTrimmed(async () => kept, clock, complain, closing.signal)
    },
    async drain(patienceMs) {
      reporting.drain()
      await queue.stopTaking()
      await isIdle(patienceMs)
      closing.abort()
      await Promise.all([leaveAll(), helping.close(), analysis?.close()])
      await within(clock, Promise.all([reporting.close(), relay.close()]), LAST_MS)
      // What was taken is settled before the queue is closed: so others need not wait for a sign of life.
      await within(clock, queue.close(), LAST_MS)
      await within(clock, writer.close(), END_MS)
      await within(
        clock,
        Promise.all([stopListening(), workers.leave(me)]).catch(() => undefined),
        LAST_MS,
      )
    },
  }
}
