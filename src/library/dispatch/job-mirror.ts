import { messageOf, PharosError } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import { isLost, type News, type SharedJob, type Workers } from '../workers.ts'
import type { JobView } from './dispatcher.ts'
import type { Feed } from './feed.ts'
import { writeDone } from './job-item.ts'
import type { DispatcherLog } from './job-runs.ts'
import { KEEP_ENDED_MS, orderOf, writeJobList } from './open-jobs.ts'
import { readPassage } from './passed-on.ts'
import { createTrackedJob, setStage, viewOf } from './tracked-job.ts'
import { within } from './within.ts'

/** What a mirror is made with. */
export interface MirrorOptions {
  /** Tried again until the library can be opened. */
  readonly workers: () => Promise<Workers>
  readonly feed: Feed
  readonly clock: Clock
  readonly log?: DispatcherLog | undefined
}

/** The jobs of a library as a server knows them: read from the library, and from what workers pass on, which it tells to its feed. */
export interface JobMirror {
  /** Crawls that all workers together run at once. */
  readonly slots: number
  /** Those that wait, run, or ended a moment ago; newest first. */
  list(): readonly JobView[]
  find(id: string): JobView | undefined
  /** The same; refuses one that nobody knows with `JOB_UNKNOWN`. */
  need(id: string): JobView
  /** Takes in a job that was just added, or a change that was just made. */
  add(job: SharedJob): void
  setPaused(id: string, isPaused: boolean): void
  /** Looks at all jobs now. */
  refresh(): Promise<void>
  /** Resolves when a job has ended, or stands where it stood when the mirror was closed. */
  wait(id: string): Promise<JobView>
  /** Looks again and again. */
  start(): void
  close(): Promise<void>
}

/** A job as it is known here. */
interface Mirrored {
  view: JobView
  /** The worker that has it, or had it last. */
  worker: string | null
  /** When its end was first seen here. */
  endSeenAt: number | null
  readonly waiters: (() => void)[]
}

/** How often is looked what became of jobs when nobody wakes it, and at least. */
const LOOK_MS = 1000
const LOOK_AGAIN_MS = 5_000
/** Woken again and again, it is looked no more often than this. */
const REST_MS = 50
/** Where so much was passed on at once, there may be more. */
const MANY = 100
/** Jobs that ended so long ago are looked for, should a look fail now and then. */
const ENDED_WITHIN_MS = 60_000
/** How long the last look may take. */
const LAST_MS = 3_000

