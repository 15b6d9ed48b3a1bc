import { messageOf } from '../../core/errors.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import type { JobLog } from '../ports/job-log.ts'
import type { SharableCrawl } from '../ports/store.ts'
import type { TakenJob, WorkerReport, Workers } from '../ports/workers.ts'
import type { RunWorker } from './background-runs.ts'
import { createCrawlSharing } from './crawl-sharing.ts'
import type { JobView } from './dispatcher.ts'
import { createRelay } from './events/event-relay.ts'
import type { Feed } from './events/feed.ts'
import { NO_PROGRESS, type ProgressFrame } from './events/frames.ts'
import { trimPeriodically } from './events/log-retention.ts'
import { createLogWriter } from './events/log-writer.ts'
import { ENDED_RETENTION_MS, MAX_MILESTONES, restoreRequest } from './job-limits.ts'
import { createJobRuns, type JobRunsOptions } from './job-runs.ts'
import { KILL_TIMEOUT_MS, NOT_STARTED, TERM_GRACE_MS } from './process-end.ts'
import type { QueuedWork, WorkQueue } from './queue.ts'
import { keepSweeping } from './sweep-jobs.ts'
import { createTrackedJob, milestoneKey, type TrackedJob, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'
import { createWorkerReporter } from './worker-reporter.ts'

/** Options of {@link createWorker}. */
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

/** Takes jobs from the queue of a library, up to its number of slots, and runs them. */
export interface Worker {
  /** Starts taking jobs. */
  start(): Promise<void>
  /**
   * Stops taking jobs, waits up to `graceMs` for running jobs, then gives the rest back and exits. The exit itself takes only a few
   * seconds more.
   */
  drain(graceMs: number): Promise<void>
}

/** A job that made no progress after this many attempts, by any worker, has failed. */
const MAX_FRUITLESS_ATTEMPTS = 8
/** Timeout for each step of a shutdown, and for asking the library which worker has a job. */
const STEP_TIMEOUT_MS = 3_000

/** Creates a worker. */
export function createWorker(options: WorkerOptions): Worker {
  const { workers, queue, identity, clock, log } = options
  const { id: workerId } = identity
  const ended: { readonly job: TrackedJob; readonly at: number }[] = []
  const closing = new AbortController()

  const listViews = (): JobView[] => {
    while (ended[0] !== undefined && clock.now() - ended[0].at > ENDED_RETENTION_MS) ended.shift()
    return [...ended.map(({ job }) => job), ...runs.running].map((job) => viewOf(job, clock.now()))
  }
  const noteEnded = (job: TrackedJob) => void ended.push({ job, at: clock.now() })
  const relay = createRelay({ clock, listViews, sendBatch: (body) => workers.relay(workerId, body) })
  const warn = (message: string) => {
    relay.tell('log', null, { stream: 'server', line: message })
    log?.warn(message)
  }
  const storedLog = workers.logOf(workerId)
  const jobLog: JobLog = {
    ...storedLog,
    async change(id, change) {
      // Listeners must receive the events of a job before its end.
      if (change.endedAt !== undefined) await relay.flush()
      await storedLog.change(id, change)
    },
  }
  const writer = createLogWriter({ jobLog: async () => jobLog, clock, warn })
  /** If the library does not answer in time, the job counts as ours; the library later rejects a stale write. */
  const isOurs = async ({ id }: TrackedJob): Promise<boolean> => {
    let answer = true
    const check = workers.has(id, workerId).then((has) => {
      answer = has
    })
    await waitUpTo(
      clock,
      check.catch(() => undefined),
      STEP_TIMEOUT_MS,
    )
    return answer
  }
  const runs = createJobRuns({ ...options, feed: relay, writer, isOurs, onChange: () => undefined, onEnd: noteEnded })
  const analysis = options.openAnalysis?.(relay)
  const { listSharable = async () => [] } = options
  const sharing = createCrawlSharing({
    ...options,
    ...{ feed: relay, writer, listSharable, listJobs: () => workers.listJobs(0), running: () => runs.running },
    slots: identity.slots,
    share: Math.max(1, Math.floor(options.maxRequests / identity.slots)),
  })

  const reporter = createWorkerReporter({ ...options, runs, sharing })

  const restoreJob = async ({ record, isPaused }: TakenJob): Promise<TrackedJob> => {
    const job = createTrackedJob(record.id, restoreRequest(record), clock.now(), record)
    job.paused = isPaused
    if (record.startedAt === null) return job
    job.restarts++
    const reached = await storedLog.listMilestones({ jobId: record.id, limit: MAX_MILESTONES })
    for (const note of reached) job.milestones.add(milestoneKey(note))
    return job
  }
  /** Runs a job until it ends or another worker takes it over. */
  const run = async (job: TrackedJob, lastHolder: string | null, signal: AbortSignal): Promise<void> => {
    const ended = new Promise<void>((resolve) => job.waiters.push(resolve))
    const handOver = () => void runs.handOver(job)
    signal.addEventListener('abort', handOver, { once: true })
    runs.start(job, lastHolder === null ? [] : [`--gone-runner=${lastHolder}`])
    sharing.endSurplusHelpers()
    reporter.wake()
    if (signal.aborted || closing.signal.aborted) handOver()
    await ended
    signal.removeEventListener('abort', handOver)
    reporter.addEndedJob(job)
  }
  /** Ends a job whose crawl is over but whose worker could not report that; returns false if the crawl must continue. */
  const endIfCrawlIsOver = async (job: TrackedJob): Promise<boolean> => {
    const { sourceId, crawlId } = job
    const ended = sourceId === null || crawlId === null ? undefined : await options.findEndedCrawl?.(sourceId, crawlId)
    if (ended === undefined) return false
    const { summary, problem } = ended
    job.progress = addSummary(job.progress, summary)
    runs.finish(job, problem === null ? 'done' : 'failed', { ...NOT_STARTED, problem })
    return true
  }
  const taking = new Map<string, Promise<boolean>>()
  /** A worker that lost a job and gets it again must first end its old process. */
  const handOverOldRun = async (id: string, taken: Promise<boolean> | undefined) => {
    for (const job of [...runs.running].filter((one) => one.id === id)) await runs.handOver(job)
    await taken?.catch(() => undefined)
  }
  const runCrawl = ({ id, ...work }: QueuedWork): Promise<boolean> => {
    const run = handOverOldRun(id, taking.get(id)).then(() => runTaken({ id, ...work }))
    taking.set(id, run)
    return run.finally(() => taking.get(id) === run && taking.delete(id))
  }
  const runTaken = async ({ id, attempt, signal }: QueuedWork): Promise<boolean> => {
    const taken = await workers.take(id, workerId)
    // The job was cancelled before a worker took it.
    if (taken === undefined) return true
    const job = await restoreJob(taken)
    // A paused job makes no progress, which does not count as a failed attempt.
    const isFruitless = attempt >= MAX_FRUITLESS_ATTEMPTS && (job.progress?.visited ?? 0) === 0 && !job.paused
    if (taken.end !== null) runs.finish(job, taken.end, NOT_STARTED)
    else if (!(await endIfCrawlIsOver(job))) {
      if (isFruitless) {
        const problem = `workers took the job ${attempt + 1} times, and it never made progress`
        runs.finish(job, 'failed', { ...NOT_STARTED, problem })
      } else await run(job, taken.lastHolder, signal)
    }
    // The end of the job must be stored before the queue forgets it.
    await writer.flush()
    if (job.endedAt === null) {
      if (!signal.aborted) await workers.giveBack(id, workerId)
      return false
    }
    await sendEmbedding(job)
    return true
  }
  /** Queues an embedding task if the job saved pages, because new pages may need vectors. */
  const sendEmbedding = async ({ id, progress }: TrackedJob) => {
    if ((progress?.saved ?? 0) === 0) return
    await queue
      .send('embedding', { id: options.newId(), key: 'library' })
      .catch((error: unknown) => log?.warn(messageOf(error), { jobId: id }))
  }
  const handOverAll = async () => {
    for (const job of runs.running) runs.logMessage(job, `the crawl of ${job.request.url} moves to another worker`)
    await Promise.all([...runs.running].map((job) => runs.handOver(job)))
  }
  /** Number of running tasks other than crawls. */
  let otherTaskCount = 0
  const countTask = async (work: Promise<boolean>): Promise<boolean> => {
    otherTaskCount++
    return work.finally(() => otherTaskCount--)
  }
  const waitUntilIdle = async (graceMs: number) => {
    const until = clock.now() + graceMs
    while (runs.running.size + otherTaskCount > 0 && clock.now() < until) await clock.sleep(Math.min(100, graceMs))
  }
  /** A step that fails or times out must not block the remaining steps of the shutdown. */
  const runStep = (work: Promise<unknown>, ms: number) =>
    waitUpTo(
      clock,
      work.catch((error: unknown) => log?.warn(`while closing: ${messageOf(error)}`)),
      ms,
    )
  let stopListening = async (): Promise<void> => undefined
  return {
    async start() {
      await reporter.start()
      stopListening = workers.listen((notification) => {
        if (notification === 'asks') reporter.wake()
        if (notification === 'shared') sharing.wake()
      })
      relay.start()
      await queue.take('crawl', identity.slots, runCrawl)
      if (analysis !== undefined) {
        await queue.take('analysis', 1, ({ id, signal }) => countTask(analysis.take(id, signal)))
      }
      const { embed } = options
      if (embed !== undefined) {
        const embedAll = async ({ signal }: QueuedWork) => {
          await embed(AbortSignal.any([signal, closing.signal]))
          return !closing.signal.aborted
        }
        await queue.take('embedding', 1, (work) => countTask(embedAll(work)))
      }
      sharing.start()
      const logWarning = (message: string) => log?.warn(message)
      const findAbandonedRun = analysis && (() => analysis.findAbandoned())
      void keepSweeping({ workers, queue, clock, findAbandonedRun, warn: logWarning }, closing.signal)
      void trimPeriodically(async () => storedLog, clock, logWarning, closing.signal)
    },
    async drain(graceMs) {
      reporter.drain()
      await runStep(queue.stopTaking(), STEP_TIMEOUT_MS)
      // Crawls that this worker only helps with continue without it.
      await runStep(sharing.close(), TERM_GRACE_MS + KILL_TIMEOUT_MS)
      await waitUntilIdle(graceMs)
      closing.abort()
      await runStep(Promise.all([handOverAll(), analysis?.close()]), TERM_GRACE_MS + KILL_TIMEOUT_MS)
      await runStep(Promise.all([reporter.close(), relay.close()]), STEP_TIMEOUT_MS)
      // Settles taken work before closing the queue, so that other workers need not wait for the heartbeat timeout.
      await runStep(queue.close(), STEP_TIMEOUT_MS)
      await runStep(writer.close(), TERM_GRACE_MS)
      await runStep(Promise.all([stopListening(), workers.leave(workerId)]), STEP_TIMEOUT_MS)
    },
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
