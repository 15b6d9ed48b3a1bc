import { NO_PROGRESS, type ProgressFrame } from '../../src/library/dispatch/frames.ts'

/** A report of a crawl that has done nothing but what is given. */
export function progressFrame(given: Partial<ProgressFrame> = {}): ProgressFrame {
  return { ...NO_PROGRESS, ...given }
}
