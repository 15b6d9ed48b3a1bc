import { isListPattern } from '../../core/url/excludes.ts'
import type { Discovery, LedgerState, Reason } from '../../crawl/ledger-reasons.ts'

export type { LedgerRow } from '../../crawl/ledger.ts'
/** Terms of the ledger, re-exported for modules that may not import the crawl folder. */
export { LEDGER_STATES, type LedgerState, REASONS, type Reason } from '../../crawl/ledger-reasons.ts'

/** Why an address is in its state. Of the files that are never indexed, a crawl reads the lists all the same. */
export function writeReason({ reason, pattern }: { readonly reason: Reason; readonly pattern: string | null }): string {
  const isList = reason === 'excluded' && isListPattern(pattern)
  return isList ? 'it is a list for crawlers, which is read but is not a page' : REASON_WORDS[reason]
}

/** Human-readable reason for the state of an address. */
export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  'bad-url': 'it is not a valid address',
  scheme: 'it is not a web address (http or https)',
  excluded: 'files of this kind are never indexed: images, style sheets, symbolic links, tool folders, nested archives',
  ignored: 'an ignore file excludes it or its folder',
  'off-site': 'it is on another site',
  'out-of-scope': 'it is on the same site, but outside the part that is crawled',
  blocked: 'a block pattern matches its path',
  'not-allowed': 'no allow pattern matches its path',
  'query-skip': 'its query has parameters that only track readers; the address without them is crawled instead',
  'session-id': 'it contains a session id; the address without the session id is crawled instead',
  spelling:
    'it is another spelling of a linked address, by the rule below; all such pairs that were read on its host had the same content',
  'path-trap': 'its path repeats itself',
  'calendar-trap': 'it is a date page of an endless calendar',
  overflow: 'the source has reached its limit of addresses (maxAddresses)',
  'max-depth': 'it is more links away from the start than the depth limit allows',
  'robots-disallow': 'robots.txt disallows it',
  'robots-unreachable': 'robots.txt could not be read, so no page of this host may be fetched',
  'page-cap': 'the page limit, or the request limit derived from it, was reached first',
  'stale-list': 'the list that contains it was ignored, because all addresses sampled from that list are gone',
  'same-content': 'addresses of the same pattern kept returning the same content',
  'hub-cap': 'the hub that lists it has reached its page limit',
  'hub-age': 'its date is older than the plan allows',
  'guess-missed': 'the plan guessed a hub at this address, but there is none',
  redirect: 'it redirects to another address',
  canonical: 'it names another address as its canonical URL',
  duplicate: 'another address has the same content',
  covered: 'its content came with llms-full.txt',
  noindex: 'it asks not to be indexed',
  nofollow: 'the page that links to it asks not to follow its links',
  'too-many-links': 'the page that links to it exceeds the limit of links per page',
  'new-in-refresh': 'a refresh saw it for the first time, and fetches known pages only',
  'not-text': 'it is not text',
  encrypted: 'it is protected by a password',
  damaged: 'it is damaged, or not a file of its format',
  container: 'it holds several pages, each with an address of its own',
  secret: 'it seems to contain a password or key, or its name suggests so',
  empty: 'it has no content',
  login: 'it requires a login',
  challenge: 'it shows a check for robots, such as a CAPTCHA',
  'soft-404': 'it says that the page does not exist',
  'needs-rendering': 'it is empty until a browser runs its scripts',
  'not-found': 'it was not found',
  removed: 'the server says that it is gone for good',
  'http-client-error': 'the server refused the request',
  'http-server-error': 'the server failed',
  'rate-limited': 'the server asked to slow down',
  timeout: 'the server did not respond in time',
  network: 'the server could not be reached',
  tls: 'no secure connection could be established',
  'address-refused': 'its host has a private address',
  'too-large': 'it is larger than allowed',
  'redirect-loop': 'its redirects form a loop, or there are too many',
  'bad-answer': 'the server sent an invalid response',
  'service-failed': 'the service that reads its pages failed',
  'page-defect': 'it could not be processed',
  unreadable: 'this user has no permission to read it, or the disk failed',
  'host-parked': 'its host kept failing or asked for a long pause',
  unlinked: 'a complete recrawl found no page that links to it',
}

/** Human-readable meaning of a state. */
export const STATE_WORDS: Readonly<Record<LedgerState, string>> = {
  pending: 'not requested yet',
  leased: 'a crawl is reading it',
  indexed: 'its content was indexed',
  unchanged: 'its content has not changed',
  skipped: 'not wanted, or beyond a limit',
  failed: 'could not be fetched or read',
  gone: 'confirmed as removed',
}

/** Human-readable origin of an address. */
export const DISCOVERY_WORDS: Readonly<Record<Discovery, string>> = {
  manual: 'given by hand',
  'llms-txt': 'in llms.txt',
  'llms-full': 'in llms-full.txt',
  sitemap: 'in a sitemap',
  link: 'as a link',
  redirect: 'by a redirect',
  canonical: 'as the canonical URL of a page',
  alternate: 'as an alternate version of a page',
  'query-strip': 'as a link, without its query or session id',
  folder: 'in the folder',
  planner: 'by the plan of a crawl',
}

/** Writes what refused an address, to follow its reason: ` by /old/**`, ` (limit 2)`, ` (scope subpages)`. */
export function writeRule(reason: string | null, pattern: string | null): string {
  if (pattern === null || pattern === '') return ''
  if (reason === 'blocked' || reason === 'ignored' || reason === 'excluded') return ` by ${pattern}`
  if (reason === 'max-depth' || reason === 'page-cap') return ` (limit ${pattern})`
  return reason === 'out-of-scope' || reason === 'off-site' ? ` (scope ${pattern})` : ` (${pattern})`
}
