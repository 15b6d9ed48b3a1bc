import type { LedgerCounts, OpenWork } from '../../../crawl/ledger.ts'
import { LEDGER_STATES, type LedgerState, LIST_DISCOVERIES } from '../../../crawl/ledger-reasons.ts'
import { type LedgerAction, nextState } from '../../../crawl/transitions.ts'

/** The number of rows with one state and reason; an empty reason means none. */
export interface CountedRows {
  readonly state: LedgerState
  readonly reason: string
  readonly rows: number
}

/** Sums up the counters of a source. */
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

/** The open work of a source that does not exist. */
export const NOTHING_OPEN: OpenWork = { pending: 0, leased: 0, nextAt: null }

/** The columns of the clock of a host. */
export const CLOCK_COLUMNS = 'next_at, interval_ms, floor_ms, held_until, slowed_at, strikes'

/** The columns of a robots.txt file. */
export const ROBOTS_COLUMNS = 'origin, fetched_at, type, status, body'

/** SQL condition for rows whose address comes from a list of the site. */
export const IS_LISTED: string = `discovery IN (${LIST_DISCOVERIES.map((name) => `'${name}'`).join(', ')})`

/** The states in which an action is valid, as an SQL list. */
export function statesFor(action: LedgerAction): string {
  const states = LEDGER_STATES.filter((state) => nextState(state, action) !== undefined)
  return `(${states.map((state) => `'${state}'`).join(', ')})`
}

/** The state that an action leads to, for SQL; it is the same from every valid state. */
export function stateAfter(action: LedgerAction): string {
  const after = new Set(LEDGER_STATES.flatMap((state) => nextState(state, action) ?? []))
  const [state, ...others] = after
  if (state === undefined || others.length > 0) throw new TypeError(`${action} leads to ${[...after].join(', ')}`)
  return `'${state}'`
}

/**
 * SQL assignments for a row that is fetched again: they clear its lease, attempts and reason. The target of a duplicate is kept, because
 * the visit reports it. `no` is the false value of the SQL dialect.
 */
export function writeReadmission(no: '0' | 'false'): string {
  return `target = CASE reason WHEN 'duplicate' THEN target END, reason = NULL, pattern = NULL,
  attempts = 0, due_at = NULL, proven_crawl = NULL, lease = NULL, leased_until = NULL, awaits_confirmation = ${no}`
}
