import type { Chunk, Classification, Page, PageClass } from '../core/model.ts'
import type { HostClock } from './host-clock.ts'

/** Where an address can stand. Each address of a source is in exactly one state. */
export const LEDGER_STATES = ['pending', 'leased', 'indexed', 'unchanged', 'skipped', 'failed', 'gone'] as const

/** One of {@link LEDGER_STATES}. */
export type LedgerState = (typeof LEDGER_STATES)[number]

/** Why an address is in its state. The list is closed: what is not in it cannot be recorded. */
export const REASONS = [
  // Refused by the gate, in its order. They depend on how an address was found.
  'bad-url',
  'scheme',
  'excluded',
  // An ignore file of a folder names it.
  'ignored',
  'off-site',
  'out-of-scope',
  'blocked',
  'not-allowed',
  'query-skip',
  'session-id',
  // Another linked address differs from it only in something that means nothing on its host.
  'spelling',
  'path-trap',
  'calendar-trap',
  'max-depth',
  // The ledger holds as many addresses of the source as it may; this one has no row.
  'overflow',
  // The page that was looked at does not vouch for it, or its crawl was not to follow.
  'nofollow',
  // The page that was looked at has more links than are read.
  'too-many-links',
  'new-in-refresh',
  // Refused when it was to be fetched.
  'robots-disallow',
  'robots-unreachable',
  'page-cap',
  // The list that names it holds only missing pages, judged by a sample.
  'stale-list',
  // Addresses of its shape have held the same again and again.
  'same-content',
  // The plan of the crawl has enough of what one hub lists, or it is older than was asked for.
  'hub-cap',
  'hub-age',
  // Only a plan supposed that it is there.
  'guess-missed',
  // Known by another address.
  'redirect',
  'canonical',
  'duplicate',
  'covered',
  // Seen, and left alone on request.
  'noindex',
  // Answered, but not with a page.
  'not-text',
  // A document that asks for a password, or that no reader of its format understands.
  'encrypted',
  'damaged',
  // A file that holds several pages, each with an address of its own.
  'container',
  // It holds what looks like a credential.
  'secret',
  'empty',
  'login',
  'challenge',
  'soft-404',
  'needs-rendering',
  // Not answered well.
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
  // The service that reads pages is in trouble, which says nothing of the page or its host.
  'service-failed',
  'page-defect',
  // A file that the system does not let be read.
  'unreadable',
  // Its host kept failing, or asked for more patience than there is; it was not asked itself.
  'host-parked',
  // Removed from the library.
  'unlinked',
] as const

/** One of {@link REASONS}. */
export type Reason = (typeof REASONS)[number]

const GATE_REASONS: ReadonlySet<Reason> = new Set(REASONS.slice(0, REASONS.indexOf('robots-disallow')))

/** Refusals of what names an address: what one hub or list may not add, another hub or a link may. */
const REASONS_OF_FINDERS: ReadonlySet<Reason> = new Set<Reason>(['hub-cap', 'hub-age', 'stale-list'])

/** Whether a reason depends on how the address was found, so that a find by a better way may overrule it. */
export function isGateReason(reason: Reason | null): boolean {
  return reason !== null && (GATE_REASONS.has(reason) || REASONS_OF_FINDERS.has(reason))
}

const TRAP_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  'session-id',
  'spelling',
  'path-trap',
  'calendar-trap',
  'same-content',
  'overflow',
])

/** Whether a reason only guards against addresses without end. What holds a page is none of those: it is visited all the same. */
export function isTrapReason(reason: Reason | null): boolean {
  return reason !== null && TRAP_REASONS.has(reason)
}

