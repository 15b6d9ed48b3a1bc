import { messageOf, PharosError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import { parseFrame } from '../../library/jobs/events/frames.ts'
import type { JobRunsOptions } from '../../library/jobs/job-runs.ts'
import { libraryFlags } from '../../library/jobs/library-flags.ts'
import { endProcesses, hideLibraryPath, TERM_GRACE_MS } from '../../library/jobs/process-end.ts'
import type { CrawlProcess, ProcessEnd } from '../../library/jobs/runner.ts'
import { waitUpTo } from '../../library/jobs/wait-up-to.ts'
import { ANALYSIS_JOB_ID } from '../../library/ports/job-log.ts'
import type { AnalysisRun, RunChange, RunOptions } from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'
import { frameOf, parseAnalysisFrame } from './analysis-frames.ts'
import type { AnalysisWorker } from './analysis-runner.ts'
import { beginRun, fillOptions, isRunAbandoned, requireAnalyses } from './begin-run.ts'

/** Options of {@link AnalysisProcessRunner}. */
export interface AnalysisRunnerOptions
  extends Pick<JobRunsOptions, 'runner' | 'feed' | 'clock' | 'libraryPath' | 'log'> {
  /** Opens the library, retrying until it succeeds. */
  readonly library: () => Promise<PlacesLibrary>
}

/** Poll interval for abandoned runs of other processes. */
const POLL_INTERVAL_MS = 2_000

/** A running analysis process. */
interface RunningAnalysis {
  readonly runId: string
  readonly child: CrawlProcess
  /** Resolves once the result of the process is stored. */
  readonly settled: Promise<void>
  /** Whether another process continues the run. */
  isHandedOver: boolean
  lastErrorLine: string | null
}

/** Runs analyses in processes, one at a time. */
export class AnalysisProcessRunner implements AnalysisWorker {
  readonly #options: AnalysisRunnerOptions
  readonly #closing = new AbortController()
  #current: RunningAnalysis | undefined
  #isPolling = false

  constructor(options: AnalysisRunnerOptions) {
    this.#options = options
  }

  async start(given: Partial<RunOptions>): Promise<AnalysisRun> {
    fillOptions(given)
    if (this.#current !== undefined) await this.#waitForEnd(this.#current)
    return this.#start({ options: given })
  }

  async recover(): Promise<void> {
    if (await this.#resumeAbandoned()) void this.#keepPolling()
  }

  async take(runId: string, signal: AbortSignal): Promise<boolean> {
    const isOpen = async () => {
      const run = await requireAnalyses(await this.#options.library()).findRun(runId)
      return run?.status === 'running'
    }
    if (!(await isOpen())) return true
    if (this.#current !== undefined) await this.#waitForEnd(this.#current)
    await this.#start({ runId })
    const taken = this.#current
    const handOver = () => void (taken && this.#endProcess(taken))
    signal.addEventListener('abort', handOver, { once: true })
    // The signal may have aborted before the process existed.
    if (signal.aborted) handOver()
    await taken?.settled
    signal.removeEventListener('abort', handOver)
    return !(await isOpen())
  }

  async findAbandoned(): Promise<string | undefined> {
    const open = await this.#findOpen()
    return open?.isAbandoned === true ? open.run.id : undefined
  }

  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#current !== undefined) await this.#endProcess(this.#current)
  }

  #logMessage(text: string): void {
    const line = maskSecretFields(text)
    this.#options.feed.tell('log', null, { stream: 'server', line })
    this.#options.log?.info(line)
  }

  readonly #handleOutput = (stream: 'stdout' | 'stderr', line: string): void => {
    const { feed } = this.#options
    const frame = stream === 'stdout' ? parseAnalysisFrame(line) : undefined
    if (frame !== undefined) {
      feed.tell('analysis', null, { ...frame })
      return
    }
    const note = stream === 'stdout' ? parseFrame(line) : undefined
    if (note?.type === 'MILESTONE') {
      feed.tell('milestone', ANALYSIS_JOB_ID, { ...note.data })
      return
    }
    if (stream === 'stderr' && line.trim() !== '' && this.#current !== undefined) this.#current.lastErrorLine = line
    feed.tell('log', null, { stream, line: maskSecretFields(line) })
  }

  /** Starts the process of a recorded run; returns the problem if that fails. */
  async #launch(run: AnalysisRun): Promise<string | null> {
    const { runner, libraryPath, log, feed } = this.#options
    const child = runner.start([`--run-id=${run.id}`, '--frames', ...libraryFlags(libraryPath)], this.#handleOutput)
    if (child.identity === null) return (await child.ended).problem
    const settled = child.ended
      .then((end) => this.#settle(analysis, end))
      .catch((error: unknown) => log?.warn(messageOf(error)))
    const analysis: RunningAnalysis = { runId: run.id, child, settled, isHandedOver: false, lastErrorLine: null }
    this.#current = analysis
    feed.tell('analysis', null, { ...frameOf(run) })
    this.#logMessage(`the analysis ${run.id} was started as process ${child.identity.pid}`)
    return null
  }

  async #settle(ended: RunningAnalysis, end: ProcessEnd): Promise<void> {
    const { runId, lastErrorLine } = ended
    if (this.#current === ended) this.#current = undefined
    // The next server or another worker resumes the run.
    if (this.#closing.signal.aborted || ended.isHandedOver) return
    const library = await this.#options.library()
    const run = await requireAnalyses(library).findRun(runId)
    const isBroken = run?.status === 'running' && (run.runner === null || isRunAbandoned(library, run))
    if (run !== undefined && isBroken) await this.#recordInterruption(library, run, end, lastErrorLine)
    else this.#logMessage(`the analysis ${runId} is ${run?.status ?? 'gone'}`)
  }

  /** Closes a run whose process died before closing it. If the process was killed, the same request resumes the run later. */
  async #recordInterruption(
    library: PlacesLibrary,
    run: AnalysisRun,
    end: ProcessEnd,
    lastErrorLine: string | null,
  ): Promise<void> {
    const how = end.signal === null ? `ended with code ${end.code}` : `was killed by ${end.signal}`
    const [reason = ''] = maskSecretFields(lastErrorLine ?? '').split(' – ')
    const error = hideLibraryPath(
      `the analysis process ${how}${reason === '' ? '' : `: ${reason}`}`,
      this.#options.libraryPath,
    )
    await this.#endFor(library, run, { status: end.signal === null ? 'failed' : 'cancelled', error })
    this.#logMessage(`the analysis ${run.id} was interrupted: ${error}`)
  }

  async #endFor(library: PlacesLibrary, run: AnalysisRun, change: RunChange): Promise<void> {
    const ended = { ...change, endedAt: this.#options.clock.now() }
    await requireAnalyses(library).changeRun({ id: run.id, runner: run.runner }, ended)
    this.#options.feed.tell('analysis', null, { ...frameOf({ ...run, ...ended }) })
  }

  /** Waits for the exit of a process whose run has ended; throws `ANALYSIS_RUNNING` while the run is still active. */
  async #waitForEnd({ runId, child }: RunningAnalysis): Promise<void> {
    const run = await requireAnalyses(await this.#options.library()).findRun(runId)
    if (run?.status === 'running') throw new PharosError('ANALYSIS_RUNNING', { run: runId })
    await waitUpTo(this.#options.clock, child.ended, TERM_GRACE_MS)
  }

  async #start(input: Parameters<typeof beginRun>[1]): Promise<AnalysisRun> {
    if (this.#closing.signal.aborted) throw new PharosError('INTERRUPTED')
    const library = await this.#options.library()
    const { run } = await beginRun(library, input, null)
    const problem = await this.#launch(run)
    if (problem === null) return run
    this.#options.log?.warn(`the analysis ${run.id} ${problem}`)
    await this.#endFor(library, run, { status: 'failed', error: problem })
    throw new PharosError('ANALYSIS_START_FAILED', { problem: 'its process cannot be started' })
  }

  /** Ends the process of a run but leaves the run open. */
  async #endProcess(analysis: RunningAnalysis): Promise<void> {
    const { child, runId: id } = analysis
    analysis.isHandedOver = true
    await endProcesses(this.#options.clock, [child])
    // If the process never took the run up, a heartbeat of 0 lets another worker take it at once.
    const { analyses } = await this.#options.library()
    await analyses?.changeRun({ id, runner: null }, { heartbeatAt: 0 })
  }

  /** Returns the open run, and whether it is abandoned. */
  async #findOpen(): Promise<{ readonly run: AnalysisRun; readonly isAbandoned: boolean } | undefined> {
    const library = await this.#options.library()
    const [run] = (await requireAnalyses(library).listRuns({ limit: 1, offset: 0 })).items
    return run?.status === 'running' ? { run, isAbandoned: isRunAbandoned(library, run) } : undefined
  }

  /** Resumes an abandoned run; returns true while an open run may still become abandoned. */
  async #resumeAbandoned(): Promise<boolean> {
    if (this.#current !== undefined) return false
    try {
      const open = await this.#findOpen()
      if (open?.isAbandoned !== true) return open !== undefined
      await this.#start({ runId: open.run.id })
      this.#logMessage(`the analysis ${open.run.id}, interrupted when its process ended, was resumed`)
      return false
    } catch (error) {
      this.#options.log?.warn(`could not resume an interrupted analysis; retrying: ${messageOf(error)}`)
      return true
    }
  }

  async #keepPolling(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      for (let isOpen = true; isOpen && !this.#closing.signal.aborted; ) {
        await this.#options.clock.sleep(POLL_INTERVAL_MS, this.#closing.signal)
        isOpen = await this.#resumeAbandoned()
      }
    } catch {
      // The runner is closed.
    } finally {
      this.#isPolling = false
    }
  }
}
