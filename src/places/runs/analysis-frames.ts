import { z } from 'zod'
import { type AnalysisRun, RUN_STAGES, RUN_STATUSES, type RunProgress } from '../ports/analyses.ts'

/** State of an analysis run, as its process prints it and the feed forwards it. */
export interface AnalysisFrame {
  readonly runId: string
  readonly status: AnalysisRun['status']
  readonly stage: AnalysisRun['stage']
  readonly lastProgress: RunProgress
  readonly error: string | null
}

const FRAME_PREFIX = 'ANALYSIS '

/** Creates the frame of a run. */
export function frameOf({ id: runId, status, stage, progress: lastProgress, error }: AnalysisRun): AnalysisFrame {
  return { runId, status, stage, lastProgress, error }
}

/** Writes a frame as one line, without the line break. */
export function writeAnalysisFrame(frame: AnalysisFrame): string {
  return FRAME_PREFIX + JSON.stringify(frame)
}

/** Parses a line that a run printed; undefined if it is not a frame. */
export function parseAnalysisFrame(line: string): AnalysisFrame | undefined {
  if (!line.startsWith(FRAME_PREFIX)) return undefined
  try {
    return shape.parse(JSON.parse(line.slice(FRAME_PREFIX.length)))
  } catch {
    return undefined
  }
}

const count = z.number()

const progress: z.ZodType<RunProgress> = z.object({
  pages: count,
  totalPages: count,
  articles: count,
  navs: count,
  others: count,
  places: count,
  hubs: count,
  failed: count,
  domains: count,
  news: count,
  milestones: count,
  lastPage: count,
  gazetteerRevision: z.string(),
})

const shape: z.ZodType<AnalysisFrame> = z.object({
  runId: z.string(),
  status: z.enum(RUN_STATUSES),
  stage: z.enum(RUN_STAGES),
  lastProgress: progress,
  error: z.string().nullable(),
})
