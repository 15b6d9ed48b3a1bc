import { PharosError } from '../../core/errors.ts'
import { maskFields } from '../../core/secrets.ts'
import type { JobRecord } from '../job-log.ts'
import type { CrawlOrder, JobView } from './dispatcher.ts'
import { type JobItem, writeJobItem } from './job-item.ts'

/**
 * How long one that ended is still listed. A page that lost its connection comes back after 3 s in Chromium and 5 s in Firefox, and
 * is to learn the end of what it was watching, also when its first try fails.
 */
export const KEEP_ENDED_MS = 10_000
/** So many jobs may wait. */
export const MAX_WAITING = 1_000
/** Milestones that are looked for of a job that goes on. */
export const MAX_MILESTONES = 100
/** So many jobs are named in the list that is told, those that run first; a thousand that wait would drown all else. */
const MAX_TOLD = 50
/** So many of those that run are named to whoever finds no room. */
const MAX_NAMED = 3
/** Bytes of what a process is told; systems take 128 kB for one word of it. */
const MAX_ORDER_BYTES = 100_000

/** What the feed is told of jobs that wait or run: those that run first. */
export function writeJobList(open: readonly JobView[]): { readonly count: number; readonly items: readonly JobItem[] } {
  return { count: open.length, items: open.slice(0, MAX_TOLD).map(writeJobItem) }
}

/** What a job that is kept was asked for. */
export function orderOf({ url, args, sourceId }: JobRecord): CrawlOrder {
  return { url, args, ...(sourceId === null ? {} : { sourceId }) }
}

/** Refuses an order that no process can be told. */
export function refuseLong({ args }: CrawlOrder): void {
  const bytes = new TextEncoder().encode(args.join(' ')).length
  if (bytes <= MAX_ORDER_BYTES) return
  const problem = `expected at most ${MAX_ORDER_BYTES} bytes in all that a crawl is told, got ${bytes}`
  throw new PharosError('USAGE', { problem })
}

/** Refuses one more where as many run as have room. */
export function refuseFull(starts: readonly string[], room: number, rule: string): void {
  const count = starts.length
  if (count < room) return
  const named = starts.slice(0, MAX_NAMED).map((url) => maskFields(url))
  const what = `${count === 1 ? '1 crawl is' : `${count} crawls are`} under way (${named.join(', ')})`
  throw new PharosError('JOBS_FULL', { count, what, rule })
}

/** Refuses one more where as many wait as may. */
export function refuseWaiting(count: number, most: number): void {
  if (count < most) return
  throw new PharosError('JOBS_FULL', { count, what: `${count} crawls wait here`, rule: 'there may be at once' })
}
