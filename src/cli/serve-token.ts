import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import type { Config } from '../config.ts'
import { PharosError } from '../core/errors.ts'

/** Shorter ones can be guessed. */
const LEAST_CHARS = 16

/** What every request has to carry, from the environment or a file; null where none was given, and only this machine can ask. */
export function readToken({ token, tokenFile, host }: Pick<Config, 'token' | 'tokenFile' | 'host'>): string | null {
  const [text, origin] = token === '' && tokenFile !== '' ? [readTokenFile(tokenFile), tokenFile] : [token, 'token']
  if (text === '') {
    if (origin === 'token' && isLoopback(host)) return null
    const problem =
      origin === 'token'
        ? `other machines can reach --host ${host}, so a token is demanded: put one of ${LEAST_CHARS} characters or more into a file and name it with --token-file, or set PHAROS_TOKEN`
        : `--token-file ${tokenFile}: it is empty`
    throw new PharosError('USAGE', { problem })
  }
  if (text.length >= LEAST_CHARS && /^[\x21-\x7e]+$/.test(text)) return text
  // Not repeated: it may be most of the right one.
  const problem = `expected at least ${LEAST_CHARS} characters without spaces, such as \`openssl rand -hex 32\` gives`
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

/** Where other machines reach what listens at all addresses of this one; the same as given where that cannot be known. */
export function outsideOrigin(origin: string, host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return origin
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const outside = all.find(({ internal, family }) => !internal && family === 'IPv4')
  return outside === undefined ? origin : `http://${outside.address}:${new URL(origin).port}`
}

/** Whether only this machine reaches what listens at an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The names under which a server that listens at an address may be asked for: those that were given, and its own. */
export function listHosts({ host, allowedHosts }: Pick<Config, 'host' | 'allowedHosts'>): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [...allowedHosts, writeHost(host)]
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return [...allowedHosts, hostname(), ...addresses.map(({ address }) => writeHost(address))]
}

/** Refuses what no browser would ever name as the origin of a page: it would allow nothing, without a word. */
export function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin)
  if (wrong === undefined) return
  const problem = `expected origins such as https://example.com, got ${JSON.stringify(wrong)}`
  throw new PharosError('CONFIG_INVALID', { origin: 'allowedOrigins', problem })
}

/** An address as it stands in a URL. */
function writeHost(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
