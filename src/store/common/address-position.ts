import { LEDGER_STATES, type LedgerState } from '../../crawl/ledger.ts'
import type { AddressConditions, HostSummary } from '../../library/ports/addresses.ts'

/** The position of a row in a list of addresses. */
export interface RowPosition {
  readonly id: number
  readonly at: number
}

/** The sort order of an address list. */
export type Order = 'newest' | 'oldest'

/** The position before all rows of a timestamp. Ids start at 1. */
export function createStartPosition(at: number, order: Order): RowPosition {
  return { at, id: order === 'newest' ? Number.MAX_SAFE_INTEGER : 0 }
}

/** The stored name of a host, and the suffix of its subdomains. */
export function toHostParameters(host: string): { name: string; below: string } {
  const name = host.toLowerCase()
  return { name, below: `.${name}` }
}

/** Whether the ledger keeps a counter for this filter, so that no rows need to be scanned. */
export function hasCounter(filter: AddressConditions): boolean {
  const { sourceId, state, reason, includeSubdomains, ...others } = filter
  return Object.values(others).every((value) => value === undefined)
}

/** States with a counter per host. Leased rows are counted as pending there. */
export const COUNTED_STATES: readonly Exclude<LedgerState, 'leased'>[] = LEDGER_STATES.filter(
  (state) => state !== 'leased',
)

/** The stored counters of a host, over all sources. */
export type HostColumns = Record<Exclude<LedgerState, 'leased'> | 'pages', number> & {
  host: string
  lastAt: number | null
}

/** The summary of a host. `leased` is the number of its pending rows that are leased. */
export function toSummary({ host, pages, lastAt, ...counts }: HostColumns, leased: number): HostSummary {
  const states = { ...counts, pending: counts.pending - leased, leased }
  const addresses = Object.values(states).reduce((sum, rows) => sum + rows)
  return { host, addresses, pages, failed: states.failed, lastAt, states }
}
