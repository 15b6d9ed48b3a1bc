import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { type AddressGuard, findAddresses, hostAndPortOf } from './address-check.ts'
import { ConnectError, type ConnectProblem, describeFailure } from './connect-error.ts'
import type { HttpProxy } from './parse-proxy.ts'
import { openTunnel } from './proxy-tunnel.ts'

/** Options of a {@link Connector}. */
export interface ConnectorOptions extends AddressGuard {
  /** Timeout of name resolution, all connection attempts and the TLS handshake together. */
  readonly timeoutMs: number
  /** Trusted certificates in PEM. Undefined uses Node's. */
  readonly ca: string | undefined
  /** Proxy for every connection. Undefined connects directly. */
  readonly proxy: HttpProxy | undefined
}

/** Limit of addresses tried per host. */
const MAX_ATTEMPTS = 6

/**
 * The only way to open a connection. A connector resolves a host once, refuses it when any of its addresses is not allowed, and connects to
 * a checked address, so that no second lookup can give another result. When an address does not accept the connection, the connector tries
 * the next one. A configured proxy is the owner's choice, so its own address is not checked. The proxy gets the checked address of the
 * host, for http and https, so that it resolves no name.
 */
export class Connector {
  readonly #options: ConnectorOptions
  /** Sockets and tunnels that are being opened. */
  readonly #opening = new Set<{ destroy(error: Error): unknown }>()
  #isClosed = false

  constructor(options: ConnectorOptions) {
    this.#options = options
  }

  /** The function that undici calls for each connection. */
  readonly connect: buildConnector.connector = (target, callback) => {
    const { host, port } = hostAndPortOf(target)
    this.#open(host, port, target.protocol === 'https:').then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    )
  }

  /** Opens a connection for callers that handle TLS themselves. Rejects with a {@link ConnectError}. */
  dial(host: string, port: number): Promise<Socket> {
    return this.#open(host, port, false)
  }

  /** Aborts connections that are being opened. */
  close(): void {
    this.#isClosed = true
    for (const attempt of this.#opening) attempt.destroy(new Error('closed'))
  }

  async #open(host: string, port: number, isTls: boolean): Promise<Socket> {
    const deadline = performance.now() + this.#options.timeoutMs

    const found = await findAddresses(host, port, this.#options)
    const addresses = found.slice(0, MAX_ATTEMPTS)
    for (const [index, address] of addresses.entries()) {
      // Splits the remaining time, because an address that drops packets must leave time for the others.
      const timeoutMs = (deadline - performance.now()) / (addresses.length - index)
      const outcome = await this.#dial({ host, address, port, isTls, timeoutMs })
      if (!(outcome instanceof ConnectError)) return outcome
      if (FINAL_PROBLEMS.has(outcome.problem) || index === addresses.length - 1) throw outcome
    }
    throw new ConnectError('unknown-host', `${host} has no address`)
  }

  async #dial(attempt: Attempt): Promise<Socket | ConnectError> {
    const { proxy } = this.#options
    if (this.#isClosed || attempt.timeoutMs <= 0) return createTimeoutError(attempt.host)
    if (proxy === undefined) return await this.#settle(this.#openSocket(attempt, undefined), attempt)
    const deadline = performance.now() + attempt.timeoutMs
    const tunnel = await this.#openTunnel(proxy, attempt)
    if (tunnel instanceof ConnectError) return tunnel
    tunnel.on('error', replaceResetCode)
    if (!attempt.isTls) return setSocketOptions(tunnel)
    const timeoutMs = deadline - performance.now()
    if (!this.#isClosed && timeoutMs > 0) {
      return await this.#settle(this.#openSocket(attempt, tunnel), { ...attempt, timeoutMs })
    }
    tunnel.destroy()
    return createTimeoutError(attempt.host)
  }

  async #openTunnel(proxy: HttpProxy, attempt: Attempt): Promise<Socket | ConnectError> {
    const opening = openTunnel(proxy, attempt)
    this.#opening.add(opening)
    const late = Promise.withResolvers<ConnectError>()
    const timer = setTimeout(() => {
      late.resolve(new ConnectError('timeout', `no connection to ${attempt.host} through the proxy in time`))
      opening.destroy(new Error('too late'))
    }, attempt.timeoutMs)
    try {
      return await Promise.race([opening.result, late.promise])
    } finally {
      clearTimeout(timer)
      this.#opening.delete(opening)
    }
  }

  /** Opens a TCP connection, or TLS over an open tunnel. */
  #openSocket({ host, address, port, isTls }: Attempt, tunnel: Socket | undefined): Socket {
    const { ca } = this.#options
    // Node does no lookup, because `address` is an IP address.
    const endpoint = { host: address, port }
    if (!isTls) return connectTcp(endpoint)
    return connectTls({
      ...endpoint,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      // SNI carries names only, RFC 6066 section 3; the certificate is checked against the host either way.
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      // Explicit, because an environment variable can turn the default off.
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    })
  }

  /** Waits until a socket is connected. */
  #settle(socket: Socket, { host, isTls, timeoutMs }: Attempt): Promise<Socket | ConnectError> {
    return new Promise((settle) => {
      setSocketOptions(socket)
      // A socket inside a tunnel is already connected.
      let hasTcp = !socket.connecting
      const finish = (outcome: Socket | ConnectError): void => {
        clearTimeout(timer)
        this.#opening.delete(socket)
        socket.off('close', onClose)
        settle(outcome)
      }
      const onClose = (): void => finish(new ConnectError('network', `${host} closed the connection`))
      const timer = setTimeout(() => {
        finish(createTimeoutError(host))
        socket.destroy()
      }, timeoutMs)
      this.#opening.add(socket)
      socket.once('connect', () => {
        hasTcp = true
      })
      socket.once(isTls ? 'secureConnect' : 'connect', () => finish(socket))
      // This listener stays for the life of the socket, and must run before undici's listener.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        finish(describeFailure(error, host, isTls && hasTcp))
        replaceResetCode(error)
      })
      socket.once('close', onClose)
    })
  }
}

/** Problems that every other address would have too. */
const FINAL_PROBLEMS: ReadonlySet<ConnectProblem> = new Set(['tls', 'proxy-refused'])

interface Attempt {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  readonly timeoutMs: number
}

function createTimeoutError(host: string): ConnectError {
  return new ConnectError('timeout', `no connection to ${host} in time`)
}

function setSocketOptions(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, 60_000)
}

/**
 * undici treats a reset as the end of a body without Content-Length, and would return half a page. With another error code it fails the
 * request.
 */
function replaceResetCode(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED'
}
