import type { FoundAddress, LedgerRow, Visit } from '../../src/crawl/ledger.ts'
import type { PageRecord } from '../../src/crawl/settlement.ts'
import { type LedgerAction, nextState } from '../../src/crawl/transitions.ts'

/** A ledger row with the fields that only the store knows. Rows are immutable: a change creates a new row. */
export interface Row extends LedgerRow {
  /** The stored content; `hasPage` tells whether there is any. */
  readonly record: PageRecord | null
  /** Links to replay, for every row that was ever read, whatever it holds now. Null for a row that was never read. */
  readonly links: readonly string[] | null
  /** The address that returned the content and its validators. */
  readonly contentUrl: string | null
  /** Priority of the row: lower weights are visited earlier. */
  readonly weight: number
  readonly lease: Lease | null
  /** The next content is stored at this address, whatever the canonical address of the page. */
  readonly isFinal: boolean
  /** The crawl that last made the row final. Each crawl does so at most once per row. */
  readonly finalCrawl: string | null
  readonly awaitsConfirmation: boolean
  /** The crawl that proved the page of this row gone. */
  readonly provenCrawl: string | null
}

/** A row with its number across all sources; numbers ascend in the order of first finds. */
export interface NumberedRow extends Row {
  readonly id: number
}

/** The token of a lease and its expiry. */
export interface Lease {
  readonly token: string
  readonly until: number
}

/** The fields of a row without pending work: no lease, no delay and no failed attempts. */
export const NO_PENDING_WORK: Pick<Row, 'lease' | 'isFinal' | 'awaitsConfirmation' | 'attempts' | 'dueAt'> = {
  lease: null,
  isFinal: false,
  awaitsConfirmation: false,
  attempts: 0,
  dueAt: null,
}

/** A pending row for an address that was never seen before. */
export function createRow(sourceId: string, crawlId: string, find: FoundAddress, now: number): Row {
  const { key, url, host, depth, foundOn, discovery, weight = 0 } = find
  return {
    ...NO_PENDING_WORK,
    sourceId,
    key,
    url,
    host,
    state: 'pending',
    reason: null,
    pattern: null,
    target: null,
    depth,
    foundOn,
    discovery,
    etag: null,
    lastModified: null,
    contentHash: null,
    status: null,
    detail: null,
    firstSeenAt: now,
    checkedAt: null,
    changedAt: null,
    crawlId,
    hasPage: false,
    isShell: false,
    record: null,
    links: null,
    contentUrl: null,
    weight,
    finalCrawl: null,
    provenCrawl: null,
  }
}

/** Applies an action to a row. The state stays as it is when the action is not valid in that state. */
export function applyAction(row: Row, action: LedgerAction): Row {
  return { ...row, state: nextState(row.state, action) ?? row.state }
}

/** A row without its store-internal fields. */
export function toLedgerRow(row: Row): LedgerRow {
  const { record, links, contentUrl, weight, lease, isFinal, finalCrawl, awaitsConfirmation, provenCrawl, ...known } =
    row
  return known
}

/**
 * Builds the visit of a leased row. It carries validators only when a 304 response would be sufficient. `isRepeated` says that the target
 * holds the content of the last response.
 */
export function toVisit(row: Row, token: string, notBefore: number, isRepeated: boolean): Visit {
  const {
    sourceId,
    key,
    url,
    host,
    depth,
    discovery,
    foundOn,
    attempts,
    checkedAt,
    hasPage,
    isShell,
    target,
    isFinal,
  } = row
  const isAsStored = row.contentHash === null || row.contentHash === row.record?.page.contentHash
  // When the last response differs from the stored page, a 304 response would say nothing about that page.
  const isConditional = !isFinal && (hasPage ? isAsStored : isRepeated)
  const contentHash = row.record?.page.contentHash ?? (isConditional ? row.contentHash : null)
  return {
    sourceId,
    key,
    url,
    host,
    depth,
    discovery,
    foundOn,
    attempts,
    etag: isConditional ? row.etag : null,
    lastModified: isConditional ? row.lastModified : null,
    contentUrl: row.contentUrl,
    contentHash,
    checkedAt,
    hasPage,
    hasLinks: row.links !== null,
    isShell,
    target,
    isConfirmation: row.awaitsConfirmation,
    isFinal,
    notBefore,
    lease: token,
  }
}
