import type { Adoption, Demoted, LedgerState, PageRecord, Reason, Settled, Settlement } from '../../crawl/ledger.ts'
import { applyFind, countAttempts, type LedgerAction, nextState } from '../../crawl/transitions.ts'
import type { CrawlOf } from './crawl-of.ts'

/** A row while it is settled: the columns that are written back at the end. */
export interface Draft {
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

/** Another row that holds a content and is to keep it: not one that the same crawl proved gone. */
export interface Holder {
  readonly id: number
  readonly key: string
  readonly url: string
  readonly state: LedgerState
  readonly checkedAt: number | null
  /** The crawl that last saw it. */
  readonly crawl: number | null
}

/** What each state of a settlement does to a row, where nothing is stored. */
export const ACTIONS = { unchanged: 'confirm', skipped: 'skip', failed: 'fail', pending: 'postpone' } as const

/** What a settlement says of the answer itself. */
type Answer = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** What is said of a page that came without one. */
export const NO_ANSWER: Answer = { state: 'indexed', isShell: false }

/** Whether a row is still the one of a visit. */
export function isOwned(row: Draft | undefined, { visit }: Settlement): row is Draft {
  return row?.state === 'leased' && row.lease === visit.lease
}

/** What every settlement writes, whatever the state it leads to. */
export function recordAnswer(row: Draft, answer: Answer, crawl: number): void {
  const { state, contentHash } = answer
  const isPending = state === 'pending'
  const isNothing = state === 'skipped' || state === 'failed'
  row.reason = answer.reason ?? null
  row.pattern = answer.pattern ?? null
  row.target = answer.target ?? null
  row.status = answer.status ?? null
  row.detail = answer.detail ?? null
  if (answer.etag !== undefined) row.etag = answer.etag
  if (answer.lastModified !== undefined) row.lastModified = answer.lastModified
  if (answer.contentUrl !== undefined) row.contentUrl = answer.contentUrl
  if (answer.url !== undefined) row.url = answer.url
  if (answer.isShell !== undefined) row.isShell = answer.isShell
  if (isNothing && typeof contentHash === 'string') row.contentHash = contentHash
  row.attempts = countAttempts(row.attempts, answer)
  row.dueAt = isPending ? (answer.dueAt ?? null) : null
  row.awaitsConfirmation = isPending && answer.awaitsConfirmation === true
  if (!isPending) row.isFinal = false
  row.provenCrawl = isNothing && answer.isProvenGone === true ? crawl : null
}

/** Does to a row what an action does. */
export function move(row: Draft, action: LedgerAction): void {
  row.state = nextState(row.state, action) ?? row.state
}

/** Makes a row one that only repeats the content of another. */
export function repeat(row: Draft, target: string): void {
  row.reason = 'duplicate'
  row.pattern = null
  row.target = target
  move(row, 'skip')
}

/**
 * Makes a row one that repeats a better one, which has the content it answered with. Tells whether its own page, which has the same content,
 * is to go at once.
 */
export function giveWay(row: Draft, better: Holder, hash: string, crawl: number): boolean {
  repeat(row, better.key)
  if (row.pageHash === null) return false
  if (row.pageHash === hash) {
    row.pageHash = null
    return true
  }
  // Other content is lost with it, so that it goes as every loss does: at the end, if that is not too much.
  row.provenCrawl = crawl
  return false
}

/** Nothing changed, but there is nothing here: another row holds the content, or it has to be fetched after all. */
export function confirmNothing(row: Draft, holder: Holder | undefined): void {
  if (holder !== undefined) {
    repeat(row, holder.key)
    return
  }
  row.reason = null
  row.pattern = null
  row.target = null
  row.isFinal = true
  move(row, 'postpone')
}

/** Makes a row one that holds a page since now. */
export function keepPage(row: Draft, { page }: PageRecord, now: number): void {
  row.pageHash = page.contentHash
  row.words = page.wordCount
  row.changedAt = now
  move(row, 'index')
}

/** The depth of a row that is adopted. */
export function meetAgain(row: Draft, { find, crawlId }: Adoption, crawl: CrawlOf): number {
  const { state, reason, depth } = row
  const found = {
    state,
    reason,
    depth,
    weight: 0,
    crawlId: row.crawl === crawl.number ? crawlId : null,
    hasPage: row.pageHash !== null,
  }
  return applyFind(found, { ...find, refusal: null }, crawlId).depth
}

/** What is to be done about a settlement: a page is stored, confirmed, looked for elsewhere, or nothing is said of any. */
export function judge(row: Draft, { state, record }: Settlement): 'store' | 'keep' | 'look' | 'none' {
  if (state === 'indexed' && record === undefined) {
    throw new TypeError(`Expected \`record\` to settle ${row.url} as indexed, got none`)
  }
  const isKept = state === 'unchanged' && (record === undefined || isHeld(row, record))
  if (record !== undefined && !isKept) return 'store'
  if (state !== 'unchanged') return 'none'
  return row.pageHash === null ? 'look' : 'keep'
}

/** Whether a row holds the content of a record. */
export function isHeld(row: Draft, { page }: PageRecord): boolean {
  return row.pageHash !== null && row.pageHash === page.contentHash
}

/** When a row was last told what it holds, after an answer at a moment. */
export function lastChecked(row: Draft, checkedAt: number | null): number | null {
  return isLeftBehind(row) ? row.checkedBefore : checkedAt
}

/** Whether a row still holds a page although it answered with the content of another: of what it holds nothing was told. */
function isLeftBehind({ reason, pageHash, provenCrawl }: Draft): boolean {
  return reason === 'duplicate' && pageHash !== null && provenCrawl !== null
}

/** A row that loses its content, if this crawl had settled it. */
export function demotedBy({ state, checkedAt, crawl: seenBy }: Holder, crawl: number): Demoted | null {
  return seenBy === crawl && nextState(state, 'demote') !== undefined ? { state, checkedAt } : null
}

/** What the ledger made of a settlement. */
export function report(row: Draft, finds: Settled['finds'], demoted: Demoted | null): Settled {
  const { state, reason, target } = row
  return { type: 'settled', state, reason, target, demoted, hasPage: row.pageHash !== null, finds }
}

/** What became of a visit whose row is somebody else's. */
export function lost(row: Draft | undefined): Settled {
  const { state = 'gone', reason = null, target = null } = row ?? {}
  return { type: 'lost', state, reason, target, finds: [] }
}
