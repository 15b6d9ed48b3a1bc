import { type Find, type FindResult, isGateReason, type LedgerState, type Reason } from '../../crawl/ledger.ts'
import { applyFind, type FoundRow } from '../../crawl/transitions.ts'
import type { CrawlOf } from './crawl-of.ts'

/** What a find reads of the row it meets; the flag as the database has it. */
export interface FoundRecord {
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly depth: number
  readonly weight: number
  readonly crawl: number | null
  readonly hasPage: boolean | 0 | 1
}

/** What a find writes. */
export interface FoundWrite {
  readonly result: FindResult
  /**
   * `insert` makes a row, `admit` and `refuse` change its state, `touch` its depth, weight and crawl only, `name` makes a failure of it,
   * and `none` leaves all as it is.
   */
  readonly kind: 'insert' | 'admit' | 'refuse' | 'touch' | 'name' | 'none'
  readonly state: LedgerState
  readonly depth: number
  readonly weight: number
  /** Whether how the row was found is replaced as well: this find is, in effect, its first. */
  readonly isFirst: boolean
}

/** The row a find meets, as rules about finds see it. */
export function toFoundRow(found: FoundRecord, crawl: CrawlOf): FoundRow {
  const { state, reason, depth, weight } = found
  const crawlId = found.crawl === crawl.number ? crawl.id : OTHER
  return { state, reason, depth, weight, crawlId, hasPage: Boolean(found.hasPage) }
}

/** Decides what a find writes. */
export function planFind(row: FoundRow | undefined, find: Find, crawl: CrawlOf, hasRoom: boolean): FoundWrite {
  const { result, write, state, depth, weight } = applyFind(row, find, crawl.id, hasRoom)
  const kind = write !== 'update' ? write : result === 'refused' ? 'refuse' : 'admit'
  return { result, kind, state, depth, weight, isFirst: row !== undefined && kind === 'admit' && wasRefused(row) }
}

/** The row once a find has been written to it, as the next find of the same address meets it. */
export function afterFind(row: FoundRow | undefined, find: Find, write: FoundWrite, crawl: CrawlOf): FoundRow {
  const { kind, state, depth, weight } = write
  const { reason: before = null, crawlId = null, hasPage = false } = row ?? {}
  const reasons = { admit: null, touch: before, name: 'not-found', none: before } as const
  const reason = kind === 'insert' || kind === 'refuse' ? (find.refusal?.reason ?? null) : reasons[kind]
  const isSeen = kind !== 'name' && kind !== 'none'
  return { state, reason, depth, weight, crawlId: isSeen ? crawl.id : crawlId, hasPage }
}

/** Stands for any other crawl: which one it was matters to nobody here. */
const OTHER = ''

/**
 * Whether the gate refused a row, or a plan only supposed it: the find that admits it is, in effect, its first. A refused one is
 * admitted even by the crawl that refused it.
 */
function wasRefused({ state, reason }: FoundRow): boolean {
  return state === 'skipped' && (isGateReason(reason) || reason === 'guess-missed')
}
