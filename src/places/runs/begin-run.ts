import { PharosError, usageError } from '../../core/errors.ts'
import { ANALYSIS_VERSION } from '../analysis/page-analysis.ts'
import type { Analyses, AnalysisRun, RunOptions, RunProgress } from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'

/** A run sends a heartbeat with every batch; without one for this long it counts as abandoned. */
const HEARTBEAT_TIMEOUT_MS = 60_000
/** How long a run without a runner stays reserved for the process that it was recorded for. */
const RESERVATION_MS = 10_000

/** Progress of a run that has not started. */
export const NO_PROGRESS: RunProgress = {
  pages: 0,
  totalPages: 0,
  articles: 0,
  navs: 0,
  others: 0,
  places: 0,
  hubs: 0,
  failed: 0,
  domains: 0,
  news: 0,
  milestones: 0,
  lastPage: 0,
  gazetteerRevision: '',
}

/** Returns the analyses of a library, or throws if it has none. */
export function requireAnalyses({ analyses }: PlacesLibrary): Analyses {
  if (analyses === undefined) throw new TypeError('Expected a library that keeps analyses, got one without')
  return analyses
}

/** Whether an unfinished run is abandoned: its process has ended, sends no heartbeat, or did not begin it in time. */
export function isRunAbandoned(
  { runner: { isGone }, clock }: PlacesLibrary,
  { runner, heartbeatAt }: AnalysisRun,
): boolean {
  const silentMs = Math.abs(clock.now() - heartbeatAt)
  if (runner === null) return silentMs >= RESERVATION_MS
  return isGone(runner) || silentMs >= HEARTBEAT_TIMEOUT_MS
}

/**
 * Starts a run, or resumes the last one: the run with the given id, or else an interrupted run if no options are given or they equal its
 * own. If `runner` is null, the run is reserved briefly for the process that will execute it.
 */
export async function beginRun(
  library: PlacesLibrary,
  { options = {}, runId }: { readonly options?: Partial<RunOptions>; readonly runId?: string },
  runner: string | null,
): Promise<{ readonly run: AnalysisRun; readonly isResumed: boolean }> {
  const analyses = requireAnalyses(library)
  const wanted = fillOptions(options)
  if (runId !== undefined) await requireOpen(analyses, runId)
  const now = library.clock.now()
  const id = runId ?? library.newId()
  const run: AnalysisRun = {
    ...{ id, runner, status: 'running', stage: 'db-setup', startedAt: now, endedAt: null, heartbeatAt: now },
    ...{ options: wanted, progress: NO_PROGRESS, summary: null, error: null },
  }
  const begun = await analyses.beginRun({
    run,
    isAbandoned: (open) => (open.id === runId && open.runner === null) || isRunAbandoned(library, open),
    canResume: (earlier) => (runId === undefined ? hasSameOptions(earlier, options, wanted) : earlier.id === runId),
  })
  return { run: begun, isResumed: begun !== run && begun.stage !== 'db-setup' }
}

async function requireOpen(analyses: Analyses, id: string): Promise<void> {
  const [newest] = (await analyses.listRuns({ limit: 1, offset: 0 })).items
  const isOpen = newest?.id === id && (newest.status === 'running' || newest.status === 'cancelled')
  if (!isOpen) throw new PharosError('RUN_UNKNOWN', { run: id })
}

/** Validates the options of a run and adds defaults. */
export function fillOptions(given: Partial<RunOptions>): RunOptions {
  const { analysisVersion = ANALYSIS_VERSION, pageLimit = null, domainLimit = null } = given
  const { skipPages = false, skipDomains = false, dryRun = false, verbose = false } = given
  checkCount('analysisVersion', analysisVersion)
  if (analysisVersion > ANALYSIS_VERSION) {
    const problem = `analysisVersion: this program supports versions up to ${ANALYSIS_VERSION}, got ${analysisVersion}`
    throw usageError(problem)
  }
  checkCount('pageLimit', pageLimit)
  checkCount('domainLimit', domainLimit)
  return { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose }
}

function checkCount(name: string, value: number | null): void {
  if (value === null || (Number.isSafeInteger(value) && value >= 1)) return
  throw usageError(`${name}: expected a whole number from 1 up, got ${value}`)
}

/** Whether the given options match a run. `verbose` does not affect the work; a request without options never resumes a dry run. */
function hasSameOptions({ options }: AnalysisRun, given: Partial<RunOptions>, wanted: RunOptions): boolean {
  const { verbose, ...relevant } = given
  if (Object.values(relevant).every((value) => value === undefined)) {
    return !options.dryRun && options.analysisVersion === wanted.analysisVersion
  }
  // The keys of `wanted` are exactly the option names.
  const names = Object.keys(wanted) as (keyof RunOptions)[]
  return names.every((name) => name === 'verbose' || options[name] === wanted[name])
}
