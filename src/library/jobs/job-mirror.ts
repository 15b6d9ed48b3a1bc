import { messageOf, PharosError } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import { isLost, type SharedJob, type WorkerNotification, type Workers } from '../ports/workers.ts'
import type { JobView } from './dispatcher.ts'
import { parseRelayBatch } from './events/event-relay.ts'
import type { Feed } from './events/feed.ts'
import { writeDone } from './job-item.ts'
import { ENDED_RETENTION_MS, restoreRequest, writeJobList } from './job-limits.ts'
import type { DispatcherLog } from './job-runs.ts'
import { createTrackedJob, setStage, viewOf } from './tracked-job.ts'
import { waitUpTo } from './wait-up-to.ts'

/** Options of {@link createJobMirror}. */
export interface MirrorOptions {
  /** Opens the library, retrying until it succeeds. */
  readonly workers: () => Promise<Workers>
  readonly feed: Feed
  readonly clock: Clock
  readonly log?: DispatcherLog | undefined
}

/**
 * A server's copy of the jobs in a library. It reads the library and the events that workers relay, and forwards those events to its feed.
 */
export interface JobMirror {
  /** Total number of job slots of all workers. */
  readonly slots: number
  /** Lists queued, running and recently ended jobs, newest first. */
  list(): readonly JobView[]
  find(id: string): JobView | undefined
  /** Finds a job, or throws `JOB_UNKNOWN`. */
  requireJob(id: string): JobView
  /** Adds a job that was just created, unless the mirror already has it. */
  add(job: SharedJob): void
  setPaused(id: string, isPaused: boolean): void
  /** Reads all jobs now. */
  refresh(): Promise<void>
  /** Resolves when the job has ended, or with its last state when the mirror is closed. */
  wait(id: string): Promise<JobView>
  /** Starts polling. */
  start(): void
  close(): Promise<void>
}

/** A job in the mirror. */
interface MirroredJob {
  view: JobView
  /** The worker that has the job, or had it last. */
  worker: string | null
  /** When this server first saw the end of the job. */
  endSeenAt: number | null
  readonly waiters: (() => void)[]
}

/** Poll interval without notifications. */
const POLL_INTERVAL_MS = 1000
/** Maximum interval between two reads of all jobs. */
const FULL_READ_INTERVAL_MS = 5_000
/** Minimum interval between two polls under frequent notifications. */
const MIN_POLL_INTERVAL_MS = 50
/** A read of this many batches means that more may be waiting. */
const FULL_BATCH_SIZE = 100
/** Window for reading ended jobs, so that a failed poll misses none. */
const ENDED_WITHIN_MS = 60_000
/** Timeout for the last poll. */
const CLOSE_TIMEOUT_MS = 3_000

