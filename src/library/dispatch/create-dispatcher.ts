import { PharosError } from '../../core/errors.ts'
import { maskFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobLog, JobRecord, JobStatus } from '../job-log.ts'
import type { CrawlOrder, Dispatcher, JobView } from './dispatcher.ts'
import type { Feed } from './feed.ts'
import type { NoteFrame } from './frames.ts'
import { type Hearing, hearCrawl } from './hear-crawl.ts'
import { writeDone, writeJobItem } from './job-item.ts'
import { createLogWriter } from './log-writer.ts'
import { END_MS, endLeft, isInterruption, KILLED_MS, NOT_STARTED, problemOf, statusOf } from './process-end.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd } from './runner.ts'
import {
  createTrackedJob,
  isSameStart,
  keptProgress,
  milestoneKey,
  recordOf,
  setStage,
  type TrackedJob,
  viewOf,
} from './tracked-job.ts'
import { keepTrimmed } from './trim-rule.ts'
import { within } from './within.ts'

/** What a dispatcher is made with. */
export interface DispatcherOptions {
  readonly runner: CrawlRunner
  /** The history of jobs; tried again until it can be opened. */
  readonly jobLog: () => Promise<JobLog>
  readonly feed: Feed
  readonly clock: Clock
  /** A new UUID. */
  readonly newId: () => string
  /** The library that crawl processes write to. */
  readonly libraryPath: string
  /** So many jobs run at once. */
  readonly maxJobs: number
  /** Requests in flight of all jobs together. */
  readonly maxRequests: number
  /** So many jobs may wait. @default 1000 */
  readonly maxWaiting?: number
  /**
   * How long a job that broke off waits for its next process, the first time, the second and so on in which nothing was done; after
   * the last of them it has failed. @default 1 s, 5 s, 20 s
   */
  readonly restartPausesMs?: readonly number[]
  /** Ends a crawl of the library whose process was killed, and could not do so itself. */
  readonly endCrawl?: (sourceId: string, crawlId: string) => Promise<void>
  /** Where it says what it does. */
  readonly log?: DispatcherLog
}

/** Where a dispatcher says what it does. */
export interface DispatcherLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** A process that was asked to stop is ended after this. */
const ESCALATES_MS = 800
/**
 * How long one that ended is still listed. A page that lost its connection comes back after 3 s in Chromium and 5 s in Firefox, and
 * is to learn the end of what it was watching, also when its first try fails.
 */
const KEEP_ENDED_MS = 10_000
/** Silence at the start of a process that is worth a hint. */
const SILENCES_MS = [3_000, 10_000]
const RESTART_PAUSES_MS = [1_000, 5_000, 20_000]
const MAX_WAITING = 1_000
/** So many jobs are named in the list that is told, those that run first; a thousand that wait would drown all else. */
const MAX_TOLD = 50
/** So many of those that run are named to whoever finds no room. */
const MAX_NAMED = 3
/** How long whoever asks for a crawl waits until it is kept: after that it runs all the same, and is kept when that can be done. */
const KEPT_MS = 50
/** Bytes of what a process is told; systems take 128 kB for one word of it. */
const MAX_ORDER_BYTES = 100_000
/** Milestones that are looked for of a job that an earlier server left. */
const MAX_MILESTONES = 100
/** When the log could not be read at the start, it is tried again after this. */
const RECOVER_AGAIN_MS = 5_000

