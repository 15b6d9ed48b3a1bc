import type { ErrorCode } from '../../core/errors.ts'
import type { CrawlEvent, PauseCause } from '../../crawl/events.ts'

/** Returns the cause that keeps the crawl paused after an event, if any. */
export function pauseCauseAfter(event: CrawlEvent, before: PauseCause | undefined): PauseCause | undefined {
  // A crawl that is short of memory continues with one visit at a time, and a requested pause needs no report, so neither counts.
  if (event.type === 'paused') return event.cause === 'memory' || event.cause === 'requested' ? before : event.cause
  return event.type === 'resumed' && event.cause === before ? undefined : before
}

/** The error if the crawl gave up waiting, by cause. */
export const PAUSE_CODES: Readonly<Record<PauseCause, ErrorCode>> = {
  'disk-full': 'LIBRARY_FULL',
  locked: 'LIBRARY_LOCKED',
  unreachable: 'LIBRARY_UNREACHABLE',
  'read-only': 'LIBRARY_READ_ONLY',
  memory: 'INTERNAL',
  requested: 'INTERNAL',
}
