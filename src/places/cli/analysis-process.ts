import type { Readable, Writable } from 'node:stream'
import { writeFrame } from '../../library/jobs/events/frames.ts'
import type { AnalysisRun } from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'
import { analyseLibrary } from '../runs/analyse-library.ts'
import { frameOf, writeAnalysisFrame } from '../runs/analysis-frames.ts'

/** The environment of an analysis process. */
export interface AnalysisProcess {
  readonly library: PlacesLibrary
  /** The run that a server has recorded for this process. */
  readonly runId: string
  readonly stdin: Readable
  readonly stdout: Writable
  /** Aborted when the process should end. */
  readonly signal: AbortSignal
}

/** Minimum interval between progress reports. */
const REPORT_INTERVAL_MS = 300

/**
 * Performs an analysis run for a server, and prints frames. If the process is told to end, or its output is no longer read, the next
 * process continues the run.
 */
export async function runAnalysisProcess({ library, runId, stdin, stdout, signal }: AnalysisProcess): Promise<void> {
  const orphaned = new AbortController()
  const abort = () => orphaned.abort()
  stdin.on('end', abort).on('error', abort).resume()
  stdout.on('error', abort)
  const print = (line: string) => {
    if (!orphaned.signal.aborted) stdout.write(`${line}\n`)
  }
  let reportedAt = Number.NEGATIVE_INFINITY
  let run: AnalysisRun | undefined
  const report = (current: AnalysisRun, isDue = performance.now() - reportedAt >= REPORT_INTERVAL_MS) => {
    run = current
    if (!isDue) return
    reportedAt = performance.now()
    print(writeAnalysisFrame(frameOf(current)))
  }
  try {
    const events = analyseLibrary(library, { runId, isLeftOpen: true }, AbortSignal.any([signal, orphaned.signal]))
    for await (const event of events) {
      if (event.type === 'started' || event.type === 'ended') report(event.run, true)
      else if (event.type === 'milestone') print(writeFrame({ type: 'MILESTONE', data: event.note }))
      else if (run !== undefined && event.type === 'progress')
        report({ ...run, stage: event.stage, progress: event.progress })
      else if (run !== undefined && event.type === 'stage')
        report({ ...run, stage: event.stage }, event.stage !== run.stage)
    }
  } finally {
    stdin.off('end', abort).off('error', abort)
    // Pending input must not keep the process alive.
    stdin.destroy()
  }
}
