import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { closeLater } from '../close-later.ts'
import { folderOf, SOCKET } from './server.ts'

/** A proxy to a server. */
export interface SocketProxy {
  /** The address of the server through the proxy. */
  readonly address: string
  /** The sockets that close with the test. */
  readonly sockets: Set<Socket>
  /** The socket of the server itself. */
  readonly server: string
}

/** Opens a proxy to the server at an address, with its socket in a subfolder of the folder of the server. It closes with the test. */
export async function openSocketProxy(
  address: string,
  onClient: (client: Socket, proxy: SocketProxy) => void,
): Promise<SocketProxy> {
  const folder = folderOf(address)
  const proxyFolder = mkdtempSync(join(folder, 'proxy-'))
  const proxy: SocketProxy = {
    address: address.replace(folder, proxyFolder),
    sockets: new Set(),
    server: join(folder, SOCKET),
  }
  const listener = createServer((client) => onClient(client, proxy))
  await new Promise<void>((resolve) => listener.listen(join(proxyFolder, SOCKET), resolve))
  closeLater(async () => {
    for (const socket of proxy.sockets) socket.destroy()
    await new Promise((resolve) => listener.close(resolve))
    rmSync(proxyFolder, { recursive: true, force: true })
  })
  return proxy
}
