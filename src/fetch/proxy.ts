import type { ClientRequest, RequestOptions } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { ConnectError, codeOf, describeFailure } from './connect-error.ts'
import type { HttpProxy } from './parse-proxy.ts'

/** Where a tunnel is to lead. */
export interface TunnelEnd {
  /** What messages call it. */
  readonly host: string
  /** An address that has been checked; a name would be resolved by the proxy, and perhaps to something else. */
  readonly address: string
  readonly port: number
}

/** A tunnel that is being opened. */
export interface OpeningTunnel {
  readonly result: Promise<Socket | ConnectError>
  /** Gives it up. */
  destroy(error: Error): void
}

/** Most bytes of the header a proxy answers with. */
const MAX_HEADER_BYTES = 16_384

/** Asks a proxy for a connection. Nothing of the request that will go through it is sent yet. */
export function openTunnel(proxy: HttpProxy, end: TunnelEnd): OpeningTunnel {
  const request = askForTunnel(proxy, end)
  const result = new Promise<Socket | ConnectError>((settle) => {
    let hasTcp = false
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        hasTcp = true
      })
    })
    request.on('error', (error) => settle(describeProxyFailure(error, proxy.isTls && hasTcp)))
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      const refusal = judgeAnswer(statusCode, head.length > 0, end.host)
      if (refusal !== undefined) socket.destroy()
      settle(refusal ?? socket)
    })
    request.end()
  })
  return { result, destroy: (error) => request.destroy(error) }
}

function askForTunnel({ host, port, isTls, authorization }: HttpProxy, end: TunnelEnd): ClientRequest {
  const authority = `${isIP(end.address) === 6 ? `[${end.address}]` : end.address}:${end.port}`
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
    // An agent of its own, which no variable of the environment has a say in.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  // The certificate is that of the proxy, whatever the Host field says.
  const servername = isIP(host) === 0 ? host : ''
  // An import would have every crawl load Node's own fetch, which is among the names of `node:http`: a tenth of a start.
  if (!isTls) return process.getBuiltinModule('node:http').request(options)
  return process.getBuiltinModule('node:https').request({ ...options, servername, rejectUnauthorized: true })
}

/** What is wrong with the answer of a proxy; undefined where there is a tunnel. */
function judgeAnswer(status: number, isFollowedByMore: boolean, host: string): ConnectError | undefined {
  if (status === 407) {
    const advice = 'give the right ones in the setting `proxy`'
    return new ConnectError('proxy-refused', `the proxy asks for a user name and password; ${advice}`)
  }
  if (status >= 500) return new ConnectError('network', `the proxy has no connection to ${host}: it answered ${status}`)
  if (status >= 300) return new ConnectError('proxy-refused', `the proxy refused ${host}: it answered ${status}`)
  // A web server does not speak first, so these would be words of the proxy in the name of the site.
  return isFollowedByMore ? new ConnectError('network', 'the proxy answered more than it was asked') : undefined
}

function describeProxyFailure(error: Error, isHandshake: boolean): ConnectError {
  if (!codeOf(error).startsWith('HPE_')) return describeFailure(error, 'the proxy', isHandshake)
  return new ConnectError('network', 'the answer of the proxy is not HTTP', { cause: error })
}
