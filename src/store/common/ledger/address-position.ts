import { OUT_OF_SCOPE_REASONS } from '../../../core/address-labels.ts'
import { LEDGER_STATES, type LedgerState } from '../../../crawl/ledger-reasons.ts'
import type { AddressConditions, AddressEntry, AddressQuery, HostSummary } from '../../../library/ports/addresses.ts'
import { selectColumns } from '../columns.ts'

/** The position of a row in a list of addresses. */
export interface RowPosition {
  readonly id: number
  readonly at: number
}

/** The sort order of an address list. */
export type Order = 'newest' | 'oldest'

/** The position before all rows of a timestamp. Ids start at 1. */
function createStartPosition(at: number, order: Order): RowPosition {
  return { at, id: order === 'newest' ? Number.MAX_SAFE_INTEGER : 0 }
}

/** The position at which a list starts. `findEntries` finds the entries of an address. */
export async function findStart(
  { cursor, from, to }: AddressConditions & Pick<AddressQuery, 'cursor'>,
  order: Order,
  findEntries: (url: string) => Promise<readonly AddressEntry[]>,
): Promise<RowPosition> {
  const first = order === 'newest' ? (to ?? Number.MAX_SAFE_INTEGER) : (from ?? Number.MIN_SAFE_INTEGER)
  const isWithin = cursor !== undefined && (order === 'newest' ? cursor.at <= first : cursor.at >= first)
  if (!isWithin) return createStartPosition(first, order)
  const { at, id, url } = cursor
  if (id !== undefined) return { at, id }
  // A cursor with a URL points to the row of that address, unless the row was requested since.
  const entries = url === undefined ? [] : await findEntries(url)
  const ids = entries.filter((entry) => entry.at === at && entry.url === url).map((entry) => entry.id)
  if (ids.length === 0) return createStartPosition(at, order)
  return { at, id: order === 'newest' ? Math.min(...ids) : Math.max(...ids) }
}

/** A part of the ledger that an index holds in list order: the rows of a source, or of one of its hosts. */
export interface Lane {
  readonly source: number
  readonly host: string | null
}

/** With more hosts than this, a list scans the rows of all hosts, because one scan per host would be slower. */
export const MAX_HOST_LANES = 32

/** SQL that selects the entries of rows l. */
export const SELECT_ENTRIES: string = `SELECT s.uuid AS "sourceId", ${selectColumns(
  'id, key, url, host, state, reason, pattern, status, detail, depth, found_on, at, first_seen_at, checked_at, changed_at',
  'l',
)}, p.title, CASE WHEN p.id IS NOT NULL THEN l.words END AS "wordCount", p.chunk_count AS chunks, a.kind AS classification,
    a.confidence
  FROM ledger l JOIN sources s ON s.id = l.source LEFT JOIN pages p ON p.id = l.id LEFT JOIN page_analyses a ON a.page = p.id`

/** The stored name of a host, and the suffix of its subdomains. */
export function toHostParameters(host: string): { name: string; below: string } {
  const name = host.toLowerCase()
  return { name, below: `.${name}` }
}

/** SQL condition for rows that are no links out of the scope of their source. */
export const IS_IN_SCOPE: string = `(l.reason IS NULL OR l.reason NOT IN (${OUT_OF_SCOPE_REASONS.map((reason) => `'${reason}'`).join(', ')}))`

/** Whether the ledger keeps a counter for this filter, so that no rows need to be scanned. */
export function hasCounter(filter: AddressConditions): boolean {
  const { sourceId, state, reason, includeSubdomains, ...others } = filter
  return Object.values(others).every((value) => value === undefined)
}

/** States with a counter per host. Leased rows are counted as pending there. */
export const COUNTED_STATES: readonly Exclude<LedgerState, 'leased'>[] = LEDGER_STATES.filter(
  (state) => state !== 'leased',
)

/** SQL for the number of rows of a host h. */
export const HOST_ROWS: string = COUNTED_STATES.map((state) => `sum(h.${state}_rows)`).join(' + ')

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
