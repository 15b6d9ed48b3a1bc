import type { FoundAddress, LedgerRow, OfferResult } from './ledger.ts'
import { isFilterReason, isTrapReason, type LedgerState } from './ledger-reasons.ts'
import type { Settlement } from './settlement.ts'

/** Actions on a row of the ledger. */
export const LEDGER_ACTIONS = [
  /** Found, and to be fetched in this crawl. */
  'admit',
  /** Found, and not to be fetched. */
  'refuse',
  /** Leased for a visit. */
  'lease',
  /** New or changed content was stored. */
  'index',
  /** The content is unchanged. */
  'confirm',
  /** The server responded, but there is nothing to store. */
  'skip',
  'fail',
  /** Put back: for a retry, by a stop, or because the lease expired. */
  'postpone',
  /** To be fetched again, although the address was not found again. */
  'requeue',
  /** The content was found at a preferred address. */
  'demote',
  /** The page was proven gone. */
  'remove',
] as const

/** One of {@link LEDGER_ACTIONS}. */
export type LedgerAction = (typeof LEDGER_ACTIONS)[number]

/** Maximum delay of a row: a later due time comes from a machine with a wrong clock. */
export const MAX_DELAY_MS = 1_200_000

/** Includes the state before a row exists. */
type AnyState = LedgerState | 'new'

/** The state that each action leads to for a visited address without a page. */
const WITHOUT_A_PAGE: Readonly<Partial<Record<LedgerAction, LedgerState>>> = {
  admit: 'pending',
  index: 'indexed',
  confirm: 'unchanged',
  requeue: 'pending',
  demote: 'skipped',
}

/** The changes of a row whose page is current. */
const OF_A_PAGE: Readonly<Partial<Record<LedgerAction, LedgerState>>> = { ...WITHOUT_A_PAGE, remove: 'gone' }

/** The state that each action leads to; missing actions leave the row unchanged. */
const TRANSITIONS: Readonly<Record<AnyState, Readonly<Partial<Record<LedgerAction, LedgerState>>>>> = {
  new: { admit: 'pending', refuse: 'skipped', index: 'indexed' },
  pending: { lease: 'leased', refuse: 'skipped', index: 'indexed', confirm: 'unchanged', fail: 'failed' },
  leased: { index: 'indexed', confirm: 'unchanged', skip: 'skipped', fail: 'failed', postpone: 'pending' },
  indexed: OF_A_PAGE,
  unchanged: OF_A_PAGE,
  skipped: { ...WITHOUT_A_PAGE, refuse: 'skipped' },
  failed: { ...OF_A_PAGE, refuse: 'skipped' },
  gone: { admit: 'pending', refuse: 'skipped', index: 'indexed', confirm: 'unchanged' },
}

/** The state of a row after an action; undefined if the action does nothing in this state. */
export function nextState(state: AnyState, action: LedgerAction): LedgerState | undefined {
  return TRANSITIONS[state][action]
}

/** Number of requests for a row since its last success, after one more with this outcome. */
export function countAttempts(
  before: number,
  { state, isHostAtFault }: Pick<Settlement, 'state' | 'isHostAtFault'>,
): number {
  if (state === 'failed') return before + 1
  if (state !== 'pending') return 0
  return isHostAtFault === true ? before : before + 1
}

/** The fields of a row that decide what happens when its address is found again. */
export interface KnownRow extends Pick<LedgerRow, 'state' | 'reason' | 'depth' | 'crawlId' | 'hasPage'> {
  readonly weight: number
}

/**
 * What a found address changes in its row. `insert` adds the row, `update` changes its state, `touch` only its depth, weight and crawl, and
 * `name` turns a missed guess into a failure.
 */
export interface RowChange {
  readonly result: OfferResult
  readonly write: 'insert' | 'update' | 'touch' | 'name' | 'none'
  readonly state: LedgerState
  readonly depth: number
  readonly weight: number
}

/**
 * Decides what a found address changes. A row settled in this crawl stays unchanged. A refusal never changes a row with content: a narrower
 * scope of one run says nothing about stored pages. An address with content that looks like a trap is admitted. `hasRoom` tells whether the
 * source may have another row.
 */
export function decideRowChange(
  row: KnownRow | undefined,
  find: FoundAddress,
  crawlId: string,
  hasRoom = true,
): RowChange {
  const { weight: foundWeight = 0 } = find
  if (row === undefined) {
    const state = find.refusal === null ? 'pending' : 'skipped'
    const { depth } = find
    if (!hasRoom) return { result: 'overflow', write: 'none', state, depth, weight: foundWeight }
    const result = find.refusal === null ? 'admitted' : 'refused'
    return { result, write: 'insert', state, depth, weight: foundWeight }
  }
  const isWaiting = row.state === 'pending' || row.state === 'leased'
  const isOfThisCrawl = row.crawlId === crawlId
  // A row that waits for another crawl is not new either, and must not be changed by this one.
  const isWaitingHere = isOfThisCrawl && isWaiting
  if (find.isNewOnly === true && !isWaitingHere && row.reason !== 'new-in-refresh') return keepRow(row)
  const depth = isOfThisCrawl ? Math.min(row.depth, find.depth) : find.depth
  // A refused row has no meaningful weight.
  const weight = isWaitingHere ? Math.min(row.weight, foundWeight) : foundWeight
  // Trap guards do not apply to an existing page: it is requested to check whether it still exists.
  const isVisitedAnyway = row.hasPage && isTrapReason(find.refusal?.reason ?? null)
  if (find.refusal !== null && !isVisitedAnyway) {
    const state = row.hasPage ? undefined : nextState(row.state, 'refuse')
    const isSettled = isOfThisCrawl && !isWaiting
    // One path to the address may be too long and another not: an admitted row stays admitted, unless its content is at another address.
    const isAdmitted = isOfThisCrawl && isWaiting && find.refusal.reason !== 'covered'
    if (state === undefined || isSettled || isAdmitted) return keepRow(row)
    return { result: 'refused', write: 'update', state, depth, weight }
  }
  if (isWaiting) {
    const changesRow = !isOfThisCrawl || depth < row.depth || weight < row.weight
    return { result: 'known', write: changesRow ? 'touch' : 'none', state: row.state, depth, weight }
  }
  // A missed guess becomes a failure once the site itself names the address.
  const isNamed = isOfThisCrawl && row.reason === 'guess-missed' && find.discovery !== 'planner'
  if (isNamed) return { ...keepRow(row), result: 'named', write: 'name', state: 'failed' }
  const wasRefused = row.state === 'skipped' && isFilterReason(row.reason)
  const state = nextState(row.state, 'admit')
  if ((isOfThisCrawl && !wasRefused) || state === undefined) return keepRow(row)
  return { result: 'admitted', write: 'update', state, depth, weight }
}

function keepRow(row: KnownRow): RowChange {
  const { state, depth, weight } = row
  return { result: 'known', write: 'none', state, depth, weight }
}
