import { messageOf, PharosError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import { looseKey } from '../../core/url/key.ts'
import type { JobLog } from '../ports/job-log.ts'
import type { SharedJob, WorkerLoad } from '../ports/workers.ts'
import type { CrawlRequest, Dispatcher, JobView } from './dispatcher.ts'
import { trimPeriodically } from './events/log-retention.ts'
import { MAX_WAITING, refuseFull, refuseFullQueue, refuseLongArgs, restoreRequest } from './job-limits.ts'
import { JobMirror, type MirrorOptions } from './job-mirror.ts'
import { STOP_GRACE_MS } from './job-runs.ts'
import type { WorkQueue } from './queue.ts'
import { createTrackedJob, isSameStart, recordOf } from './tracked-job.ts'

/** Options of {@link createSharedDispatcher}. */
export interface SharedDispatcherOptions extends MirrorOptions {
  /** Opens the queue, retrying until it succeeds. */
  readonly queue: () => Promise<WorkQueue>
  /** Returns a new UUID. */
  readonly newId: () => string
  /** Opens the history of jobs, which this dispatcher trims. */
  readonly jobLog: () => Promise<JobLog>
  /** Maximum number of queued jobs. @default 1000 */
  readonly maxWaiting?: number
}

/** Poll interval while waiting for a worker to start a job. */
const POLL_INTERVAL_MS = 50
/** How long `begin` and `enqueue` wait for a worker to start the job. */
const START_TIMEOUT_MS = 3_000

/**
 * Dispatches crawls to workers on any machine. It reads the state of jobs from the library, so several servers may manage the same jobs.
 */
export function createSharedDispatcher(options: SharedDispatcherOptions): Dispatcher {
  const { feed, clock, log, maxWaiting = MAX_WAITING } = options
  const mirror = new JobMirror(options)
  const closing = new AbortController()
  let isTrimming = false

  const admit = async (request: CrawlRequest, isImmediate: boolean, check: (load: WorkerLoad) => void) => {
    if (closing.signal.aborted) throw new PharosError('INTERRUPTED')
    refuseLongArgs(request)
    const [workers, queue] = [await options.workers(), await options.queue()]
    const record = recordOf(createTrackedJob(options.newId(), request, clock.now()))
    let after: string | undefined
    const checkLoad = (load: WorkerLoad) => {
      check(load)
      after = load.openJobs.findLast((open) => isSameTarget(request, open))?.record.id
    }
    const work = { id: record.id, key: looseKey(request.url), isFirst: isImmediate }
    // A crawl of the same source waits its turn, even if requested by another address.
    await workers.admit(record, isImmediate, checkLoad, (run) => queue.send('crawl', { ...work, after }, run))
    mirror.add({ record, worker: null, isPaused: false })
    return record.id
  }
  const untilBegun = async (id: string): Promise<JobView> => {
    const until = clock.now() + START_TIMEOUT_MS
    const hasBegun = ({ pid, endedAt }: JobView) => pid !== null || endedAt !== null
    while (!hasBegun(mirror.requireJob(id)) && clock.now() < until) await clock.sleep(POLL_INTERVAL_MS)
    return mirror.requireJob(id)
  }
  const command = async (id: string, isPaused: boolean): Promise<boolean> => {
    mirror.requireJob(id)
    const isSent = await (await options.workers()).askPause(id, isPaused)
    if (isSent) mirror.setPaused(id, isPaused)
    return isSent
  }
  return {
    feed,
    get slots() {
      return mirror.slots
    },
    async begin(request) {
      const id = await admit(request, true, (load) => refuseBegin(request, load))
      return untilBegun(id)
    },
    async enqueue(request) {
      let startsNext = false
      const id = await admit(request, false, (load) => {
        const { openJobs, slots } = load
        refuseFullQueue(openJobs.filter(({ record }) => record.status === 'queued').length, maxWaiting)
        startsNext = openJobs.length < slots && !isUnderWay(request, load)
      })
      return startsNext ? untilBegun(id) : mirror.requireJob(id)
    },
    list: () => mirror.list(),
    find: (id) => mirror.find(id),
    async stop(id, end = 'stopped') {
      const outcome = await (await options.workers()).askEnd(id, end)
      if (outcome === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
      if (outcome === 'over') return { stopped: false, escalatesInMs: 0 }
      if (outcome === 'asked') return { stopped: true, escalatesInMs: STOP_GRACE_MS }
      await removeFromQueue(options, mirror, id)
      return { stopped: true, escalatesInMs: 0 }
    },
    pause: (id) => command(id, true),
    resume: (id) => command(id, false),
    wait: (id) => mirror.wait(id),
    async recover() {
      mirror.start()
      if (isTrimming) return
      isTrimming = true
      void trimPeriodically(options.jobLog, clock, (message) => log?.warn(message), closing.signal)
    },
    close() {
      closing.abort()
      return mirror.close()
    },
  }
}

/** Removes from the queue a job that ended before it started. If that fails, the worker that takes the job sees that it has ended. */
async function removeFromQueue(
  { queue: openQueue, feed, log }: SharedDispatcherOptions,
  mirror: JobMirror,
  id: string,
): Promise<void> {
  const queue = await openQueue()
  await queue.remove('crawl', id).catch((error: unknown) => log?.warn(messageOf(error), { jobId: id }))
  await mirror.refresh()
  const { url, status } = mirror.requireJob(id)
  const line = `the crawl of ${url} is ${status}`
  feed.tell('log', id, { stream: 'server', line })
  log?.info(line, { jobId: id })
}

/** Refuses an immediate crawl if no worker has a free slot, or if the same start is already being crawled. */
function refuseBegin(request: CrawlRequest, load: WorkerLoad): void {
  const { openJobs, immediateJobIds, slots } = load
  if (slots === 0) throw new PharosError('WORKERS_MISSING')
  const occupying = openJobs.filter(({ record }) => record.status === 'running' || immediateJobIds.has(record.id))
  const starts = occupying.map(({ record }) => record.url)
  refuseFull(starts, slots, 'all workers together can run')
  if (isUnderWay(request, load)) throw new PharosError('CRAWL_RUNNING', { source: maskSecretFields(request.url) })
}

/** Whether a crawl of the same start is running or queued. */
function isUnderWay(request: CrawlRequest, { openJobs }: WorkerLoad): boolean {
  return openJobs.some((one) => isSameTarget(request, one))
}

function isSameTarget(request: CrawlRequest, { record }: SharedJob): boolean {
  return isSameStart(request, { request: restoreRequest(record), sourceId: record.sourceId })
}
