import { compareKeyPreference } from '../../../core/url/key-preference.ts'
import type { Visit } from '../../../crawl/ledger.ts'
import type { LedgerState } from '../../../crawl/ledger-reasons.ts'
import type {
  Adoption,
  Alias,
  DemotedAddress,
  PageRecord,
  Settlement,
  SettlementResult,
} from '../../../crawl/settlement.ts'
import { countAttempts, decideRowChange, type LedgerAction, nextState } from '../../../crawl/transitions.ts'
import type { CrawlRef } from './crawl-ref.ts'
import type { RowDraft } from './row-draft.ts'

/** What a store reads for a settlement. */
export interface SettlementInput {
  readonly row: RowDraft
  /** Another row that holds the content of {@link contentOf}, except rows that the same crawl proved gone; the first by key. */
  readonly holder: Holder | undefined
}

/** A row that holds a content. */
export interface Holder {
  readonly id: number
  readonly key: string
  readonly url: string
  readonly state: LedgerState
  readonly checkedAt: number | null
  /** The last crawl that saw the row. */
  readonly crawl: number | null
}

/** What a store writes for a settlement, in this order. */
export interface SettlementWrites {
  /** The new links of the row. */
  readonly links: readonly string[] | undefined
  /** The other row that loses its page to this one. */
  readonly demotion: Demotion | null
  /** The change of the page of the row: `metadata` and `classification` keep its content. */
  readonly page:
    | { readonly action: 'store' | 'metadata' | 'classification'; readonly record: PageRecord }
    | { readonly action: 'remove' }
    | null
  readonly row: RowDraft
  readonly aliases: readonly Alias[]
}

/** A row that loses its page to the settled row, whose key and content hash it gets. */
export interface Demotion {
  readonly holder: Holder
  /** The new state, for a duplicate of the settled row. A row that is still to be fetched only loses its page. */
  readonly state: LedgerState | undefined
  /** The row as it was, if this crawl had already settled it. */
  readonly demoted: DemotedAddress | null
}

/** Whether the visit still holds the lease of the row. */
export function hasLease(row: RowDraft | undefined, { visit }: Settlement): row is RowDraft {
  return row?.state === 'leased' && row.lease === visit.lease
}

/** The content that a settlement concerns: that of its page, or else of the stored page, or else of the last response. */
export function contentOf(row: RowDraft, record: PageRecord | undefined): string | null {
  return record?.page.contentHash ?? row.pageHash ?? row.contentHash
}

/** Decides what the result of a visit changes. */
export function decideSettlement(
  { row: before, holder }: SettlementInput,
  settlement: Settlement,
  crawl: number,
): SettlementWrites {
  const { state, record, links = record?.links, visit, now, checkedAt = now, aliases = [] } = settlement
  const row = recordResponse(before, settlement, crawl)
  const action = choosePageAction(row, settlement)
  let claim = UNCLAIMED
  if (action === 'store' && record !== undefined) {
    claim = storePage(row, holder, record, now, crawl)
  } else if (action === 'look') {
    confirmWithoutPage(row, holder, visit)
  } else if (action === 'keep' && row.pageHash !== null) {
    // Two rows may hold the same content after a crawl that proved one of them gone and stopped at the loss gate.
    claim = claimContent(row, holder, row.pageHash, crawl)
    if (claim.isStoredHere) {
      applyAction(row, 'confirm')
      if (record !== undefined) claim = { ...claim, page: { action: 'metadata', record } }
    }
  } else if (state !== 'indexed') {
    applyAction(row, ACTION_BY_STATE[state])
  }
  return conclude(row, action === 'store' ? record?.links : links, claim, checkedAt, aliases)
}

