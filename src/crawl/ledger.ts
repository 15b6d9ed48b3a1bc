import type { Chunk, Classification, Page, PageClass } from '../core/model.ts'
import type { HostClock } from './hosts/host-clock.ts'

/** States of an address. Each address of a source is in exactly one state. */
export const LEDGER_STATES = ['pending', 'leased', 'indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const

/** One of {@link LEDGER_STATES}. */
export type LedgerState = (typeof LEDGER_STATES)[number]

/** Why an address is in its state. The list is closed: no other reason can be recorded. */
export const REASONS = [
  // Refused as soon as the address was found, mostly by the address filter. These reasons depend on how it was found.
  'bad-url',
  'scheme',
  'excluded',
  // An ignore file of the folder matches the file.
  'ignored',
  'off-site',
  'out-of-scope',
  'blocked',
  'not-allowed',
  'query-skip',
  'session-id',
  // Another linked address differs only in a part that has no meaning on its host.
  'spelling',
  'path-trap',
  'calendar-trap',
  'max-depth',
  // The ledger holds the maximum number of addresses of the source, so this address has no row.
  'overflow',
  // The page marks the link as nofollow, or the crawl does not follow links.
  'nofollow',
  // The page has more links than are read.
  'too-many-links',
  'new-in-refresh',
  // Refused when the address was about to be fetched.
  'robots-disallow',
  'robots-unreachable',
  'page-cap',
  // The list that names the address holds only missing pages, judged by a sample.
  'stale-list',
  // Addresses of the same shape returned the same content again and again.
  'same-content',
  // The planner has enough addresses from one hub, or the address is older than requested.
  'hub-cap',
  'hub-age',
  // Only the planner guessed the address, and it does not exist.
  'guess-missed',
  // The content belongs to another address.
  'redirect',
  'canonical',
  'duplicate',
  'covered',
  // The page asks not to be indexed.
  'noindex',
  // The response is not a page.
  'not-text',
  // A document that needs a password, or that its parser cannot read.
  'encrypted',
  'damaged',
  // A file of several pages, each with its own address.
  'container',
  // The content looks like it contains a credential.
  'secret',
  'empty',
  'login',
  'challenge',
  'soft-404',
  'needs-rendering',
  // The request failed.
  'not-found',
  'removed',
  'http-client-error',
  'http-server-error',
  'rate-limited',
  'timeout',
  'network',
  'tls',
  'address-refused',
  'too-large',
  'redirect-loop',
  'bad-answer',
  // The service that reads pages failed, which says nothing about the page or its host.
  'service-failed',
  'page-defect',
  // The system denies access to the file.
  'unreadable',
  // The host kept failing, or asked for a longer back-off than allowed. The address itself was not requested.
  'host-parked',
  // Removed from the library.
  'unlinked',
] as const

/** One of {@link REASONS}. */
export type Reason = (typeof REASONS)[number]

const FILTER_REASONS: ReadonlySet<Reason> = new Set(REASONS.slice(0, REASONS.indexOf('robots-disallow')))

/** Refusals that concern the list or hub that names an address: another hub or a link may still add it. */
const LIST_OR_HUB_REASONS: ReadonlySet<Reason> = new Set<Reason>(['hub-cap', 'hub-age', 'stale-list'])

/** Whether a reason depends on how the address was found, so that a better find may overrule it. */
export function isFilterReason(reason: Reason | null): boolean {
  return reason !== null && (FILTER_REASONS.has(reason) || LIST_OR_HUB_REASONS.has(reason))
}

const TRAP_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'session-id',
  'spelling',
  'path-trap',
  'calendar-trap',
  'same-content',
  'overflow',
])

/** Whether a reason only guards against endless addresses. An address that already holds a page is visited all the same. */
export function isTrapReason(reason: Reason | null): boolean {
  return reason !== null && TRAP_REASONS.has(reason)
}

/** Reasons that prove that an address has no content, or that its content was read; all others leave it open. */
const CONCLUSIVE_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'robots-disallow',
  'guess-missed',
  'redirect',
  'canonical',
  'duplicate',
  'covered',
  'noindex',
  'not-text',
  'encrypted',
  'damaged',
  'container',
  'empty',
  'not-found',
  'removed',
  'unlinked',
])

/** Reasons that leave open where an address leads: pages that a crawl did not find may be behind it. */
export const INCONCLUSIVE_REASONS: readonly Reason[] = REASONS.filter(
  (reason) => !CONCLUSIVE_REASONS.has(reason) && (!FILTER_REASONS.has(reason) || reason === 'too-many-links'),
)

/** Reasons why a page that was read is not stored at its address. */
const READ_REASONS: ReadonlySet<Reason> = new Set<Reason>(['noindex', 'canonical', 'duplicate', 'covered'])

/** Whether a row was settled as a page that was read, stored at this address or not. */
export function isRead({ state, reason }: Pick<LedgerRow, 'state' | 'reason'>): boolean {
  if (state === 'indexed' || state === 'unchanged') return true
  return state === 'skipped' && reason !== null && READ_REASONS.has(reason)
}

/** How an address was found. */
export const DISCOVERIES = [
  'manual',
  'llms-txt',
  'llms-full',
  'sitemap',
  'link',
  'redirect',
  'canonical',
  'alternate',
  'query-strip',
  'folder',
  'planner',
] as const

