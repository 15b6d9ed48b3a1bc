import type { Signs } from './signs.ts'

const ASKS =
  /\b(?:log ?in|log ?on|sign ?in|anmelden|anmeldung|einloggen|connexion|se connecter|iniciar sesi[oó]n|acceder|accedi|entrar|inloggen|logga in|log ind|logg inn|kirjaudu|zaloguj|logowanie)\b|ログイン|サインイン|登录|登入|로그인|вход|войти/i

/** Text beside a form for a password that still is no content. */
const LITTLE = 200
const LITTLE_WHEN_NAMED = 600
/** A page with so much text in all has more to it than its form. */
const MUCH = 3000

/** What asks for a password before it shows anything. */
export function findLogin({ hasPassword, contentOutsideForms, shown, title, heading }: Signs): string | undefined {
  if (!hasPassword || shown.length > MUCH) return undefined
  const isNamed = ASKS.test(title) || ASKS.test(heading)
  return contentOutsideForms <= (isNamed ? LITTLE_WHEN_NAMED : LITTLE)
    ? 'a form for a password and little else'
    : undefined
}
