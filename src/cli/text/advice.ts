import type { Reason } from '../../crawl/ledger-reasons.ts'
import { adviseAllowance, hostRuleOf } from '../../library/ports/download.ts'
import { labelOf, type Source } from '../../library/source.ts'
import type { Hint } from '../library.ts'

/** Advice by reason if the start of a crawl cannot be read. */
const START_ADVICE: Readonly<Partial<Record<Reason, string>>> = {
  'robots-disallow': 'robots.txt disallows this page; ask the site owner, or start at an allowed part of the site',
  'robots-unreachable': 'try again when robots.txt of the site can be fetched',
  'not-found': 'check the address',
  removed: 'check the address',
  'soft-404': 'check the address',
  'http-client-error': 'if it needs a login, give one with --header or the setting siteHeaders; else check the address',
  login: "give the login with --header 'Cookie: …', or for all crawls with the setting siteHeaders",
  challenge: 'the site blocks crawlers; ask its owner for access',
  noindex: 'the page asks not to be indexed; start at another one',
  'not-text': 'start at a page of text, such as HTML or Markdown',
  network: 'check the spelling of the host, the port, and whether this machine is online',
  tls: 'check the certificate of the site, or use http:// if the site has no HTTPS',
  timeout: 'try again later',
  excluded: 'leave out --llms-full only, or name the llms.txt beside the file with --llms-txt',
  'too-large': 'raise --max-page-bytes',
  'service-failed':
    'look at the Crawl4AI service: whether it runs, what its log says, and where it is (crawl4aiEndpoint)',
  redirect: 'start at the address that it redirects to',
}

/** Advice if nothing could be indexed. `reason` says why the start page was not. */
export function startAdvice(
  reason: Reason | null,
  { source, pages }: { readonly source: Source; readonly pages: number },
  hint: Hint,
): string {
  // `add` removes a source without pages, so a recrawl is not possible.
  if (reason === 'needs-rendering' && pages === 0 && source.settings.render === 'http')
    return 'let a browser read its pages: run the same command with --render auto'
  if (reason === 'needs-rendering') return renderAdvice(source, hint)
  if (reason === 'address-refused') return adviseAllowance(hostRuleOf(source.siteUrl))
  return (reason === null ? undefined : START_ADVICE[reason]) ?? 'try again later, or open the address in a browser'
}

/** Advice for pages that are empty until a browser runs their scripts. */
export function renderAdvice(source: Pick<Source, 'name' | 'version' | 'settings'>, hint: Hint): string {
  const { render } = source.settings
  if (render === 'http') return `let a browser read its pages: ${hint('recrawl', labelOf(source), '--render', 'auto')}`
  if (render === 'auto')
    return 'install Chromium, or name a browser in the setting browser; if there is one, open the address in it to see what it shows'
  return 'open the address in a browser to see what it shows'
}
