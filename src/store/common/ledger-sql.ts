import { LEDGER_STATES, type LedgerCounts, type LedgerState, LIST_DISCOVERIES } from '../../crawl/ledger.ts'
import { type LedgerAction, nextState } from '../../crawl/transitions.ts'

/** Rows of one state and reason; an empty reason is none. */
export interface CountedRows {
  readonly state: LedgerState
  readonly reason: string
  readonly rows: number
}

/** Adds up what is counted of a source. */
export function toCounts(counted: readonly CountedRows[]): LedgerCounts {
  const { states, reasons } = { states: { ...NO_ROWS }, reasons: {} as Record<string, number> }
  let total = 0
  for (const { state, reason, rows } of counted) {
    states[state] += rows
    total += rows
    if (reason !== '') reasons[`${state}/${reason}`] = rows
  }
  return { total, states, reasons }
}

const NO_ROWS: Readonly<Record<LedgerState, number>> = {
  pending: 0,
  leased: 0,
  indexed: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  gone: 0,
}

/** The condition that a list of the site names the address of a row. */
export const LISTED: string = `discovery IN (${LIST_DISCOVERIES.map((name) => `'${name}'`).join(', ')})`

/**
 * The condition that a row is requested before it counts as unlinked: a page linked with a query that was dropped, or an address at most
 * one link from the start that held a page or answered well. Addresses from lists and from the user are named anew by every crawl.
 */
export const ASKED_UNLINKED: string = `(discovery = 'query-strip' AND page_hash IS NOT NULL
  OR depth <= 1 AND discovery <> 'manual' AND NOT ${LISTED}
    AND (page_hash IS NOT NULL OR state = 'skipped' AND status < 400))`

/** The states to which an action does something, as a list for SQL. */
export function statesFor(action: LedgerAction): string {
  const states = LEDGER_STATES.filter((state) => nextState(state, action) !== undefined)
  return `(${states.map((state) => `'${state}'`).join(', ')})`
}

/** The state an action leads to, for SQL; an action leads to the same one from wherever it does something. */
export function stateAfter(action: LedgerAction): string {
  const after = new Set(LEDGER_STATES.flatMap((state) => nextState(state, action) ?? []))
  const [state, ...others] = after
  if (state === undefined || others.length > 0) throw new TypeError(`${action} leads to ${[...after].join(', ')}`)
  return `'${state}'`
}

/**
 * The columns of a row that is to be fetched again, for SQL: nothing is under way for it, and why it stood where it stood is
 * forgotten. What it repeated is kept, because the visit says so. `no` is how the dialect writes that something is not so.
 */
export function readmitted(no: '0' | 'false'): string {
  return `target = CASE reason WHEN 'duplicate' THEN target END, reason = NULL, pattern = NULL,
  attempts = 0, due_at = NULL, proven_crawl = NULL, lease = NULL, leased_until = NULL, awaits_confirmation = ${no}`
}
