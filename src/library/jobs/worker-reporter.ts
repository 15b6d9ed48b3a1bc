import { messageOf } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobCommand, WorkerReport, Workers } from '../ports/workers.ts'
import type { DispatcherLog, JobRuns } from './job-runs.ts'
import type { TrackedJob, WorkCounts } from './tracked-job.ts'

/** Options of {@link WorkerReporter}. */
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

/** Heartbeat interval, and poll interval for commands when no notification arrives. */
const HEARTBEAT_INTERVAL_MS = 1000

/** Sends the heartbeats of a worker and carries out commands for its jobs. */
export class WorkerReporter {
  readonly #options: WorkerReporterOptions
  readonly #startedAt: number
  readonly #closing = new AbortController()
  /** Processes already reported to the library, by job. */
  readonly #reportedHolders = new Map<string, string>()
  readonly #done = { visits: 0, bytes: 0 }
  #wake = new AbortController()
  #state: WorkerReport['state'] = 'working'
  #isUnreachable = false
  #reporting = Promise.resolve()

  constructor(options: WorkerReporterOptions) {
    this.#options = options
    this.#startedAt = options.clock.now()
  }

  /** Adds to the totals the work of a job that this worker no longer runs. */
  addEndedJob({ id, ownWork }: TrackedJob): void {
    this.#done.visits += ownWork.visits
    this.#done.bytes += ownWork.bytes
    this.#reportedHolders.delete(id)
  }

  /** Sends the first report, then keeps reporting. */
  async start(): Promise<void> {
    await this.#report()
    this.#reporting = this.#keepReporting()
  }

  /** Reports now. */
  wake(): void {
    this.#wake.abort()
  }

  /** Reports that the worker takes no new jobs. */
  drain(): void {
    this.#state = 'draining'
    this.#wake.abort()
  }

  close(): Promise<void> {
    this.#closing.abort()
    return this.#reporting
  }

  #writeReport(): WorkerReport {
    const { runs, sharing, identity, clock } = this.#options
    const own = [...runs.running]
    const jobs = [...own, ...sharing.jobs]
    const counts = [...jobs.map(({ ownWork }) => ownWork), this.#done, sharing.done]
    return {
      ...identity,
      state: this.#state,
      startedAt: this.#startedAt,
      jobs: own.map(({ id }) => id),
      helps: sharing.jobs.map(({ id }) => id),
      holders: jobs.flatMap((job) => this.#holderOf(job) ?? []),
      visits: counts.reduce((sum, { visits }) => sum + visits, 0),
      bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
      visitsPerSec: round(jobs.reduce((sum, { ownMeter }) => sum + ownMeter.read(clock.now()).requestsPerSec, 0)),
    }
  }

  #holderOf({ child }: TrackedJob): string | undefined {
    return child?.identity ? this.#options.runnerOf(child.identity.pid) : undefined
  }

  #applyCommand({ jobId, end, isPaused }: JobCommand): void {
    const { runs } = this.#options
    const job = [...runs.running].find(({ id }) => id === jobId)
    if (job === undefined) return
    if (end !== null && job.requestedEnd === null) runs.stop(job, end)
    if (isPaused !== job.paused) runs.command(job, isPaused)
  }

  /** The worker that takes the job next must know which process had it. */
  async #recordHolders(): Promise<void> {
    const { runs, workers, identity } = this.#options
    for (const job of runs.running) {
      const holder = this.#holderOf(job)
      if (holder === undefined || this.#reportedHolders.get(job.id) === holder) continue
      await workers.recordHolder(job.id, identity.id, holder)
      this.#reportedHolders.set(job.id, holder)
    }
  }

  async #report(): Promise<void> {
    const { workers, log } = this.#options
    try {
      for (const command of await workers.report(this.#writeReport())) this.#applyCommand(command)
      await this.#recordHolders()
      if (this.#isUnreachable) log?.info('the library can be reached again')
      this.#isUnreachable = false
    } catch (error) {
      if (!this.#isUnreachable) log?.warn(`the library cannot be reached; retrying: ${messageOf(error)}`)
      this.#isUnreachable = true
    }
  }

  async #keepReporting(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#options.clock
        .sleep(HEARTBEAT_INTERVAL_MS, AbortSignal.any([this.#wake.signal, this.#closing.signal]))
        .catch(() => undefined)
      this.#wake = new AbortController()
      await this.#report()
    }
  }
}

/** Rounds a rate to two decimals, because measured rates are not more precise. */
function round(rate: number): number {
  return Math.round(rate * 100) / 100
}
