import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { codeOf } from '../core/errors.ts'
import type { AddressRefusal } from '../library/library.ts'
import { type Allowance, ruleFor } from './addresses.ts'
import { CONNECT_OUTCOMES, ConnectError } from './connect-error.ts'

/** All IP addresses of a host name, best first. Rejects with Node's code (`ENOTFOUND`, `EAI_AGAIN`) when it has none. */
export type HostResolver = (host: string) => Promise<readonly string[]>

/** Resolves names with the operating system's resolver. */
export const systemResolve: HostResolver = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true })
  return answers.map((answer) => answer.address)
}

/** Settings that decide whether an IP address may be connected to. */
export interface AddressGuard {
  readonly allowance: Allowance
  readonly resolve: HostResolver
  /** Timeout of the name lookup, in milliseconds. */
  readonly timeoutMs: number
}

/** Resolves a host. Rejects with a {@link ConnectError} when it has no address, or when any of its addresses is not allowed. */
export async function findAddresses(host: string, port: number, guard: AddressGuard): Promise<readonly string[]> {
  const { allowance, resolve, timeoutMs } = guard
  if (!allowance.isNameAllowed(host, port)) {
    throw new ConnectError('address-refused', `${host} is the name of a cloud metadata service`)
  }
  const isName = isIP(host) === 0
  const addresses = isName ? await resolveInTime(resolve, host, timeoutMs) : [host]
  // The check below passes for an empty list, so a host without addresses must fail here.
  if (addresses.length === 0) throw new ConnectError('unknown-host', `${host} has no address`)
  const refused = addresses.find((address) => !allowance.isAllowed(host, port, address))
  if (refused !== undefined) {
    const message = isName ? `${host} leads to an address that is not public` : `${host} is not a public address`
    throw new ConnectError('address-refused', message, { refused: { address: refused, rule: ruleFor(host, refused) } })
  }
  return addresses
}

/** Returns why a URL must not be passed to a service that would fetch it, or undefined when it may. Opens no connection. */
export type AddressChecker = (url: string) => Promise<AddressRefusal | undefined>

/** Creates the check for URLs that a service is to fetch: scheme, host name, and every IP address that the name resolves to now. */
export function createAddressCheck(guard: AddressGuard): AddressChecker {
  return async (text) => {
    const url = URL.parse(text)
    if (url === null) return { reason: 'bad-url', detail: 'not a URL', isTransient: false, rule: null }
    if (!['http:', 'https:'].includes(url.protocol)) {
      return { reason: 'scheme', detail: `${url.protocol} is not fetched`, isTransient: false, rule: null }
    }
    const { host, port } = hostAndPortOf(url)
    try {
      await findAddresses(host, port, guard)
      return undefined
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error
      return { ...CONNECT_OUTCOMES[error.problem], detail: error.message, rule: error.refused?.rule ?? null }
    }
  }
}

/** Host and port of a URL, without the brackets of an IPv6 address. */
export function hostAndPortOf(url: Pick<URL, 'hostname' | 'port' | 'protocol'>): {
  readonly host: string
  readonly port: number
} {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port) }
}

async function resolveInTime(resolve: HostResolver, host: string, timeoutMs: number): Promise<readonly string[]> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new ConnectError('timeout', `${host} could not be resolved in time`)),
    timeoutMs,
  )
  try {
    return await Promise.race([resolve(host), timeout])
  } catch (cause) {
    if (cause instanceof ConnectError) throw cause
    const isUnknown = codeOf(cause) === 'ENOTFOUND'
    const problem = isUnknown ? 'unknown-host' : 'network'
    throw new ConnectError(problem, isUnknown ? `unknown host ${host}` : `${host} could not be resolved`, { cause })
  } finally {
    clearTimeout(timer)
  }
}
