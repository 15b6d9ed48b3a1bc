import { messageOf, PharosError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { Feed } from '../../library/jobs/events/feed.ts'
import { parseFrame } from '../../library/jobs/events/frames.ts'
import type { DispatcherLog } from '../../library/jobs/job-runs.ts'
import { libraryFlags } from '../../library/jobs/library-flags.ts'
import { hideLibraryPath, KILL_TIMEOUT_MS, TERM_GRACE_MS } from '../../library/jobs/process-end.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd } from '../../library/jobs/runner.ts'
import { waitUpTo } from '../../library/jobs/wait-up-to.ts'
import { ANALYSIS_JOB_ID } from '../../library/ports/job-log.ts'
import type { AnalysisRun, RunChange } from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'
import { frameOf, parseAnalysisFrame } from './analysis-frames.ts'
import type { AnalysisWorker } from './analysis-runner.ts'
import { beginRun, fillOptions, isRunAbandoned, requireAnalyses } from './begin-run.ts'

/** Options of {@link createAnalysisRunner}. */
export interface AnalysisRunnerOptions {
  /** Starts the analysis process. */
  readonly runner: CrawlRunner
  /** Opens the library, retrying until it succeeds. */
  readonly library: () => Promise<PlacesLibrary>
  readonly feed: Pick<Feed, 'tell'>
  readonly clock: Clock
  /** Library that the processes write to, safe to display. */
  readonly libraryPath: string
  readonly log?: DispatcherLog
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

/** Creates the analysis runner of a server; it executes one run at a time. */
export function createAnalysisRunner(options: AnalysisRunnerOptions): AnalysisWorker {
  const { runner, feed, clock, log, libraryPath } = options
  const closing = new AbortController()
  let current: RunningAnalysis | undefined
  let isPolling = false

  const logMessage = (text: string) => {
    const line = maskSecretFields(text)
    feed.tell('log', null, { stream: 'server', line })
    log?.info(line)
  }
  const handleOutput = (stream: 'stdout' | 'stderr', line: string) => {
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
    if (stream === 'stderr' && line.trim() !== '' && current !== undefined) current.lastErrorLine = line
    feed.tell('log', null, { stream, line: maskSecretFields(line) })
  }
  /** Starts the process of a recorded run; returns the problem if that fails. */
  const launch = async (run: AnalysisRun): Promise<string | null> => {
    const child = runner.start([`--run-id=${run.id}`, '--frames', ...libraryFlags(libraryPath)], handleOutput)
    if (child.identity === null) return (await child.ended).problem
    const settled = child.ended
      .then((end) => settle(analysis, end))
      .catch((error: unknown) => log?.warn(messageOf(error)))
    const analysis: RunningAnalysis = { runId: run.id, child, settled, isHandedOver: false, lastErrorLine: null }
    current = analysis
    feed.tell('analysis', null, { ...frameOf(run) })
    logMessage(`the analysis ${run.id} was started as process ${child.identity.pid}`)
    return null
  }
  const settle = async (ended: RunningAnalysis, end: ProcessEnd) => {
    const { runId, lastErrorLine } = ended
    if (current === ended) current = undefined
    // The next server or another worker resumes the run.
    if (closing.signal.aborted || ended.isHandedOver) return
    const library = await options.library()
    const run = await requireAnalyses(library).findRun(runId)
    const isBroken = run?.status === 'running' && (run.runner === null || isRunAbandoned(library, run))
    if (run !== undefined && isBroken) await recordInterruption(library, run, end, lastErrorLine)
    else logMessage(`the analysis ${runId} is ${run?.status ?? 'gone'}`)
  }
  /** Closes a run whose process died before closing it. If the process was killed, the same request resumes the run later. */
  const recordInterruption = async (
    library: PlacesLibrary,
    run: AnalysisRun,
    end: ProcessEnd,
    lastErrorLine: string | null,
  ) => {
    const how = end.signal === null ? `ended with code ${end.code}` : `was killed by ${end.signal}`
    const [reason = ''] = maskSecretFields(lastErrorLine ?? '').split(' – ')
    const error = hideLibraryPath(`the analysis process ${how}${reason === '' ? '' : `: ${reason}`}`, libraryPath)
    await endFor(library, run, { status: end.signal === null ? 'failed' : 'cancelled', error })
    logMessage(`the analysis ${run.id} was interrupted: ${error}`)
  }
  const endFor = async (library: PlacesLibrary, run: AnalysisRun, change: RunChange) => {
    const ended = { ...change, endedAt: clock.now() }
    await requireAnalyses(library).changeRun({ id: run.id, runner: run.runner }, ended)
    feed.tell('analysis', null, { ...frameOf({ ...run, ...ended }) })
  }
  /** Waits for the exit of a process whose run has ended; throws `ANALYSIS_RUNNING` while the run is still active. */
  const waitForEnd = async ({ runId, child }: RunningAnalysis) => {
    const run = await requireAnalyses(await options.library()).findRun(runId)
    if (run?.status === 'running') throw new PharosError('ANALYSIS_RUNNING', { run: runId })
    await waitUpTo(clock, child.ended, TERM_GRACE_MS)
  }
  const start = async (input: Parameters<typeof beginRun>[1]): Promise<AnalysisRun> => {
    if (closing.signal.aborted) throw new PharosError('INTERRUPTED')
    const library = await options.library()
    const { run } = await beginRun(library, input, null)
    const problem = await launch(run)
    if (problem === null) return run
    log?.warn(`the analysis ${run.id} ${problem}`)
    await endFor(library, run, { status: 'failed', error: problem })
    throw new PharosError('ANALYSIS_START_FAILED', { problem: 'its process cannot be started' })
  }

  /** Ends the process of a run but leaves the run open. */
  const endProcess = async (analysis: RunningAnalysis) => {
    const { child, runId: id } = analysis
    analysis.isHandedOver = true
    child.kill('SIGTERM')
    await waitUpTo(clock, child.ended, TERM_GRACE_MS)
    child.kill('SIGKILL')
    await waitUpTo(clock, child.ended, KILL_TIMEOUT_MS)
    // If the process never took the run up, a heartbeat of 0 lets another worker take it at once.
    const { analyses } = await options.library()
    await analyses?.changeRun({ id, runner: null }, { heartbeatAt: 0 })
  }
  /** Returns the open run, and whether it is abandoned. */
  const findOpen = async (): Promise<{ readonly run: AnalysisRun; readonly isAbandoned: boolean } | undefined> => {
    const library = await options.library()
    const [run] = (await requireAnalyses(library).listRuns({ limit: 1, offset: 0 })).items
    return run?.status === 'running' ? { run, isAbandoned: isRunAbandoned(library, run) } : undefined
  }
  /** Resumes an abandoned run; returns true while an open run may still become abandoned. */
  const resumeAbandoned = async (): Promise<boolean> => {
    if (current !== undefined) return false
    const open = await findOpen()
    if (open === undefined) return false
    const { run } = open
    if (!open.isAbandoned) return true
    await start({ runId: run.id })
    logMessage(`the analysis ${run.id}, interrupted when its process ended, was resumed`)
    return false
  }
  const keepPolling = async () => {
    if (isPolling) return
    isPolling = true
    try {
      for (let isOpen = true; isOpen && !closing.signal.aborted; ) {
        await clock.sleep(POLL_INTERVAL_MS, closing.signal)
        isOpen = await resumeAbandoned().catch((error: unknown) => {
          log?.warn(`could not resume an interrupted analysis; retrying: ${messageOf(error)}`)
          return true
        })
      }
    } catch {
      // The runner is closed.
    } finally {
      isPolling = false
    }
  }

  return {
    start: async (given) => {
      fillOptions(given)
      if (current !== undefined) await waitForEnd(current)
      return start({ options: given })
    },
    recover: async () => {
      const isOpen = await resumeAbandoned().catch((error: unknown) => {
        log?.warn(`could not resume an interrupted analysis; retrying: ${messageOf(error)}`)
        return true
      })
      if (isOpen) void keepPolling()
    },
    take: async (runId, signal) => {
      const isOpen = async () => {
        const run = await requireAnalyses(await options.library()).findRun(runId)
        return run?.status === 'running'
      }
      if (!(await isOpen())) return true
      if (current !== undefined) await waitForEnd(current)
      await start({ runId })
      const taken = current
      const handOver = () => void (taken && endProcess(taken))
      signal.addEventListener('abort', handOver, { once: true })
      // The signal may have aborted before the process existed.
      if (signal.aborted) handOver()
      await taken?.settled
      signal.removeEventListener('abort', handOver)
      return !(await isOpen())
    },
    findAbandoned: async () => {
      const open = await findOpen()
      return open?.isAbandoned === true ? open.run.id : undefined
    },
    close: async () => {
      closing.abort()
      if (current !== undefined) await endProcess(current)
    },
  }
}
