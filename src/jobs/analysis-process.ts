import type { Readable, Writable } from 'node:stream'
import type { AnalysisRun } from '../library/analyses.ts'
import { frameOf, writeAnalysisFrame } from '../library/dispatch/analysis-frames.ts'
import { writeFrame } from '../library/dispatch/frames.ts'
import type { Library } from '../library/library.ts'
import { analyseLibrary } from '../library/operations/analyse-library.ts'

/** What the process of a run works with. */
export interface AnalysisProcess {
  readonly library: Library
  /** The run that a server has recorded for it. */
  readonly runId: string
  readonly stdin: Readable
  readonly stdout: Writable
  /** Aborted when it is asked to end. */
  readonly signal: AbortSignal
}

/** Reports come no more often than this. */
const REPORT_MS = 300

/**
 * Goes through a run for a server, and prints frames. What is not over when it is asked to end, or when nobody reads it any more, is
 * left to the next process.
 */
export async function runAnalysisProcess({ library, runId, stdin, stdout, signal }: AnalysisProcess): Promise<void> {
  const alone = new AbortController()
  const leave = () => alone.abort()
  stdin.on('end', leave).on('error', leave).resume()
  stdout.on('error', leave)
  const print = (line: string) => {
    if (!alone.signal.aborted) stdout.write(`${line}\n`)
  }
  let toldAt = Number.NEGATIVE_INFINITY
  let run: AnalysisRun | undefined
  const report = (now: AnalysisRun, isDue = performance.now() - toldAt >= REPORT_MS) => {
    run = now
    if (!isDue) return
    toldAt = performance.now()
    print(writeAnalysisFrame(frameOf(now)))
  }
  try {
    const events = analyseLibrary(library, { runId, isLeft: true }, AbortSignal.any([signal, alone.signal]))
    for await (const event of events) {
      if (event.type === 'started' || event.type === 'ended') report(event.run, true)
      else if (event.type === 'milestone') print(writeFrame({ type: 'MILESTONE', data: event.note }))
      else if (run !== undefined && event.type === 'progress')
        report({ ...run, stage: event.stage, progress: event.progress })
      else if (run !== undefined && event.type === 'stage')
        report({ ...run, stage: event.stage }, event.stage !== run.stage)
    }
  } finally {
    stdin.off('end', leave).off('error', leave)
    // What is still to come must not keep the process.
    stdin.destroy()
  }
}
