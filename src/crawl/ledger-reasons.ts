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

/** Whether a reason means that nothing exists at an address. */
export function isAbsent(reason: Reason | null): boolean {
  return reason !== null && ABSENT_REASONS.has(reason)
}

const ABSENT_REASONS: ReadonlySet<Reason> = new Set<Reason>(['not-found', 'removed', 'soft-404', 'guess-missed'])

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
