import { NO_PROGRESS, type ProgressFrame } from '../../src/library/jobs/events/frames.ts'

/** A progress report of a crawl, empty except for the given fields. */
export function progressFrame(fields: Partial<ProgressFrame> = {}): ProgressFrame {
  return { ...NO_PROGRESS, ...fields }
}
