import type { Find, LedgerRow, PageRecord, Visit } from '../../crawl/ledger.ts'
import { type LedgerAction, nextState } from '../../crawl/transitions.ts'

/** A row of the ledger with what only the store knows of it. Never changed in place: a change is a new row. */
export interface Row extends LedgerRow {
  /** The stored content. `hasPage` says whether there is any. */
  readonly record: PageRecord | null
  /** Links to replay: of every row that was read, whether it holds what it was read as or not. Null for one that never was. */
  readonly links: readonly string[] | null
  /** The address that gave the content and its validators. */
  readonly contentUrl: string | null
  /** By which it is visited earlier or later than others. */
  readonly weight: number
  readonly lease: Lease | null
  /** Its content is to be taken as it is. */
  readonly isFinal: boolean
  /** The crawl that made it final; it does so once. */
  readonly finalCrawl: string | null
  readonly awaitsConfirmation: boolean
  /** The crawl that proved its page gone. */
  readonly provenCrawl: string | null
}

/** A row with its number among those of all sources: they grow in the order of the first finds. */
export interface NumberedRow extends Row {
  readonly id: number
}

/** Who has a row, and how long. */
export interface Lease {
  readonly token: string
  readonly until: number
}

/** What a row is when nothing is under way for it: nobody has it, nothing is waited for, no fetch went wrong. */
export const AT_REST: Pick<Row, 'lease' | 'isFinal' | 'awaitsConfirmation' | 'attempts' | 'dueAt'> = {
  lease: null,
  isFinal: false,
  awaitsConfirmation: false,
  attempts: 0,
  dueAt: null,
}

/** The row of an address that was never seen before, waiting to be fetched. */
export function createRow(sourceId: string, crawlId: string, find: Find, now: number): Row {
  const { key, url, host, depth, foundOn, discovery, weight = 0 } = find
  return {
    ...AT_REST,
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

/** A row in the state an action leads to; a state that the action does nothing to stays. */
export function moveRow(row: Row, action: LedgerAction): Row {
  return { ...row, state: nextState(row.state, action) ?? row.state }
}

/** A row as others may see it. */
export function toLedgerRow(row: Row): LedgerRow {
  const { record, links, contentUrl, weight, lease, isFinal, finalCrawl, awaitsConfirmation, provenCrawl, ...known } =
    row
  return known
}

/**
 * The visit of a leased row. Validators are only worth sending where an answer that nothing changed would be enough:
 * `isRepeated` says that the content it last answered with is held by its target.
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
  // What it last answered with need not be what is stored: that nothing changed since would say nothing about the page.
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