/** Reasons that prove that nothing is behind an address, or that what is there was looked at: all others leave it open. */
const TOLD: ReadonlySet<Reason> = new Set<Reason>([
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

/** Reasons for which nobody knows where an address would have led: what was not found in a crawl may be behind it. */
export const OPEN_REASONS: readonly Reason[] = REASONS.filter(
  (reason) => !TOLD.has(reason) && (!GATE_REASONS.has(reason) || reason === 'too-many-links'),
)

/** Why a page that was read is not kept at its address. */
const READ_REASONS: ReadonlySet<Reason> = new Set<Reason>(['noindex', 'canonical', 'duplicate', 'covered'])

/** Whether a row was settled as a page that was read, whether it is kept there or not. */
export function isRead({ state, reason }: Pick<LedgerRow, 'state' | 'reason'>): boolean {
  if (state === 'indexed' || state === 'unchanged') return true
  return state === 'skipped' && reason !== null && READ_REASONS.has(reason)
}

/** How an address became known. */
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

/** How addresses become known that a list of the site names. */
export const LIST_DISCOVERIES: readonly Discovery[] = ['llms-txt', 'llms-full', 'sitemap']

/** Whether a list of the site names an address, as far as its first find tells. */
export function isListed(discovery: Discovery): boolean {
  return LIST_DISCOVERIES.includes(discovery)
}

/** Everything that is known about one address of a source. */
export interface LedgerRow {
  readonly sourceId: string
  /** What the address is known by; equal for spellings of one address. */
  readonly key: string
  /** The address as it was written where it was first found; this is what is fetched. */
  readonly url: string
  readonly host: string
  readonly state: LedgerState
  readonly reason: Reason | null
  /** The pattern, rule or figure that caused the state. */
  readonly pattern: string | null
  /** Key of the address that holds the content of this one. */
  readonly target: string | null
  readonly depth: number
  /** Address of the page or list where it was first found. */
  readonly foundOn: string | null
  readonly discovery: Discovery
  readonly etag: string | null
  readonly lastModified: string | null
  /** Hash of the content it last answered with. */
  readonly contentHash: string | null
  /** Fetches since its last good answer. */
  readonly attempts: number
  /** Status of its last answer. */
  readonly status: number | null
  /** Its last outcome in words. */
  readonly detail: string | null
  readonly firstSeenAt: number
  /** When what it holds was last confirmed; without a page, when it was last asked. */
  readonly checkedAt: number | null
  readonly changedAt: number | null
  /** When it may be fetched next, as far as it has been said. */
  readonly dueAt: number | null
  /** The crawl that last saw it. */
  readonly crawlId: string | null
  /** Whether the library holds content for it. */
  readonly hasPage: boolean
  /** Whether its answer was empty until a browser had run its scripts, as far as one did. */
  readonly isShell: boolean
}

/** An address that was found, with what the gate said of it. */
export interface Find {
  readonly key: string
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
  /** Why it is not to be fetched; null admits it. */
  readonly refusal: Refusal | null
  /** Counts only where the address was never seen before. */
  readonly isNewOnly?: boolean
  /**
   * A whole number from -1000 to 1000 by which it is visited earlier or later than others; the least first. A hundred different ones
   * in one frontier are fine, thousands make it slow. @default 0
   */
  readonly weight?: number
}

/** Why an address is not fetched. */
export interface Refusal {
  readonly reason: Reason
  readonly pattern: string | null
  /** Key of the address that stands for it. */
  readonly target: string | null
}

/**
 * What a find did to the ledger: `admitted` and `refused` changed a row in this crawl, `known` did not (it was settled, admitted
 * or refused before in the same crawl), `named` made a failure of what a plan had supposed in vain, and `overflow` was to be a row more
 * than the source may have: nothing was recorded.
 */
export type FindResult = 'admitted' | 'refused' | 'known' | 'named' | 'overflow'

/** A row taken out of the frontier to be fetched. */
export interface Visit {
  readonly sourceId: string
  readonly key: string
  readonly url: string
  readonly host: string
  readonly depth: number
  readonly discovery: Discovery
  /** Address of the page or list where it was first found. */
  readonly foundOn: string | null
  readonly attempts: number
  /** Validators, where an answer that nothing changed would be enough. */
  readonly etag: string | null
  readonly lastModified: string | null
  /** The address that gave the stored content and its validators, if it is known: a spelling of this one, or its Markdown. */
  readonly contentUrl: string | null
  readonly contentHash: string | null
  readonly checkedAt: number | null
  readonly hasPage: boolean
  /** Whether it was read before, so that its links can be replayed. */
  readonly hasLinks: boolean
  /** Whether its answer was empty then until a browser had run its scripts. */
  readonly isShell: boolean
  /** Key of the address whose content this one repeated when it was last read. */
  readonly target: string | null
  /** Asked a second time, because the first answer would remove it. */
  readonly isConfirmation: boolean
  /** Take the content as it is, whatever the page says about its proper address: that one turned out to hold nothing. */
  readonly isFinal: boolean
  /** The slot of its host: not to be fetched before. */
  readonly notBefore: number
  /** Proof that this lease is still ours. */
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
  /** Whether something is at `aliasUrl`; null where it was never asked, or its answer does not tell. Left out before anybody has looked. */
  readonly exists?: boolean | null
  /** When it was last looked up. */
  readonly checkedAt?: number
  /** What was known of it then. */
  readonly metadata?: AliasFacts
}

/** What an address turned out to be that others stand for. */
export interface AliasFacts {
  /** Null where nobody has found it: it has no row. */
  readonly state: LedgerState | null
  readonly reason: Reason | null
  readonly status: number | null
  /** What kind of page it holds, where somebody has looked. */
  readonly kind: PageClass | null
  /** Of the page it holds; left out without one. */
  readonly title?: string
}

/** Whether something is at an address, as far as it told: null where it was not asked, or did not say. */
export function isThere({ reason, status, hasPage }: Pick<LedgerRow, 'reason' | 'status' | 'hasPage'>): boolean | null {
  if (hasPage) return true
  if (isAbsent(reason)) return false
  const isAsked = status !== null && reason !== 'unlinked'
  return isAsked && status < 400 ? true : null
}

/** Whether a reason says that nothing is at an address. */
export function isAbsent(reason: Reason | null): boolean {
  return reason !== null && ABSENT_REASONS.has(reason)
}

const ABSENT_REASONS: ReadonlySet<Reason> = new Set<Reason>(['not-found', 'removed', 'soft-404', 'guess-missed'])

/** A page with everything that is indexed and replayed for it. */
export interface PageRecord {
  readonly page: Page
  readonly chunks: readonly Chunk[]
  /** Links to replay when the page turns out unchanged: absolute addresses that may be followed. */
  readonly links: readonly string[]
  /** What kind of page it is, where somebody has looked. */
  readonly classification?: Classification
}

/** What became of a visit. Everything in it is written in one transaction. */
export interface Settlement {
  readonly visit: Visit
  readonly crawlId: string
  readonly now: number
  /** When it was last told what the row holds, where that was not now: nothing was asked, or the answer did not say. @default now */
  readonly checkedAt?: number | null
  /** `pending` puts it back: to be tried again at `dueAt`, or confirmed when everything else is done. */
  readonly state: 'indexed' | 'unchanged' | 'skipped' | 'failed' | 'pending'
  readonly reason?: Reason | null
  readonly pattern?: string | null
  readonly target?: string | null
  readonly status?: number | null
  readonly detail?: string | null
  readonly etag?: string | null
  readonly lastModified?: string | null
  /** The address that gave the answer, where its validators are kept. */
  readonly contentUrl?: string | null
  /** Where a reader opens it from now on: addresses of some files tell which state of them was read. @default as it was before */
  readonly url?: string
  /** Whether its answer was empty until a browser had run its scripts. @default as it was before */
  readonly isShell?: boolean
  readonly contentHash?: string | null
  readonly dueAt?: number | null
  /** Whether the host failed rather than this address: that is no attempt. It is put back only as often as hosts are left alone. */
  readonly isHostAtFault?: boolean
  /** Whether a second answer of the same kind is to be awaited, after everything else. */
  readonly awaitsConfirmation?: boolean
  /** Whether this answer proves that the page is gone; it is removed when the crawl ends well. */
  readonly isProvenGone?: boolean
  /**
   * New content; replaces the old as a whole. Required for `indexed`. With `unchanged`: what is said about the same content now,
   * such as another title.
   */
  readonly record?: PageRecord
  /** The links as they are now, of whatever was read without being stored anew. */
  readonly links?: readonly string[]
  readonly aliases?: readonly Alias[]
  readonly finds?: readonly Find[]
  /** Most rows of the source. @default any number */
  readonly maxRows?: number
  /** What it took, and what else was fetched meanwhile, in a crawl that the process only takes part in. */
  readonly cost?: { readonly bytes: number; readonly requests: number }
}

/** A page that came without a visit. */
export interface Adoption {
  readonly sourceId: string
  readonly crawlId: string
  readonly now: number
  readonly find: Find
  readonly record: PageRecord
  /** Whether it is stored anew although its content is what it was. @default false */
  readonly isFull?: boolean
  readonly finds: readonly Find[]
  /** Most rows of the source. @default any number */
  readonly maxRows?: number
}

/** What the ledger made of a page for which it has no row and no room. */
export function overflowed(finds: Settled['finds']): Settled {
  return { type: 'settled', state: 'skipped', reason: 'overflow', target: null, finds }
}

/** An address that lost its content to a better one. */
export interface Demoted {
  /** The state it had before. */
  readonly state: LedgerState
  readonly checkedAt: number | null
}

/** What the ledger made of a settlement. */
export interface Settled {
  /** `lost` when the lease had run out and somebody else has the row: nothing was written. */
  readonly type: 'settled' | 'lost'
  /** The state it got; `skipped` where the content was already there under another address. */
  readonly state: LedgerState
  readonly reason: Reason | null
  /** Key of the address that holds the same content. */
  readonly target: string | null
  /** The address that lost its content to this one, as the same crawl had settled it before. @default none did */
  readonly demoted?: Demoted | null
  /** Whether it holds a page. @default false */
  readonly hasPage?: boolean
  /** In the order of the finds. */
  readonly finds: readonly FindResult[]
}

/** Rows by state, and by reason within those that have one. */
export interface LedgerCounts {
  readonly total: number
  readonly states: Readonly<Record<LedgerState, number>>
  /** `skipped/blocked` → 12 */
  readonly reasons: Readonly<Record<string, number>>
}

/** A robots.txt as it was last read. */
export interface RobotsRecord {
  readonly origin: string
  readonly fetchedAt: number
  /** `rules` came with a body, `none` allows everything, `unreachable` nothing. */
  readonly type: 'rules' | 'none' | 'unreachable'
  readonly body: string
  readonly status: number | null
}

/** A list that holds pages, as it was last read: what tells whether it is still the same, and what it led to. */
export interface ListRecord {
  readonly url: string
  readonly etag: string | null
  readonly lastModified: string | null
  /** Hash of its text. */
  readonly contentHash: string
  /** Hash of what else decides what is made of it. */
  readonly contextHash: string
  /** Pages that were stored from it. */
  readonly pages: number
  /** Addresses it names, other than those. */
  readonly named: readonly string[]
}

/** A page that a list holds. */
export interface ListedPage {
  readonly key: string
  readonly url: string
}

/** How visits are taken out of the frontier. */
export interface LeaseRequest {
  readonly sourceId: string
  /** On behalf of which crawl; one that does not run any more gets nothing. */
  readonly crawlId?: string
  readonly limit: number
  readonly now: number
  /** When the leases run out. */
  readonly until: number
  /** Slots later than this are not reserved yet. */
  readonly horizon: number
  /** Milliseconds by which the slot after one is late; asked for each. @default none */
  readonly jitter?: () => number
  /** Whether rows of one depth have to be settled before the next depth begins: then weights count within a depth only. */
  readonly isLevelled: boolean
  /** Rows up to this depth are one level. @default 0 */
  readonly firstLevel?: number
  /** By which a store knows the request again that is made once more, because its answer was lost. @default it does not */
  readonly id?: string
  /** Most hosts that this process has at once, in a library that several machines share. @default any number */
  readonly maxHosts?: number
  /** Until when hosts are its own there, without a sign of life. @default until */
  readonly hostsUntil?: number
}

/** Which rows of the ledger to list. */
export interface RowFilter {
  readonly state?: LedgerState
  readonly reason?: Reason
  /** Rows after this key, in the order of keys. */
  readonly after?: string
  /** Rows before this key. */
  readonly before?: string
  readonly limit: number
}

/** What remains to be done for a source. */
export interface OpenWork {
  readonly pending: number
  readonly leased: number
  /** When the next pending row is due and its host free; null without one. */
  readonly nextAt: number | null
}

/**
 * Rows that are visited again. `pages`: all pages. `unlinked`: rows that the crawl has not seen, of pages known without the query they were
 * linked with, and of addresses at most one link from the start that held a page or answered and that no list named. `failed`: addresses
 * that failed.
 */
export type Requeued = 'pages' | 'unlinked' | 'failed'

/** Rows of the addresses that a list names, but for some hosts. */
export interface ListedRows {
  readonly list: string
  readonly exceptHosts: readonly string[]
}

/** Rows that are visited once more because the address that held their content lost it. */
export interface Orphans {
  readonly requeued: number
  /** How many of them the same crawl had settled since the given moment. */
  readonly settled: number
}

/** No rows at all. */
export const NO_ORPHANS: Orphans = { requeued: 0, settled: 0 }

/**
 * What the engine needs to keep: the ledger with its frontier, the clocks of hosts, and robots.txt files.
 *
 * What is written on behalf of a crawl is written only while that crawl runs and nobody else has taken it over, which is looked at
 * in the same transaction. Otherwise nothing happens: finds are `known`, a settlement is `lost`, and numbers are 0.
 */
export interface Ledger {
  /** Records finds, and what they taught about equal addresses, in one transaction. */
  offer(
    sourceId: string,
    crawlId: string,
    finds: readonly Find[],
    now: number,
    aliases?: readonly Alias[],
    /** Most rows of the source. @default any number */
    maxRows?: number,
  ): Promise<FindResult[]>
  /**
   * Takes visits that are due, by host clock, confirmations last, then by weight, depth and age; reserves a slot of the host for
   * each. Leases that ran out are pending again, unless a crawl of the source runs: then they are its own until it is over.
   */
  lease(request: LeaseRequest): Promise<Visit[]>
  /** Writes what became of a visit, with content, aliases and finds, in one transaction. */
  settle(settlement: Settlement): Promise<Settled>
  /**
   * Stores a page that came without a visit, such as one that llms-full.txt holds. Answers `unchanged` where the content is
   * what it was, and `skipped` as `overflow` where there is no room for a row: of the page nothing is then recorded.
   */
  adopt(adoption: Adoption): Promise<Settled>
  /** Puts leased rows back as they were. */
  release(visits: readonly Visit[]): Promise<void>
  /** Counts what is still to be done. */
  countOpen(sourceId: string, now: number): Promise<OpenWork>
  /** Hosts that pending rows wait for and that are left alone until after a moment, in the order of their names. */
  listHeldHosts(sourceId: string, now: number, after: number): Promise<readonly string[]>
  /** Counts the pages that a crawl has taken in or found unchanged so far. */
  countPages(sourceId: string, crawlId: string): Promise<number>
  /**
   * Takes every pending row out of the frontier, and returns how many there were: one without a page becomes skipped for the
   * reason, one with a page `unchanged` without having been checked, because nothing speaks against what it holds. With `listed`, only
   * these rows, and only those without a page.
   */
  skipPending(
    sourceId: string,
    reason: Reason,
    pattern: string | null,
    now: number,
    crawlId?: string,
    listed?: ListedRows,
  ): Promise<number>
  /** Gives up every pending row of a host, and returns how many there were. What their pages hold stays. */
  failPending(sourceId: string, crawlId: string, host: string, reason: Reason, pattern: string | null): Promise<number>
  /** Makes rows pending again and counts them. */
  requeue(sourceId: string, crawlId: string, which: Requeued, now: number): Promise<number>
  /**
   * Makes rows pending and final that rely on another address for their content when that one does not hold it (any more):
   * duplicates whose target has other content, canonical ones whose target has none. A target that is about to be removed holds
   * nothing: it is one of those that `countRemovable` counts with the same `withUnseen`. Each row once a crawl.
   */
  requeueOrphanedAliases(sourceId: string, crawlId: string, since: number, withUnseen?: boolean): Promise<Orphans>
  /** Links of a stored page, to be replayed. */
  readLinks(sourceId: string, key: string): Promise<readonly string[]>
  findRow(sourceId: string, key: string): Promise<LedgerRow | undefined>
  /** Rows in the order of keys. */
  listRows(sourceId: string, filter: RowFilter): Promise<LedgerRow[]>
  readList(sourceId: string, url: string): Promise<ListRecord | undefined>
  writeList(sourceId: string, crawlId: string, record: ListRecord): Promise<void>
  /** Pages as an llms-full.txt has them, by its address; `key` is that of the file, which may hold what is left of it. In the order of keys. */
  listPagesOf(sourceId: string, url: string, key: string): Promise<readonly ListedPage[]>
  /** Confirms them all at once, and counts them. */
  confirmPagesOf(sourceId: string, crawlId: string, url: string, key: string, now: number): Promise<number>
  /** Lists of a kind on which addresses were found that lead to content and that a crawl has not seen, in order. */
  listUnseenLists(sourceId: string, crawlId: string, discovery: Discovery): Promise<readonly string[]>
  /**
   * The first row, by key, that this crawl settled for one of these reasons without ever having seen its links; or that it read,
   * and that has such a reason because not all of its links are kept.
   */
  findUnread(sourceId: string, crawlId: string, reasons: readonly Reason[]): Promise<LedgerRow | undefined>
  /**
   * Looks up what became of the addresses that others were found to stand for: whether each exists, and as what. Called when a crawl
   * ends, because most of them are visited after they were found; answers how many were looked up. `listAliases` tells then.
   */
  checkAliases(sourceId: string, now: number): Promise<number>
  countLedger(sourceId: string): Promise<LedgerCounts>
  /** The clock of a host, mended. */
  readClock(host: string, now: number): Promise<HostClock>
  /** That of the host of a visit; undefined where the host is another process's by now. @default no host changes hands */
  readClockFor?(visit: Pick<Visit, 'host' | 'lease'>, now: number): Promise<HostClock | undefined>
  /** Changes it in one transaction, and returns what it is then. `change` may be called more than once. */
  changeClock(host: string, now: number, change: (clock: HostClock) => HostClock): Promise<HostClock>
  readRobots(origin: string): Promise<RobotsRecord | undefined>
  writeRobots(record: RobotsRecord): Promise<void>
  /** Pages that this crawl proved gone, or that a complete one did not see. */
  countRemovable(sourceId: string, crawlId: string, withUnseen: boolean): Promise<{ removable: number; pages: number }>
  /** Removes them, some at a time: content, index rows; their ledger rows become `gone`. Returns how many pages went. */
  removeProven(sourceId: string, crawlId: string, withUnseen: boolean, now: number): Promise<number>
}
