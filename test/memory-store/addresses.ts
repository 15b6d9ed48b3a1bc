import { OUT_OF_SCOPE_REASONS } from '../../src/core/address-labels.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { LEDGER_STATES, type LedgerState } from '../../src/crawl/ledger-reasons.ts'
import type {
  AddressConditions,
  AddressCursor,
  AddressEntry,
  Addresses,
  AddressQuery,
  HostSummary,
} from '../../src/library/ports/addresses.ts'
import { listKeysOf } from '../../src/library/sources/address-keys.ts'
import { groupFailures } from '../../src/library/sources/group-errors.ts'
import type { NumberedRow } from './row.ts'

/** Queries the rows of all sources in their current state. */
export function createMemoryAddresses(listRows: () => readonly NumberedRow[]): Addresses {
  const list = (query: AddressQuery): AddressEntry[] => {
    const { limit, cursor, order = 'newest' } = query
    const entries = listRows()
      .map(toEntry)
      .filter((entry) => passes(entry, query))
      .sort(order === 'newest' ? (a, b) => byTime(b, a) : byTime)
    if (cursor === undefined) return entries.slice(0, limit)
    const last = findPosition(cursor, listRows().map(toEntry), order)
    const isAfter = (entry: RowPosition): boolean =>
      order === 'newest' ? byTime(entry, last) < 0 : byTime(entry, last) > 0
    return entries.filter(isAfter).slice(0, limit)
  }
  const describeHost = (host: string): HostSummary | undefined => {
    const rows = listRows().filter((row) => row.host === host)
    const states = Object.fromEntries(LEDGER_STATES.map((state) => [state, 0])) as Record<LedgerState, number>
    for (const { state } of rows) states[state]++
    const checkTimes = rows.flatMap(({ checkedAt }) => checkedAt ?? [])
    const lastAt = checkTimes.length === 0 ? null : checkTimes.reduce((last, at) => Math.max(last, at))
    const pages = rows.filter(({ hasPage }) => hasPage).length
    return rows.length === 0
      ? undefined
      : { host, addresses: rows.length, pages, failed: states.failed, lastAt, states }
  }

  return {
    list: async (query) => list(query),
    count: async (filter, max) => list({ ...filter, limit: max }).length,
    find: async (url) => {
      const keys = new Set(listKeysOf(url))
      const rows = listRows().filter(({ key }) => keys.has(key))
      return rows.map(toEntry).sort((a, b) => byTime(b, a))
    },
    groupErrors: async (rows) => groupFailures(list({ state: 'failed', limit: rows })),
    listHosts: async (limit) =>
      [...new Set(listRows().map(({ host }) => host))]
        .flatMap((host) => describeHost(host) ?? [])
        .sort((a, b) => (b.lastAt ?? -Infinity) - (a.lastAt ?? -Infinity) || compareUtf8(a.host, b.host))
        .slice(0, limit),
    describeHost: async (host) => describeHost(host.toLowerCase()),
  }
}

function toEntry(row: NumberedRow): AddressEntry {
  const { id, sourceId, key, url, host, state, reason, pattern, status, detail, depth, foundOn, record } = row
  const { firstSeenAt, checkedAt, changedAt } = row
  const { kind, confidence } = record?.classification ?? {}
  return {
    id,
    sourceId,
    key,
    url,
    host,
    state,
    reason,
    pattern,
    status,
    detail,
    depth,
    foundOn,
    at: checkedAt ?? firstSeenAt,
    firstSeenAt,
    checkedAt,
    changedAt,
    title: record?.page.title ?? null,
    wordCount: record?.page.wordCount ?? null,
    chunks: record?.chunks.length ?? null,
    classification: kind ?? null,
    confidence: confidence ?? null,
  }
}

/** The position of an address in the list. */
type RowPosition = Pick<AddressEntry, 'at' | 'id'>

function byTime(a: RowPosition, b: RowPosition): number {
  return a.at - b.at || a.id - b.id
}

function findPosition(
  { at, id, url }: AddressCursor,
  entries: readonly AddressEntry[],
  order: 'newest' | 'oldest',
): RowPosition {
  if (id !== undefined) return { at, id }
  const matching = entries.filter((entry) => entry.at === at && entry.url === url).sort(byTime)
  return (order === 'newest' ? matching[0] : matching.at(-1)) ?? { at, id: order === 'newest' ? Infinity : -Infinity }
}

function passes(entry: AddressEntry, filter: AddressConditions): boolean {
  const { sourceId, host, includeSubdomains, state, reason, status, from, to, minWordCount, text, isInScope } = filter
  const { classification, minConfidence } = filter
  return (
    (sourceId === undefined || entry.sourceId === sourceId) &&
    (host === undefined || isHostOf(entry.host, host, includeSubdomains)) &&
    (state === undefined || entry.state === state) &&
    (reason === undefined || entry.reason === reason) &&
    (isInScope === undefined || !OUT_OF_SCOPE_REASONS.includes(entry.reason ?? '')) &&
    (status === undefined || entry.status === status) &&
    (from === undefined || entry.at >= from) &&
    (to === undefined || entry.at <= to) &&
    (minWordCount === undefined || (entry.wordCount !== null && entry.wordCount >= minWordCount)) &&
    (classification === undefined || entry.classification === classification) &&
    (minConfidence === undefined || (entry.confidence !== null && entry.confidence >= minConfidence)) &&
    (text === undefined || lowerAscii(entry.url).includes(lowerAscii(text)))
  )
}

/** Lower-cases only A to Z, as SQLite does. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Returns true when `host` equals `requestedHost` or, with `includeSubdomains`, is a subdomain of it. */
function isHostOf(host: string, requestedHost: string, includeSubdomains = false): boolean {
  const requested = requestedHost.toLowerCase()
  return host === requested || (includeSubdomains && host.endsWith(`.${requested}`))
}
