import type { HostClock } from './hosts/host-clock.ts'
import { type Discovery, isAbsent, type LedgerState, type Reason } from './ledger-reasons.ts'
import type { Adoption, Alias, Settlement, SettlementResult } from './settlement.ts'

/** Everything that is known about one address of a source. */
export interface LedgerRow {
  readonly sourceId: string
  /** Normalized address; equal for all spellings of one address. */
  readonly key: string
  /** The address as written where it was first found; requests use this one. */
  readonly url: string
  readonly host: string
  readonly state: LedgerState
  readonly reason: Reason | null
  /** The pattern, rule or number that caused the state. */
  readonly pattern: string | null
  /** Key of the address that holds the content of this one. */
  readonly target: string | null
  readonly depth: number
  /** The page or list where the address was first found. */
  readonly foundOn: string | null
  readonly discovery: Discovery
  readonly etag: string | null
  readonly lastModified: string | null
  /** Hash of the content of the last response. */
  readonly contentHash: string | null
  /** Requests since the last successful response. */
  readonly attempts: number
  /** Status of the last response. */
  readonly status: number | null
  /** The last outcome as text. */
  readonly detail: string | null
  readonly firstSeenAt: number
  /** When the content was last confirmed; without a page, when the address was last requested. */
  readonly checkedAt: number | null
  readonly changedAt: number | null
  /** When the address may be fetched next, if that is set. */
  readonly dueAt: number | null
  /** The crawl that last saw the address. */
  readonly crawlId: string | null
  /** Whether the library holds content for the address. */
  readonly hasPage: boolean
  /** Whether the last response was empty until a browser ran its scripts. */
  readonly isShell: boolean
}

/** Reasons why a page that was read is not stored at its address. */
const READ_REASONS: ReadonlySet<Reason> = new Set<Reason>(['noindex', 'canonical', 'duplicate', 'covered'])

/** Whether a row was settled as a page that was read, stored at this address or not. */
export function isRead({ state, reason }: Pick<LedgerRow, 'state' | 'reason'>): boolean {
  if (state === 'indexed' || state === 'unchanged') return true
  return state === 'skipped' && reason !== null && READ_REASONS.has(reason)
}

/** Whether an address exists, as far as its row tells; null if it was not requested or the response does not tell. */
export function isExistingAddress({
  reason,
  status,
  hasPage,
}: Pick<LedgerRow, 'reason' | 'status' | 'hasPage'>): boolean | null {
  if (hasPage) return true
  if (isAbsent(reason)) return false
  const wasRequested = status !== null && reason !== 'unlinked'
  return wasRequested && status < 400 ? true : null
}

/** An address that was found, with the decision of the address filter. */
export interface FoundAddress extends Pick<LedgerRow, 'key' | 'url' | 'host' | 'depth' | 'foundOn' | 'discovery'> {
  /** Why the address must not be fetched; null if it is admitted. */
  readonly refusal: Refusal | null
  /** The find counts only for an address that has never been seen. */
  readonly isNewOnly?: boolean
  /**
   * Integer from -1000 to 1000; lower weights are visited first. A hundred distinct weights in one frontier are fine, thousands make it
   * slow. @default 0
   */
  readonly weight?: number
}

/** Why an address is not fetched. */
export interface Refusal {
  readonly reason: Reason
  readonly pattern: string | null
  /** Key of the address that replaces the refused one. */
  readonly target: string | null
}

/**
 * What a find did to the ledger. `admitted` and `refused` changed a row in this crawl. `known` changed nothing, because the crawl had
 * already settled, admitted or refused the row. `named` turned a missed guess of the planner into a failure. `overflow` recorded nothing,
 * because the source has its maximum number of rows.
 */
export type OfferResult = 'admitted' | 'refused' | 'known' | 'named' | 'overflow'

/** A row that is leased to be fetched. */
export interface Visit
  extends Omit<
    LedgerRow,
    'state' | 'reason' | 'pattern' | 'status' | 'detail' | 'firstSeenAt' | 'changedAt' | 'dueAt' | 'crawlId'
  > {
  /** Validators, if a 304 response would be enough. */
  readonly etag: string | null
  readonly lastModified: string | null
  /** The address that returned the stored content and its validators, if known: another spelling of this one, or its Markdown. */
  readonly contentUrl: string | null
  /** Whether the address was read before, so that its links can be replayed. */
  readonly hasLinks: boolean
  /** Key of the address whose content this one duplicated when it was last read. */
  readonly target: string | null
  /** Whether this is a second request, made because the first response would remove the page. */
  readonly isConfirmation: boolean
  /** Whether the content is stored here and the canonical address of the page ignored, because that address holds nothing. */
  readonly isFinal: boolean
  /** Start of the reserved host slot; the request must not be sent earlier. */
  readonly notBefore: number
  /** Identifies the lease. Another value in the row means that the lease was lost. */
  readonly lease: string
}

