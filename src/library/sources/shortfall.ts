import { countOf } from '../../core/text/count.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import { REQUESTS_PER_PAGE } from '../../crawl/run.ts'
import type { Crawl } from '../ports/store.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'

/** Pages that a source lacks because its last crawl was capped, interrupted or partly failed. */
export interface Shortfall {
  /** The page limit that the last crawl reached; null if only an earlier crawl reached one, or none did. */
  readonly cap: number | null
  /** Known addresses left unread because of a page limit. */
  readonly unread: number
  /** Addresses left by an interrupted or failed crawl. */
  readonly pending: number
  /** Failed addresses that may succeed on a retry. */
  readonly failed: number
  /** Why the source is incomplete, page limit first. Never empty. */
  readonly gaps: readonly Gap[]
}

/** One cause of a shortfall. */
export interface Gap {
  readonly words: string
  /** The run that closes the gap. */
  readonly remedy: { readonly verb: 'recrawl' | 'refresh' | 'retry'; readonly maxPages: number | null }
}

/** Facts about a source and its last crawl. */
export interface ShortfallFacts {
  readonly source: Pick<Source, 'url'>
  /** Counts of the ledger by `state/reason`. */
  readonly reasons: Readonly<Record<string, number>>
  readonly pending: number
  readonly pages: number
  readonly crawl: Pick<Crawl, 'kind' | 'state' | 'summary'> | null
  readonly isRunning: boolean
  readonly isInterrupted: boolean
}

/** Finds the missing pages of a source; null if none are known. For a running crawl only its page limit counts. */
export function findShortfall(facts: ShortfallFacts): Shortfall | null {
  const { reasons, isRunning, crawl } = facts
  const isInterrupted = facts.isInterrupted || hasFailedEarly(facts)
  const { cappedAt = null, unread: left = 0 } = crawl?.summary ?? {}
  const unread = Math.max(cappedAt === null ? 0 : left, reasons['skipped/page-cap'] ?? 0)
  const cap = unread === 0 ? null : cappedAt
  const pending = isInterrupted ? facts.pending : 0
  const failed = isRunning ? 0 : RETRYABLE_REASONS.reduce((sum, reason) => sum + (reasons[`failed/${reason}`] ?? 0), 0)
  const gaps: Gap[] = []
  if (unread > 0) gaps.push(describeCap(facts, cap, unread))
  if (isInterrupted) gaps.push(describeInterruption(facts))
  if (failed > 0) {
    gaps.push({ words: `${countOf(failed, 'address')} could not be read`, remedy: { verb: 'retry', maxPages: null } })
  }
  return gaps.length === 0 ? null : { cap, unread, pending, failed, gaps }
}

/** Whether the last crawl failed before it had read everything. */
function hasFailedEarly({ crawl, pending, isRunning }: ShortfallFacts): boolean {
  return crawl?.state === 'failed' && pending > 0 && !isRunning
}

/** Temporary failures that a retry may fix. */
export const RETRYABLE_REASONS: readonly Reason[] = [
  'http-server-error',
  'rate-limited',
  'timeout',
  'network',
  'host-parked',
  'robots-unreachable',
  'service-failed',
]

function describeCap({ pages, crawl }: ShortfallFacts, cap: number | null, unread: number): Gap {
  const { spent } = crawl?.summary ?? {}
  return {
    words: writeCap(cap, unread, spent),
    remedy: {
      verb: 'recrawl',
      // At least twice the cap, because newly read pages lead to further ones.
      maxPages: cap === null ? pages + unread : Math.max(cap * 2, raiseCap(cap, unread, spent)),
    },
  }
}

/** Estimates the cap under which all known addresses can be read. */
function raiseCap(cap: number, unread: number, spent: CrawlSummary['spent']): number {
  return spent === undefined ? cap + unread : Math.ceil((spent.requests + unread) / REQUESTS_PER_PAGE)
}

/** Example: `the cap of 10 was reached: 48 known addresses not read` */
export function writeCap(cap: number | null, unread: number, spent?: CrawlSummary['spent']): string {
  const left = `${countOf(unread, 'known address')} not read`
  if (cap === null || spent === undefined)
    return `${cap === null ? 'a page limit' : `the cap of ${cap}`} was reached: ${left}`
  const { requests, pages } = spent
  return `stopped after ${countOf(requests, 'request')} for ${countOf(pages, 'page')} (cap ${cap}): ${left}`
}

function describeInterruption({ source, pending, crawl }: ShortfallFacts): Gap {
  const how = crawl?.state === 'failed' ? 'the last crawl failed' : 'interrupted'
  const what = treeKindOf(source.url) === 'import' ? 'import interrupted' : how
  const kind = crawl?.kind ?? 'add'
  return {
    words: pending === 0 ? `${what} before its end` : `${what}: ${countOf(pending, 'address')} not read`,
    remedy: { verb: kind === 'add' ? 'recrawl' : kind, maxPages: null },
  }
}

/** Example: `PARTIAL: the cap of 10 was reached: 48 known addresses not read` */
export function writeShortfall({ gaps }: Shortfall): string {
  return `PARTIAL: ${gaps.map(({ words }) => words).join('; ')}`
}

/** Tells an agent how to complete a source. Example: `recrawl_source with source guide and maxPages 20 completes it` */
export function writeToolRemedy(source: Pick<Source, 'name' | 'version'>, { gaps }: Shortfall): string {
  const [maxPages = null] = gaps.map(({ remedy }) => remedy.maxPages)
  const tool = gaps.every(({ remedy }) => remedy.verb === 'refresh') ? 'refresh_source' : 'recrawl_source'
  return `${tool} with source ${writeLabel(source)}${maxPages === null ? '' : ` and maxPages ${maxPages}`} completes it`
}
