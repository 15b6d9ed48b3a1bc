import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A proxy that opens tunnels and does nothing else. */
export interface TunnelProxy {
  readonly url: string
  /** The targets of the CONNECT requests. */
  readonly targets: readonly string[]
  close(): Promise<void>
}

/** How a proxy is reached. */
export interface TunnelProxyOptions {
  /** The Proxy-Authorization header that the proxy requires. @default none */
  readonly authorization?: string
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** Opens a proxy. It answers 502 if it cannot connect to a target. */
export async function openTunnelProxy({ authorization, tls }: TunnelProxyOptions = {}): Promise<TunnelProxy> {
  const targets: string[] = []
  const sockets = new Set<Socket>()
  const server = tls === undefined ? createServer() : createHttpsServer(tls)
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket) => {
    targets.push(url)
    sockets.add(client)
    client.on('error', () => {})
    if (headers['proxy-authorization'] !== authorization) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n')
      return
    }
    const { hostname, port } = new URL(`http://${url}`)
    const upstream = connect(Number(port === '' ? 80 : port), hostname.replace(/^\[|\]$/g, ''))
    sockets.add(upstream)
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    targets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        for (const socket of sockets) socket.destroy()
      }),
  }
}
