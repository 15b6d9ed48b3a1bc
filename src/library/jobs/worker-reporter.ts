import { messageOf } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobCommand, WorkerReport, Workers } from '../ports/workers.ts'
import type { DispatcherLog, JobRuns } from './job-runs.ts'
import type { TrackedJob, WorkCounts } from './tracked-job.ts'

/** Options of {@link createWorkerReporter}. */
export interface WorkerReporterOptions {
  readonly workers: Workers
  readonly identity: Pick<WorkerReport, 'id' | 'name' | 'version' | 'isServer' | 'slots'>
  readonly clock: Clock
  /** Names a crawl process by its pid, in the form that the library stores as runner. */
  readonly runnerOf: (pid: number) => string
  readonly runs: JobRuns
  /** Jobs of other workers that this worker helps with, and the work of helpers that have ended. */
  readonly sharing: { readonly jobs: readonly TrackedJob[]; readonly done: WorkCounts }
  readonly log?: DispatcherLog | undefined
}

/** Sends the heartbeats of a worker and carries out commands for its jobs. */
export interface WorkerReporter {
  /** Adds to the totals the work of a job that this worker no longer runs. */
  addEndedJob(job: TrackedJob): void
  /** Sends the first report, then keeps reporting. */
  start(): Promise<void>
  /** Reports now. */
  wake(): void
  /** Reports that the worker takes no new jobs. */
  drain(): void
  close(): Promise<void>
}

/** Heartbeat interval, and poll interval for commands when no notification arrives. */
const HEARTBEAT_INTERVAL_MS = 1000

/** Creates the reporting of a worker. */
export function createWorkerReporter({
  workers,
  identity,
  clock,
  runnerOf,
  runs,
  sharing,
  log,
}: WorkerReporterOptions): WorkerReporter {
  const startedAt = clock.now()
  const closing = new AbortController()
  /** Processes already reported to the library, by job. */
  const reportedHolders = new Map<string, string>()
  const done = { visits: 0, bytes: 0 }
  let wake = new AbortController()
  let state: WorkerReport['state'] = 'working'
  let isUnreachable = false
  let reporting = Promise.resolve()

  const writeReport = (): WorkerReport => {
    const own = [...runs.running]
    const jobs = [...own, ...sharing.jobs]
    const counts = [...jobs.map(({ ownWork }) => ownWork), done, sharing.done]
    return {
      ...identity,
      state,
      startedAt,
      jobs: own.map(({ id }) => id),
      helps: sharing.jobs.map(({ id }) => id),
      holders: jobs.flatMap((job) => holderOf(job) ?? []),
      visits: counts.reduce((sum, { visits }) => sum + visits, 0),
      bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
      visitsPerSec: round(jobs.reduce((sum, { ownMeter }) => sum + ownMeter.read(clock.now()).requestsPerSec, 0)),
    }
  }
  const holderOf = ({ child }: TrackedJob): string | undefined =>
    child?.identity ? runnerOf(child.identity.pid) : undefined
  const applyCommand = ({ jobId, end, isPaused }: JobCommand) => {
    const job = [...runs.running].find(({ id }) => id === jobId)
    if (job === undefined) return
    if (end !== null && job.requestedEnd === null) runs.stop(job, end)
    if (isPaused !== job.paused) runs.command(job, isPaused)
  }
  /** The worker that takes the job next must know which process had it. */
  const recordHolders = async () => {
    for (const job of runs.running) {
      const holder = holderOf(job)
      if (holder === undefined || reportedHolders.get(job.id) === holder) continue
      await workers.recordHolder(job.id, identity.id, holder)
      reportedHolders.set(job.id, holder)
    }
  }
  const report = async () => {
    try {
      for (const command of await workers.report(writeReport())) applyCommand(command)
      await recordHolders()
      if (isUnreachable) log?.info('the library can be reached again')
      isUnreachable = false
    } catch (error) {
      if (!isUnreachable) log?.warn(`the library cannot be reached; retrying: ${messageOf(error)}`)
      isUnreachable = true
    }
  }
  const keepReporting = async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(HEARTBEAT_INTERVAL_MS, AbortSignal.any([wake.signal, closing.signal])).catch(() => undefined)
      wake = new AbortController()
      await report()
    }
  }
  return {
    addEndedJob({ id, ownWork }) {
      done.visits += ownWork.visits
      done.bytes += ownWork.bytes
      reportedHolders.delete(id)
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

/** Rounds a rate to two decimals, because measured rates are not more precise. */
function round(rate: number): number {
  return Math.round(rate * 100) / 100
}
