import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { createLoginPace, type LoginPace } from './login-pace.ts'

/** Tells who may ask. */
export interface Sessions {
  /** Whether everybody has to have the token. */
  readonly isNeeded: boolean
  /** How fast tokens may be tried. */
  readonly pace: LoginPace
  /** Whether a text is the token. */
  isToken(text: string): boolean
  /** Whether a request carries the token, or what a browser got for it. */
  isKnown(request: Request): boolean
  /** The field that gives a browser what it needs, so that it has to have the token only once. */
  writeCookie(isSecure: boolean): string
  /** The field that takes it back. */
  clearCookie(): string
}

const NAME = 'pharos_session'
const MAX_AGE_S = 30 * 24 * 3600

/**
 * Sessions of one token. What a browser keeps is made from the token and does not tell it; it is the same for every browser, ends
 * with the token, and needs nothing to be remembered here.
 */
export function createSessions(token: string | null): Sessions {
  const wanted = token === null ? null : digest(token)
  const session = token === null ? '' : bytesToHex(hmac(sha256, utf8ToBytes(token), utf8ToBytes('pharos session 1')))
  const wantedSession = digest(session)
  const isToken = (text: string): boolean => wanted !== null && isSame(digest(text), wanted)
  return {
    isNeeded: wanted !== null,
    pace: createLoginPace(() => performance.now()),
    isToken,
    isKnown({ headers }) {
      if (wanted === null) return true
      const bearer = /^bearer +(\S+)\s*$/i.exec(headers.get('authorization') ?? '')?.[1]
      if (bearer !== undefined) return isToken(bearer)
      const cookie = readCookie(headers.get('cookie') ?? '')
      return cookie !== undefined && isSame(digest(cookie), wantedSession)
    },
    writeCookie: (isSecure) =>
      `${NAME}=${session}; Path=/; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`,
    clearCookie: () => `${NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
  }
}

function readCookie(field: string): string | undefined {
  for (const part of field.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === NAME) return value
  }
  return undefined
}

function digest(text: string): Uint8Array {
  return sha256(utf8ToBytes(text))
}

/** Whether two digests are the same, in a time that does not tell where they differ. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}