/** One of {@link DISCOVERIES}. */
export type Discovery = (typeof DISCOVERIES)[number]

/** The discoveries that are lists of the site. */
export const LIST_DISCOVERIES: readonly Discovery[] = ['llms-txt', 'llms-full', 'sitemap']

/** Whether a list of the site names an address, judged by its first find. */
export function isListed(discovery: Discovery): boolean {
  return LIST_DISCOVERIES.includes(discovery)
}

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

/** An address that was found, with the decision of the address filter. */
export interface FoundAddress {
  readonly key: string
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
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
export interface Visit {
  readonly sourceId: string
  readonly key: string
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly discovery: Discovery
  /** The page or list where the address was first found. */
  readonly foundOn: string | null
  readonly attempts: number
  /** Validators, if a 304 response would be enough. */
  readonly etag: string | null
  readonly lastModified: string | null
  /** The address that returned the stored content and its validators, if known: another spelling of this one, or its Markdown. */
  readonly contentUrl: string | null
  readonly contentHash: string | null
  readonly checkedAt: number | null
  readonly hasPage: boolean
  /** Whether the address was read before, so that its links can be replayed. */
  readonly hasLinks: boolean
  /** Whether the last response was empty until a browser ran its scripts. */
  readonly isShell: boolean
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

/** Whether a reason means that nothing exists at an address. */
export function isAbsent(reason: Reason | null): boolean {
  return reason !== null && ABSENT_REASONS.has(reason)
}

const ABSENT_REASONS: ReadonlySet<Reason> = new Set<Reason>(['not-found', 'removed', 'soft-404', 'guess-missed'])

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
export interface Settlement {
  readonly visit: Visit
  readonly crawlId: string
  readonly now: number
  /** When the content of the row was last confirmed, if not now: nothing was requested, or the response did not tell. @default now */
  readonly checkedAt?: number | null
  /** `pending` puts the row back, for a retry at `dueAt` or for a confirmation after everything else. */
  readonly state: 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'pending'
  readonly reason?: Reason | null
  readonly pattern?: string | null
  readonly target?: string | null
  readonly status?: number | null
  readonly detail?: string | null
  readonly etag?: string | null
  readonly lastModified?: string | null
  /** The address that returned the response, to which its validators belong. */
  readonly contentUrl?: string | null
  /** The address that readers open from now on: addresses of some files include the revision that was read. @default unchanged */
  readonly url?: string
  /** Whether the response was empty until a browser ran its scripts. @default unchanged */
  readonly isShell?: boolean
  readonly contentHash?: string | null
  readonly dueAt?: number | null
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

/** Numbers of rows by state, and by state and reason. */
export interface LedgerCounts {
  readonly total: number
  readonly states: Readonly<Record<LedgerState, number>>
  /** `skipped/blocked` → 12 */
  readonly reasons: Readonly<Record<string, number>>
}

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

/**
 * Rows to visit again. `pages`: all pages. `failed`: addresses that failed. `unlinked`: rows that the crawl has not seen and that are
 * requested before they count as gone. These are pages whose address was found by stripping a query, and addresses at most one link from
 * the start that hold a page or responded, unless the user or a list named them.
 */
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

/**
 * What the crawl engine stores: the ledger with its frontier, host clocks and robots.txt files.
 *
 * Writes for a crawl succeed only while that crawl runs and no other process has taken it over, which the same transaction checks.
 * Otherwise nothing happens: finds are `known`, a settlement is `lost`, and counts are 0.
 */
export interface Ledger {
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
  /** Counts the pages that a crawl has indexed or found unchanged so far. */
  countPages(sourceId: string, crawlId: string): Promise<number>
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
  /** Makes rows pending again, and returns their number. */
  requeue(sourceId: string, crawlId: string, which: RequeueSelection, now: number): Promise<number>
  /**
   * Requeues rows, as final visits, whose content belonged to another address that no longer holds it: duplicates whose target has other
   * content, and canonical ones whose target has none. A target that is about to be removed (counted by `countRemovable` with the same
   * `withUnseen`) holds nothing. Requeues each row once per crawl.
   */
  requeueOrphanedAliases(sourceId: string, crawlId: string, since: number, withUnseen?: boolean): Promise<RequeueResult>
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
  /** The corrected clock of a host. */
  readClock(host: string, now: number): Promise<HostClock>
  /** The clock of the host of a visit; undefined if another process holds the host now. @default hosts never change hands */
  readClockFor?(visit: Pick<Visit, 'host' | 'lease'>, now: number): Promise<HostClock | undefined>
  /** Changes a clock in one transaction, and returns the new one. `change` may be called more than once. */
  changeClock(host: string, now: number, change: (clock: HostClock) => HostClock): Promise<HostClock>
  readRobots(origin: string): Promise<RobotsRecord | undefined>
  writeRobots(record: RobotsRecord): Promise<void>
  /** Counts pages that this crawl proved gone, and with `withUnseen` those that it did not see. */
  countRemovable(sourceId: string, crawlId: string, withUnseen: boolean): Promise<{ removable: number; pages: number }>
  /** Removes the pages that `countRemovable` counts, with content and index rows. Their ledger rows become `gone`. Returns their number. */
  removeProven(sourceId: string, crawlId: string, withUnseen: boolean, now: number): Promise<number>
}
