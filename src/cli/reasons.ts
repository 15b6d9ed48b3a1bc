import type { Reason } from '../crawl/ledger.ts'

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
