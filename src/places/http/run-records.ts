import { PharosError } from '../../core/errors.ts'
import { isoOf, isoOrNull } from '../../core/text/iso-time.ts'
import type { HttpPorts } from '../../http/ports.ts'
import type { AnalysisRun, RunEvent, RunOptions } from '../ports/analyses.ts'

/** An analysis run in a response. */
export function runRecord(run: AnalysisRun, now: number): Record<string, unknown> {
  const { id, status, stage, startedAt, endedAt, options, progress, summary, error } = run
  return {
    id,
    status,
    stage,
    startedAt: isoOf(startedAt),
    endedAt: isoOrNull(endedAt),
    durationMs: durationOf(run, now),
    ...options,
    summary,
    lastProgress: progress,
    error,
  }
}

/** The duration of a run, so far when it is still active. */
export function durationOf({ startedAt, endedAt }: Pick<AnalysisRun, 'startedAt' | 'endedAt'>, now: number): number {
  return Math.max(0, (endedAt ?? now) - startedAt)
}

/** An event of a run. */
export function runEventRecord({ id, runId, at, stage, message, details }: RunEvent): Record<string, unknown> {
  return { id, runId, ts: isoOf(at), stage, message, details }
}

/** Starts or resumes a run in a process of its own. */
export async function startAnalysis(
  { analysis }: HttpPorts,
  options: Partial<RunOptions>,
): Promise<{ readonly id: string }> {
  if (analysis === undefined) throw new PharosError('STORE_UNAVAILABLE')
  return analysis.start(options)
}
