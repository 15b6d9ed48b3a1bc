import type { PageClass } from '../core/model.ts'
import type { LedgerState, Reason } from '../crawl/ledger.ts'

/** Where a list of addresses goes on: after the last one that was given. */
export interface AddressCursor {
  readonly at: number
  /** Of that entry: many may have been found at one moment. */
  readonly id?: number
  /**
   * Its address, for those who know no id; where several sources asked it at that moment, all of them are taken as given. Without
   * either, or when it is not there any more, all of that moment are still to come.
   */
  readonly url?: string
}

/** Which addresses are asked for. */
export interface AddressFilter {
  readonly sourceId?: string
  readonly host?: string
  /** Hosts below the given one as well. @default false */
  readonly includeSubdomains?: boolean
  readonly state?: LedgerState
  readonly reason?: Reason
  /** Status of the last answer. */
  readonly status?: number
  /** Last asked, or found, no earlier and no later than this. */
  readonly from?: number
  readonly to?: number
  /** Only pages with at least so many words. */
  readonly minWordCount?: number
  /** Only pages of this class. */
  readonly classification?: PageClass
  /** Only pages for which the votes of single signals come to this, and with at least this confidence, from 0 to 1. */
  readonly combinedHint?: PageClass
  readonly minCombinedConfidence?: number
  /** Part of the address, whatever the case of its letters. */
  readonly text?: string
}

/** A part of such a list: the newest first, or the oldest first. */
export interface AddressQuery extends AddressFilter {
  readonly limit: number
  readonly cursor?: AddressCursor
  /** @default newest */
  readonly order?: 'newest' | 'oldest'
}

/** What is known of one address of a source. */
export interface AddressEntry {
  /** Tells it from others of the same moment: whatever was found first has the least. */
  readonly id: number
  readonly sourceId: string
  readonly key: string
  readonly url: string
  readonly host: string
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly pattern: string | null
  readonly status: number | null
  readonly detail: string | null
  readonly depth: number
  readonly foundOn: string | null
  /** When it was last asked, or found where it never was: lists are in this order. */
  readonly at: number
  readonly firstSeenAt: number
  readonly checkedAt: number | null
  readonly changedAt: number | null
  /** Of the page it holds; null without one. */
  readonly title: string | null
  readonly wordCount: number | null
  readonly chunks: number | null
  /** What kind of page it holds, and how sure that is; null without one, or where nobody has looked. */
  readonly classification: PageClass | null
  readonly confidence: number | null
  /** What the votes of single signals come to, and how sure that is. */
  readonly combinedHint: PageClass | null
  readonly combinedConfidence: number | null
}

/** Failed addresses that failed alike. */
export interface ErrorGroup {
  /** Of the answer; null where there was none. */
  readonly status: number | null
  readonly reason: Reason | null
  readonly host: string
  readonly count: number
  readonly lastAt: number
  /** The newest, at most three. */
  readonly examples: readonly { readonly url: string; readonly at: number; readonly detail: string | null }[]
}

/** What is known of one host. */
export interface HostSummary {
  readonly host: string
  readonly addresses: number
  readonly pages: number
  readonly failed: number
  /** When one of its addresses was last asked; null where none ever was. */
  readonly lastAt: number | null
  readonly states: Readonly<Record<LedgerState, number>>
}

/**
 * Looks at the addresses of all sources together, in the order in which they were last asked. An address that is asked while
 * somebody goes through the list moves to its new end: from the newest on nothing comes twice, from the oldest on nothing is left out.
 * One contract suite runs on every implementation.
 */
export interface Addresses {
  list(query: AddressQuery): Promise<readonly AddressEntry[]>
  /** How many pass, counted up to `most`. */
  count(filter: AddressFilter, most: number): Promise<number>
  /** An address by its spelling or key, in every source that knows it. */
  find(url: string): Promise<readonly AddressEntry[]>
  /** Among the last so many failures, those that failed alike together; the most frequent first, at most fifty groups. */
  groupErrors(rows: number): Promise<readonly ErrorGroup[]>
  /** Those that were asked last. */
  listHosts(limit: number): Promise<readonly HostSummary[]>
  describeHost(host: string): Promise<HostSummary | undefined>
}
