import type { Reason } from '../crawl/ledger.ts'

/** Why an address is where it is, for people. */
export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  'bad-url': 'it cannot be read as an address',
  scheme: 'it is no address of the web',
  excluded: 'it is a file of a page, such as an image or a style, or never indexed',
  'off-site': 'it is on another site',
  'out-of-scope': 'it is on the same site, but outside the part that is crawled',
  blocked: 'a block pattern matches its path',
  'not-allowed': 'no allow pattern matches its path',
  'query-skip': 'its query says nothing; the address without it stands for it',
  'max-depth': 'it is more links away from the start than --max-depth allows',
  'robots-disallow': 'robots.txt asks to stay away',
  'robots-unreachable': 'robots.txt could not be read, so nothing of that host may be',
  'page-cap': 'the cap on pages was reached before its turn',
  redirect: 'it leads to another address',
  canonical: 'it names another address as its proper one',
  duplicate: 'another address has the same content',
  covered: 'its content came with llms-full.txt',
  noindex: 'it asks not to be indexed',
  nofollow: 'the page that links to it asks not to follow its links',
  'too-many-links': 'the page that links to it has more links than are read',
  'new-in-refresh': 'a refresh saw it for the first time, and fetches known pages only',
  'not-text': 'it is not text',
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
  'page-defect': 'it could not be processed',
  unlinked: 'no page of a complete recrawl leads to it any more',
}

/** What can be done when the start of a crawl is lost for a reason. */
const START_ADVICE: Readonly<Partial<Record<Reason, string>>> = {
  'address-refused': 'if that host is yours, add --allow-private, or allowPrivate to the configuration',
  'robots-disallow': 'the site asks robots to stay away; ask its owner, or start at a part that is open',
  'robots-unreachable': 'try again when the site answers for its robots.txt',
  'not-found': 'check the address',
  removed: 'check the address',
  'soft-404': 'check the address',
  'http-client-error': 'if it needs a login, give one with --header; else check the address',
  login: "give the login with --header, such as --header 'Cookie: …'",
  challenge: 'the site lets no robots in; ask its owner',
  noindex: 'the page asks not to be indexed; start at another one',
  'needs-rendering': 'its pages need a browser, which is not supported yet',
  'not-text': 'start at a page',
  network: 'check the host and port, and whether this machine is online',
  tls: 'check the certificate of the site, or use http:// where it is meant',
  timeout: 'try again later',
  'too-large': 'raise --max-page-bytes',
  redirect: 'start at the address that it leads to',
}

/** What can be done when nothing could be indexed, by the reason of the start. */
export function startAdvice(reason: Reason | null): string {
  return (reason === null ? undefined : START_ADVICE[reason]) ?? 'try again later, or open the address in a browser'
}
