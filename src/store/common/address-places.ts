import { LEDGER_STATES, type LedgerState } from '../../crawl/ledger.ts'
import type { AddressFilter, HostSummary } from '../../library/addresses.ts'

/** A row in the order of a list of addresses. */
export interface Place {
  readonly id: number
  readonly at: number
}

/** Which end of such a list comes first. */
export type Order = 'newest' | 'oldest'

/** The place before all rows of a moment. Ids begin at 1. */
export function beforeAll(at: number, order: Order): Place {
  return { at, id: order === 'newest' ? Number.MAX_SAFE_INTEGER : 0 }
}

/** The name of a host as it is kept, and how the names of those below it end. */
export function namesOf(host: string): { name: string; below: string } {
  const name = host.toLowerCase()
  return { name, below: `.${name}` }
}

/** Whether the ledger keeps the figure that is asked for. */
export function isCounted(filter: AddressFilter): boolean {
  const { sourceId, state, reason, includeSubdomains, ...others } = filter
  return Object.values(others).every((value) => value === undefined)
}

/** States whose rows are counted for each host: what is leased is counted as pending there. */
export const KEPT_STATES: readonly Exclude<LedgerState, 'leased'>[] = LEDGER_STATES.filter(
  (state) => state !== 'leased',
)

/** What is kept of a host, in all sources together. */
export type HostColumns = Record<Exclude<LedgerState, 'leased'> | 'pages', number> & {
  host: string
  lastAt: number | null
}

/** What is known of a host, of which so many rows are leased. */
export function toSummary({ host, pages, lastAt, ...kept }: HostColumns, leased: number): HostSummary {
  const states = { ...kept, pending: kept.pending - leased, leased }
  const addresses = Object.values(states).reduce((sum, rows) => sum + rows)
  return { host, addresses, pages, failed: states.failed, lastAt, states }
}
