import type { Signs } from './signs.ts'

const ASKS =
  /\b(?:log ?in|log ?on|sign ?in|anmelden|anmeldung|einloggen|connexion|se connecter|iniciar sesi[oó]n|acceder|accedi|entrar|inloggen|logga in|log ind|logg inn|kirjaudu|zaloguj|logowanie)\b|ログイン|サインイン|登录|登入|로그인|вход|войти/i

/** Longest text beside a password form that does not count as content. */
const LITTLE = 200
const LITTLE_WHEN_NAMED = 600
/** A page with more text than this has more than a form. */
const MUCH = 3000

/** A page that requires a login says so in a few words. */
const FEW_WORDS = 300

/** Phrases that demand a login. */
const DEMANDS =
  /\b(?:(?:must|need to|have to|please) (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in)|(?:login|log-in|sign-in|authentication|authorization) (?:is )?required|not logged in|(?:log|sign) ?in to (?:continue|view|access|see|proceed))\b/i

/** Detects a page that demands a login before it shows its content. */
export function findLogin(signs: Signs): string | undefined {
  const { hasPassword, hasIdentity, contentLength, contentOutsideForms, shown, title, heading, status } = signs
  const isNamed = ASKS.test(title) || ASKS.test(heading)
  if (status === 401 && shown.length <= LITTLE_WHEN_NAMED) return 'answered with status 401'
  if (hasPassword && shown.length <= MUCH) {
    const isBare = contentOutsideForms <= (isNamed ? LITTLE_WHEN_NAMED : LITTLE)
    return isBare ? 'a form for a password and little else' : undefined
  }
  if (signs.hasCode || contentLength > FEW_WORDS) return undefined
  if (DEMANDS.test(`${title}. ${heading}`) || (isNamed && DEMANDS.test(shown))) return 'says that one must log in'
  return isNamed && hasIdentity && contentLength <= LITTLE ? 'a form for a login and little else' : undefined
}
