import { NO_PROGRESS, type ProgressFrame } from '../../src/library/dispatch/frames.ts'

/** A progress report of a crawl, empty except for the given fields. */
export function progressFrame(given: Partial<ProgressFrame> = {}): ProgressFrame {
  return { ...NO_PROGRESS, ...given }
}
