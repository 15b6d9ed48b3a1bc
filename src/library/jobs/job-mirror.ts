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

/** Options of {@link JobMirror}. */
export interface MirrorOptions {
  /** Opens the library, retrying until it succeeds. */
  readonly workers: () => Promise<Workers>
  readonly feed: Feed
  readonly clock: Clock
  readonly log?: DispatcherLog | undefined
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

/**
 * A server's copy of the jobs in a library. It reads the library and the events that workers relay, and forwards those events to its feed.
 */
export class JobMirror {
  readonly #options: MirrorOptions
  readonly #jobs = new Map<string, MirroredJob>()
  readonly #closing = new AbortController()
  #wake = new AbortController()
  /** Set when jobs may have changed in ways that workers do not relay. */
  #isDue = true
  #readUpTo: number | undefined
  #fullReadAt = Number.NEGATIVE_INFINITY
  #isUnreachable = false
  #slots = 0
  #reading = Promise.resolve()
  #lastJobList = ''
  #polling: Promise<void> | undefined
  #stopListening: (() => Promise<void>) | undefined

  constructor(options: MirrorOptions) {
    this.#options = options
  }

  /** Total number of job slots of all workers. */
  get slots(): number {
    return this.#slots
  }

  /** Lists queued, running and recently ended jobs, newest first. */
  list(): readonly JobView[] {
    this.#forgetOld()
    return this.#listViews().reverse()
  }

  find(id: string): JobView | undefined {
    return this.#find(id)?.view
  }

  /** Finds a job, or throws `JOB_UNKNOWN`. */
  requireJob(id: string): JobView {
    return this.#requireEntry(id).view
  }

  /** Adds a job that was just created, unless the mirror already has it. */
  add(job: SharedJob): void {
    // A worker may already have started the job, so a known state is not overwritten.
    if (!this.#jobs.has(job.record.id)) this.#applyStored(job)
    this.#tellJobs()
    this.#handleNotification('jobs')
  }

  setPaused(id: string, paused: boolean): void {
    const job = this.#requireEntry(id)
    job.view = { ...job.view, paused }
    this.#tellJobs()
  }

  /** Reads all jobs now. */
  async refresh(): Promise<void> {
    await this.#readJobs(await this.#options.workers())
    this.#tellJobs()
  }

  /** Resolves when the job has ended, or with its last state when the mirror is closed. */
  async wait(id: string): Promise<JobView> {
    const job = this.#requireEntry(id)
    if (job.view.endedAt === null && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => job.waiters.push(resolve))
    }
    return job.view
  }

  /** Starts polling. */
  start(): void {
    this.#polling ??= this.#keepPolling()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await waitUpTo(this.#options.clock, Promise.all([this.#polling, this.#stopListening?.()]), CLOSE_TIMEOUT_MS)
    for (const { waiters } of this.#jobs.values()) for (const resolve of waiters.splice(0)) resolve()
  }

  #forgetOld(): void {
    for (const [id, { endSeenAt }] of this.#jobs) {
      if (endSeenAt !== null && this.#options.clock.now() - endSeenAt >= ENDED_RETENTION_MS) this.#jobs.delete(id)
    }
  }

  #listViews() {
    return [...this.#jobs.values()].map(({ view }) => view)
  }

  #tellJobs(): void {
    const open = this.#listViews().filter(({ endedAt }) => endedAt === null)
    const running = open.filter(({ status }) => status === 'running').reverse()
    const list = writeJobList([...running, ...open.filter(({ status }) => status === 'queued')])
    const json = JSON.stringify(list)
    if (json === this.#lastJobList) return
    this.#lastJobList = json
    this.#options.feed.tell('jobs', null, { ...list })
  }

  /** Applies the stored state of a job. */
  #applyStored(shared: SharedJob): void {
    const { clock, feed } = this.#options
    const { record, worker } = shared
    const known = this.#jobs.get(record.id)
    const view = viewOfShared(shared, known?.worker === worker ? known?.view : undefined, clock.now())
    const entry = known ?? { view, worker, endSeenAt: null, waiters: [] }
    const isEnd = view.endedAt !== null && entry.endSeenAt === null
    // A job that ended before this server started needs no event.
    if (known === undefined && isEnd && clock.now() - (view.endedAt ?? 0) >= ENDED_RETENTION_MS) return
    this.#jobs.set(record.id, entry)
    entry.view = view
    entry.worker = worker
    if (!isEnd) return
    entry.endSeenAt = clock.now()
    if (known !== undefined) feed.tell('done', record.id, writeDone(view))
    for (const resolve of entry.waiters.splice(0)) resolve()
  }

