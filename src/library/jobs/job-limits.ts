import { PharosError, usageError } from '../../core/errors.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import type { JobRecord } from '../ports/job-log.ts'
import type { CrawlRequest, JobView } from './dispatcher.ts'
import { type JobItem, writeJobItem } from './job-item.ts'

/**
 * How long an ended job stays listed. A page that lost its connection reconnects after 3 s in Chromium and 5 s in Firefox, and must still
 * see the end of its job, even if the first attempt fails.
 */
export const ENDED_RETENTION_MS = 10_000
/** Maximum number of queued jobs. */
export const MAX_WAITING = 1_000
/** Maximum number of milestones read for a resumed job. */
export const MAX_MILESTONES = 100
/** Maximum number of jobs in a `jobs` event, running ones first, so that a long queue does not flood the feed. */
const MAX_LISTED_JOBS = 50
/** Maximum number of running crawls named in the error message. */
const MAX_NAMED = 3
/** Maximum size of the arguments of a process in bytes; operating systems allow 128 kB for one argument. */
const MAX_ARGS_BYTES = 100_000

/** Payload of the `jobs` event: queued and running jobs, running ones first. */
export function writeJobList(open: readonly JobView[]): { readonly count: number; readonly items: readonly JobItem[] } {
  return { count: open.length, items: open.slice(0, MAX_LISTED_JOBS).map(writeJobItem) }
}

/** Restores the request of a stored job. */
export function restoreRequest({ url, args, sourceId }: JobRecord): CrawlRequest {
  return { url, args, ...(sourceId === null ? {} : { sourceId }) }
}

/** Throws if the arguments are too long for a process. */
export function refuseLongArgs({ args }: CrawlRequest): void {
  const bytes = new TextEncoder().encode(args.join(' ')).length
  if (bytes <= MAX_ARGS_BYTES) return
  const problem = `the options of a crawl may have at most ${MAX_ARGS_BYTES} bytes in all, got ${bytes}`
  throw usageError(problem)
}

/** Throws if all slots are taken. `rule` completes the message: `as many as …`. */
export function refuseFull(starts: readonly string[], slots: number, rule: string): void {
  const count = starts.length
  if (count < slots) return
  const shownUrls = starts.slice(0, MAX_NAMED).map((url) => maskSecretFields(url))
  const what = `${count === 1 ? '1 crawl is' : `${count} crawls are`} under way (${shownUrls.join(', ')})`
  throw new PharosError('JOBS_FULL', { count, what, rule })
}

/** Throws if the queue is full. */
export function refuseFullQueue(count: number, maxCount: number): void {
  if (count < maxCount) return
  throw new PharosError('JOBS_FULL', { count, what: `${count} crawls are waiting`, rule: 'may wait at once' })
}
