import type { Chunk, Classification, Page, PageClass } from '../core/model.ts'
import type { FoundAddress, LedgerRow, OfferResult, Visit } from './ledger.ts'
import type { LedgerState, Reason } from './ledger-reasons.ts'

/** Another address of the same content. */
export interface Alias {
  readonly url: string
  readonly aliasUrl: string
  readonly classification:
    | 'redirect'
    | 'canonical'
    | 'same-content'
    | 'superfluous-query'
    | 'session-id'
    | 'markdown-variant'
  readonly reason: string | null
  /** Whether `aliasUrl` exists; null if it was never requested or its response does not tell. Left out before the first check. */
  readonly exists?: boolean | null
  /** When the alias was last checked. */
  readonly checkedAt?: number
  /** State of the target at that time. */
  readonly metadata?: AliasFacts
}

/** State of the target of an alias. */
export interface AliasFacts {
  /** Null if the address has no row. */
  readonly state: LedgerState | null
  readonly reason: Reason | null
  readonly status: number | null
  /** Classification of the page of the target, if there is one. */
  readonly kind: PageClass | null
  /** Title of the page of the target; left out without one. */
  readonly title?: string
}

/** A page with everything that is indexed, and the links to replay. */
export interface PageRecord {
  readonly page: Page
  readonly chunks: readonly Chunk[]
  /** Links to replay when the page is unchanged: absolute addresses that may be followed. */
  readonly links: readonly string[]
  /** The kind of page, if it was classified. */
  readonly classification?: Classification
}

/** The outcome of a visit. The store writes all of it in one transaction. */
export interface Settlement
  extends Partial<
    Pick<
      LedgerRow,
      'reason' | 'pattern' | 'target' | 'status' | 'detail' | 'etag' | 'lastModified' | 'contentHash' | 'dueAt'
    >
  > {
  readonly visit: Visit
  readonly crawlId: string
  readonly now: number
  /** When the content of the row was last confirmed, if not now: nothing was requested, or the response did not tell. @default now */
  readonly checkedAt?: number | null
  /** `pending` puts the row back, for a retry at `dueAt` or for a confirmation after everything else. */
  readonly state: 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'pending'
  /** The address that returned the response, to which its validators belong. */
  readonly contentUrl?: string | null
  /** The address that readers open from now on: addresses of some files include the revision that was read. @default unchanged */
  readonly url?: string
  /** Whether the response was empty until a browser ran its scripts. @default unchanged */
  readonly isShell?: boolean
  /**
   * Whether the host failed rather than this address, so that it does not count as an attempt. The number of back-offs of the host limits
   * the retries.
   */
  readonly isHostAtFault?: boolean
  /** Whether the row waits for a second response of the same kind, after everything else. */
  readonly awaitsConfirmation?: boolean
  /** Whether this response proves that the page is gone; it is removed when the crawl completes. */
  readonly isProvenGone?: boolean
  /**
   * New content that replaces the old. Required for `indexed`. With `unchanged`: new metadata for the same content, such as another title.
   */
  readonly record?: PageRecord
  /** The current links of a page that was read but not stored again. */
  readonly links?: readonly string[]
  readonly aliases?: readonly Alias[]
  readonly finds?: readonly FoundAddress[]
  /** Maximum number of rows of the source. @default unlimited */
  readonly maxRows?: number
  /** Bytes and requests since the last settlement, in a process that has joined the crawl. */
  readonly cost?: { readonly bytes: number; readonly requests: number }
}

/** A page that is stored without a visit. */
export interface Adoption {
  readonly sourceId: string
  readonly crawlId: string
  readonly now: number
  readonly find: FoundAddress
  readonly record: PageRecord
  /** Whether the page is stored again even if its content is unchanged. @default false */
  readonly isFull?: boolean
  readonly finds: readonly FoundAddress[]
  /** Maximum number of rows of the source. @default unlimited */
  readonly maxRows?: number
}

/** The result for a page without a row when the source has its maximum number of rows. */
export function createOverflowResult(finds: SettlementResult['finds']): SettlementResult {
  return { type: 'settled', state: 'skipped', reason: 'overflow', target: null, finds }
}

/** An address that lost its content to a preferred one. */
export interface DemotedAddress {
  /** State of the address before it lost its content. */
  readonly state: LedgerState
  readonly checkedAt: number | null
}

/** The result of a settlement. */
export interface SettlementResult {
  /** `lost` if the lease had expired and another process has the row: nothing was written. */
  readonly type: 'settled' | 'lost'
  /** The new state; `skipped` if another address already holds the content. */
  readonly state: LedgerState
  readonly reason: Reason | null
  /** Key of the address that holds the same content. */
  readonly target: string | null
  /** The address that lost its content to this one, with the state in which this crawl had settled it. @default none */
  readonly demoted?: DemotedAddress | null
  /** Whether the address holds a page. @default false */
  readonly hasPage?: boolean
  /** Results in the order of the finds. */
  readonly finds: readonly OfferResult[]
}
