import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { parseAllowance } from './addresses.ts'
import { type GuardProxy, type GuardProxyOptions, openGuardProxy } from './guard-proxy.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function openProxy(rules: readonly string[], options: Partial<GuardProxyOptions> = {}): Promise<GuardProxy> {
  const parsed = parseAllowance(rules)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const proxy = await openGuardProxy({ allowance: parsed.allowance, ...options })
  closers.push(() => proxy.close())
  return proxy
}

/** A server that records requests and responds with as many bytes as the path says. */
async function openServer(): Promise<{ origin: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    const [, size = '2'] = /^\/bytes\/(\d+)/.exec(request.url ?? '') ?? []
    if (request.url === '/cut') return void response.write('half', () => response.destroy())
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      response.writeHead(request.method === 'POST' ? 201 : 200, { connection: 'close', 'x-name': ['a', 'b'] })
      response.end(body === '' ? 'x'.repeat(Number(size)) : body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

interface ProxyResponse {
  readonly status: number
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

/** Sends a request through a proxy. */
function send(proxy: GuardProxy, url: string, options: { method?: string; headers?: object; body?: string } = {}) {
  return new Promise<ProxyResponse>((resolve, reject) => {
    const { port } = new URL(proxy.url)
    const { method = 'GET', headers = {}, body } = options
    const request = httpRequest({ host: '127.0.0.1', port, path: url, method, headers: { ...headers }, agent: false })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** Opens a tunnel by hand, sends a text through it, and returns everything received until it closes. */
function tunnel(proxy: GuardProxy, authority: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port) })
    let received = ''
    socket.setEncoding('utf8')
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`)
    socket.once('data', () => socket.write(text))
    socket.on('data', (part) => {
      received += part
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

test('forwards plain requests with their headers, but without hop-by-hop headers', async () => {
  const { origin, seen } = await openServer()
  const proxy = await openProxy(['127.0.0.1'])
  const headers = { 'x-own': '1', connection: 'x-hop', 'x-hop': '2', 'proxy-authorization': 'Basic eA==' }
  const answer = await send(proxy, `${origin}/a?b=c`, { headers })
  expect([answer.status, answer.body, answer.headers['x-name']]).toEqual([200, 'xx', 'a, b'])
  expect(seen[0]?.url).toBe('/a?b=c')
  expect(seen[0]?.headers).toMatchObject({ host: new URL(origin).host, 'x-own': '1' })
  expect(seen[0]?.headers).not.toHaveProperty('x-hop')
  expect(seen[0]?.headers).not.toHaveProperty('proxy-authorization')
  const form = { method: 'POST', body: 'hello', headers: { 'content-length': 5 } }
  const posted = await send(proxy, `${origin}/form`, form)
  expect([posted.status, posted.body]).toEqual([201, 'hello'])
  const chunked = await send(proxy, origin, { method: 'POST', body: 'x', headers: { 'transfer-encoding': 'chunked' } })
  expect(chunked.body).toBe('x')
  // An upgrade to another protocol is not forwarded.
  const upgraded = await send(proxy, `${origin}/u`, { headers: { connection: 'upgrade', upgrade: 'websocket' } })
  expect([upgraded.status, seen.at(-1)?.headers.upgrade]).toEqual([200, undefined])
  expect(proxy.refusals).toEqual([])
})

test('opens a tunnel for a CONNECT request', async () => {
  const { origin } = await openServer()
  const proxy = await openProxy(['127.0.0.1'])
  const received = await tunnel(proxy, new URL(origin).host, 'GET /bytes/3 HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(received).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*xxx/)
})

test('refuses and records connections that are not allowed', async () => {
  const { origin, seen } = await openServer()
  const { host, port } = new URL(origin)
  const proxy = await openProxy([], { resolve: async () => ['127.0.0.1'] })
  const refused = await send(proxy, `${origin}/a`)
  expect([refused.status, refused.body]).toEqual([403, '127.0.0.1 is not a public address'])
  expect(await tunnel(proxy, host, '')).toMatch(/^HTTP\/1\.1 403 [\s\S]*not a public address$/)
  expect(await tunnel(proxy, `[::1]:${port}`, '')).toMatch(/^HTTP\/1\.1 403 /)
  expect(await tunnel(proxy, `inside.example:${port}`, '')).toMatch(/leads to an address that is not public$/)
  expect(proxy.refusals.map((refusal) => refusal.host)).toEqual([host, '127.0.0.1', '::1', 'inside.example'])
  for (let i = 0; i < 20; i++) await send(proxy, origin)
  expect([proxy.refusalCount, proxy.refusals.length]).toEqual([24, 20])
  proxy.resetCounters()
  expect([proxy.refusalCount, proxy.refusals.length, seen.length]).toEqual([0, 0, 0])
})

test('responds with an error to a request that is not meant for a proxy', async () => {
  const proxy = await openProxy(['127.0.0.1'])
  for (const path of ['/', 'https://127.0.0.1/', 'file:///etc/passwd'])
    expect((await send(proxy, path)).status).toBe(400)
  expect(await tunnel(proxy, 'nowhere', '')).toMatch(/^HTTP\/1\.1 400 /)
})

test('the proxy refuses to connect to itself', async () => {
  const proxy = await openProxy(['*', '0.0.0.0'])
  const { port } = new URL(proxy.url)
  expect((await send(proxy, `http://127.0.0.1:${port}/`)).status).toBe(403)
  expect(await tunnel(proxy, `0.0.0.0:${port}`, '')).toMatch(/^HTTP\/1\.1 403 /)
})

test('reports a server that cannot be reached or breaks the connection', async () => {
  const { origin } = await openServer()
  const proxy = await openProxy(['127.0.0.1'])
  expect(await send(proxy, 'http://127.0.0.1:1/')).toMatchObject({
    status: 502,
    body: '127.0.0.1 refused the connection',
  })
  expect(await tunnel(proxy, '127.0.0.1:1', '')).toMatch(/^HTTP\/1\.1 502 /)
  await expect(send(proxy, `${origin}/cut`)).rejects.toThrow(/aborted|hang up/)
  expect(proxy.refusalCount).toBe(0)
})

test('the proxy stops forwarding at the byte limit', async () => {
  const { origin } = await openServer()
  const proxy = await openProxy(['127.0.0.1'], { maxBytes: 100_000 })
  await expect(send(proxy, `${origin}/bytes/200000`)).rejects.toThrow(/aborted|hang up/)
  expect(proxy.refusals).toMatchObject([{ reason: 'more than 100000 bytes were read' }])
  expect((await send(proxy, `${origin}/a`)).status).toBe(403)
  proxy.resetCounters()
  expect((await send(proxy, `${origin}/bytes/10`)).status).toBe(200)
  const received = await tunnel(proxy, new URL(origin).host, 'GET /bytes/900000 HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(received.length).toBeLessThan(900_000)
  expect(proxy.refusalCount).toBe(1)
})

test('forwards a body that is larger than all buffers on the way', async () => {
  const { origin } = await openServer()
  const proxy = await openProxy(['127.0.0.1'])
  expect((await send(proxy, `${origin}/bytes/5000000`)).body.length).toBe(5_000_000)
})

test('the proxy closes idle connections, and all connections when it is closed itself', async () => {
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  closers.push(() => silent.close())
  const authority = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const hasty = await openProxy(['127.0.0.1'], { idleTimeoutMs: 50 })
  expect(await tunnel(hasty, authority, 'hello')).toBe('HTTP/1.1 200 Connection established\r\n\r\n')
  const proxy = await openProxy(['127.0.0.1'])
  const waiting = tunnel(proxy, authority, 'hello')
  const plain = send(proxy, `http://${authority}/`)
  plain.catch(() => {})
  while (sockets.length < 3) await new Promise((resolve) => silent.once('connection', resolve))
  await proxy.close()
  expect(await waiting).toBe('HTTP/1.1 200 Connection established\r\n\r\n')
  await expect(plain).rejects.toThrow()
})

test('aborts connections whose client has gone', async () => {
  const { origin } = await openServer()
  const resolving = Promise.withResolvers<void>()
  const resolved = Promise.withResolvers<readonly string[]>()
  const proxy = await openProxy(['127.0.0.1'], {
    resolve: () => {
      resolving.resolve()
      return resolved.promise
    },
  })
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port) })
  const authority = `name.example:${new URL(origin).port}`
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`)
  await resolving.promise
  socket.destroy()
  await new Promise((resolve) => socket.once('close', resolve))
  resolved.resolve(['127.0.0.1'])
  await proxy.close()
  expect(proxy.refusalCount).toBe(0)
})
