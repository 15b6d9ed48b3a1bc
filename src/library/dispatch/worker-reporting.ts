import { messageOf } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobAsk, WorkerReport, Workers } from '../workers.ts'
import type { DispatcherLog, JobRuns } from './job-runs.ts'
import type { Done, TrackedJob } from './tracked-job.ts'

/** What a worker tells of itself, and what it is made of. */
export interface ReportingOptions {
  readonly workers: Workers
  readonly about: Pick<WorkerReport, 'id' | 'name' | 'version' | 'isServer' | 'slots'>
  readonly clock: Clock
  /** The process of a number, as one that runs crawls. */
  readonly runnerOf: (pid: number) => string
  readonly runs: JobRuns
  /** What it helps others with. */
  readonly helping: { readonly jobs: readonly TrackedJob[]; readonly done: Done }
  readonly log?: DispatcherLog | undefined
}

/** Says that a worker is there, and does what is asked of its jobs. */
export interface Reporting {
  /** Counts what a job did here that is not run here any more. */
  noteLeft(job: TrackedJob): void
  /** Reports for the first time, then again and again. */
  start(): Promise<void>
  /** Reports at once. */
  wake(): void
  /** Says that it takes nothing new. */
  drain(): void
  close(): Promise<void>
}

/** How often a worker says that it is there, and looks what is asked of its jobs when nobody wakes it. */
const REPORT_MS = 1000

/** Creates what reports. */
export function createReporting({ workers, about, clock, runnerOf, runs, helping, log }: ReportingOptions): Reporting {
  const startedAt = clock.now()
  const closing = new AbortController()
  /** The processes that others know of, by their jobs. */
  const held = new Map<string, string>()
  const done = { visits: 0, bytes: 0 }
  let wake = new AbortController()
  let state: WorkerReport['state'] = 'working'
  let isSilent = false
  let reporting = Promise.resolve()

  const writeReport = (): WorkerReport => {
    const own = [...runs.running]
    const jobs = [...own, ...helping.jobs]
    const counts = [...jobs.map(({ own }) => own), done, helping.done]
    return {
      ...about,
      state,
      startedAt,
      jobs: own.map(({ id }) => id),
      helps: helping.jobs.map(({ id }) => id),
      holders: jobs.flatMap((job) => holderOf(job) ?? []),
      visits: counts.reduce((sum, { visits }) => sum + visits, 0),
      bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
      visitsPerSec: round(jobs.reduce((sum, { ownMeter }) => sum + ownMeter.read(clock.now()).requestsPerSec, 0)),
    }
  }
  const holderOf = ({ child }: TrackedJob): string | undefined => (child?.mark ? runnerOf(child.mark.pid) : undefined)
  const obey = ({ jobId, end, isPaused }: JobAsk) => {
    const job = [...runs.running].find(({ id }) => id === jobId)
    if (job === undefined) return
    if (end !== null && job.askedEnd === null) runs.stop(job, end)
    if (isPaused !== job.paused) runs.command(job, isPaused)
  }
  /** Whoever takes the job after this worker has to know which process has lost it. */
  const noteHolders = async () => {
    for (const job of runs.running) {
      const holder = holderOf(job)
      if (holder === undefined || held.get(job.id) === holder) continue
      await workers.hold(job.id, about.id, holder)
      held.set(job.id, holder)
    }
  }
  const report = async () => {
    try {
      for (const ask of await workers.report(writeReport())) obey(ask)
      await noteHolders()
      if (isSilent) log?.info('the library can be reached again')
      isSilent = false
    } catch (error) {
      if (!isSilent) log?.warn(`the library cannot be reached, which is tried again: ${messageOf(error)}`)
      isSilent = true
    }
  }
  const keepReporting = async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(REPORT_MS, AbortSignal.any([wake.signal, closing.signal])).catch(() => undefined)
      wake = new AbortController()
      await report()
    }
  }
  return {
    noteLeft({ id, own }) {
      done.visits += own.visits
      done.bytes += own.bytes
      held.delete(id)
    },
    async start() {
      await report()
      reporting = keepReporting()
    },
    wake: () => wake.abort(),
    drain() {
      state = 'draining'
      wake.abort()
    },
    close() {
      closing.abort()
      return reporting
    },
  }
}

/** More is not known of a speed. */
function round(speed: number): number {
  return Math.round(speed * 100) / 100
}