/** Numbers of rows by state, and by state and reason. */
export interface LedgerCounts {
  readonly total: number
  readonly states: Readonly<Record<LedgerState, number>>
  /** `skipped/blocked` → 12 */
  readonly reasons: Readonly<Record<string, number>>
}

/** Numbers of addresses that a crawl has settled. */
export type SettledCounts = Pick<LedgerCounts['states'], 'indexed' | 'unchanged' | 'failed'>

/** The counts of a crawl that has settled nothing. */
export const NOTHING_SETTLED: SettledCounts = { indexed: 0, unchanged: 0, failed: 0 }

/** The last response for a robots.txt. */
export interface RobotsRecord {
  readonly origin: string
  readonly fetchedAt: number
  /** `rules`: there is a body. `none`: everything is allowed. `unreachable`: nothing is allowed. */
  readonly type: 'rules' | 'none' | 'unreachable'
  readonly body: string
  readonly status: number | null
}

/** A list that holds pages, as last read: its validators and hashes, and what it named. */
export interface ListRecord {
  readonly url: string
  readonly etag: string | null
  readonly lastModified: string | null
  /** Hash of the text of the list. */
  readonly contentHash: string
  /** Hash of everything else that affects how the list is read. */
  readonly contextHash: string
  /** Number of pages stored from the list. */
  readonly pages: number
  /** Addresses that the list names without their content. */
  readonly named: readonly string[]
}

/** A page that a list holds. */
export interface ListedPage {
  readonly key: string
  readonly url: string
}

/** A request for visits from the frontier. */
export interface LeaseRequest {
  readonly sourceId: string
  /** The crawl that asks; a crawl that no longer runs gets nothing. @default not checked */
  readonly crawlId?: string
  readonly limit: number
  readonly now: number
  /** When the leases expire. */
  readonly until: number
  /** Slots after this time are not reserved yet. */
  readonly horizon: number
  /** Returns the jitter in milliseconds for each following slot. @default none */
  readonly jitter?: () => number
  /** Whether all rows of one depth must be settled before the next depth begins; weights then count within a depth only. */
  readonly isBreadthFirst: boolean
  /** Rows up to this depth are one level. @default 0 */
  readonly firstLevel?: number
  /** Identifies a repeated request whose response was lost, so that the store returns the same visits. @default no detection */
  readonly id?: string
  /** Maximum number of hosts that this process may hold in a library shared by several machines. @default unlimited */
  readonly maxHosts?: number
  /** When the host leases expire without renewal. @default until */
  readonly hostsUntil?: number
}

/** Which rows to list. */
export interface RowFilter {
  readonly state?: LedgerState
  readonly reason?: Reason
  /** Rows after this key, in key order. */
  readonly after?: string
  /** Rows before this key. */
  readonly before?: string
  readonly limit: number
}

/** Work that remains for a source. */
export interface OpenWork {
  readonly pending: number
  readonly leased: number
  /** When the next pending row is due and its host free; null without one. */
  readonly nextAt: number | null
}

/** Rows to visit again. `pages`: all pages. `failed`: addresses that failed. `unlinked`: pages that the crawl has not seen. */
export type RequeueSelection = 'pages' | 'unlinked' | 'failed'

/** Rows of the addresses that a list names, except those on some hosts. */
export interface ListedRows {
  readonly list: string
  readonly exceptHosts: readonly string[]
}

/** Rows to visit again because the address that held their content lost it. */
export interface RequeueResult {
  readonly requeued: number
  /** Rows among them that the same crawl had settled since the given time. */
  readonly settled: number
}

/** Result if no row was requeued. */
export const NOTHING_REQUEUED: RequeueResult = { requeued: 0, settled: 0 }

