import type { Signs } from './signs.ts'

/** Marks of one guard against robots. Any of them counts, on a page that says next to nothing. */
interface Guard {
  readonly name: string
  /** In the addresses or texts of scripts and frames. */
  readonly script?: RegExp
  /** Among ids and classes. */
  readonly mark?: RegExp
  readonly title?: RegExp
  readonly text?: RegExp
}

const GUARDS: readonly Guard[] = [
  {
    name: 'Cloudflare',
    script: /_cf_chl_opt|challenges\.cloudflare\.com\/turnstile/,
    mark: /^(?:challenge-form|challenge-error-text|cf-challenge-running|cf-error-details|cf-turnstile)$/m,
    title: /^(?:just a moment|attention required! \| cloudflare|ddos-guard)/i,
  },
  {
    name: 'HUMAN',
    script: /captcha\.px-cdn|px-captcha|client\.perimeterx|_pxAppId/i,
    mark: /^px-captcha/m,
    text: /press (?:&|and) hold/i,
  },
  { name: 'DataDome', script: /captcha-delivery\.com|\bdd\s*=\s*\{\s*'rt'/ },
  {
    name: 'Akamai',
    script: /\/_sec\/cp_challenge\//,
    mark: /^sec-(?:if-)?cpt-/m,
    text: /errors\.edgesuite\.net|reference #\d+\.[\da-f]+\.\d+/i,
  },
  { name: 'Imperva', script: /_Incapsula_Resource/, text: /incapsula incident id/i },
  { name: 'AWS WAF', script: /\.awswaf\.com|awsWafCookieDomainList|AwsWafIntegration/ },
  {
    name: 'Anubis',
    script: /\.within\.website\/x\/cmd\/anubis/,
    mark: /^anubis_challenge/m,
    title: /^making sure you(?:'|’)re not a bot/i,
  },
  { name: 'Sucuri', script: /sucuri_cloudproxy_js/, title: /sucuri website firewall/i },
  { name: 'Vercel', title: /^vercel security checkpoint/i },
  { name: 'Kasada', script: /KPSDK/ },
  { name: 'hCaptcha', script: /hcaptcha\.com\/1\/api\.js/ },
  { name: 'reCAPTCHA', script: /google\.com\/recaptcha|recaptcha\.net/ },
]

/** Fields by which an answer says itself that it is a challenge. */
const HEADERS: readonly (readonly [string, RegExp, string])[] = [
  ['cf-mitigated', /challenge/, 'Cloudflare'],
  ['x-amzn-waf-action', /challenge|captcha/, 'AWS WAF'],
]

/** What guards without a name of their own say. */
const ASKS =
  /\b(?:are you (?:a )?(?:human|robot)|verify (?:that )?you(?:'re| are) (?:a )?human|not a (?:ro)?bot|security check|robot check|human verification|pardon our interruption|unusual traffic|automated (?:access|requests?|queries)|access (?:to this page )?(?:has been |is )?denied|request (?:was )?blocked|you have been blocked|been blocked by network security|too many requests|checking your browser)\b/i

/** A page that says more is one, with a form to protect or an article about such forms. */
const LITTLE = 600
/** An answer that says itself that it was refused may explain at length. */
const LITTLE_WHEN_REFUSED = 1500

const REFUSED = new Set([401, 403, 405, 429, 503])

/** Which guard stands in front of the page, if one does. */
export function findChallenge(signs: Signs): string | undefined {
  const { shown, title, heading, status, names, headers } = signs
  for (const [name, pattern, guard] of HEADERS) if (pattern.test(headers[name] ?? '')) return `${guard} challenge`
  const isRefused = REFUSED.has(status)
  if (shown.length > (isRefused ? LITTLE_WHEN_REFUSED : LITTLE)) return undefined
  const asks = ASKS.test(`${title}. ${heading}. ${shown}`)
  const scripts = signs.sources + signs.scripts
  const guard = GUARDS.find(
    ({ script, mark, title: named, text }) =>
      named?.test(title) ||
      text?.test(shown) ||
      ((asks || isRefused || shown.length < 100) && (script?.test(scripts) || mark?.test(names))),
  )
  // A form that is merely protected has fields of its own.
  if (guard !== undefined && !signs.hasPassword) return `${guard.name} challenge`
  return asks && (isRefused || ASKS.test(title) || ASKS.test(heading))
    ? 'asks whether the reader is a robot'
    : undefined
}
