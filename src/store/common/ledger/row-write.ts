import type { FoundAddress, OfferResult } from '../../../crawl/ledger.ts'
import { isFilterReason, type LedgerState, type Reason } from '../../../crawl/ledger-reasons.ts'
import { decideRowChange, type KnownRow } from '../../../crawl/transitions.ts'
import type { CrawlRef } from './crawl-ref.ts'

/** The columns of an existing row that a find reads, with the flag in its database form. */
export interface ExistingRowRecord {
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly depth: number
  readonly weight: number
  readonly crawl: number | null
  readonly hasPage: boolean | 0 | 1
}

/** The changes that a find makes. */
export interface RowWrite {
  readonly result: OfferResult
  /**
   * `insert` creates a row, `admit` and `refuse` change its state, `touch` updates only depth, weight and crawl, `name` turns a missed
   * guess into a failure, and `none` changes nothing.
   */
  readonly kind: 'insert' | 'admit' | 'refuse' | 'touch' | 'name' | 'none'
  readonly state: LedgerState
  readonly depth: number
  readonly weight: number
  /** Whether the discovery of the row is replaced too, because this find counts as its first. */
  readonly isFirst: boolean
}

/** The existing row in the form that the rules for finds expect. */
export function toFoundRow(found: ExistingRowRecord, crawl: CrawlRef): KnownRow {
  const { state, reason, depth, weight } = found
  const crawlId = found.crawl === crawl.number ? crawl.id : OTHER_CRAWL
  return { state, reason, depth, weight, crawlId, hasPage: Boolean(found.hasPage) }
}

/** Decides which changes a find makes. */
export function planRowWrite(
  row: KnownRow | undefined,
  find: FoundAddress,
  crawl: CrawlRef,
  hasRoom: boolean,
): RowWrite {
  const { result, write, state, depth, weight } = decideRowChange(row, find, crawl.id, hasRoom)
  const kind = write !== 'update' ? write : result === 'refused' ? 'refuse' : 'admit'
  const isFirst = row !== undefined && kind === 'admit' && wasRefusedOrMissed(row)
  return { result, kind, state, depth, weight, isFirst }
}

/** The row after a find was written, as the next find of the same address sees it. */
export function applyRowWrite(
  row: KnownRow | undefined,
  find: FoundAddress,
  write: RowWrite,
  crawl: CrawlRef,
): KnownRow {
  const { kind, state, depth, weight } = write
  const { reason: before = null, crawlId = null, hasPage = false } = row ?? {}
  const reasons = { admit: null, touch: before, name: 'not-found', none: before } as const
  const reason = kind === 'insert' || kind === 'refuse' ? (find.refusal?.reason ?? null) : reasons[kind]
  const isSeen = kind !== 'name' && kind !== 'none'
  return { state, reason, depth, weight, crawlId: isSeen ? crawl.id : crawlId, hasPage }
}

/** Placeholder for any other crawl, whose id does not matter here. */
const OTHER_CRAWL = ''

/**
 * Whether the address filter refused a row, or the row is a missed guess of the planner. The find that admits such a row counts as its
 * first, so it replaces the URL, host and discovery of the row. Even the crawl that refused a row may admit it later.
 */
function wasRefusedOrMissed({ state, reason }: KnownRow): boolean {
  return state === 'skipped' && (isFilterReason(reason) || reason === 'guess-missed')
}
