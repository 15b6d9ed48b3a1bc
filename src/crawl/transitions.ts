import {
  type Find,
  type FindResult,
  isGateReason,
  isTrapReason,
  type LedgerState,
  type Reason,
  type Settlement,
} from './ledger.ts'

/** What can happen to a row of the ledger. */
export const LEDGER_ACTIONS = [
  /** Found, and to be fetched in this crawl. */
  'admit',
  /** Found, and not to be fetched. */
  'refuse',
  /** Taken out of the frontier. */
  'lease',
  /** New or changed content was stored. */
  'index',
  /** Its content is as it was. */
  'confirm',
  /** It answered, but there is nothing to store. */
  'skip',
  'fail',
  /** Put back: to be tried again, stopped, or its lease ran out. */
  'postpone',
  /** To be fetched again although nobody found it. */
  'requeue',
  /** Its content turned up at a better address. */
  'demote',
  /** Its page was proven gone. */
  'remove',
] as const

/** One of {@link LEDGER_ACTIONS}. */
export type LedgerAction = (typeof LEDGER_ACTIONS)[number]

/** No row is put off for longer: one that is due even later was written by a clock that was wrong. */
export const MOST_DELAY_MS = 1_200_000

/** State a row has before it exists. */
type AnyState = LedgerState | 'new'

/** The state each action leads to; what is not here leaves the row alone. */
const TRANSITIONS: Readonly<Record<AnyState, Readonly<Partial<Record<LedgerAction, LedgerState>>>>> = {
  new: { admit: 'pending', refuse: 'skipped', index: 'indexed' },
  pending: { lease: 'leased', refuse: 'skipped', index: 'indexed', confirm: 'unchanged', fail: 'failed' },
  leased: { index: 'indexed', confirm: 'unchanged', skip: 'skipped', fail: 'failed', postpone: 'pending' },
  indexed: {
    admit: 'pending',
    index: 'indexed',
    confirm: 'unchanged',
    requeue: 'pending',
    demote: 'skipped',
    remove: 'gone',
  },
  unchanged: {
    admit: 'pending',
    index: 'indexed',
    confirm: 'unchanged',
    requeue: 'pending',
    demote: 'skipped',
    remove: 'gone',
  },
  skipped: {
    admit: 'pending',
    refuse: 'skipped',
    index: 'indexed',
    confirm: 'unchanged',
    requeue: 'pending',
    demote: 'skipped',
  },
  failed: {
    admit: 'pending',
    refuse: 'skipped',
    index: 'indexed',
    confirm: 'unchanged',
    requeue: 'pending',
    demote: 'skipped',
    remove: 'gone',
  },
  gone: { admit: 'pending', refuse: 'skipped', index: 'indexed', confirm: 'unchanged' },
}

/** The state a row has after an action; undefined when the action does nothing to a row in this state. */
export function nextState(state: AnyState, action: LedgerAction): LedgerState | undefined {
  return TRANSITIONS[state][action]
}

/** Fetches of a row since its last good answer, after one more that came to this. */
export function countAttempts(
  before: number,
  { state, isHostAtFault }: Pick<Settlement, 'state' | 'isHostAtFault'>,
): number {
  if (state === 'failed') return before + 1
  if (state !== 'pending') return 0
  return isHostAtFault === true ? before : before + 1
}

/** What a find needs to know of the row it meets. */
export interface FoundRow {
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly depth: number
  readonly weight: number
  readonly crawlId: string | null
  readonly hasPage: boolean
}

/** What a find does to a row: `insert` a new one, `update` its state, `touch` its depth, weight and crawl only, or nothing. */
export interface FoundChange {
  readonly result: FindResult
  readonly write: 'insert' | 'update' | 'touch' | 'name' | 'none'
  readonly state: LedgerState
  readonly depth: number
  readonly weight: number
}

/**
 * Decides what a find does. A row that was settled in this crawl stays as it is, whoever finds it again. A refusal never
 * touches a row that holds content: a narrower scope of one run says nothing about what is stored. What looks like a trap and
 * holds content is admitted. `hasRoom` tells whether the source may have another row.
 */
export function applyFind(row: FoundRow | undefined, find: Find, crawlId: string, hasRoom = true): FoundChange {
  const { weight: found = 0 } = find
  if (row === undefined) {
    const state = find.refusal === null ? 'pending' : 'skipped'
    const { depth } = find
    if (!hasRoom) return { result: 'overflow', write: 'none', state, depth, weight: found }
    return { result: find.refusal === null ? 'admitted' : 'refused', write: 'insert', state, depth, weight: found }
  }
  const isWaiting = row.state === 'pending' || row.state === 'leased'
  const isOfThisCrawl = row.crawlId === crawlId
  // What waits for another crawl is not new either, and none of this one's business.
  const isOwn = isOfThisCrawl && isWaiting
  if (find.isNewOnly === true && !isOwn && row.reason !== 'new-in-refresh') return leaveAlone(row)
  const depth = isOfThisCrawl ? Math.min(row.depth, find.depth) : find.depth
  // What was refused was not weighed.
  const weight = isOwn ? Math.min(row.weight, found) : found
  // Guards against addresses without end say nothing about a page that is there: it is asked whether it still is.
  const isAskedAnyway = row.hasPage && isTrapReason(find.refusal?.reason ?? null)
  if (find.refusal !== null && !isAskedAnyway) {
    const state = row.hasPage ? undefined : nextState(row.state, 'refuse')
    const isSettled = isOfThisCrawl && !isWaiting
    // One way to it may be too long and another not: what is admitted stays so, unless its content is known to be elsewhere.
    const isAdmitted = isOfThisCrawl && isWaiting && find.refusal.reason !== 'covered'
    if (state === undefined || isSettled || isAdmitted) return leaveAlone(row)
    return { result: 'refused', write: 'update', state, depth, weight }
  }
  if (isWaiting) {
    const isNews = !isOfThisCrawl || depth < row.depth || weight < row.weight
    return { result: 'known', write: isNews ? 'touch' : 'none', state: row.state, depth, weight }
  }
  // What a plan supposed in vain is not there for the site either, once the site itself names it.
  const isNamed = isOfThisCrawl && row.reason === 'guess-missed' && find.discovery !== 'planner'
  if (isNamed) return { ...leaveAlone(row), result: 'named', write: 'name', state: 'failed' }
  const wasRefused = row.state === 'skipped' && isGateReason(row.reason)
  const state = nextState(row.state, 'admit')
  if ((isOfThisCrawl && !wasRefused) || state === undefined) return leaveAlone(row)
  return { result: 'admitted', write: 'update', state, depth, weight }
}

function leaveAlone(row: FoundRow): FoundChange {
  const { state, depth, weight } = row
  return { result: 'known', write: 'none', state, depth, weight }
}
