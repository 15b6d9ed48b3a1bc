import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import type { Allowance } from './addresses.ts'
import { ConnectError, type ConnectProblem, codeOf, describeFailure } from './connect-error.ts'
import type { HttpProxy } from './parse-proxy.ts'
import { openTunnel } from './proxy.ts'

/** All addresses of a host name, best first. Rejects with Node's code (`ENOTFOUND`, `EAI_AGAIN`) without one. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Asks the resolver of the system. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true })
  return answers.map((answer) => answer.address)
}

/** What a {@link Connector} is made of. */
export interface ConnectorOptions {
  readonly allowance: Allowance
  /** Time for name resolution, all attempts and the TLS handshake together. */
  readonly timeoutMs: number
  readonly resolve: Resolve
  /** Certificates to trust, in PEM. Undefined trusts those of Node. */
  readonly ca: string | undefined
  /** What every connection goes through. Undefined connects directly. */
  readonly proxy: HttpProxy | undefined
}

/** Most addresses of one host that are tried. */
const MAX_ATTEMPTS = 6

/**
 * The one way out: resolves a host once, refuses it when any of its addresses is not allowed, and connects to a checked
 * address itself, so there is no second lookup that could answer differently. When an address does not take the
 * connection, the next one is tried. A proxy is the owner's and is connected to as it was given; it too is told the checked
 * address, for http as for https, so that it has nothing to look up.
 */
export class Connector {
  readonly #options: ConnectorOptions
  readonly #dialling = new Set<{ destroy(error: Error): unknown }>()
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
    for (const attempt of this.#dialling) attempt.destroy(new Error('closed'))
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
      if (FINAL_PROBLEMS.has(outcome.problem) || index === addresses.length - 1) throw outcome
    }
    throw new ConnectError('unknown-host', `${host} has no address`)
  }

  /** The addresses to try, all of them checked. */
  async #findAddresses(host: string, port: number): Promise<readonly string[]> {
    const { allowance, resolve, timeoutMs } = this.#options
    if (!allowance.isNameAllowed(host, port)) {
      throw new ConnectError('address-refused', `${host} is a name of cloud metadata`)
    }
    const addresses = isIP(host) === 0 ? await resolveInTime(resolve, host, timeoutMs) : [host]
    if (!addresses.every((address) => allowance.isAllowed(host, port, address))) {
      const what =
        isIP(host) === 0 ? `${host} leads to an address that is not public` : `${host} is not a public address`
      throw new ConnectError('address-refused', what)
    }
    return addresses.slice(0, MAX_ATTEMPTS)
  }

  async #dial(attempt: Attempt): Promise<Socket | ConnectError> {
    const { proxy } = this.#options
    if (this.#isClosed || attempt.timeoutMs <= 0) return tooLate(attempt.host)
    if (proxy === undefined) return await this.#settle(this.#openSocket(attempt, undefined), attempt)
    const deadline = performance.now() + attempt.timeoutMs
    const tunnel = await this.#openTunnel(proxy, attempt)
    if (tunnel instanceof ConnectError) return tunnel
    tunnel.on('error', reportReset)
    if (!attempt.isTls) return prepare(tunnel)
    const timeoutMs = deadline - performance.now()
    if (!this.#isClosed && timeoutMs > 0) {
      return await this.#settle(this.#openSocket(attempt, tunnel), { ...attempt, timeoutMs })
    }
    tunnel.destroy()
    return tooLate(attempt.host)
  }

  async #openTunnel(proxy: HttpProxy, attempt: Attempt): Promise<Socket | ConnectError> {
    const opening = openTunnel(proxy, attempt)
    this.#dialling.add(opening)
    const late = Promise.withResolvers<ConnectError>()
    const timer = setTimeout(() => {
      late.resolve(new ConnectError('timeout', `no connection to ${attempt.host} through the proxy in time`))
      opening.destroy(new Error('too late'))
    }, attempt.timeoutMs)
    try {
      return await Promise.race([opening.result, late.promise])
    } finally {
      clearTimeout(timer)
      this.#dialling.delete(opening)
    }
  }

  /** Begins a connection, or TLS on one that is there. */
  #openSocket({ host, address, port, isTls }: Attempt, tunnel: Socket | undefined): Socket {
    const { ca } = this.#options
    // Without a lookup: `address` is a literal, which Node does not resolve.
    const where = { host: address, port }
    if (!isTls) return connectTcp(where)
    return connectTls({
      ...where,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      // SNI carries names only, RFC 6066 section 3; the certificate is checked against the host either way.
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      // Said, because a variable of the environment may turn the default off.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    })
  }

  /** Waits until a socket can be used. */
  #settle(socket: Socket, { host, isTls, timeoutMs }: Attempt): Promise<Socket | ConnectError> {
    return new Promise((settle) => {
      prepare(socket)
      // One in a tunnel is connected already.
      let hasTcp = !socket.connecting
      const finish = (outcome: Socket | ConnectError): void => {
        clearTimeout(timer)
        this.#dialling.delete(socket)
        socket.off('close', onClose)
        settle(outcome)
      }
      const onClose = (): void => finish(new ConnectError('network', `${host} closed the connection`))
      const timer = setTimeout(() => {
        finish(tooLate(host))
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

/** Another address would give the same answer. */
const FINAL_PROBLEMS: ReadonlySet<ConnectProblem> = new Set(['tls', 'proxy-refused'])

interface Attempt {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  readonly timeoutMs: number
}

function tooLate(host: string): ConnectError {
  return new ConnectError('timeout', `no connection to ${host} in time`)
}

function prepare(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, 60_000)
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

/**
 * undici takes a reset for the end of a body that has no announced length, and would hand out half a page. Under another
 * name it fails the request.
 */
function reportReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED'
}
