import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'

/** A server that no crawl may reach. It answers every request like a normal server, so that a breach leads to further requests. */
export interface Canary {
  readonly port: number
  /** Number of connections accepted, including those without a request. */
  readonly connections: number
  /** Paths of the requests received. */
  readonly paths: readonly string[]
  close(): Promise<void>
}

/** Opens a canary: at every address of this machine, or at one. */
export async function openCanary(address = '::', port = 0): Promise<Canary> {
  const paths: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.writeHead(404, { 'content-type': 'text/plain' }).end('secrets of the machine')
  })
  server.on('connection', () => {
    connections++
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    paths,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Hosts of URLs that lead into this machine, in every spelling. All of them reach a canary that listens at every address. */
export const LOCAL_HOSTS: readonly string[] = [
  '127.0.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7F.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.1',
  '0177.0x0.1',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '１２７。０。０。１',
  '①②⑦.⓪.⓪.①',
  '0',
  '0.0.0.0',
  '0x0',
  '0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::0.0.0.1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:0.0.0.0]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  '%6cocalhost',
  'ｌｏｃａｌｈｏｓｔ',
  'user:password@127.0.0.1',
]

/** Hosts of URLs, beyond {@link LOCAL_HOSTS}, that may lead to internal addresses or to local services. */
export const INSIDE_HOSTS: readonly string[] = [
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::1]',
  '[2001:0:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[fe80::5efe:127.0.0.1]',
  '[2001:470:1:2:0:5efe:127.0.0.1]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[fec0::1]',
  '[fd00::1]',
  '[ff02::1]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:169.254.169.254]',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.2.1',
  '198.18.0.1',
  '240.0.0.1',
  'metadata.google.internal',
  'METADATA.google.internal.',
  'metadata',
  'instance-data',
  ...ownAddresses().map((address) => (address.includes(':') ? `[${address}]` : address)),
]

/** DNS answers for a host name that all point to this machine. */
export const LOCAL_ANSWERS: readonly (readonly string[])[] = [
  ['127.0.0.1'],
  ['127.0.0.2'],
  ['0.0.0.0'],
  ['::1'],
  ['::'],
  ['::ffff:127.0.0.1'],
  ['127.0.0.1', '::1'],
]

/** Other DNS answers to refuse: internal addresses, alone or among public ones, and texts that are not addresses. */
export const INSIDE_ANSWERS: readonly (readonly string[])[] = [
  ['64:ff9b::7f00:1'],
  ['::127.0.0.1'],
  ['2002:7f00:1::1'],
  ['fe80::1%lo'],
  ['fd00::1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['8.8.8.8', '127.0.0.1'],
  ['127.0.0.1', '8.8.8.8'],
  [...Array<string>(8).fill('8.8.8.8'), '::1'],
  ['localhost'],
  ['127.1'],
]

/** Addresses of this machine in its networks, without IPv6 zones, which a URL cannot contain. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)
}
