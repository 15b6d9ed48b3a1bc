import type { Discovery, LedgerState, Reason } from '../crawl/ledger.ts'

/** Terms of the ledger, re-exported for modules that may not import the crawl folder. */
export { LEDGER_STATES, type LedgerRow, type LedgerState, REASONS, type Reason } from '../crawl/ledger.ts'

/** Human-readable reason for the state of an address. */
export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  'bad-url': 'it cannot be read as an address',
  scheme: 'it is no address of the web',
  excluded:
    'it is never indexed: a file of a page such as an image or a style, a link to another file, a folder of tools, an archive in another',
  ignored: 'an ignore file names it, or the folder it is in',
  'off-site': 'it is on another site',
  'out-of-scope': 'it is on the same site, but outside the part that is crawled',
  blocked: 'a block pattern matches its path',
  'not-allowed': 'no allow pattern matches its path',
  'query-skip': 'its query says nothing; the address without it stands for it',
  'session-id': 'it carries the number of a visit; the address without it stands for it',
  spelling:
    'it was not requested: another linked address differs from it only by the rule below, and all such pairs that were read on its host had equal content',
  'path-trap': 'its path repeats itself',
  'calendar-trap': 'it is a date of a calendar that has no end',
  overflow: 'the source has as many addresses as it may have',
  'max-depth': 'it is more links away from the start than --max-depth allows',
  'robots-disallow': 'robots.txt asks to stay away',
  'robots-unreachable': 'robots.txt could not be read, so nothing of that host may be',
  'page-cap': 'the cap on pages, or on the requests that it allows, was reached before its turn',
  'stale-list': 'the list that names it was set aside, because the addresses of a sample from all over it are gone',
  'same-content': 'addresses like it held the same again and again',
  'hub-cap': 'the hub that lists it had as many pages taken in as the plan allows',
  'hub-age': 'its date is further back than the plan goes',
  'guess-missed': 'the plan supposed a hub there, and there is none',
  redirect: 'it leads to another address',
  canonical: 'it names another address as its proper one',
  duplicate: 'another address has the same content',
  covered: 'its content came with llms-full.txt',
  noindex: 'it asks not to be indexed',
  nofollow: 'the page that links to it asks not to follow its links',
  'too-many-links': 'the page that links to it has more links than are read',
  'new-in-refresh': 'a refresh saw it for the first time, and fetches known pages only',
  'not-text': 'it is not text',
  encrypted: 'it asks for a password',
  damaged: 'it is damaged, or no file of its format',
  container: 'it holds several pages, each with an address of its own',
  secret: 'it holds what looks like a password or key, or is named like files that do',
  empty: 'it has no content',
  login: 'it asks for a login',
  challenge: 'it asks whether the reader is a robot',
  'soft-404': 'it says that there is no such page',
  'needs-rendering': 'it is empty until a browser runs its scripts',
  'not-found': 'it was not found',
  removed: 'the server says that it is gone for good',
  'http-client-error': 'the server refused the request',
  'http-server-error': 'the server failed',
  'rate-limited': 'the server asked to slow down',
  timeout: 'no answer came in time',
  network: 'the server could not be reached',
  tls: 'no secure connection could be made',
  'address-refused': 'its host has a private address',
  'too-large': 'it is larger than allowed',
  'redirect-loop': 'its redirects lead nowhere',
  'bad-answer': 'the answer makes no sense',
  'service-failed': 'the service that reads its pages failed',
  'page-defect': 'it could not be processed',
  unreadable: 'it may not be read by this user, or the disk fails',
  'host-parked': 'its host asked to be left alone, or kept failing',
  unlinked: 'no page of a complete recrawl leads to it any more',
}

/** Human-readable meaning of a state. */
export const STATE_WORDS: Readonly<Record<LedgerState, string>> = {
  pending: 'to be fetched',
  leased: 'being fetched',
  indexed: 'its content was taken in',
  unchanged: 'its content is as it was',
  skipped: 'left out on purpose',
  failed: 'could not be fetched or read',
  gone: 'proven to be there no more',
}

/** Human-readable origin of an address. */
export const DISCOVERY_WORDS: Readonly<Record<Discovery, string>> = {
  manual: 'given by hand',
  'llms-txt': 'in llms.txt',
  'llms-full': 'in llms-full.txt',
  sitemap: 'in a sitemap',
  link: 'as a link',
  redirect: 'by a redirect',
  canonical: 'as the proper address of a page',
  alternate: 'as another form of a page',
  'query-strip': 'without its query or session, as a link',
  folder: 'in the folder',
  planner: 'by the plan of a crawl',
}
