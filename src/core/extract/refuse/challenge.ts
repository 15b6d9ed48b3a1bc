import type { PageSignals } from './page-signals.ts'

/** Patterns of one bot protection. A match of any of them counts on a page with hardly any text. */
interface BotProtection {
  readonly name: string
  /** Matches the addresses and texts of scripts, or the addresses of frames. */
  readonly script?: RegExp
  /** Matches one of the ids and classes, which are on separate lines. */
  readonly mark?: RegExp
  readonly title?: RegExp
  readonly text?: RegExp
  /** Whether pages also use this bot protection as a widget beside their forms. */
  readonly isWidget?: true
}

const BOT_PROTECTIONS: readonly BotProtection[] = [
  {
    name: 'Cloudflare',
    script: /_cf_chl_opt/,
    mark: /^(?:challenge-form|challenge-error-text|cf-challenge-running|cf-error-details)$/m,
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
  { name: 'Turnstile', script: /challenges\.cloudflare\.com\/turnstile/, mark: /^cf-turnstile$/m, isWidget: true },
  { name: 'hCaptcha', script: /hcaptcha\.com\/1\/api\.js/, isWidget: true },
  { name: 'reCAPTCHA', script: /google\.com\/recaptcha|recaptcha\.net/, isWidget: true },
]

/** Headers by which a response declares itself a challenge. */
const CHALLENGE_HEADERS: readonly (readonly [string, RegExp, string])[] = [
  ['cf-mitigated', /challenge/, 'Cloudflare'],
  ['x-amzn-waf-action', /challenge|captcha/, 'AWS WAF'],
]

/** Phrases of bot challenges from unnamed products. */
const CHALLENGE_PHRASES =
  /\b(?:are you (?:a )?(?:human|robot)|verify (?:that )?you(?:'re| are) (?:a )?human|verifying you are human|prove your humanity|not a (?:ro)?bot|robot (?:check|challenge)|human verification|pardon our interruption|unusual traffic|you have been blocked|been blocked by network security|checking (?:your browser|the site connection))\b/i

/** Further phrases of bot challenges, which also occur in manuals. */
const DENIAL_PHRASES =
  /\b(?:security check|automated (?:access|requests?|queries)|access (?:to this page )?(?:has been |is )?denied|request (?:was )?blocked|too many requests)\b/i
/** Words that address a refused visitor, which manuals lack. */
const VISITOR_WORDS = /\b(?:you(?:r|rs)?|try again|permission|administrator|incident|reference|support id)\b/i

/** A page with more text is real: it has a protected form, or is an article about such forms. */
const MAX_CHALLENGE_CHARS = 600
/** The limits for a response with an error status, and for a page whose title names a bot protection. Both may explain at length. */
const MAX_REFUSED_CHARS = 1500
const MAX_NAMED_CHARS = 3000
/** With less text than this, the script of a bot protection is all there is on a page. */
const MAX_BARE_CHARS = 100
const MAX_BARE_WIDGET_CHARS = 20

const REFUSAL_STATUSES = new Set([401, 403, 405, 429, 503])

/** Detects a bot challenge in place of the page, and describes it. */
export function findChallenge(signals: PageSignals): string | undefined {
  const { visibleText, title, heading, status, headers, hasCode } = signals
  for (const [header, pattern, product] of CHALLENGE_HEADERS) {
    if (pattern.test(headers[header] ?? '')) return `${product} challenge`
  }
  const isRefused = REFUSAL_STATUSES.has(status)
  if (visibleText.length > MAX_NAMED_CHARS) return undefined
  // A page with a password field is a login with a protected form.
  const protection = signals.hasPassword
    ? undefined
    : BOT_PROTECTIONS.find((candidate) => isChallengedBy(candidate, signals, isRefused))
  if (protection !== undefined) return `${protection.name} challenge`
  if (visibleText.length > (isRefused ? MAX_REFUSED_CHARS : MAX_CHALLENGE_CHARS) || (hasCode && !isRefused))
    return undefined
  const titleAndHeading = `${title}. ${heading}`
  const isAsked = isRefused
    ? CHALLENGE_PHRASES.test(visibleText) || CHALLENGE_PHRASES.test(titleAndHeading)
    : CHALLENGE_PHRASES.test(titleAndHeading)
  const isDenied = isRefused
    ? DENIAL_PHRASES.test(visibleText) || DENIAL_PHRASES.test(titleAndHeading)
    : DENIAL_PHRASES.test(titleAndHeading) &&
      (VISITOR_WORDS.test(visibleText) || visibleText.length < MAX_BARE_CHARS / 2)
  return isAsked || isDenied ? 'asks whether the reader is a robot' : undefined
}

function isChallengedBy(protection: BotProtection, signals: PageSignals, isRefused: boolean): boolean {
  const { visibleText, title, heading } = signals
  const isNamed = protection.title?.test(title) === true
  const isShort = visibleText.length <= (isRefused ? MAX_REFUSED_CHARS : MAX_CHALLENGE_CHARS)
  if (!isNamed && !isShort) return false
  const isMarked =
    protection.script?.test(signals.sources + signals.scripts) === true ||
    protection.mark?.test(signals.idsAndClasses) === true
  if (isNamed && isMarked) return true
  if (!isShort) return false
  if (isNamed || protection.text?.test(visibleText) === true) return true
  if (!isMarked) return false
  if (isRefused || CHALLENGE_PHRASES.test(`${title}. ${heading}`)) return true
  const isBare = visibleText.length < (protection.isWidget === true ? MAX_BARE_WIDGET_CHARS : MAX_BARE_CHARS)
  return isBare || (visibleText.length < 2 * MAX_BARE_CHARS && CHALLENGE_PHRASES.test(visibleText))
}