/** Finds, visits and their outcomes. */
export interface VisitLedger {
  /** Records finds and aliases in one transaction. */
  offer(
    sourceId: string,
    crawlId: string,
    finds: readonly FoundAddress[],
    now: number,
    aliases?: readonly Alias[],
    /** Maximum number of rows of the source. @default unlimited */
    maxRows?: number,
  ): Promise<OfferResult[]>
  /**
   * Leases due visits by host clock, confirmations last, then by weight, depth and age, and reserves a host slot for each. Expired leases
   * are pending again, unless a crawl of the source runs: then they belong to it until it ends.
   */
  lease(request: LeaseRequest): Promise<Visit[]>
  /** Writes the outcome of a visit, with content, aliases and finds, in one transaction. */
  settle(settlement: Settlement): Promise<SettlementResult>
  /**
   * Stores a page without a visit, such as one from llms-full.txt. Returns `unchanged` for unchanged content, and `skipped` with `overflow`
   * if there is no room for a row: then nothing of the page is recorded.
   */
  adopt(adoption: Adoption): Promise<SettlementResult>
  /** Makes leased rows pending again, otherwise unchanged. */
  release(visits: readonly Visit[]): Promise<void>
  /** Counts the remaining work. */
  countOpen(sourceId: string, now: number): Promise<OpenWork>
  /** Hosts of pending rows whose back-off ends later than `after`, ordered by name. */
  listHeldHosts(sourceId: string, now: number, after: number): Promise<readonly string[]>
  /** Counts the addresses that a crawl has settled so far, also before an interruption. */
  countSettled(sourceId: string, crawlId: string): Promise<SettledCounts>
  /**
   * Takes every pending row out of the frontier, and returns their number. A row without a page becomes skipped with the reason. A row with
   * a page becomes `unchanged` without a check, because nothing contradicts its content. With `listed`, takes out only these rows, and of
   * them only those without a page.
   */
  skipPending(
    sourceId: string,
    reason: Reason,
    pattern: string | null,
    now: number,
    crawlId?: string,
    listed?: ListedRows,
  ): Promise<number>
  /** Fails every pending row of a host, and returns their number. Their pages stay. */
  failPending(sourceId: string, crawlId: string, host: string, reason: Reason, pattern: string | null): Promise<number>
  /** Makes the pending rows of a host due now, and returns the number of those that had to wait. */
  clearDelays(sourceId: string, host: string): Promise<number>
  /** Makes rows pending again, except those deeper than `maxDepth`, and returns their number. */
  requeue(
    sourceId: string,
    crawlId: string,
    which: RequeueSelection,
    now: number,
    /** @default unlimited */
    maxDepth?: number | null,
  ): Promise<number>
  /**
   * Requeues rows, as final visits, whose content belonged to another address that no longer holds it: duplicates whose target has other
   * content, and canonical ones whose target has none. A target that this crawl proved gone holds nothing. Requeues each row once per crawl.
   */
  requeueOrphanedAliases(sourceId: string, crawlId: string, since: number): Promise<RequeueResult>
  /** Counts pages that this crawl proved gone, and with `withUnseen` those that it did not see. */
  countRemovable(sourceId: string, crawlId: string, withUnseen: boolean): Promise<{ removable: number; pages: number }>
  /** Removes the pages that `countRemovable` counts, with content and index rows. Their ledger rows become `gone`. Returns their number. */
  removeProven(sourceId: string, crawlId: string, withUnseen: boolean, now: number): Promise<number>
}

/** Rows and lists of the ledger, to read and to confirm. */
export interface RowLedger {
  /** Links of a stored page, for replay. */
  readLinks(sourceId: string, key: string): Promise<readonly string[]>
  findRow(sourceId: string, key: string): Promise<LedgerRow | undefined>
  /** Rows in key order. */
  listRows(sourceId: string, filter: RowFilter): Promise<LedgerRow[]>
  readList(sourceId: string, url: string): Promise<ListRecord | undefined>
  writeList(sourceId: string, crawlId: string, record: ListRecord): Promise<void>
  /** Pages of the llms-full.txt with this address, in key order; `key` is that of the file, which may hold the remainder as a page. */
  listPagesOf(sourceId: string, url: string, key: string): Promise<readonly ListedPage[]>
  /** Confirms all pages that `listPagesOf` returns, and returns their number. */
  confirmPagesOf(sourceId: string, crawlId: string, url: string, key: string, now: number): Promise<number>
  /** Lists of a kind, in order, that named addresses with content which this crawl has not seen. */
  listUnseenLists(sourceId: string, crawlId: string, discovery: Discovery): Promise<readonly string[]>
  /**
   * The first row, by key, that this crawl settled for one of these reasons and whose links are unknown; or one that it read and that has
   * such a reason because some of its links are not stored.
   */
  findUnread(sourceId: string, crawlId: string, reasons: readonly Reason[]): Promise<LedgerRow | undefined>
  /**
   * Checks whether the targets of aliases exist, and as what, for `listAliases`. Called at the end of a crawl, because most targets are
   * visited after they were found. Returns the number of checked targets.
   */
  checkAliases(sourceId: string, now: number): Promise<number>
  countLedger(sourceId: string): Promise<LedgerCounts>
}

/** Clocks and robots.txt files of hosts. */
export interface HostRecords {
  /** The corrected clock of a host. */
  readClock(host: string, now: number): Promise<HostClock>
  /** The clock of the host of a visit; undefined if another process holds the host now. @default hosts never change hands */
  readClockFor?(visit: Pick<Visit, 'host' | 'lease'>, now: number): Promise<HostClock | undefined>
  /** Changes a clock in one transaction, and returns the new one. `change` may be called more than once. */
  changeClock(host: string, now: number, change: (clock: HostClock) => HostClock): Promise<HostClock>
  readRobots(origin: string): Promise<RobotsRecord | undefined>
  writeRobots(record: RobotsRecord): Promise<void>
}

/**
 * What the crawl engine stores: the ledger with its frontier, host clocks and robots.txt files.
 *
 * Writes for a crawl succeed only while that crawl runs and no other process has taken it over, which the same transaction checks.
 * Otherwise nothing happens: finds are `known`, a settlement is `lost`, and counts are 0.
 */
export interface Ledger extends VisitLedger, RowLedger, HostRecords {}