/** Decides what a page that was stored without a visit changes. */
export function decideAdoption(
  { row: before, holder }: SettlementInput,
  { record, isFull = false, now }: Adoption,
  crawl: number,
): SettlementWrites {
  // Settlement expects a leased row; a previous holder of the lease loses it.
  const row = recordResponse({ ...before, state: 'leased' }, NO_RESPONSE, crawl)
  // When an interrupted crawl reads the same list again, a page that it had already stored stays `indexed` and is not stored again.
  const isNewInCrawl = before.state === 'indexed' && before.crawl === crawl
  let claim: Claim
  if (hasContentOf(row, record) && (isNewInCrawl || !isFull)) {
    row.contentHash = row.pageHash
    applyAction(row, isNewInCrawl ? 'index' : 'confirm')
    claim = { ...UNCLAIMED, page: { action: 'classification', record } }
  } else {
    claim = storePage(row, holder, record, now, crawl)
  }
  return conclude(row, record.links, claim, now, [])
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

/** The result of a settlement. */
export function createSettledResult(
  { row, demotion }: SettlementWrites,
  finds: SettlementResult['finds'],
): SettlementResult {
  const { state, reason, target, pageHash } = row
  return {
    type: 'settled',
    state,
    reason,
    target,
    demoted: demotion?.demoted ?? null,
    hasPage: pageHash !== null,
    finds,
  }
}

/** The result of a visit that has lost the lease of its row. */
export function createLostResult(row?: Pick<RowDraft, 'state' | 'reason' | 'target'>): SettlementResult {
  const { state = 'gone', reason = null, target = null } = row ?? {}
  return { type: 'lost', state, reason, target, finds: [] }
}

/** The result for a visit to a removed source, or for a crawl that has ended or was taken over by another process. */
export const LOST_RESULT: SettlementResult = createLostResult()

/** The effect of claiming a content for a row, besides those on the row itself. */
interface Claim extends Pick<SettlementWrites, 'demotion' | 'page' | 'aliases'> {
  /** Whether the row stores the content; if not, it has become a duplicate. */
  readonly isStoredHere: boolean
}

const UNCLAIMED: Claim = { isStoredHere: true, demotion: null, page: null, aliases: [] }

function conclude(
  row: RowDraft,
  links: readonly string[] | undefined,
  { demotion, page, aliases: newAliases }: Claim,
  checkedAt: number | null,
  aliases: readonly Alias[],
): SettlementWrites {
  // A response with the content of another row says nothing about an old page that this row still holds.
  const hasOldPage = row.reason === 'duplicate' && row.pageHash !== null && row.provenCrawl !== null
  if (!hasOldPage) row.checkedAt = checkedAt
  return { links, demotion, page, row, aliases: [...newAliases, ...aliases] }
}

/** The ledger action for each settlement state that stores no page. */
const ACTION_BY_STATE = { unchanged: 'confirm', skipped: 'skip', failed: 'fail', pending: 'postpone' } as const

/** The part of a settlement that describes the response. */
type ResponseFields = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** The response part for a page that was stored without a fetch. */
const NO_RESPONSE: ResponseFields = { state: 'indexed', isShell: false }

/** The row with its response, whatever state the settlement leads to. */
function recordResponse(row: RowDraft, response: ResponseFields, crawl: number): RowDraft {
  const { state, reason = null, pattern = null, target = null, status = null, detail = null } = response
  const { etag = row.etag, lastModified = row.lastModified, contentUrl = row.contentUrl, dueAt = null } = response
  const { isShell = row.isShell, url = row.url } = response
  const isPending = state === 'pending'
  const hasNoPage = state === 'skipped' || state === 'failed'
  return {
    ...row,
    crawl,
    url,
    reason,
    pattern,
    target,
    status,
    detail,
    etag,
    lastModified,
    contentUrl,
    isShell,
    contentHash: (hasNoPage ? response.contentHash : null) ?? row.contentHash,
    attempts: countAttempts(row.attempts, response),
    dueAt: isPending ? dueAt : null,
    awaitsConfirmation: isPending && response.awaitsConfirmation === true,
    isFinal: isPending && row.isFinal,
    provenCrawl: hasNoPage && response.isProvenGone === true ? crawl : null,
  }
}

/** Decides what a settlement does with the page: store it, keep the stored one, look for its content elsewhere, or nothing. */
function choosePageAction(row: RowDraft, { state, record }: Settlement): 'store' | 'keep' | 'look' | 'none' {
  if (state === 'indexed' && record === undefined) {
    throw new TypeError(`Expected \`record\` to settle ${row.url} as indexed, got none`)
  }
  const isKept = state === 'unchanged' && (record === undefined || hasContentOf(row, record))
  if (record !== undefined && !isKept) return 'store'
  if (state !== 'unchanged') return 'none'
  return row.pageHash === null ? 'look' : 'keep'
}

/** Whether a row holds the content of a record. */
function hasContentOf(row: RowDraft, { page }: PageRecord): boolean {
  return row.pageHash !== null && row.pageHash === page.contentHash
}

function storePage(row: RowDraft, holder: Holder | undefined, record: PageRecord, now: number, crawl: number): Claim {
  const { contentHash, wordCount } = record.page
  const claim = claimContent(row, holder, contentHash, crawl)
  if (!claim.isStoredHere) return claim
  row.pageHash = contentHash
  row.words = wordCount
  row.changedAt = now
  applyAction(row, 'index')
  return { ...claim, page: { action: 'store', record } }
}

/** Ensures that a content is stored once per source, under the better of two addresses. */
function claimContent(row: RowDraft, holder: Holder | undefined, hash: string, crawl: number): Claim {
  row.contentHash = hash
  if (holder === undefined) return UNCLAIMED
  const aliases: Alias[] = [{ url: row.url, aliasUrl: holder.url, classification: 'same-content', reason: null }]
  if (compareKeyPreference(holder.key, row.key) >= 0) {
    const state = nextState(holder.state, 'demote')
    const demoted =
      holder.crawl === crawl && state !== undefined ? { state: holder.state, checkedAt: holder.checkedAt } : null
    return { isStoredHere: true, demotion: { holder, state, demoted }, page: null, aliases }
  }
  markDuplicate(row, holder.key)
  const isSamePage = row.pageHash === hash
  // A page with other content is removed only at the end of the crawl, subject to the loss gate.
  if (isSamePage) row.pageHash = null
  else if (row.pageHash !== null) row.provenCrawl = crawl
  return { isStoredHere: false, demotion: null, page: isSamePage ? { action: 'remove' } : null, aliases }
}

/**
 * Handles "unchanged" for a row without a page. Without a holder of its content, the row must be fetched again to store it. A duplicate whose
 * content is now at a worse address than its own is fetched again too, without validators. Otherwise the row is a duplicate.
 */
function confirmWithoutPage(row: RowDraft, holder: Holder | undefined, { target }: Visit): void {
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

function markDuplicate(row: RowDraft, target: string): void {
  row.reason = 'duplicate'
  row.pattern = null
  row.target = target
  applyAction(row, 'skip')
}

function applyAction(row: RowDraft, action: LedgerAction): void {
  row.state = nextState(row.state, action) ?? row.state
}
