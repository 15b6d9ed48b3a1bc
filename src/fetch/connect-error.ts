import { codeOf } from '../core/errors.ts'
import type { Reason } from '../crawl/ledger-reasons.ts'
import type { RefusedAddress } from '../library/ports/download.ts'

/** Why a connection failed. */
export type ConnectProblem = 'address-refused' | 'unknown-host' | 'timeout' | 'tls' | 'proxy-refused' | 'network'

/** A connection could not be made. The message names the host as requested, never the address it resolved to. */
export class ConnectError extends Error {
  readonly problem: ConnectProblem
  /** The non-public address, shown only to the owner. */
  readonly refused: RefusedAddress | undefined

  constructor(
    problem: ConnectProblem,
    message: string,
    { refused, ...options }: ErrorOptions & { readonly refused?: RefusedAddress } = {},
  ) {
    super(message, options)
    this.name = 'ConnectError'
    this.problem = problem
    this.refused = refused
  }
}

/** The ledger reason of each problem, and whether a retry may help. */
export const CONNECT_OUTCOMES: Readonly<
  Record<ConnectProblem, { readonly reason: Reason; readonly isTransient: boolean }>
> = {
  'address-refused': { reason: 'address-refused', isTransient: false },
  'unknown-host': { reason: 'network', isTransient: false },
  timeout: { reason: 'timeout', isTransient: true },
  tls: { reason: 'tls', isTransient: false },
  'proxy-refused': { reason: 'network', isTransient: false },
  network: { reason: 'network', isTransient: true },
}

/** Describes why a connection to `host` failed. `isHandshake` means that TCP was connected and only TLS failed. */
export function describeFailure(cause: NodeJS.ErrnoException, host: string, isHandshake: boolean): ConnectError {
  const code = codeOf(cause)
  switch (code) {
    case 'ECONNREFUSED':
      return new ConnectError('network', `${host} refused the connection`, { cause })
    case 'ETIMEDOUT':
      return new ConnectError('timeout', `no connection to ${host} in time`, { cause })
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return new ConnectError('network', `${host} cannot be reached`, { cause })
    case 'ECONNRESET':
    case 'EPIPE':
      return new ConnectError('network', `${host} closed the connection`, { cause })
  }
  if (!isHandshake) return new ConnectError('network', `no connection to ${host}`, { cause })
  return new ConnectError('tls', `${TLS_PROBLEMS[code] ?? 'no secure connection to'} ${host}`, { cause })
}

/** Phrases for OpenSSL's certificate errors; the host name is appended to each. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'expired certificate of',
  CERT_NOT_YET_VALID: 'not yet valid certificate of',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate of',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate from an unknown authority at',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate from an unknown authority at',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate from an unknown authority at',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate for another host than',
}
