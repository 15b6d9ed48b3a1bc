import { parseStored } from '../../../store/common/damage.ts'
import type { AnalysisRun, RunEvent, RunOptions, RunProgress } from '../../ports/analyses.ts'

/** An analysis run as it is stored. */
export interface RunRecord extends RunOptions, Omit<AnalysisRun, 'options' | 'progress' | 'summary'> {
  readonly progress: string
  readonly summary: string | null
}

/** An event of a run as it is stored. */
export interface EventRecord extends Omit<RunEvent, 'details'> {
  readonly details: string | null
}

/** Converts a run for storage. */
export function toRunColumns({ options, progress, summary, ...run }: AnalysisRun): RunRecord {
  return { ...run, ...options, progress: JSON.stringify(progress), summary: summary && JSON.stringify(summary) }
}

/** Converts a stored run, whose JSON was written by {@link toRunColumns}. */
export function toRun(found: RunRecord): AnalysisRun {
  const { id, status, stage, startedAt, endedAt, heartbeatAt, runner, error } = found
  const { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose } = found
  return {
    ...{ id, status, stage, startedAt, endedAt, heartbeatAt, runner, error },
    options: { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose },
    progress: parseStored<RunProgress>(found.progress),
    summary: found.summary === null ? null : parseStored<AnalysisRun['summary']>(found.summary),
  }
}

/** Converts a stored event. */
export function toEvent({ details, ...event }: EventRecord): RunEvent {
  return { ...event, details: details === null ? null : parseStored<RunEvent['details']>(details) }
}
