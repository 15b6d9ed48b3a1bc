import type { ClientRequest, RequestOptions } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { codeOf } from '../core/errors.ts'
import { ConnectError, describeFailure } from './connect-error.ts'
import type { HttpProxy } from './parse-proxy.ts'

/** The target of a tunnel. */
export interface TunnelTarget {
  /** Name of the target in messages. */
  readonly host: string
  /** A checked address. A name would be resolved by the proxy, perhaps differently. */
  readonly address: string
  readonly port: number
}

/** A tunnel that is being opened. */
export interface OpeningTunnel {
  readonly result: Promise<Socket | ConnectError>
  /** Aborts the attempt. */
  destroy(error: Error): void
}

/** Size limit of a proxy's response headers, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** Requests a tunnel from a proxy. The request that will go through it is not sent yet. */
export function openTunnel(proxy: HttpProxy, target: TunnelTarget): OpeningTunnel {
  const request = requestTunnel(proxy, target)
  const result = new Promise<Socket | ConnectError>((settle) => {
    let hasTcp = false
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        hasTcp = true
      })
    })
    request.on('error', (error) => settle(describeProxyFailure(error, proxy.isTls && hasTcp)))
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      const refusal = findRefusal(statusCode, head.length > 0, target.host)
      if (refusal !== undefined) socket.destroy()
      settle(refusal ?? socket)
    })
    request.end()
  })
  return { result, destroy: (error) => request.destroy(error) }
}

function requestTunnel({ host, port, isTls, authorization }: HttpProxy, target: TunnelTarget): ClientRequest {
  const authority = `${isIP(target.address) === 6 ? `[${target.address}]` : target.address}:${target.port}`
  const options: RequestOptions = {
    host,
    port,
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      connection: 'keep-alive',
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    },
    // The shared agent is not used, because environment variables could configure it.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  // The certificate must be the proxy's, whatever the Host header says.
  const servername = isIP(host) === 0 ? host : ''
  // A static import of `node:http` would make every crawl load Node's own fetch, which takes a tenth of the start time.
  if (!isTls) return process.getBuiltinModule('node:http').request(options)
  return process.getBuiltinModule('node:https').request({ ...options, servername, rejectUnauthorized: true })
}

/** The error in a proxy's response; undefined when the tunnel is open. */
function findRefusal(status: number, hasExtraBytes: boolean, host: string): ConnectError | undefined {
  if (status === 407) {
    const advice = 'give the right ones in the setting `proxy`'
    return new ConnectError('proxy-refused', `the proxy asks for a user name and password; ${advice}`)
  }
  if (status >= 500) return new ConnectError('network', `the proxy has no connection to ${host}: it answered ${status}`)
  if (status >= 300) return new ConnectError('proxy-refused', `the proxy refused ${host}: it answered ${status}`)
  // A web server does not send first, so these bytes come from the proxy, which pretends to be the site.
  return hasExtraBytes ? new ConnectError('network', 'the proxy sent data of its own through the tunnel') : undefined
}

function describeProxyFailure(error: Error, isHandshake: boolean): ConnectError {
  if (!codeOf(error).startsWith('HPE_')) return describeFailure(error, 'the proxy', isHandshake)
  return new ConnectError('network', 'the answer of the proxy is not HTTP', { cause: error })
}
