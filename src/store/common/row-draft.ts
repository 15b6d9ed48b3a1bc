import { compareKeyPreference } from '../../core/url/key-preference.ts'
import type {
  Adoption,
  DemotedAddress,
  LedgerState,
  PageRecord,
  Reason,
  Settlement,
  SettlementResult,
  Visit,
} from '../../crawl/ledger.ts'
import { countAttempts, decideRowChange, type LedgerAction, nextState } from '../../crawl/transitions.ts'
import type { CrawlRef } from './crawl-ref.ts'

/** A row during a settlement, with the columns that are written back at the end. */
export interface RowDraft {
  readonly id: number
  readonly key: string
  url: string
  state: LedgerState
  reason: Reason | null
  pattern: string | null
  target: string | null
  status: number | null
  detail: string | null
  etag: string | null
  lastModified: string | null
  contentUrl: string | null
  isShell: boolean
  contentHash: string | null
  pageHash: string | null
  words: number | null
  attempts: number
  readonly checkedBefore: number | null
  changedAt: number | null
  dueAt: number | null
  isFinal: boolean
  awaitsConfirmation: boolean
  provenCrawl: number | null
  readonly depth: number
  readonly crawl: number | null
  readonly lease: string | null
}

/** Another row that holds the same content, except rows that the same crawl proved gone. */
export interface Holder {
  readonly id: number
  readonly key: string
  readonly url: string
  readonly state: LedgerState
  readonly checkedAt: number | null
  /** The last crawl that saw the row. */
  readonly crawl: number | null
}

/** The ledger action for each settlement state that stores no page. */
export const ACTION_BY_STATE = { unchanged: 'confirm', skipped: 'skip', failed: 'fail', pending: 'postpone' } as const

/** The part of a settlement that describes the response. */
type ResponseFields = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** The response part for a page that was stored without a fetch. */
export const NO_RESPONSE: ResponseFields = { state: 'indexed', isShell: false }

/** Whether the visit still holds the lease of the row. */
export function hasLease(row: RowDraft | undefined, { visit }: Settlement): row is RowDraft {
  return row?.state === 'leased' && row.lease === visit.lease
}

/** Records the response in the row, whatever state the settlement leads to. */
export function recordResponse(row: RowDraft, response: ResponseFields, crawl: number): void {
  const { state, contentHash } = response
  const isPending = state === 'pending'
  const hasNoPage = state === 'skipped' || state === 'failed'
  row.reason = response.reason ?? null
  row.pattern = response.pattern ?? null
  row.target = response.target ?? null
  row.status = response.status ?? null
  row.detail = response.detail ?? null
  if (response.etag !== undefined) row.etag = response.etag
  if (response.lastModified !== undefined) row.lastModified = response.lastModified
  if (response.contentUrl !== undefined) row.contentUrl = response.contentUrl
  if (response.url !== undefined) row.url = response.url
  if (response.isShell !== undefined) row.isShell = response.isShell
  if (hasNoPage && typeof contentHash === 'string') row.contentHash = contentHash
  row.attempts = countAttempts(row.attempts, response)
  row.dueAt = isPending ? (response.dueAt ?? null) : null
  row.awaitsConfirmation = isPending && response.awaitsConfirmation === true
  if (!isPending) row.isFinal = false
  row.provenCrawl = hasNoPage && response.isProvenGone === true ? crawl : null
}

/** Applies a ledger action to a row. */
export function applyAction(row: RowDraft, action: LedgerAction): void {
  row.state = nextState(row.state, action) ?? row.state
}

/** Marks a row as a duplicate of another row. */
export function markDuplicate(row: RowDraft, target: string): void {
  row.reason = 'duplicate'
  row.pattern = null
  row.target = target
  applyAction(row, 'skip')
}

/**
 * Marks a row as a duplicate of a better row, which holds the content with this hash. Returns whether the page of this row must be removed
 * at once, because it has the same content.
 */