/** Creates a mirror. */
export function createJobMirror(options: MirrorOptions): JobMirror {
  const { feed, clock, log } = options
  const jobs = new Map<string, Mirrored>()
  const closing = new AbortController()
  let wake = new AbortController()
  /** Whether jobs may have changed in other ways than their workers pass on. */
  let isDue = true
  let readUpTo: number | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let isSilent = false
  let slots = 0
  let reading = Promise.resolve()
  let toldJobs = ''
  let watching: Promise<void> | undefined
  let stopListening: (() => Promise<void>) | undefined

  const forgetOld = () => {
    for (const [id, { endSeenAt }] of jobs) {
      if (endSeenAt !== null && clock.now() - endSeenAt >= KEEP_ENDED_MS) jobs.delete(id)
    }
  }
  const listViews = () => [...jobs.values()].map(({ view }) => view)
  const tellJobs = () => {
    const open = listViews().filter(({ endedAt }) => endedAt === null)
    const running = open.filter(({ status }) => status === 'running').reverse()
    const list = writeJobList([...running, ...open.filter(({ status }) => status === 'queued')])
    const told = JSON.stringify(list)
    if (told === toldJobs) return
    toldJobs = told
    feed.tell('jobs', null, { ...list })
  }
  /** Takes in a job as the library has it. */
  const take = (shared: SharedJob) => {
    const { record, worker } = shared
    const known = jobs.get(record.id)
    const view = viewOfShared(shared, known?.worker === worker ? known?.view : undefined, clock.now())
    const entry = known ?? { view, worker, endSeenAt: null, waiters: [] }
    const isEnd = view.endedAt !== null && entry.endSeenAt === null
    // One that had ended before this server began is no news.
    if (known === undefined && isEnd && clock.now() - (view.endedAt ?? 0) >= KEEP_ENDED_MS) return
    jobs.set(record.id, entry)
    entry.view = view
    entry.worker = worker
    if (!isEnd) return
    entry.endSeenAt = clock.now()
    if (known !== undefined) feed.tell('done', record.id, writeDone(view))
    for (const tell of entry.waiters.splice(0)) tell()
  }
  /** Takes in what workers have passed on; how much that was. */
  const takeSome = async (workers: Workers): Promise<number> => {
    const passages = await workers.listPassedOn(readUpTo)
    const isFirst = readUpTo === undefined
    let isRead = false
    for (const { number, worker, body } of passages) {
      readUpTo = number
      const { views, events } = readPassage(body)
      // A worker may be quicker than what is known of who has which job.
      if (!isRead && views.some(({ id }) => jobs.get(id)?.worker !== worker)) {
        isRead = true
        await readJobs(workers)
      }
      for (const view of views) takeView(view, worker)
      // What was told before this server began is no news.
      if (isFirst) continue
      for (const [name, jobId, payload] of events) {
        // How far a job is, whoever has it tells.
        const isLate = name === 'progress' && jobId !== null && jobs.get(jobId)?.worker !== worker
        if (!isLate) feed.tell(name, jobId, payload)
      }
    }
    readUpTo ??= 0
    return passages.length
  }
  const takePassages = async (workers: Workers): Promise<void> => {
    while ((await takeSome(workers)) >= MANY);
  }
  const takeView = (told: JobView, worker: string) => {
    const known = jobs.get(told.id)
    // One that has lost its job may not know it yet.
    if (known === undefined || known.worker !== worker || known.view.endedAt !== null) return
    const { status, stage, stageChangedAt, paused } = known.view
    // That it has ended is believed when the library says so; whether it is to pause is known here earlier than there.
    const believed = told.endedAt === null ? { paused } : { paused, status, stage, stageChangedAt, endedAt: null }
    if (told.endedAt !== null) isDue = true
    known.view = { ...told, ...believed }
  }
  const readOnce = async (workers: Workers) => {
    const before = new Set(jobs.keys())
    const found = await workers.listJobs(ENDED_WITHIN_MS)
    const there = new Set(found.map(({ record }) => record.id))
    for (const shared of found) take(shared)
    // What the library does not know any more is forgotten here, too; what was added meanwhile is not meant.
    for (const [id, { view, waiters }] of jobs) {
      if (view.endedAt !== null || there.has(id) || !before.has(id)) continue
      jobs.delete(id)
      for (const tell of waiters.splice(0)) tell()
    }
    const taking = (await workers.list()).filter((one) => one.state === 'working' && !isLost(one))
    slots = taking.reduce((sum, one) => sum + one.slots, 0)
  }
  /** One after the other: what was read first is not to be taken for the latest. */
  const readJobs = (workers: Workers): Promise<void> => {
    reading = reading.catch(() => undefined).then(() => readOnce(workers))
    return reading
  }
  const look = async () => {
    try {
      const workers = await options.workers()
      stopListening ??= workers.listen(hear)
      if (readUpTo === undefined) await readJobs(workers)
      await takePassages(workers)
      if (isDue || clock.now() - lookedAt >= LOOK_AGAIN_MS) {
        isDue = false
        await readJobs(workers)
        lookedAt = clock.now()
        forgetOld()
      }
      tellJobs()
      if (isSilent) log?.info('the library can be reached again')
      isSilent = false
    } catch (error) {
      if (!isSilent && !closing.signal.aborted) log?.warn(`jobs cannot be looked after: ${messageOf(error)}`)
      isSilent = true
    }
  }
  const watch = async () => {
    while (!closing.signal.aborted) {
      wake = new AbortController()
      await look()
      await clock.sleep(REST_MS, closing.signal).catch(() => undefined)
      await clock.sleep(LOOK_MS, AbortSignal.any([wake.signal, closing.signal])).then(lookAtAll, () => undefined)
    }
  }
  /** Nobody has told anything: it may be that nobody can. */
  const lookAtAll = () => {
    isDue = true
  }
  const hear = (about: News) => {
    if (about === 'shared') return
    if (about !== 'passed') isDue = true
    wake.abort()
  }
  const find = (id: string): Mirrored | undefined => {
    forgetOld()
    return jobs.get(id)
  }
  const need = (id: string): Mirrored => {
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
    need: (id) => need(id).view,
    add(job) {
      // Somebody may have begun it already, and that may be known here.
      if (!jobs.has(job.record.id)) take(job)
      tellJobs()
      hear('jobs')
    },
    setPaused(id, paused) {
      const job = need(id)
      job.view = { ...job.view, paused }
      tellJobs()
    },
    async refresh() {
      await readJobs(await options.workers())
      tellJobs()
    },
    async wait(id) {
      const job = need(id)
      if (job.view.endedAt === null && !closing.signal.aborted) {
        await new Promise<void>((resolve) => job.waiters.push(resolve))
      }
      return job.view
    },
    start() {
      watching ??= watch()
    },
    async close() {
      closing.abort()
      await within(clock, Promise.all([watching, stopListening?.()]), LAST_MS)
      for (const { waiters } of jobs.values()) for (const tell of waiters.splice(0)) tell()
    },
  }
}

/** A job as others see it: what its worker told of it last, where that is not older than what the library has. */
function viewOfShared({ record, isPaused }: SharedJob, told: JobView | undefined, now: number): JobView {
  const { status, endedAt, startedAt, problem, restarts, crawlId, sourceId } = record
  if (told !== undefined && (told.status === status || endedAt !== null)) {
    const stage = endedAt === null ? told.stage : 'ended'
    const stageChangedAt = stage === told.stage ? told.stageChangedAt : now
    const progress = told.progress ?? record.progress
    return {
      ...{ ...told, status, stage, stageChangedAt, endedAt, startedAt, problem, restarts, progress, paused: isPaused },
      crawlId: crawlId ?? told.crawlId,
      sourceId: sourceId ?? told.sourceId,
    }
  }
  const job = createTrackedJob(record.id, orderOf(record), now, record)
  job.status = status
  job.paused = isPaused
  job.endedAt = endedAt
  job.problem = problem
  if (status !== 'queued') setStage(job, endedAt === null ? 'preparing' : 'ended', now)
  // A process elsewhere is known by its number there.
  return { ...viewOf(job, now), pid: record.process?.pid ?? null }
}
