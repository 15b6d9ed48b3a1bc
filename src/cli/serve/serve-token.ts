import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { PharosError, usageError } from '../../core/errors.ts'
import type { Config } from '../../settings/settings.ts'

/** Shorter tokens can be guessed. */
const MIN_TOKEN_CHARS = 16

/** Reads the required token from the environment or a file; null if none is configured, which is allowed only on a loopback address. */
export function readToken({ token, tokenFile, host }: Pick<Config, 'token' | 'tokenFile' | 'host'>): string | null {
  const [text, origin] = token === '' && tokenFile !== '' ? [readTokenFile(tokenFile), tokenFile] : [token, 'token']
  if (text === '') {
    if (origin === 'token' && isLoopback(host)) return null
    const problem =
      origin === 'token'
        ? `other machines can reach --host ${host}, so a token is required: put one of ${MIN_TOKEN_CHARS} characters or more into a file and name it with --token-file, or set PHAROS_TOKEN`
        : `--token-file ${tokenFile}: it is empty`
    throw usageError(problem)
  }
  if (text.length >= MIN_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(text)) return text
  // The value is not repeated in the message, because it may be most of the real token.
  const problem = `expected at least ${MIN_TOKEN_CHARS} characters without spaces; create a token with: openssl rand -hex 32`
  throw new PharosError('CONFIG_INVALID', { origin, problem })
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = `--token-file ${file}: ${isMissing ? 'it does not exist' : 'it cannot be read'}`
    throw new PharosError('USAGE', { problem }, { cause })
  }
}

/** The address under which other machines reach a server that listens on all interfaces; unchanged if unknown. */
export function externalOrigin(origin: string, host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return origin
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const outside = all.find(({ internal, family }) => !internal && family === 'IPv4')
  return outside === undefined ? origin : `http://${outside.address}:${new URL(origin).port}`
}

/** Whether an address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The host names that requests may use: those that are configured, and the server's own. */
export function listHosts({ host, allowedHosts }: Pick<Config, 'host' | 'allowedHosts'>): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [...allowedHosts, writeHost(host)]
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return [...allowedHosts, hostname(), ...addresses.map(({ address }) => writeHost(address))]
}

/** Rejects values that are not an origin: they would silently allow nothing. */
export function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin)
  if (wrong === undefined) return
  const problem = `expected origins such as https://example.com, got ${JSON.stringify(wrong)}`
  throw new PharosError('CONFIG_INVALID', { origin: 'allowedOrigins', problem })
}

/** A host name or IP address in the form used in URLs, where IPv6 addresses are in brackets. */
function writeHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
