import type { PageSignals } from './page-signals.ts'

const LOGIN_WORDS =
  /\b(?:log ?in|log ?on|sign ?in|anmelden|anmeldung|einloggen|connexion|se connecter|iniciar sesi[oó]n|acceder|accedi|entrar|inloggen|logga in|log ind|logg inn|kirjaudu|zaloguj|logowanie)\b|ログイン|サインイン|登录|登入|로그인|вход|войти/i

/** Longest text beside a password form that does not count as content. */
const MAX_FORM_TEXT_CHARS = 200
/** The same limit for a page whose title or heading names a login. */
const MAX_NAMED_TEXT_CHARS = 600
/** A page with more text than this has more than a form. */
const MAX_FORM_PAGE_CHARS = 3000

/** A page that requires a login says so in a few words. */
const MAX_NOTICE_CHARS = 300

/** Phrases that demand a login. */
const LOGIN_DEMANDS =
  /\b(?:(?:must|need to|have to|please) (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in)|(?:login|log-in|sign-in|authentication|authorization) (?:is )?required|not logged in|(?:log|sign) ?in to (?:continue|view|access|see|proceed))\b/i

/** Detects a page that demands a login before it shows its content. */
export function findLogin(signals: PageSignals): string | undefined {
  const { hasPassword, hasUserField, contentLength, contentOutsideForms, visibleText, title, heading, status } = signals
  const isNamed = LOGIN_WORDS.test(title) || LOGIN_WORDS.test(heading)
  if (status === 401 && visibleText.length <= MAX_NAMED_TEXT_CHARS) return 'answered with status 401'
  if (hasPassword && visibleText.length <= MAX_FORM_PAGE_CHARS) {
    const isBare = contentOutsideForms <= (isNamed ? MAX_NAMED_TEXT_CHARS : MAX_FORM_TEXT_CHARS)
    return isBare ? 'a form for a password and little else' : undefined
  }
  if (signals.hasCode || contentLength > MAX_NOTICE_CHARS) return undefined
  if (LOGIN_DEMANDS.test(`${title}. ${heading}`) || (isNamed && LOGIN_DEMANDS.test(visibleText)))
    return 'says that a login is required'
  return isNamed && hasUserField && contentLength <= MAX_FORM_TEXT_CHARS
    ? 'a form for a login and little else'
    : undefined
}
