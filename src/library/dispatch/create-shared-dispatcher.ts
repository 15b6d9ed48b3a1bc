import { messageOf, PharosError } from '../../core/errors.ts'
import { maskFields } from '../../core/secrets.ts'
import { looseKey } from '../../core/url/key.ts'
import type { JobLog } from '../job-log.ts'
import type { Occupation, SharedJob } from '../workers.ts'
import type { CrawlOrder, Dispatcher, JobView } from './dispatcher.ts'
import { createJobMirror, type MirrorOptions } from './job-mirror.ts'
import { ESCALATES_MS } from './job-runs.ts'
import { MAX_WAITING, orderOf, refuseFull, refuseLong, refuseWaiting } from './open-jobs.ts'
import type { JobQueue } from './queue.ts'
import { createTrackedJob, isSameStart, recordOf } from './tracked-job.ts'
import { keepTrimmed } from './trim-rule.ts'

/** Options of {@link createSharedDispatcher}. */
export interface SharedDispatcherOptions extends MirrorOptions {
  /** Opens the queue, retrying until it succeeds. */
  readonly queue: () => Promise<JobQueue>
  /** A new UUID. */
  readonly newId: () => string
  /** Opens the history of jobs, which this dispatcher trims. */
  readonly jobLog: () => Promise<JobLog>
  /** Maximum number of queued jobs. @default 1000 */
  readonly maxWaiting?: number
}

/** Poll interval while waiting for a worker to start a job. */
const LOOK_MS = 50
/** How long `start` waits for a worker to start the job. */
const BEGUN_MS = 3_000

/**
 * Dispatches crawls to workers on any machine. It reads the state of jobs from the library, so several servers may manage the same jobs.
 */
export function createSharedDispatcher(options: SharedDispatcherOptions): Dispatcher {
  const { feed, clock, log, maxWaiting = MAX_WAITING } = options
  const mirror = createJobMirror(options)
  const closing = new AbortController()
  let isTrimming = false

  const admit = async (order: CrawlOrder, isBegun: boolean, check: (occupation: Occupation) => void) => {
    if (closing.signal.aborted) throw new PharosError('INTERRUPTED')
    refuseLong(order)
    const [workers, queue] = [await options.workers(), await options.queue()]
    const record = recordOf(createTrackedJob(options.newId(), order, clock.now()))
    let after: string | undefined
    const look = (occupation: Occupation) => {
      check(occupation)
      after = occupation.open.findLast((open) => isFor(order, open))?.record.id
    }
    const work = { id: record.id, key: looseKey(order.url), isFirst: isBegun }
    // A crawl of the same source waits its turn, even if requested by another address.
    await workers.admit(record, isBegun, look, (run) => queue.send('crawl', { ...work, after }, run))
    mirror.add({ record, worker: null, isPaused: false })
    return record.id
  }
  const untilBegun = async (id: string): Promise<JobView> => {
    const until = clock.now() + BEGUN_MS
    const hasBegun = ({ pid, endedAt }: JobView) => pid !== null || endedAt !== null
    while (!hasBegun(mirror.need(id)) && clock.now() < until) await clock.sleep(LOOK_MS)
    return mirror.need(id)
  }
  const command = async (id: string, isPaused: boolean): Promise<boolean> => {
    mirror.need(id)
    const isAsked = await (await options.workers()).askPause(id, isPaused)
    if (isAsked) mirror.setPaused(id, isPaused)
    return isAsked
  }
  /** Removes a job that ended before it started from the queue; if that fails, the worker that takes it sees that it is over. */
  const forget = async (id: string) => {
    const queue = await options.queue()
    await queue.remove('crawl', id).catch((error: unknown) => log?.warn(messageOf(error), { jobId: id }))
    await mirror.refresh()
    const { url, status } = mirror.need(id)
    const line = `the crawl of ${url} is ${status}`
    feed.tell('log', id, { stream: 'server', line })
    log?.info(line, { jobId: id })
  }
  return {
    feed,
    get allowsSeveral() {
      return mirror.slots > 1
    },
    async begin(order) {
      const id = await admit(order, true, (occupation) => refuseBegin(order, occupation))
      return untilBegun(id)
    },
    async enqueue(order) {
      let isNext = false
      const id = await admit(order, false, (occupation) => {
        const { open, slots } = occupation
        refuseWaiting(open.filter(({ record }) => record.status === 'queued').length, maxWaiting)
        isNext = open.length < slots && !isUnderWay(order, occupation)
      })
      return isNext ? untilBegun(id) : mirror.need(id)
    },
    list: mirror.list,
    find: mirror.find,
    async stop(id, end = 'stopped') {
      const became = await (await options.workers()).askEnd(id, end)
      if (became === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
      if (became === 'over') return { stopped: false, escalatesInMs: 0 }
      if (became === 'asked') return { stopped: true, escalatesInMs: ESCALATES_MS }
      await forget(id)
      return { stopped: true, escalatesInMs: 0 }
    },
    pause: (id) => command(id, true),
    resume: (id) => command(id, false),
    wait: mirror.wait,
    async recover() {
      mirror.start()
      if (isTrimming) return
      isTrimming = true
      void keepTrimmed(options.jobLog, clock, (message) => log?.warn(message), closing.signal)
    },
    close() {
      closing.abort()
      return mirror.close()
    },
  }
}

/** Refuses an immediate crawl if no worker has a free slot, or if the same start is already being crawled. */
function refuseBegin(order: CrawlOrder, occupation: Occupation): void {
  const { open, begun, slots } = occupation
  if (slots === 0) throw new PharosError('WORKERS_MISSING')
  const taking = open.filter(({ record }) => record.status === 'running' || begun.has(record.id))
  const starts = taking.map(({ record }) => record.url)
  refuseFull(starts, slots, 'all workers together run')
  if (isUnderWay(order, occupation)) throw new PharosError('CRAWL_RUNNING', { source: maskFields(order.url) })
}

/** Whether a crawl of the same start is running or queued. */
function isUnderWay(order: CrawlOrder, { open }: Occupation): boolean {
  return open.some((one) => isFor(order, one))
}

function isFor(order: CrawlOrder, { record }: SharedJob): boolean {
  return isSameStart(order, { order: orderOf(record), sourceId: record.sourceId })
}
