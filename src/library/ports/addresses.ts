import type { PageClass } from '../../core/model.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { LedgerState, Reason } from '../../crawl/ledger-reasons.ts'

/** Position in a list of addresses: the list continues after this entry. */
export interface AddressCursor {
  /** Timestamp of the entry (see `AddressEntry.at`). */
  readonly at: number
  /** Id of the entry, because several addresses may share one timestamp. */
  readonly id?: number
  /**
   * Address of the entry, for callers that know no id. If several sources requested it at `at`, the list continues after all of them.
   * Without an id or address, or if the entry no longer exists, the list starts with the first entry at `at`.
   */
  readonly url?: string
}

/** Conditions that an address must meet to be listed. */
export interface AddressConditions {
  readonly sourceId?: string
  readonly host?: string
  /** Includes subdomains of `host`. @default false */
  readonly includeSubdomains?: boolean
  readonly state?: LedgerState
  readonly reason?: Reason
  /** Leaves out links that lead out of the scope of their source. @default all addresses */
  readonly isInScope?: true
  /** HTTP status of the last response. */
  readonly status?: number
  /** Bounds for the time of the last request, or of discovery for an address never requested. Both ends are inclusive. */
  readonly from?: number
  readonly to?: number
  /** Only pages with at least this many words. */
  readonly minWordCount?: number
  /** Only pages of this class, and of a class with at least this confidence (0 to 1). */
  readonly classification?: PageClass
  readonly minConfidence?: number
  /** Substring of the address, case-insensitive. */
  readonly text?: string
}

/** One page of a list of addresses, newest or oldest first. */
export interface AddressQuery extends AddressConditions {
  readonly limit: number
  readonly cursor?: AddressCursor
  /** @default newest */
  readonly order?: 'newest' | 'oldest'
}

/** One address of a source, with its ledger state and the facts of its page. */
export interface AddressEntry
  extends Pick<LedgerRow, 'sourceId' | 'key' | 'url' | 'host' | 'state' | 'reason' | 'pattern' | 'status' | 'detail'>,
    Pick<LedgerRow, 'depth' | 'foundOn' | 'firstSeenAt' | 'checkedAt' | 'changedAt'> {
  /** Breaks ties between entries with the same timestamp; ids grow in order of discovery. */
  readonly id: number
  /** Time of the last request, or of discovery for an address never requested. Lists sort by this field. */
  readonly at: number
  /** Title and sizes of the stored page; null if the address has no page. */
  readonly title: string | null
  readonly wordCount: number | null
  readonly chunks: number | null
  /** Class of the stored page and its confidence; null without a page, or before the page is classified. */
  readonly classification: PageClass | null
  readonly confidence: number | null
}

/** Failed addresses that share status, reason and host. */
export interface ErrorGroup {
  /** HTTP status; null if there was no response. */
  readonly status: number | null
  readonly reason: Reason | null
  readonly host: string
  readonly count: number
  readonly lastAt: number
  /** The newest failures, at most three. */
  readonly examples: readonly { readonly url: string; readonly at: number; readonly detail: string | null }[]
}

/** Counts of addresses, pages and states for one host. */
export interface HostSummary {
  readonly host: string
  readonly addresses: number
  readonly pages: number
  readonly failed: number
  /** Time of the last request to the host; null if there was none. */
  readonly lastAt: number | null
  readonly states: Readonly<Record<LedgerState, number>>
}

/**
 * Lists the addresses of all sources together, sorted by their last request. An address that is requested during pagination moves to the
 * newest end. A list sorted newest first may therefore miss it, but never repeats an entry. A list sorted oldest first may repeat it, but
 * never misses an entry. One contract suite runs on every implementation.
 */
export interface Addresses {
  list(query: AddressQuery): Promise<readonly AddressEntry[]>
  /** Counts matching addresses, up to `maxCount`. */
  count(filter: AddressConditions, maxCount: number): Promise<number>
  /** Finds an address by its spelling or key in every source that has it. */
  find(url: string): Promise<readonly AddressEntry[]>
  /** Groups the last `rows` failures by status, reason and host. Returns at most fifty groups, largest first. */
  groupErrors(rows: number): Promise<readonly ErrorGroup[]>
  /** Lists the hosts with the most recent requests. */
  listHosts(limit: number): Promise<readonly HostSummary[]>
  describeHost(host: string): Promise<HostSummary | undefined>
}