/** Runs crawls as processes. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { runner, feed, clock, log, maxJobs, maxRequests } = options
  const { maxWaiting = MAX_WAITING, restartPausesMs = RESTART_PAUSES_MS } = options
  /** All that are known, in the order in which they were asked for. */
  const jobs = new Map<string, TrackedJob>()
  /** Those that have room: with a process, or between two. */
  const running = new Set<TrackedJob>()
  const waiting: TrackedJob[] = []
  const closing = new AbortController()
  let closed: Promise<void> | undefined
  const writer = createLogWriter({
    jobLog: options.jobLog,
    clock,
    warn(message) {
      feed.tell('log', null, { stream: 'server', line: message })
      log?.warn(message)
    },
  })

  const say = (job: TrackedJob, text: string) => {
    const line = maskFields(text)
    feed.tell('log', job.id, { stream: 'server', line })
    log?.info(line, { jobId: job.id })
  }
  const tellJobs = () => {
    const open = [...[...running].reverse(), ...waiting]
    const items = open.slice(0, MAX_TOLD).map((job) => writeJobItem(viewOf(job, clock.now())))
    feed.tell('jobs', null, { count: open.length, items })
  }
  const forgetOld = () => {
    for (const [id, { endedAt }] of jobs) {
      if (endedAt !== null && clock.now() - endedAt >= KEEP_ENDED_MS) jobs.delete(id)
    }
  }
  const need = (id: string): TrackedJob => {
    forgetOld()
    const job = jobs.get(id)
    if (job === undefined) throw new PharosError('JOB_UNKNOWN', { job: id })
    return job
  }

  const hearing: Hearing = { feed, writer, clock, onFirstReport: tellJobs }
  /** Shares the requests that may be in flight among those that run. */
  const shareRequests = () => {
    const share = Math.max(1, Math.floor(maxRequests / Math.max(1, running.size)))
    for (const job of running) {
      if (job.share !== share && job.child?.send(`CONCURRENCY ${share}`) === true) job.share = share
    }
  }
  const startProcess = (job: TrackedJob) => {
    const args = [...job.order.args, `--job-id=${job.id}`, `--library=${options.libraryPath}`]
    job.heard = new AbortController()
    const child = runner.start(args, (stream, line) => hearCrawl(hearing, job, stream, line))
    job.child = child
    job.mark = child.mark
    job.share = 0
    setStage(job, 'preparing', clock.now())
    const { status, mark, startedAt, restarts } = job
    writer.change(job.id, { status, process: mark, startedAt, restarts })
    shareRequests()
    if (job.paused) child.send('PAUSE')
    tellJobs()
    if (child.mark !== null) say(job, `the crawl of ${job.order.url} was started as process ${child.mark.pid}`)
    void watchSilence(job, job.heard.signal)
    void child.ended.then((end) => settle(job, end))
  }
  const launch = (job: TrackedJob) => {
    running.add(job)
    job.status = 'running'
    job.startedAt ??= clock.now()
    startProcess(job)
  }
  const isUnderWay = (order: CrawlOrder) => [...running].some((job) => isSameStart(order, job))
  const launchNext = () => {
    while (!closing.signal.aborted && running.size < maxJobs) {
      // A process for what another one crawls would have nothing to do but wait.
      const place = waiting.findIndex(({ order }) => !isUnderWay(order))
      const [job] = place < 0 ? [] : waiting.splice(place, 1)
      if (job === undefined) return
      launch(job)
    }
  }
  /** Takes on a new job, which is kept when what it is given has happened. */
  const track = async (order: CrawlOrder, place: (job: TrackedJob) => void): Promise<JobView> => {
    forgetOld()
    const job = createTrackedJob(options.newId(), order, clock.now())
    jobs.set(job.id, job)
    const kept = writer.add(recordOf(job))
    place(job)
    const view = viewOf(job, clock.now())
    // What was promised is there after a crash, too.
    await within(clock, kept, KEPT_MS)
    return view
  }
  const watchSilence = async (job: TrackedJob, heard: AbortSignal) => {
    let passed = 0
    for (const silence of SILENCES_MS) {
      // Ends with the first word of the process.
      const isHeard = await clock.sleep(silence - passed, heard).then(
        () => false,
        () => true,
      )
      if (isHeard) return
      passed = silence
      say(
        job,
        `its process has said nothing for ${silence / 1000} s; it may be waiting for a slow site or a busy library`,
      )
    }
  }

  const settle = (job: TrackedJob, end: ProcessEnd) => {
    job.child = null
    job.heard.abort()
    const isBrokenOff = end.problem === null && isInterruption(end) && job.askedEnd === null
    // It goes on with the next server.
    if (isBrokenOff && closing.signal.aborted) return
    const pauseMs = restartPausesMs[job.vainStarts]
    if (isBrokenOff && pauseMs !== undefined) void startAgain(job, end, pauseMs)
    else finish(job, statusOf(job, end), end)
  }
  const startAgain = async (job: TrackedJob, end: ProcessEnd, pauseMs: number) => {
    job.restarts++
    job.vainStarts++
    job.carried = job.progress
    setStage(job, 'preparing', clock.now())
    say(
      job,
      `its process was ended by ${end.signal ?? `code ${end.code}`}, and is started again in ${pauseMs / 1000} s`,
    )
    writer.change(job.id, { restarts: job.restarts })
    tellJobs()
    await clock.sleep(pauseMs, AbortSignal.any([job.over.signal, closing.signal])).catch(() => undefined)
    if (closing.signal.aborted) return
    if (job.askedEnd === null) startProcess(job)
    else finish(job, job.askedEnd, end)
  }
  const finish = (job: TrackedJob, status: JobStatus, end: ProcessEnd) => {
    running.delete(job)
    job.status = status
    job.endedAt = clock.now()
    job.code = end.code
    job.signal = end.signal
    job.problem = status === 'failed' ? problemOf(job, end, options.libraryPath) : null
    setStage(job, 'ended', clock.now())
    const { endedAt, problem, progress, crawlId, sourceId } = job
    writer.change(job.id, { status, endedAt, problem, progress, crawlId, sourceId })
    if (end.signal !== null && sourceId !== null && crawlId !== null) {
      void options.endCrawl?.(sourceId, crawlId).catch((error: unknown) => log?.warn(String(error), { jobId: job.id }))
    }
    feed.tell('done', job.id, writeDone(viewOf(job, clock.now())))
    say(
      job,
      problem === null
        ? `the crawl of ${job.order.url} is ${status}`
        : `the crawl of ${job.order.url} failed: ${problem}`,
    )
    job.over.abort()
    for (const tell of job.waiters.splice(0)) tell()
    launchNext()
    shareRequests()
    tellJobs()
  }
  const escalate = async (job: TrackedJob, child: CrawlProcess) => {
    const isOver = await clock.sleep(ESCALATES_MS, job.over.signal).then(
      () => false,
      () => true,
    )
    if (!isOver) child.kill('SIGKILL')
  }
  const command = (id: string, paused: boolean): boolean => {
    const job = need(id)
    // One between two processes is told with the next; one that waits may go on, but has nothing to pause.
    const isOpen = job.endedAt === null && (running.has(job) || (!paused && job.paused))
    if (!isOpen || job.child?.send(paused ? 'PAUSE' : 'RESUME') === false) return false
    job.paused = paused
    // The next server has to know, too.
    writer.change(job.id, { progress: keptProgress(job) }, true)
    tellJobs()
    return true
  }

  const takeUp = (record: JobRecord, milestones: readonly NoteFrame[]) => {
    const { id, url, args, sourceId } = record
    const job = createTrackedJob(id, { url, args, ...(sourceId === null ? {} : { sourceId }) }, clock.now(), record)
    jobs.set(id, job)
    for (const note of milestones) job.milestones.add(milestoneKey(note))
    waiting.push(job)
    writer.change(id, { status: 'queued' })
  }
  const sayLeft = (count: number) => {
    if (count === 0) return
    const what = count === 1 ? 'a crawl was' : `${count} crawls were`
    const line = `${what} broken off by the end of an earlier server, and ${count === 1 ? 'goes' : 'go'} on`
    feed.tell('log', null, { stream: 'server', line })
    log?.info(line)
  }
  const recover = async (): Promise<void> => {
    try {
      const kept = await options.jobLog()
      const left = (await kept.listOpen()).filter(({ id }) => !jobs.has(id))
      await Promise.all(left.map((record) => endLeft(runner, clock, record.process)))
      const reached = new Map<string, readonly NoteFrame[]>()
      for (const { id: jobId, startedAt } of left) {
        if (startedAt !== null) reached.set(jobId, await kept.listMilestones({ jobId, limit: MAX_MILESTONES }))
      }
      if (closing.signal.aborted) return
      for (const record of left) takeUp(record, reached.get(record.id) ?? [])
      sayLeft(left.filter(({ status }) => status === 'running').length)
      launchNext()
      tellJobs()
      void keepTrimmed(options.jobLog, clock, (message) => log?.warn(message), closing.signal)
    } catch (error) {
      log?.warn(`what an earlier server left cannot be read, which is tried again: ${String(error)}`)
      void clock.sleep(RECOVER_AGAIN_MS, closing.signal).then(recover, () => undefined)
    }
  }
  const close = async () => {
    closing.abort()
    const children = [...running].flatMap(({ child }) => (child === null ? [] : [child]))
    for (const child of children) child.kill('SIGTERM')
    const ended = Promise.all(children.map((child) => child.ended))
    await within(clock, ended, END_MS)
    for (const child of children) child.kill('SIGKILL')
    await within(clock, ended, KILLED_MS)
    // They are still running as far as the log knows: so the next server goes on with them.
    for (const job of running) writer.change(job.id, { progress: keptProgress(job) })
    await within(clock, writer.close(), END_MS)
    for (const job of [...running, ...waiting]) for (const tell of job.waiters.splice(0)) tell()
  }

  const refuse = ({ args }: CrawlOrder) => {
    if (closing.signal.aborted) throw new PharosError('INTERRUPTED')
    const bytes = new TextEncoder().encode(args.join(' ')).length
    if (bytes <= MAX_ORDER_BYTES) return
    const problem = `expected at most ${MAX_ORDER_BYTES} bytes in all that a crawl is told, got ${bytes}`
    throw new PharosError('USAGE', { problem })
  }
  const refuseFull = () => {
    const count = running.size
    if (count < maxJobs) return
    const starts = [...running].slice(0, MAX_NAMED).map(({ order }) => maskFields(order.url))
    const what = `${count === 1 ? '1 crawl is' : `${count} crawls are`} under way (${starts.join(', ')})`
    throw new PharosError('JOBS_FULL', { count, what, rule: 'the setting maxCrawls allows' })
  }
  return {
    feed,
    allowsSeveral: maxJobs > 1,
    async begin(order) {
      refuse(order)
      // Nothing is waited for between this and the start: two at the same instant cannot both find room for one.
      refuseFull()
      if (isUnderWay(order)) throw new PharosError('CRAWL_RUNNING', { source: maskFields(order.url) })
      return track(order, launch)
    },
    async enqueue(order) {
      refuse(order)
      if (waiting.length >= maxWaiting) {
        const what = `${waiting.length} crawls wait here`
        throw new PharosError('JOBS_FULL', { count: waiting.length, what, rule: 'there may be at once' })
      }
      return track(order, (job) => {
        waiting.push(job)
        launchNext()
        if (job.stage === 'queued') tellJobs()
      })
    },
    list() {
      forgetOld()
      return [...jobs.values()].map((job) => viewOf(job, clock.now())).reverse()
    },
    find(id) {
      forgetOld()
      const job = jobs.get(id)
      return job === undefined ? undefined : viewOf(job, clock.now())
    },
    async stop(id, end = 'stopped') {
      const job = need(id)
      if (job.endedAt !== null) return { stopped: false, escalatesInMs: 0 }
      const place = waiting.indexOf(job)
      if (place >= 0) {
        waiting.splice(place, 1)
        finish(job, 'cancelled', NOT_STARTED)
        return { stopped: true, escalatesInMs: 0 }
      }
      const isFirst = job.askedEnd === null
      job.askedEnd ??= end
      const { child } = job
      if (child === null) job.over.abort()
      child?.kill('SIGTERM')
      if (child !== null && isFirst) void escalate(job, child)
      return { stopped: true, escalatesInMs: child === null ? 0 : ESCALATES_MS }
    },
    pause: (id) => command(id, true),
    resume: (id) => command(id, false),
    async wait(id) {
      const job = need(id)
      if (job.endedAt === null && !closing.signal.aborted) {
        await new Promise<void>((resolve) => job.waiters.push(resolve))
      }
      return viewOf(job, clock.now())
    },
    recover,
    close() {
      closed ??= close()
      return closed
    },
  }
}
