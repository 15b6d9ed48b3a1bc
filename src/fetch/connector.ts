import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import type { Allowance } from './addresses.ts'

/** All addresses of a host name, best first. Rejects with Node's code (`ENOTFOUND`, `EAI_AGAIN`) without one. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Asks the resolver of the system. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true })
  return answers.map((answer) => answer.address)
}

/** Why there is no connection. */
export type ConnectProblem = 'address-refused' | 'unknown-host' | 'timeout' | 'tls' | 'network'

/** No connection could be made. The message names the host as it was asked for, never an address behind it. */
export class ConnectError extends Error {
  readonly problem: ConnectProblem

  constructor(problem: ConnectProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConnectError'
    this.problem = problem
  }
}

/** What a {@link Connector} is made of. */
export interface ConnectorOptions {
  readonly allowance: Allowance
  /** Time for name resolution, all attempts and the TLS handshake together. */
  readonly timeoutMs: number
  readonly resolve: Resolve
  /** Certificates to trust, in PEM. Undefined trusts those of Node. */
  readonly ca: string | undefined
}

/** Most addresses of one host that are tried. */
const MAX_ATTEMPTS = 6

/**
 * The one way out: resolves a host once, refuses it when any of its addresses is not allowed, and connects to a checked
 * address itself, so there is no second lookup that could answer differently. When an address does not take the
 * connection, the next one is tried.
 */
export class Connector {
  readonly #options: ConnectorOptions
  readonly #dialling = new Set<Socket>()
  #isClosed = false

  constructor(options: ConnectorOptions) {
    this.#options = options
  }

  /** The function that undici calls for each connection. */
  readonly connect: buildConnector.connector = (target, callback) => {
    this.#open(target).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    )
  }

  /** Gives up connections that are being made. */
  close(): void {
    this.#isClosed = true
    for (const socket of this.#dialling) socket.destroy(new Error('closed'))
  }

  async #open({ hostname, port: portText, protocol }: buildConnector.Options): Promise<Socket> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const isTls = protocol === 'https:'
    const port = portText === '' ? (isTls ? 443 : 80) : Number(portText)
    const deadline = performance.now() + this.#options.timeoutMs

    const addresses = await this.#findAddresses(host, port)
    for (const [index, address] of addresses.entries()) {
      // An address that swallows packets must leave time for the others.
      const timeoutMs = (deadline - performance.now()) / (addresses.length - index)
      const outcome = await this.#dial({ host, address, port, isTls, timeoutMs })
      if (!(outcome instanceof ConnectError)) return outcome
      if (outcome.problem === 'tls' || index === addresses.length - 1) throw outcome
    }
    throw new ConnectError('unknown-host', `${host} has no address`)
  }

  /** The addresses to try, all of them checked. */
  async #findAddresses(host: string, port: number): Promise<readonly string[]> {
    const { allowance, resolve, timeoutMs } = this.#options
    const addresses = isIP(host) === 0 ? await resolveInTime(resolve, host, timeoutMs) : [host]
    if (!addresses.every((address) => allowance.isAllowed(host, port, address))) {
      const what =
        isIP(host) === 0 ? `${host} leads to an address that is not public` : `${host} is not a public address`
      throw new ConnectError('address-refused', what)
    }
    return addresses.slice(0, MAX_ATTEMPTS)
  }

  #dial(attempt: Attempt): Promise<Socket | ConnectError> {
    const { host, address, port, isTls, timeoutMs } = attempt
    const { ca } = this.#options
    return new Promise((settle) => {
      if (this.#isClosed || timeoutMs <= 0) {
        settle(new ConnectError('timeout', `no connection to ${host} in time`))
        return
      }
      // Without a lookup: `address` is a literal, which Node does not resolve.
      const where = { host: address, port }
      const socket: Socket | TLSSocket = isTls
        ? connectTls({
            ...where,
            // SNI carries names only, RFC 6066 section 3; the certificate is checked against the host either way.
            servername: isIP(host) === 0 ? host : '',
            ALPNProtocols: ['http/1.1'],
            ...(ca === undefined ? {} : { ca }),
          })
        : connectTcp(where)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 60_000)
      let hasTcp = false
      const finish = (outcome: Socket | ConnectError): void => {
        clearTimeout(timer)
        this.#dialling.delete(socket)
        socket.off('close', onClose)
        settle(outcome)
      }
      const onClose = (): void => finish(new ConnectError('network', `${host} closed the connection`))
      const timer = setTimeout(() => {
        finish(new ConnectError('timeout', `no connection to ${host} in time`))
        socket.destroy()
      }, timeoutMs)
      this.#dialling.add(socket)
      socket.once('connect', () => {
        hasTcp = true
      })
      socket.once(isTls ? 'secureConnect' : 'connect', () => finish(socket))
      // Stays for the life of the socket, and comes before the listener of undici.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        finish(describeFailure(error, host, isTls && hasTcp))
        reportReset(error)
      })
      socket.once('close', onClose)
    })
  }
}

interface Attempt {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  readonly timeoutMs: number
}

async function resolveInTime(resolve: Resolve, host: string, timeoutMs: number): Promise<readonly string[]> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new ConnectError('timeout', `${host} could not be resolved in time`)),
    timeoutMs,
  )
  try {
    return await Promise.race([resolve(host), tooLate])
  } catch (cause) {
    if (cause instanceof ConnectError) throw cause
    const isUnknown = codeOf(cause) === 'ENOTFOUND'
    const problem = isUnknown ? 'unknown-host' : 'network'
    throw new ConnectError(problem, isUnknown ? `unknown host ${host}` : `${host} could not be resolved`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

function describeFailure(cause: NodeJS.ErrnoException, host: string, isHandshake: boolean): ConnectError {
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

/** OpenSSL's verdicts on a certificate, in words that a host name follows. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'expired certificate of',
  CERT_NOT_YET_VALID: 'certificate that is not valid yet, of',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate of',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate of an unknown authority, of',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate of an unknown authority, of',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate of an unknown authority, of',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate for another host than',
}

/**
 * undici takes a reset for the end of a body that has no announced length, and would hand out half a page. Under another
 * name it fails the request.
 */
function reportReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED'
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
