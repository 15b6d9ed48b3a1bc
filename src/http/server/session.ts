import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { createLoginRateLimit, type LoginRateLimit } from './login-rate-limit.ts'

/** Checks the token and the session cookie. */
export interface Sessions {
  /** Whether requests need the token. */
  readonly isTokenRequired: boolean
  /** The rate limit for wrong tokens. */
  readonly loginRateLimit: LoginRateLimit
  /** Whether a text is the token. */
  isToken(text: string): boolean
  /** Whether a request carries the token or a valid session cookie. */
  isAuthenticated(request: Request): boolean
  /** The Set-Cookie header that logs a browser in, so that the user enters the token only once. */
  writeCookie(isSecure: boolean): string
  /** The Set-Cookie header that logs a browser out. */
  clearCookie(): string
}

const COOKIE_NAME = 'pharos_session'
const MAX_AGE_S = 30 * 24 * 3600

/**
 * Sessions of one token. The cookie is an HMAC keyed with the token, so it does not reveal the token. It is the same for every browser,
 * becomes invalid when the token changes, and needs no state on the server.
 */
export function createSessions(token: string | null): Sessions {
  const tokenDigest = token === null ? null : digest(token)
  const session = token === null ? '' : bytesToHex(hmac(sha256, utf8ToBytes(token), utf8ToBytes('pharos session 1')))
  const sessionDigest = digest(session)
  const isToken = (text: string): boolean => tokenDigest !== null && isSame(digest(text), tokenDigest)
  return {
    isTokenRequired: tokenDigest !== null,
    loginRateLimit: createLoginRateLimit(() => performance.now()),
    isToken,
    isAuthenticated({ headers }) {
      if (tokenDigest === null) return true
      const bearer = /^bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1]
      if (bearer !== undefined) return isToken(bearer)
      const cookie = readCookie(headers.get('cookie') ?? '')
      return cookie !== undefined && isSame(digest(cookie), sessionDigest)
    },
    writeCookie: (isSecure) =>
      `${COOKIE_NAME}=${session}; Path=/; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
    clearCookie: () => `${COOKIE_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
  }
}

function readCookie(field: string): string | undefined {
  for (const part of field.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === COOKIE_NAME) return value
  }
  return undefined
}

function digest(text: string): Uint8Array {
  return sha256(utf8ToBytes(text))
}

/** Compares two digests in constant time. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}