  /** Applies the next batches of relayed events; returns how many it read. */
  async #applyBatches(workers: Workers): Promise<number> {
    const batches = await workers.listRelayed(this.#readUpTo)
    const isFirst = this.#readUpTo === undefined
    let hasReadJobs = false
    for (const { number, worker, body } of batches) {
      this.#readUpTo = number
      const { views, events } = parseRelayBatch(body)
      // Events of a worker may arrive before the mirror knows that the worker has the job.
      if (!hasReadJobs && views.some(({ id }) => this.#jobs.get(id)?.worker !== worker)) {
        hasReadJobs = true
        await this.#readJobs(workers)
      }
      for (const view of views) this.#applyView(view, worker)
      // Events from before the start of this server are not forwarded.
      if (isFirst) continue
      for (const [name, jobId, payload] of events) {
        // Only the worker that has the job reports its progress.
        const isStale = name === 'progress' && jobId !== null && this.#jobs.get(jobId)?.worker !== worker
        if (!isStale) this.#options.feed.tell(name, jobId, payload)
      }
    }
    this.#readUpTo ??= 0
    return batches.length
  }

  async #applyAllBatches(workers: Workers): Promise<void> {
    while ((await this.#applyBatches(workers)) >= FULL_BATCH_SIZE);
  }

  #applyView(reported: JobView, worker: string): void {
    const known = this.#jobs.get(reported.id)
    // A worker may not know yet that it has lost its job.
    if (known === undefined || known.worker !== worker || known.view.endedAt !== null) return
    const { status, stage, stageChangedAt, paused } = known.view
    // A job has ended only once the library says so. The pause state of this server is newer than that of the worker.
    const overrides = reported.endedAt === null ? { paused } : { paused, status, stage, stageChangedAt, endedAt: null }
    if (reported.endedAt !== null) this.#isDue = true
    known.view = { ...reported, ...overrides }
  }

  async #readOnce(workers: Workers): Promise<void> {
    const before = new Set(this.#jobs.keys())
    const found = await workers.listJobs(ENDED_WITHIN_MS)
    const storedIds = new Set(found.map(({ record }) => record.id))
    for (const shared of found) this.#applyStored(shared)
    // Drops jobs that no longer exist in the library, except those added during this read.
    for (const [id, { view, waiters }] of this.#jobs) {
      if (view.endedAt !== null || storedIds.has(id) || !before.has(id)) continue
      this.#jobs.delete(id)
      for (const resolve of waiters.splice(0)) resolve()
    }
    const available = (await workers.list()).filter((one) => one.state === 'working' && !isLost(one))
    this.#slots = available.reduce((sum, one) => sum + one.slots, 0)
  }

  /** Reads run one after the other, so that an older result never overwrites a newer one. */
  #readJobs(workers: Workers): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readOnce(workers))
    return this.#reading
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#options
    try {
      const workers = await this.#options.workers()
      this.#stopListening ??= workers.listen(this.#handleNotification)
      if (this.#readUpTo === undefined) await this.#readJobs(workers)
      await this.#applyAllBatches(workers)
      if (this.#isDue || clock.now() - this.#fullReadAt >= FULL_READ_INTERVAL_MS) {
        this.#isDue = false
        await this.#readJobs(workers)
        this.#fullReadAt = clock.now()
        this.#forgetOld()
      }
      this.#tellJobs()
      if (this.#isUnreachable) log?.info('the library can be reached again')
      this.#isUnreachable = false
    } catch (error) {
      if (!this.#isUnreachable && !this.#closing.signal.aborted)
        log?.warn(`could not read the jobs; retrying: ${messageOf(error)}`)
      this.#isUnreachable = true
    }
  }

  async #keepPolling(): Promise<void> {
    const { clock } = this.#options
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController()
      await this.#poll()
      await clock.sleep(MIN_POLL_INTERVAL_MS, this.#closing.signal).catch(() => undefined)
      await clock
        .sleep(POLL_INTERVAL_MS, AbortSignal.any([this.#wake.signal, this.#closing.signal]))
        .then(this.#requestFullRead, () => undefined)
    }
  }

  /** Without notifications for a while, notifications may be broken, so the next poll reads all jobs. */
  readonly #requestFullRead = (): void => {
    this.#isDue = true
  }

  readonly #handleNotification = (about: WorkerNotification): void => {
    if (about === 'shared') return
    if (about !== 'passed') this.#isDue = true
    this.#wake.abort()
  }

  #find(id: string): MirroredJob | undefined {
    this.#forgetOld()
    return this.#jobs.get(id)
  }

  #requireEntry(id: string): MirroredJob {
    const job = this.#find(id)
    if (job === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
    return job
  }
}

/** Builds the view of a job from the last report of its worker, unless the stored state is newer. */
function viewOfShared({ record, isPaused }: SharedJob, reported: JobView | undefined, now: number): JobView {
  const { status, endedAt, startedAt, problem, code, signal, restarts, crawlId, sourceId } = record
  if (reported !== undefined && (reported.status === status || endedAt !== null)) {
    const stage = endedAt === null ? reported.stage : 'ended'
    const stageChangedAt = stage === reported.stage ? reported.stageChangedAt : now
    const progress = reported.progress ?? record.progress
    return {
      ...{ ...reported, status, stage, stageChangedAt, endedAt, startedAt, problem, code, signal, restarts, progress },
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