export function demoteToDuplicate(row: RowDraft, better: Holder, hash: string, crawl: number): boolean {
  markDuplicate(row, better.key)
  if (row.pageHash === null) return false
  if (row.pageHash === hash) {
    row.pageHash = null
    return true
  }
  // A page with other content is removed only at the end of the crawl, subject to the loss gate.
  row.provenCrawl = crawl
  return false
}

/**
 * Handles "unchanged" for a row without a page. Without a holder of its content, the row must be fetched again to store it. A duplicate whose
 * content is now at a worse address than its own is fetched again too, without validators. Otherwise the row is a duplicate.
 */
export function confirmWithoutPage(row: RowDraft, holder: Holder | undefined, { target }: Visit): void {
  const isBetter = holder !== undefined && target !== null && compareKeyPreference(row.key, holder.key) < 0
  if (holder !== undefined && !isBetter) {
    markDuplicate(row, holder.key)
    return
  }
  row.reason = null
  row.pattern = null
  row.target = null
  if (isBetter) {
    row.etag = null
    row.lastModified = null
  } else {
    row.isFinal = true
  }
  applyAction(row, 'postpone')
}

/** Records that the row holds a page from now on. */
export function keepPage(row: RowDraft, { page }: PageRecord, now: number): void {
  row.pageHash = page.contentHash
  row.words = page.wordCount
  row.changedAt = now
  applyAction(row, 'index')
}

/** The depth of an adopted row after this find. */
export function computeAdoptedDepth(row: RowDraft, { find, crawlId }: Adoption, crawl: CrawlRef): number {
  const { state, reason, depth } = row
  const found = {
    state,
    reason,
    depth,
    weight: 0,
    crawlId: row.crawl === crawl.number ? crawlId : null,
    hasPage: row.pageHash !== null,
  }
  return decideRowChange(found, { ...find, refusal: null }, crawlId).depth
}

/** Decides what a settlement does with the page: store it, keep the stored one, look for its content elsewhere, or nothing. */
export function choosePageAction(row: RowDraft, { state, record }: Settlement): 'store' | 'keep' | 'look' | 'none' {
  if (state === 'indexed' && record === undefined) {
    throw new TypeError(`Expected \`record\` to settle ${row.url} as indexed, got none`)
  }
  const isKept = state === 'unchanged' && (record === undefined || hasContentOf(row, record))
  if (record !== undefined && !isKept) return 'store'
  if (state !== 'unchanged') return 'none'
  return row.pageHash === null ? 'look' : 'keep'
}

/** Whether a row holds the content of a record. */
export function hasContentOf(row: RowDraft, { page }: PageRecord): boolean {
  return row.pageHash !== null && row.pageHash === page.contentHash
}

/** When the stored content of a row was last checked, given a response at `checkedAt`. */
export function computeCheckedAt(row: RowDraft, checkedAt: number | null): number | null {
  return hasOldPage(row) ? row.checkedBefore : checkedAt
}

/**
 * Whether a row still holds an old page although its response had the content of another row. That response says nothing about the old
 * page.
 */
function hasOldPage({ reason, pageHash, provenCrawl }: RowDraft): boolean {
  return reason === 'duplicate' && pageHash !== null && provenCrawl !== null
}

/** Describes a row that loses its content, if this crawl had already settled it. */
export function findDemoted({ state, checkedAt, crawl: seenBy }: Holder, crawl: number): DemotedAddress | null {
  return seenBy === crawl && nextState(state, 'demote') !== undefined ? { state, checkedAt } : null
}

/** The result of a settlement. */
export function createSettledResult(
  row: RowDraft,
  finds: SettlementResult['finds'],
  demoted: DemotedAddress | null,
): SettlementResult {
  const { state, reason, target } = row
  return { type: 'settled', state, reason, target, demoted, hasPage: row.pageHash !== null, finds }
}

/** The result of a visit that has lost the lease of its row. */
export function createLostResult(row: RowDraft | undefined): SettlementResult {
  const { state = 'gone', reason = null, target = null } = row ?? {}
  return { type: 'lost', state, reason, target, finds: [] }
}
