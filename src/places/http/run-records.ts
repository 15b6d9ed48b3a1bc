import { isoOf, isoOrNull } from '../../http/time.ts'
import type { AnalysisRun, RunEvent } from '../ports/analyses.ts'

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

/** The page of a run. */
export function runHref(id: string): string {
  return `/analysis/${encodeURIComponent(id)}/ssr`
}