/** Creates a mirror. */
export function createJobMirror(options: MirrorOptions): JobMirror {
  const { feed, clock, log } = options
  const jobs = new Map<string, MirroredJob>()
  const closing = new AbortController()
  let wake = new AbortController()
  /** Set when jobs may have changed in ways that workers do not relay. */
  let isDue = true
  let readUpTo: number | undefined
  let fullReadAt = Number.NEGATIVE_INFINITY
  let isUnreachable = false
  let slots = 0
  let reading = Promise.resolve()
  let lastJobList = ''
  let polling: Promise<void> | undefined
  let stopListening: (() => Promise<void>) | undefined

  const forgetOld = () => {
    for (const [id, { endSeenAt }] of jobs) {
      if (endSeenAt !== null && clock.now() - endSeenAt >= ENDED_RETENTION_MS) jobs.delete(id)
    }
  }
  const listViews = () => [...jobs.values()].map(({ view }) => view)
  const tellJobs = () => {
    const open = listViews().filter(({ endedAt }) => endedAt === null)
    const running = open.filter(({ status }) => status === 'running').reverse()
    const list = writeJobList([...running, ...open.filter(({ status }) => status === 'queued')])
    const json = JSON.stringify(list)
    if (json === lastJobList) return
    lastJobList = json
    feed.tell('jobs', null, { ...list })
  }
  /** Applies the stored state of a job. */
  const applyStored = (shared: SharedJob) => {
    const { record, worker } = shared
    const known = jobs.get(record.id)
    const view = viewOfShared(shared, known?.worker === worker ? known?.view : undefined, clock.now())
    const entry = known ?? { view, worker, endSeenAt: null, waiters: [] }
    const isEnd = view.endedAt !== null && entry.endSeenAt === null
    // A job that ended before this server started needs no event.
    if (known === undefined && isEnd && clock.now() - (view.endedAt ?? 0) >= ENDED_RETENTION_MS) return
    jobs.set(record.id, entry)
    entry.view = view
    entry.worker = worker
    if (!isEnd) return
    entry.endSeenAt = clock.now()
    if (known !== undefined) feed.tell('done', record.id, writeDone(view))
    for (const resolve of entry.waiters.splice(0)) resolve()
  }
  /** Applies the next batches of relayed events; returns how many it read. */
  const applyBatches = async (workers: Workers): Promise<number> => {
    const batches = await workers.listRelayed(readUpTo)
    const isFirst = readUpTo === undefined
    let hasReadJobs = false
    for (const { number, worker, body } of batches) {
      readUpTo = number
      const { views, events } = parseRelayBatch(body)
      // Events of a worker may arrive before the mirror knows that the worker has the job.
      if (!hasReadJobs && views.some(({ id }) => jobs.get(id)?.worker !== worker)) {
        hasReadJobs = true
        await readJobs(workers)
      }
      for (const view of views) applyView(view, worker)
      // Events from before the start of this server are not forwarded.
      if (isFirst) continue
      for (const [name, jobId, payload] of events) {
        // Only the worker that has the job reports its progress.
        const isStale = name === 'progress' && jobId !== null && jobs.get(jobId)?.worker !== worker
        if (!isStale) feed.tell(name, jobId, payload)
      }
    }
    readUpTo ??= 0
    return batches.length
  }
  const applyAllBatches = async (workers: Workers): Promise<void> => {
    while ((await applyBatches(workers)) >= FULL_BATCH_SIZE);
  }
  const applyView = (reported: JobView, worker: string) => {
    const known = jobs.get(reported.id)
    // A worker may not know yet that it has lost its job.
    if (known === undefined || known.worker !== worker || known.view.endedAt !== null) return
    const { status, stage, stageChangedAt, paused } = known.view
    // A job has ended only once the library says so. The pause state of this server is newer than that of the worker.
    const overrides = reported.endedAt === null ? { paused } : { paused, status, stage, stageChangedAt, endedAt: null }
    if (reported.endedAt !== null) isDue = true
    known.view = { ...reported, ...overrides }
  }
  const readOnce = async (workers: Workers) => {
    const before = new Set(jobs.keys())
    const found = await workers.listJobs(ENDED_WITHIN_MS)
    const storedIds = new Set(found.map(({ record }) => record.id))
    for (const shared of found) applyStored(shared)
    // Drops jobs that no longer exist in the library, except those added during this read.
    for (const [id, { view, waiters }] of jobs) {
      if (view.endedAt !== null || storedIds.has(id) || !before.has(id)) continue
      jobs.delete(id)
      for (const resolve of waiters.splice(0)) resolve()
    }
    const available = (await workers.list()).filter((one) => one.state === 'working' && !isLost(one))
    slots = available.reduce((sum, one) => sum + one.slots, 0)
  }
  /** Reads run one after the other, so that an older result never overwrites a newer one. */
  const readJobs = (workers: Workers): Promise<void> => {
    reading = reading.catch(() => undefined).then(() => readOnce(workers))
    return reading
  }
  const poll = async () => {
    try {
      const workers = await options.workers()
      stopListening ??= workers.listen(handleNotification)
      if (readUpTo === undefined) await readJobs(workers)
      await applyAllBatches(workers)
      if (isDue || clock.now() - fullReadAt >= FULL_READ_INTERVAL_MS) {
        isDue = false
        await readJobs(workers)
        fullReadAt = clock.now()
        forgetOld()
      }
      tellJobs()
      if (isUnreachable) log?.info('the library can be reached again')
      isUnreachable = false
    } catch (error) {
      if (!isUnreachable && !closing.signal.aborted) log?.warn(`could not read the jobs; retrying: ${messageOf(error)}`)
      isUnreachable = true
    }
  }
  const keepPolling = async () => {
    while (!closing.signal.aborted) {
      wake = new AbortController()
      await poll()
      await clock.sleep(MIN_POLL_INTERVAL_MS, closing.signal).catch(() => undefined)
      await clock
        .sleep(POLL_INTERVAL_MS, AbortSignal.any([wake.signal, closing.signal]))
        .then(requestFullRead, () => undefined)
    }
  }
  /** Without notifications for a while, notifications may be broken, so the next poll reads all jobs. */
  const requestFullRead = () => {
    isDue = true
  }
  const handleNotification = (about: WorkerNotification) => {
    if (about === 'shared') return
    if (about !== 'passed') isDue = true
    wake.abort()
  }
  const find = (id: string): MirroredJob | undefined => {
    forgetOld()
    return jobs.get(id)
  }
  const requireEntry = (id: string): MirroredJob => {
    const job = find(id)
    if (job === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
    return job
  }
  return {
    get slots() {
      return slots
    },
    list() {
      forgetOld()
      return listViews().reverse()
    },
    find: (id) => find(id)?.view,
    requireJob: (id) => requireEntry(id).view,
    add(job) {
      // A worker may already have started the job, so a known state is not overwritten.
      if (!jobs.has(job.record.id)) applyStored(job)
      tellJobs()
      handleNotification('jobs')
    },
    setPaused(id, paused) {
      const job = requireEntry(id)
      job.view = { ...job.view, paused }
      tellJobs()
    },
    async refresh() {
      await readJobs(await options.workers())
      tellJobs()
    },
    async wait(id) {
      const job = requireEntry(id)
      if (job.view.endedAt === null && !closing.signal.aborted) {
        await new Promise<void>((resolve) => job.waiters.push(resolve))
      }
      return job.view
    },
    start() {
      polling ??= keepPolling()
    },
    async close() {
      closing.abort()
      await waitUpTo(clock, Promise.all([polling, stopListening?.()]), CLOSE_TIMEOUT_MS)
      for (const { waiters } of jobs.values()) for (const resolve of waiters.splice(0)) resolve()
    },
  }
}

/** Builds the view of a job from the last report of its worker, unless the stored state is newer. */
function viewOfShared({ record, isPaused }: SharedJob, reported: JobView | undefined, now: number): JobView {
  const { status, endedAt, startedAt, problem, restarts, crawlId, sourceId } = record
  if (reported !== undefined && (reported.status === status || endedAt !== null)) {
    const stage = endedAt === null ? reported.stage : 'ended'
    const stageChangedAt = stage === reported.stage ? reported.stageChangedAt : now
    const progress = reported.progress ?? record.progress
    return {
      ...{ ...reported, status, stage, stageChangedAt, endedAt, startedAt, problem, restarts, progress },
      paused: isPaused,
      crawlId: crawlId ?? reported.crawlId,
      sourceId: sourceId ?? reported.sourceId,
    }
  }
  const job = createTrackedJob(record.id, restoreRequest(record), now, record)
  job.status = status
  job.paused = isPaused
  job.endedAt = endedAt
  job.problem = problem
  if (status !== 'queued') setStage(job, endedAt === null ? 'preparing' : 'ended', now)
  // The pid belongs to another machine, so it comes from the record.
  return { ...viewOf(job, now), pid: record.process?.pid ?? null }
}
