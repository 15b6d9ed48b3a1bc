import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as zlib from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { openTunnelProxy, type TunnelProxy, type TunnelProxyOptions } from '../../test/sites/tunnel-proxy.ts'
import type { FetchOutcome } from '../crawl/ports.ts'
import { ALL_PRIVATE, type Allowance, parseAllowance } from './addresses.ts'
import { type HttpFetcher, type HttpFetcherOptions, openHttpFetcher } from './http.ts'
import { writeUserAgent } from './user-agent.ts'

const PAGE = '<h1>Lamps</h1>'.repeat(300)
const USER_AGENT = writeUserAgent('1.2.3', 'https://pharos.example/bot')
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

describe('a response', () => {
  test('a response has its bytes, headers and validators', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, [
        ['Content-Type', 'text/html'],
        ['ETag', '"a"'],
        ['Last-Modified', 'Tue, 01 Sep 2026 00:00:00 GMT'],
        ['X-Twice', 'one'],
        ['X-Twice', 'two'],
        ['Set-Cookie', 'session=secret'],
        ['Content-Length', String(PAGE.length)],
        ['Date', 'now'],
      ])
      response.end(PAGE)
    })
    const outcome = await open().fetch({ url: `${url}/a?b=c#d` })
    expect(readable(outcome)).toEqual({
      type: 'fetched',
      snapshot: {
        url: `${url}/a?b=c`,
        status: 200,
        body: PAGE,
        headers: {
          'content-type': 'text/html',
          etag: '"a"',
          'last-modified': 'Tue, 01 Sep 2026 00:00:00 GMT',
          'x-twice': 'one, two',
          'content-length': String(PAGE.length),
          date: 'now',
          connection: 'keep-alive',
          'keep-alive': 'timeout=5',
        },
      },
      etag: '"a"',
      lastModified: 'Tue, 01 Sep 2026 00:00:00 GMT',
    })
  })

  test('a body owns its memory, so that it can be transferred to another thread', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(PAGE))
      else response.end(PAGE)
    })
    for (const path of ['/plain', '/gzip']) {
      const outcome = await open().fetch({ url: url + path })
      if (outcome.type !== 'fetched' || typeof outcome.snapshot.body === 'string') throw new Error(outcome.type)
      expect(outcome.snapshot.body.buffer.byteLength).toBe(PAGE.length)
    }
  })

  test('a response may have no body', async () => {
    const url = await serve((_request, response) => response.writeHead(204, { 'content-encoding': 'gzip' }).end())
    expect(readable(await open().fetch({ url }))).toMatchObject({
      type: 'fetched',
      snapshot: { status: 204, body: '' },
    })
  })

  test('a response may come after early hints, and may end when the connection closes', async () => {
    const url = await serveBytes('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.0 200 OK\r\n\r\nwhole')
    expect(readable(await open().fetch({ url }))).toMatchObject({ type: 'fetched', snapshot: { body: 'whole' } })
  })

  const moves: [number, boolean][] = [
    [301, true],
    [302, false],
    [303, false],
    [307, false],
    [308, true],
  ]
  test.each(moves)('status %i is a redirect that is not followed', async (status, isPermanent) => {
    const requestedPaths: (string | undefined)[] = []
    const url = await serve((request, response) => {
      requestedPaths.push(request.url)
      response.writeHead(status, { location: '../new page?x=1' }).end('moved')
    })
    const outcome = await open().fetch({ url: `${url}/old/page` })
    expect(outcome).toEqual({ type: 'moved', status, target: `${url}/new%20page?x=1`, isPermanent })
    expect(requestedPaths).toEqual(['/old/page'])
  })

  test('a redirect to a metadata address is not followed, and fetching that address is refused', async () => {
    const target = 'http://169.254.169.254/latest/meta-data/'
    const url = await serve((_request, response) => response.writeHead(302, { location: target }).end())
    const fetcher = open()
    expect(await fetcher.fetch({ url })).toEqual({ type: 'moved', status: 302, target, isPermanent: false })
    expect(await fetcher.fetch({ url: target })).toEqual(
      failed('address-refused', '169.254.169.254 is not a public address'),
    )
  })

  const locations: [string, string][] = [
    ['/caf\u00c3\u00a9', '/caf%C3%A9'],
    ['/caf\u00e9', '/caf%C3%A9'],
    ['//user:secret@other.example/', 'http://other.example/'],
    ['ftp://other.example/', 'ftp://other.example/'],
  ]
  test.each(locations)('a redirect to %s has the target %s', async (location, expected) => {
    const url = await serveBytes(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`)
    const target = new URL(expected, url).href
    expect(await open().fetch({ url })).toEqual({ type: 'moved', status: 302, target, isPermanent: false })
  })

  const unusable = ['', 'location: \r\n', 'location: http://[\r\n', 'location: /a\r\nlocation: /b\r\n']
  test.each(unusable)('a redirect without a usable Location is a bad answer (%j)', async (field) => {
    const url = await serveBytes(`HTTP/1.1 301 Moved\r\n${field}content-length: 0\r\n\r\n`)
    const detail = 'the server answered 301 without a usable Location'
    expect(await open().fetch({ url })).toEqual(failed('bad-answer', detail, { status: 301 }))
  })

  test.each([404, 410])('status %i means that the page is gone', async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end('no'))
    expect(await open().fetch({ url })).toEqual({ type: 'gone', status })
  })

  test.each([400, 401, 402, 403, 407, 418, 451])('status %i is a refusal', async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end('no'))
    const detail = `the server answered ${status}`
    expect(await open().fetch({ url })).toEqual({ type: 'refused', status, reason: 'http-client-error', detail })
  })

  test.each([
    [408, 'http-client-error'],
    [425, 'http-client-error'],
    [429, 'rate-limited'],
    [500, 'http-server-error'],
    [502, 'http-server-error'],
    [503, 'http-server-error'],
  ])('status %i is a transient failure (%s)', async (status, reason) => {
    const url = await serve((_request, response) => response.writeHead(status).end('later'))
    const detail = `the server answered ${status}`
    expect(await open().fetch({ url })).toEqual(failed(reason, detail, { status, isTransient: true }))
  })

  test.each([
    ['120', 120_000],
    ['0', 0],
    ['Sun, 15 Nov 2026 08:01:00 GMT', 60_000],
    ['Sun, 15 Nov 2020 08:01:00 GMT', 0],
    ['Sunday, 15-Nov-26 08:01:00 GMT', 60_000],
    ['-5', null],
    ['soon', null],
    ['1e9', null],
    ['99999999999999', null],
  ])('Retry-After %j is reported in milliseconds (%j)', async (field, retryAfterMs) => {
    const fetcher = open({ now: () => Date.parse('2026-11-15T08:00:00Z') })
    for (const status of [429, 503]) {
      const url = await serve((_request, response) => response.writeHead(status, { 'retry-after': field }).end())
      expect(await fetcher.fetch({ url })).toMatchObject({ type: 'failed', status, isTransient: true, retryAfterMs })
    }
  })

  test.each([206, 300, 305, 600, 999])('status %i is a bad answer', async (status) => {
    const url = await serveBytes(`HTTP/1.1 ${status} Odd\r\nlocation: /a\r\ncontent-length: 0\r\n\r\n`)
    expect(await open().fetch({ url })).toMatchObject({
      type: 'failed',
      status,
      reason: 'bad-answer',
      isTransient: false,
    })
  })

  test('304 means unchanged when a validator was sent, and is a bad answer otherwise', async () => {
    const url = await serve((request, response) => {
      const { 'if-none-match': etag, 'if-modified-since': lastModified } = request.headers
      const isConditional = etag === '"a"' || lastModified === 'yesterday'
      response.writeHead(304, isConditional ? { etag: 'W/"a"' } : {}).end()
    })
    const fetcher = open()
    expect(await fetcher.fetch({ url, etag: '"a"', lastModified: 'monday' })).toEqual({
      type: 'unchanged',
      etag: 'W/"a"',
      lastModified: 'monday',
    })
    expect(await fetcher.fetch({ url, lastModified: 'yesterday' })).toMatchObject({ lastModified: 'yesterday' })
    for (const validators of [{}, { etag: null, lastModified: null }, { etag: 'a\r\nx: y' }]) {
      const outcome = await fetcher.fetch({ url, ...validators })
      const detail = 'the server answered 304 to an unconditional request'
      expect(outcome).toEqual(failed('bad-answer', detail, { status: 304 }))
    }
  })

  test('the connection stays open after a short unwanted body, and is closed during a long one', async () => {
    const sockets = new Set<Socket>()
    const url = await serve((request, response) => {
      sockets.add(request.socket)
      response.writeHead(404)
      if (request.url === '/short') response.end('x'.repeat(60_000))
      else Readable.from(endless('x'.repeat(10_000))).pipe(response)
    })
    const fetcher = open({ connectionsPerOrigin: 1 })
    for (const path of ['/short', '/short', '/long', '/short']) {
      expect(await fetcher.fetch({ url: url + path })).toEqual({ type: 'gone', status: 404 })
    }
    expect(sockets.size).toBe(2)
  })
})

describe('a request', () => {
  test('a request has the User-Agent and Accept headers', async () => {
    const { url, seen } = await serveRecording()
    await open().fetch({ url: `${url}/a/b?c=d%20e` })
    expect(seen).toEqual([
      {
        method: 'GET',
        url: '/a/b?c=d%20e',
        host: new URL(url).host,
        connection: 'keep-alive',
        'user-agent': 'Pharos/1.2.3 (+https://pharos.example/bot)',
        accept: 'text/markdown, text/html;q=0.9, */*;q=0.8',
        'accept-encoding': 'gzip, br, zstd, deflate',
      },
    ])
  })

  test('extra headers are sent only with their own request', async () => {
    const { url, seen } = await serveRecording()
    const fetcher = open()
    await fetcher.fetch({
      url,
      accept: 'text/plain',
      etag: '"a"',
      headers: { Authorization: 'Bearer t', 'User-Agent': 'me' },
    })
    await fetcher.fetch({ url })
    expect(seen[0]).toMatchObject({
      authorization: 'Bearer t',
      accept: 'text/plain',
      'user-agent': 'me',
      'if-none-match': '"a"',
    })
    expect(seen[1]).not.toHaveProperty('authorization')
    expect(seen[1]).toMatchObject({ 'user-agent': USER_AGENT })
  })

  test('the credentials of a URL are not sent', async () => {
    const { url, seen } = await serveRecording()
    const outcome = await open().fetch({ url: url.replace('//', '//user:secret@') })
    expect(seen[0]).not.toHaveProperty('authorization')
    expect(outcome).toMatchObject({ type: 'fetched', snapshot: { url: `${url}/` } })
  })

  test.each([
    [{ 'a b': 'c' }, '"a b" is not the name of a header field'],
    [{ host: 'other.example' }, 'the header field host cannot be set'],
    [{ 'Transfer-Encoding': 'chunked' }, 'the header field Transfer-Encoding cannot be set'],
    [{ Range: 'bytes=0-1' }, 'the header field Range cannot be set'],
    [{ 'x-key': 'secret\r\nx-more: y' }, 'the value of the header field x-key has characters that cannot be sent'],
  ])('the headers %j are rejected as misuse', async (headers, message) => {
    const { url, seen } = await serveRecording()
    await expect(open().fetch({ url, headers: headers as Record<string, string> })).rejects.toThrow(
      new TypeError(message),
    )
    expect(seen).toEqual([])
  })

  test.each([
    ['nonsense', 'bad-url', 'not a URL'],
    ['file:///etc/passwd', 'scheme', 'file: is not fetched'],
    ['ftp://docs.example/', 'scheme', 'ftp: is not fetched'],
    ['data:text/html,x', 'scheme', 'data: is not fetched'],
  ])('a request for %s fails without being sent', async (url, reason, detail) => {
    expect(await open().fetch({ url })).toEqual(failed(reason, detail))
  })

  test('requests reuse connections up to the limit per origin', async () => {
    const sockets = new Set<Socket>()
    const url = await serve((request, response) => {
      sockets.add(request.socket)
      setTimeout(() => response.end(PAGE), 2)
    })
    const fetcher = open({ connectionsPerOrigin: 3 })
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => fetcher.fetch({ url })))
    expect(outcomes.every((outcome) => outcome.type === 'fetched')).toBe(true)
    expect(sockets.size).toBe(3)
  })

  test('a request whose time slot has passed is not sent, and leaves its connection to the next request', async () => {
    const sockets = new Set<Socket>()
    const paths: (string | undefined)[] = []
    const server = createServer((request, response) => {
      paths.push(request.url)
      response.end(PAGE)
    }).on('connection', (socket) => sockets.add(socket))
    const { port } = await listen(server)
    const url = `http://docs.test:${port}`
    const { promise: addresses, resolve } = Promise.withResolvers<string[]>()
    const fetcher = open({ resolve: () => addresses })
    let isTime = true
    const late = fetcher.fetch({ url: `${url}/late`, isInTime: () => isTime })
    isTime = false
    resolve(['127.0.0.1'])
    expect(await late).toEqual(failed('timeout', 'the request could not be sent in time', { isTransient: true }))
    isTime = true
    expect(await fetcher.fetch({ url: `${url}/again`, isInTime: () => isTime })).toMatchObject({ type: 'fetched' })
    expect(paths).toEqual(['/again'])
    expect(sockets.size).toBe(1)
  })

  test('a fetch after close throws a TypeError, and a fetch in progress fails on close', async () => {
    const url = await serve(() => {})
    const fetcher = open()
    const pending = fetcher.fetch({ url })
    await new Promise((resolve) => setTimeout(resolve, 30))
    await fetcher.close()
    expect(await pending).toEqual(failed('network', 'the fetcher was closed', { isTransient: true }))
    await expect(fetcher.fetch({ url })).rejects.toThrow(new TypeError('the fetcher is closed'))
  })

  test('the fetcher rejects invalid options', () => {
    expect(() => open({ maxBytes: 0 })).toThrow(new TypeError('maxBytes must be a positive whole number, got 0'))
    expect(() => open({ userAgent: 'a\nb' })).toThrow(new TypeError('userAgent must be a field value, got "a\\nb"'))
  })
})

describe('content encodings', () => {
  const plain = Buffer.from(PAGE)
  const large = Buffer.from(Array.from({ length: 40_000 }, (_, index) => `${index * 7919}`).join(' '))
  const encode: Record<string, (bytes: Buffer) => Buffer> = {
    ...Object.fromEntries(
      ['gzip', 'x-gzip', 'br', 'zstd', 'deflate'].map((field) => [field, (bytes: Buffer) => compress(field, bytes)]),
    ),
    'Deflate ': (bytes) => zlib.deflateRawSync(bytes),
    'gzip, br': (bytes) => encode['br']?.(zlib.gzipSync(bytes)) ?? bytes,
    'deflate, identity, zstd, gzip': (bytes) => zlib.gzipSync(zlib.zstdCompressSync(zlib.deflateRawSync(bytes))),
    identity: (bytes) => bytes,
  }

  test.each(Object.entries(encode))('a %s body is decoded, in one call or as it arrives', async (field, write) => {
    const url = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': field }).end(write(request.url === '/large' ? large : plain))
    })
    const fetcher = open()
    expect(readable(await fetcher.fetch({ url }))).toMatchObject({ snapshot: { body: PAGE } })
    expect(readable(await fetcher.fetch({ url: `${url}/large` }))).toMatchObject({
      snapshot: { body: large.toString() },
    })
  })

  test.each(['gzip', 'br', 'zstd', 'deflate'])(
    'a %s body that ends too early or is corrupt is a bad answer',
    async (field) => {
      const url = await serve((request, response) => {
        const whole = encode[field]?.(request.url?.startsWith('/large') ? large : plain) ?? Buffer.alloc(0)
        const body = request.url?.endsWith('cut')
          ? whole.subarray(0, -9)
          : Buffer.concat([Buffer.from('<html>'), whole])
        response.writeHead(200, { 'content-encoding': field }).end(body)
      })
      const fetcher = open()
      for (const path of ['/cut', '/large/cut', '/odd', '/large/odd']) {
        const detail = 'the body does not have the content encoding it claims'
        expect(await fetcher.fetch({ url: url + path })).toEqual(failed('bad-answer', detail, { status: 200 }))
      }
    },
  )

  test.each(['compress', 'gzip, constructor', 'gzip, gzip, gzip, gzip', '__proto__'])(
    'a response with the content encoding %s is a bad answer',
    async (field) => {
      const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': field }).end('?'))
      const detail = `unknown content encoding ${JSON.stringify(field)}`
      expect(await open().fetch({ url })).toEqual(failed('bad-answer', detail, { status: 200 }))
    },
  )

  test.each(['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip'])(
    'a %s body that unpacks to 256 MB is stopped at the size limit',
    async (field) => {
      const bomb = await writeBomb(field)
      const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': field }).end(bomb))
      const fetcher = open()
      const before = process.resourceUsage().maxRSS
      const [small, usual] = [await fetcher.fetch({ url, maxBytes: 500_000 }), await fetcher.fetch({ url })]
      // Compares the types first, because 256 MB make a long message.
      expect([small.type, usual.type]).toEqual(['failed', 'failed'])
      expect(small).toEqual(failed('too-large', 'more than 500000 bytes', { status: 200 }))
      expect(usual).toEqual(failed('too-large', 'more than 20971520 bytes', { status: 200 }))
      expect(process.resourceUsage().maxRSS - before).toBeLessThan(100 * 1024)
    },
  )

  test('a body that never ends is stopped at the size limit', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await serve((_request, response) => {
      response.on('close', closed.resolve)
      response.writeHead(200, { 'content-encoding': 'gzip' })
      Readable.from(endless(Buffer.alloc(65_536)))
        .pipe(zlib.createGzip({ level: 1 }))
        .pipe(response)
    })
    expect(await open().fetch({ url })).toEqual(failed('too-large', 'more than 20971520 bytes', { status: 200 }))
    await closed.promise
  })
})

describe('the size of a response', () => {
  test('a Content-Length above the limit is refused without reading the body', async () => {
    const url = await serveBytes('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n', { staysOpen: true })
    expect(await open().fetch({ url })).toEqual(failed('too-large', 'more than 20971520 bytes', { status: 200 }))
  })

  test('a body is stopped at the size limit, which a request may set', async () => {
    const url = await serve((request, response) =>
      response.writeHead(200).end('x'.repeat(Number(request.url?.slice(1)))),
    )
    const fetcher = open({ maxBytes: 1000 })
    expect(await fetcher.fetch({ url: `${url}/1000` })).toMatchObject({ type: 'fetched' })
    expect(await fetcher.fetch({ url: `${url}/1001` })).toEqual(
      failed('too-large', 'more than 1000 bytes', { status: 200 }),
    )
    expect(await fetcher.fetch({ url: `${url}/1001`, maxBytes: 1001 })).toMatchObject({ type: 'fetched' })
    expect(await fetcher.fetch({ url: `${url}/12`, maxBytes: 11 })).toMatchObject({ reason: 'too-large' })
  })

  test.each(['', 'gzip', 'br', 'zstd', 'deflate'])(
    'a truncated fetch returns the start of a larger body (content encoding %j)',
    async (field) => {
      const body = Buffer.alloc(3_000_000, 'robots\n')
      const coded = field === '' ? body : compress(field, body)
      const url = await serve((_request, response) =>
        response.writeHead(200, field === '' ? {} : { 'content-encoding': field }).end(coded),
      )
      for (const maxBytes of [7000, 1_500_000]) {
        const outcome = await open().fetch({ url, maxBytes, isClipped: true })
        if (outcome.type !== 'fetched') throw new Error(`it is ${JSON.stringify(outcome)}`)
        expect(Buffer.compare(Buffer.from(outcome.snapshot.body), body.subarray(0, maxBytes))).toBe(0)
      }
    },
  )

  test('a body without Content-Length is stopped at the size limit', async () => {
    const closed = Promise.withResolvers<void>()
    const url = await serve((_request, response) => {
      response.on('close', closed.resolve)
      Readable.from(endless('x'.repeat(10_000))).pipe(response)
    })
    expect(await open({ maxBytes: 100_000 }).fetch({ url })).toMatchObject({ type: 'failed', reason: 'too-large' })
    await closed.promise
  })
})

describe('a bad answer', () => {
  const half = [
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf',
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\nhalf',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n4\r\nhalf\r\n',
  ]
  test.each(half)('a response that ends too early is a network failure, never half a page (%j)', async (bytes) => {
    const url = await serveBytes(bytes)
    expect(await open().fetch({ url })).toMatchObject({
      type: 'failed',
      reason: 'network',
      status: 200,
      isTransient: true,
    })
  })

  test('a response that is reset before its end is a network failure, never half a page', async () => {
    const url = await serveSockets((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf')
      setTimeout(() => socket.resetAndDestroy(), 30)
    })
    const detail = `the connection to ${new URL(url).host} broke`
    expect(await open().fetch({ url })).toEqual(failed('network', detail, { status: 200, isTransient: true }))
  })

  const garbage = [
    'SSH-2.0-OpenSSH_9.2\r\n',
    '<html>no header</html>',
    'HTTP/1.1 two hundred\r\n\r\n',
    'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nx',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a length\r\nx',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\nx',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n',
  ]
  test.each(garbage)('a response that is not HTTP is a bad answer (%j)', async (bytes) => {
    const url = await serveBytes(bytes, { staysOpen: true })
    const outcome = await open().fetch({ url })
    const detail = `the answer of ${new URL(url).host} is not HTTP`
    expect(outcome).toMatchObject({ type: 'failed', reason: 'bad-answer', detail, isTransient: false })
  })

  test.each([
    ['one long field', `x-long: ${'x'.repeat(70_000)}\r\n`],
    ['many short fields', 'x: y\r\n'.repeat(40_000)],
  ])('response headers above the size limit are a bad answer: %s', async (_what, fields) => {
    const url = await serveBytes(`HTTP/1.1 200 OK\r\n${fields}\r\n`)
    expect(await open().fetch({ url })).toEqual(failed('bad-answer', 'the header has more than 65536 bytes'))
  })
})

describe('timeouts', () => {
  test('a server that does not respond, or sends its headers byte by byte, times out', async () => {
    const silent = await serveSockets(() => {})
    const slow = await serveSockets((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ', 'x'))
    const fetcher = open({ firstByteTimeoutMs: 80 })
    const outcomes = await Promise.all([silent, slow].map((url) => fetcher.fetch({ url })))
    const details = [silent, slow].map((url) => `no answer from ${new URL(url).host} within 80 ms`)
    expect(outcomes).toEqual(details.map((detail) => failed('timeout', detail, { isTransient: true })))
  })

  test('a brief request times out in a third of the time, but not in less than a second', async () => {
    const url = await serveSockets(() => {})
    for (const [firstByteTimeoutMs, within] of [
      [3300, 1100],
      [2000, 1000],
      [80, 80],
    ]) {
      const outcome = await open({ firstByteTimeoutMs: firstByteTimeoutMs ?? 0 }).fetch({ url, isBrief: true })
      const detail = `no answer from ${new URL(url).host} within ${within} ms`
      expect(outcome).toEqual(failed('timeout', detail, { isTransient: true }))
    }
  })

  test('a body that stops times out', async () => {
    const url = await serveBytes('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', { staysOpen: true })
    const detail = `${new URL(url).host} stopped in the middle of an answer`
    expect(await open({ idleTimeoutMs: 80 }).fetch({ url })).toEqual(
      failed('timeout', detail, { status: 200, isTransient: true }),
    )
  })

  test('a body that comes byte by byte times out, whatever its encoding', async () => {
    const fetcher = open({ answerTimeoutMs: 120 })
    for (const field of ['', 'content-encoding: gzip\r\n']) {
      const url = await serveSockets((socket) => drip(socket, `HTTP/1.1 200 OK\r\n${field}\r\n`, '\x1f'))
      const detail = `no complete answer from ${new URL(url).host} within 120 ms`
      expect(await fetcher.fetch({ url })).toEqual(failed('timeout', detail, { status: 200 }))
    }
  })

  test('a body that never ends does not change an outcome that the status decides', async () => {
    const url = await serveSockets((socket) => drip(socket, 'HTTP/1.1 404 Not Found\r\n\r\n', 'x'))
    expect(await open({ answerTimeoutMs: 100 }).fetch({ url })).toEqual({ type: 'gone', status: 404 })
  })

  test('the timeout does not run while a request waits for a connection', async () => {
    const url = await serve((_request, response) => setTimeout(() => response.end(PAGE), 100))
    const fetcher = open({ connectionsPerOrigin: 1, answerTimeoutMs: 400, firstByteTimeoutMs: 400 })
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => fetcher.fetch({ url })))
    expect(outcomes.map((outcome) => outcome.type)).toEqual(Array(5).fill('fetched'))
  })
})

describe('latency', () => {
  test('latency is the time until the response starts, whatever its status', async () => {
    const url = await serve((request, response) => {
      const status = Number(request.url?.slice(1))
      setTimeout(() => response.writeHead(status, { location: '/', etag: '"a"' }).end(), 300)
    })
    const fetcher = openTimed({ connectionsPerOrigin: 16 })
    const statuses = [200, 206, 301, 304, 403, 404, 429, 503]
    const outcomes = await Promise.all(
      statuses.map((status) => fetcher.fetch({ url: `${url}/${status}`, etag: '"a"' })),
    )
    for (const { latencyMs = Number.NaN } of outcomes) {
      expect(latencyMs).toBeGreaterThan(150)
      expect(latencyMs).toBeLessThan(2000)
    }
  })

  test('latency does not include the rest of the body', async () => {
    const url = await serve((_request, response) => {
      response.write('half')
      setTimeout(() => response.end(), 500)
    })
    const { latencyMs } = await openTimed().fetch({ url })
    expect(latencyMs).toBeLessThan(250)
  })

  test('latency does not include time in which this process was busy', async () => {
    // Runs the server in another process, so that the response arrives long before this process reads it.
    const { port } = await serveInOtherProcess()
    const fetcher = openTimed()
    const url = `http://127.0.0.1:${port}/`
    await fetcher.fetch({ url })
    const pending = fetcher.fetch({ url })
    setImmediate(() => {
      const until = performance.now() + 500
      while (performance.now() < until);
    })
    const { latencyMs } = await pending
    expect(latencyMs).toBeLessThan(250)
  })

  test('the latency of a server that does not respond is the time waited', async () => {
    const url = await serveSockets(() => {})
    const late = await openTimed({ answerTimeoutMs: 300 }).fetch({ url })
    expect(late).toMatchObject({ reason: 'timeout' })
    expect(late.latencyMs).toBeGreaterThan(150)
  })

  test('latency is unknown when nothing was sent or the response is missing', async () => {
    const url = await serveSockets((socket) => socket.destroy())
    for (const failingUrl of [url, 'http://127.0.0.1:1/', 'ftp://docs.example/']) {
      expect((await openTimed().fetch({ url: failingUrl })).latencyMs).toBeUndefined()
    }
  })

  async function serveInOtherProcess(): Promise<{ port: number }> {
    const script = `const server = require('node:http').createServer((_, response) => response.end('page'))
      server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    closers.push(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return { port: Number(line.toString()) }
  }
})

describe('an abort signal', () => {
  test('a fetch with an aborted signal is not sent, and rejects with the reason of the signal', async () => {
    const { url, seen } = await serveRecording()
    const reason = new Error('enough')
    await expect(open().fetch({ url, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(seen).toEqual([])
  })

  test.each(['', 'gzip'])(
    'a signal aborts a fetch in the middle of a body, and closes the connection (content encoding %j)',
    async (encoding) => {
      const closed = Promise.withResolvers<void>()
      const stop = new AbortController()
      const reason = new Error('enough')
      const url = await serve((request, response) => {
        request.socket.on('close', () => closed.resolve())
        response.writeHead(200, encoding ? { 'content-encoding': encoding } : {})
        response.write('x')
        setTimeout(() => stop.abort(reason), 20)
      })
      await expect(open().fetch({ url, signal: stop.signal })).rejects.toBe(reason)
      await closed.promise
    },
  )

  test('a signal aborts a fetch that waits for its connection, and nothing is sent', async () => {
    const { url, seen } = await serveRecording()
    const stop = new AbortController()
    const { promise, resolve } = Promise.withResolvers<string[]>()
    const fetcher = open({ resolve: () => promise })
    const pending = fetcher.fetch({ url: withHost(url, 'docs.test'), signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(pending).rejects.toThrow('enough')
    resolve(['127.0.0.1'])
    expect(await fetcher.fetch({ url })).toMatchObject({ type: 'fetched' })
    expect(seen).toHaveLength(1)
  })

  test('one signal can serve many fetches without keeping them in memory', async () => {
    const url = await serve((_request, response) => response.end(PAGE))
    const { signal } = new AbortController()
    let listeners = 0
    const counting = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners++
        if (name === 'removeEventListener') listeners--
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const fetcher = open()
    for (let i = 0; i < 20; i++) await fetcher.fetch({ url, signal: counting })
    expect(listeners).toBe(0)
  })
})

describe('the address guard', () => {
  const allowOnly = (...ips: string[]): Allowance => ({
    isNameAllowed: () => true,
    isAllowed: (_host, _port, ip) => ips.includes(ip),
  })

  test('private addresses are refused unless allowed, and messages do not name them', async () => {
    const { url, seen } = await serveRecording()
    const fetcher = open({ allowance: allow(), resolve: async () => ['127.0.0.1'] })
    expect(await fetcher.fetch({ url })).toEqual(failed('address-refused', '127.0.0.1 is not a public address'))
    expect(await fetcher.fetch({ url: withHost(url, 'docs.test') })).toEqual(
      failed('address-refused', 'docs.test leads to an address that is not public'),
    )
    for (const host of ['0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '[::1]', '0', '127.1', '017700000001']) {
      expect(await fetcher.fetch({ url: withHost(url, host) })).toMatchObject({ reason: 'address-refused' })
    }
    expect(seen).toEqual([])
  })

  test('cloud metadata names are not even resolved', async () => {
    const { url, seen } = await serveRecording()
    const resolvedNames: string[] = []
    const fetcher = open({
      allowance: allow(ALL_PRIVATE),
      resolve: async (host) => {
        resolvedNames.push(host)
        return ['127.0.0.1']
      },
    })
    for (const host of ['metadata.google.internal', 'METADATA.google.internal.', 'instance-data']) {
      expect(await fetcher.fetch({ url: withHost(url, host) })).toMatchObject({ reason: 'address-refused' })
    }
    expect([resolvedNames, seen]).toEqual([[], []])
  })

  test('a resolver result that is not an IP address is refused', async () => {
    const { url, seen } = await serveRecording()
    for (const answer of ['localhost', '2130706433', '127.1', '[::1]', '127.0.0.1:80', '8.8.8.8 ', '', '::127.0.0.1']) {
      const fetcher = open({ allowance: allow(), resolve: async () => [answer] })
      expect(await fetcher.fetch({ url: withHost(url, 'docs.test') })).toMatchObject({ reason: 'address-refused' })
    }
    expect(seen).toEqual([])
  })

  test('connects to the checked address, whatever the resolver returns next', async () => {
    const canary = await serveRecording('127.0.0.1')
    const port = Number(new URL(canary.url).port)
    const site = await serveRecording('127.0.0.2', port)
    let lookups = 0
    const fetcher = open({
      allowance: allowOnly('127.0.0.2'),
      resolve: async () => (lookups++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']),
    })
    const url = `http://docs.test:${port}/`
    expect(await fetcher.fetch({ url })).toMatchObject({ type: 'fetched' })
    expect(lookups).toBe(1)
    expect(site.seen).toMatchObject([{ host: `docs.test:${port}` }])
    site.closeSockets()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await fetcher.fetch({ url })).toMatchObject({ reason: 'address-refused' })
    expect(lookups).toBe(2)
    expect(site.seen).toHaveLength(1)
    expect(canary.seen).toEqual([])
  })

  test('a host is refused when any of its addresses is not allowed', async () => {
    const { url, seen } = await serveRecording()
    for (const addresses of [
      ['127.0.0.1', '10.0.0.1'],
      ['10.0.0.1', '127.0.0.1'],
      ['127.0.0.1', '::ffff:10.0.0.1'],
    ]) {
      const fetcher = open({ allowance: allowOnly('127.0.0.1'), resolve: async () => addresses })
      expect(await fetcher.fetch({ url: withHost(url, 'docs.test') })).toMatchObject({ reason: 'address-refused' })
    }
    expect(seen).toEqual([])
  })

  test('tries the next address when one does not accept the connection', async () => {
    const { url, seen } = await serveRecording('127.0.0.3')
    const fetcher = open({ resolve: async () => ['127.0.0.1', '127.0.0.2', '127.0.0.3'] })
    expect(await fetcher.fetch({ url: withHost(url, 'docs.test') })).toMatchObject({ type: 'fetched' })
    expect(seen).toHaveLength(1)
  })

  test('a connection error names the host as requested, and the cause', async () => {
    const resolve = async (host: string): Promise<string[]> => {
      if (host === 'silent.test') return await new Promise(() => {})
      if (host === 'closed.test') return ['127.0.0.1']
      if (host === 'empty.test') return []
      throw Object.assign(new Error('getaddrinfo'), { code: host === 'unknown.test' ? 'ENOTFOUND' : 'EAI_AGAIN' })
    }
    const fetcher = open({ resolve, connectTimeoutMs: 60 })
    const fetchFrom = (host: string): Promise<FetchOutcome> => fetcher.fetch({ url: `http://${host}:1/` })
    expect(await fetchFrom('unknown.test')).toEqual(failed('network', 'unknown host unknown.test'))
    expect(await fetchFrom('empty.test')).toEqual(failed('network', 'empty.test has no address'))
    expect(await fetchFrom('busy.test')).toEqual(
      failed('network', 'busy.test could not be resolved', { isTransient: true }),
    )
    expect(await fetchFrom('closed.test')).toEqual(
      failed('network', 'closed.test refused the connection', { isTransient: true }),
    )
    expect(await fetchFrom('silent.test')).toEqual(
      failed('timeout', 'silent.test could not be resolved in time', { isTransient: true }),
    )
  })

  test('a server that closes the connection at once is a network failure', async () => {
    const url = await serveSockets((socket) => socket.destroy())
    expect(await open().fetch({ url })).toMatchObject({ type: 'failed', reason: 'network', isTransient: true })
  })
})

describe('TLS', () => {
  test('a connection to an IP address sends the host name by SNI and checks its certificate', async () => {
    const { key, cert } = makeCertificate('site.test')
    const names: unknown[] = []
    const server = createHttpsServer({ key, cert }, (request, response) => {
      names.push(Reflect.get(request.socket, 'servername'))
      response.end(PAGE)
    })
    const { port } = await listen(server)
    const resolve = async (): Promise<string[]> => ['127.0.0.1']
    const trusting = open({ ca: cert, resolve })
    expect(await trusting.fetch({ url: `https://site.test:${port}/` })).toMatchObject({ type: 'fetched' })
    expect(names).toEqual(['site.test'])
    expect(await trusting.fetch({ url: `https://other.test:${port}/` })).toEqual(
      failed('tls', 'certificate for another host than other.test'),
    )
    expect(await trusting.fetch({ url: `https://127.0.0.1:${port}/` })).toEqual(
      failed('tls', 'certificate for another host than 127.0.0.1'),
    )
    expect(await open({ resolve }).fetch({ url: `https://site.test:${port}/` })).toEqual(
      failed('tls', 'self-signed certificate of site.test'),
    )
    expect(names).toHaveLength(1)
  })

  test('certificates are verified even if an environment variable turns that off', async () => {
    const { key, cert } = makeCertificate('site.test')
    const { port } = await listen(createHttpsServer({ key, cert }, (_request, response) => response.end(PAGE)))
    const script = `import { openHttpFetcher } from ${JSON.stringify(new URL('./http.ts', import.meta.url).href)}
      import { parseAllowance } from ${JSON.stringify(new URL('./addresses.ts', import.meta.url).href)}
      import { get } from 'node:https'
      const { allowance } = parseAllowance(['127.0.0.1'])
      const fetcher = openHttpFetcher({ userAgent: 'test', allowance })
      const url = 'https://127.0.0.1:${port}/'
      const { reason, detail } = await fetcher.fetch({ url })
      await fetcher.close()
      // Other clients do obey the variable.
      const status = await new Promise((resolve, reject) => {
        get(url, { agent: false }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
      })
      console.log(JSON.stringify([reason, detail, status]))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 30_000,
    })
    const output = (await buffer(child.stdout)).toString()
    expect(JSON.parse(output)).toEqual(['tls', 'self-signed certificate of 127.0.0.1', 200])
  })

  test('a server without TLS is a failure, and a silent one times out', async () => {
    const plain = await serveBytes('HTTP/1.1 400 Bad Request\r\n\r\n')
    const silent = await serveSockets(() => {})
    const fetcher = open({ connectTimeoutMs: 100 })
    expect(await fetcher.fetch({ url: plain.replace('http:', 'https:') })).toEqual(
      failed('tls', 'no secure connection to 127.0.0.1'),
    )
    expect(await fetcher.fetch({ url: silent.replace('http:', 'https:') })).toEqual(
      failed('timeout', 'no connection to 127.0.0.1 in time', { isTransient: true }),
    )
  })
})

describe('a proxy', () => {
  test('the proxy opens a tunnel to the checked address, and the site gets the request with its host name', async () => {
    const site = await serveRecording()
    const proxy = await serveProxy()
    const port = Number(new URL(site.url).port)
    const fetcher = open({ connectionsPerOrigin: 1, proxy: proxy.url, resolve: async () => ['127.0.0.1'] })
    expect(await fetcher.fetch({ url: `http://docs.test:${port}/a` })).toMatchObject({ type: 'fetched' })
    expect(await fetcher.fetch({ url: `http://docs.test:${port}/b` })).toMatchObject({ type: 'fetched' })
    expect(proxy.targets).toEqual([`127.0.0.1:${port}`])
    expect(site.seen).toMatchObject([
      { url: '/a', host: `docs.test:${port}` },
      { url: '/b', host: `docs.test:${port}` },
    ])
  })

  test('a proxy does not change which certificate is checked', async () => {
    const { key, cert } = makeCertificate('site.test')
    const { port } = await listen(createHttpsServer({ key, cert }, (_request, response) => response.end(PAGE)))
    const proxy = await serveProxy()
    const options = { proxy: proxy.url, resolve: async () => ['127.0.0.1'] }
    const trusting = open({ ...options, ca: cert })
    expect(await trusting.fetch({ url: `https://site.test:${port}/` })).toMatchObject({ type: 'fetched' })
    expect(await trusting.fetch({ url: `https://other.test:${port}/` })).toEqual(
      failed('tls', 'certificate for another host than other.test'),
    )
    expect(await trusting.fetch({ url: `https://127.0.0.1:${port}/` })).toEqual(
      failed('tls', 'certificate for another host than 127.0.0.1'),
    )
    expect(await open(options).fetch({ url: `https://site.test:${port}/` })).toEqual(
      failed('tls', 'self-signed certificate of site.test'),
    )
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${port}`]))
  })

  test('a proxy may use TLS, and its certificate is checked too', async () => {
    const site = await serveRecording()
    const { key, cert } = makeCertificate('127.0.0.1', 'IP:127.0.0.1')
    const proxy = await serveProxy({ tls: { key, cert } })
    expect(await open({ proxy: proxy.url }).fetch({ url: site.url })).toEqual(
      failed('tls', 'self-signed certificate of the proxy'),
    )
    expect(site.seen).toEqual([])
    const script = `import { openHttpFetcher } from ${JSON.stringify(new URL('./http.ts', import.meta.url).href)}
      import { parseAllowance } from ${JSON.stringify(new URL('./addresses.ts', import.meta.url).href)}
      const { allowance } = parseAllowance(['127.0.0.1'])
      const fetcher = openHttpFetcher({ userAgent: 'test', allowance, proxy: ${JSON.stringify(proxy.url)} })
      console.log((await fetcher.fetch({ url: ${JSON.stringify(site.url)} })).type)
      await fetcher.close()`
    const file = join(mkdtempSync(join(tmpdir(), 'pharos-ca-')), 'ca.pem')
    writeFileSync(file, cert)
    closers.push(() => rmSync(dirname(file), { recursive: true }))
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: file, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 30_000,
    })
    expect((await buffer(child.stdout)).toString().trim()).toBe('fetched')
    expect(site.seen).toHaveLength(1)
  })

  test('only the proxy gets its user name and password', async () => {
    const site = await serveRecording()
    const proxy = await serveProxy({ authorization: `Basic ${Buffer.from('käte:s3:cr@t').toString('base64')}` })
    const given = proxy.url.replace('//', '//k%C3%A4te:s3:cr%40t@')
    expect(await open({ proxy: given }).fetch({ url: site.url })).toMatchObject({ type: 'fetched' })
    expect(JSON.stringify(site.seen)).not.toMatch(/proxy|s3|Basic/i)
    for (const wrong of [proxy.url, proxy.url.replace('//', '//me:wr0ng@')]) {
      const outcome = await open({ proxy: wrong }).fetch({ url: site.url })
      const detail = 'the proxy asks for a user name and password; give the right ones in the setting `proxy`'
      expect(outcome).toEqual(failed('network', detail))
    }
    expect(site.seen).toHaveLength(1)
  })

  test('the proxy gets no request for a non-public address or for itself', async () => {
    const site = await serveRecording()
    const proxy = await serveProxy()
    const { port } = new URL(site.url)
    const resolve = async (host: string) => (host === 'mixed.test' ? ['8.8.8.8', '127.0.0.1'] : ['127.0.0.1'])
    const fetcher = open({ allowance: allow(), proxy: proxy.url, resolve })
    for (const host of ['127.0.0.1', '[::1]', '0', 'docs.test', 'mixed.test', 'metadata.google.internal', '10.0.0.1']) {
      for (const scheme of ['http', 'https']) {
        const outcome = await fetcher.fetch({ url: `${scheme}://${host}:${port}/` })
        expect(outcome).toMatchObject({ reason: 'address-refused' })
      }
    }
    expect(await fetcher.fetch({ url: proxy.url })).toMatchObject({ reason: 'address-refused' })
    expect([proxy.targets, site.seen]).toEqual([[], []])
  })

  test('when the proxy cannot reach one address, it is asked for the next', async () => {
    const site = await serveRecording()
    const proxy = await serveProxy()
    const { port } = new URL(site.url)
    const fetcher = open({ proxy: proxy.url, resolve: async () => ['127.0.0.9', '::ffff:127.0.0.9', '127.0.0.1'] })
    expect(await fetcher.fetch({ url: `http://docs.test:${port}/` })).toMatchObject({ type: 'fetched' })
    expect(proxy.targets).toEqual(
      ['127.0.0.9', '[::ffff:127.0.0.9]', '127.0.0.1'].map((address) => `${address}:${port}`),
    )
  })

  test.each([
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'the proxy refused docs.test: it answered 403', false],
    [
      'HTTP/1.1 302 Found\r\nlocation: http://evil.test/\r\n\r\n',
      'the proxy refused docs.test: it answered 302',
      false,
    ],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', 'the proxy has no connection to docs.test: it answered 502', true],
    ['HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'the proxy sent data of its own through the tunnel', true],
    ['SSH-2.0-OpenSSH_9.2\r\n', 'the answer of the proxy is not HTTP', true],
    [`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`, 'the answer of the proxy is not HTTP', true],
    ['', 'the proxy closed the connection', true],
  ])('a proxy response that opens no tunnel is a network failure (%#)', async (answer, detail, isTransient) => {
    const proxy = await serveBytes(answer)
    const fetcher = open({ proxy: proxy.replace('//', '//me:s3cret@'), resolve: async () => ['127.0.0.1'] })
    expect(await fetcher.fetch({ url: 'http://docs.test/' })).toEqual(failed('network', detail, { isTransient }))
  })

  test('a proxy that is silent or unreachable does not block a fetch', async () => {
    const silent = await serveSockets(() => {})
    const options = { connectTimeoutMs: 100, resolve: async () => ['127.0.0.1'] }
    expect(await open({ ...options, proxy: silent }).fetch({ url: 'http://docs.test/' })).toEqual(
      failed('timeout', 'no connection to docs.test through the proxy in time', { isTransient: true }),
    )
    const endless = await serveSockets((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ', 'x'))
    expect(await open({ ...options, proxy: endless }).fetch({ url: 'https://docs.test/' })).toMatchObject({
      reason: 'timeout',
    })
    expect(await open({ ...options, proxy: 'http://127.0.0.1:1' }).fetch({ url: 'http://docs.test/' })).toEqual(
      failed('network', 'the proxy refused the connection', { isTransient: true }),
    )
    const fetcher = open({ resolve: options.resolve, proxy: silent })
    const pending = fetcher.fetch({ url: 'http://docs.test/' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await fetcher.close()
    expect(await pending).toMatchObject({ type: 'failed', reason: 'network' })
  })

  test.each([
    'socks5://me:s3cret@proxy.test',
    'http://me:s3cret@proxy.test/path',
    'http://a%:s3cret@proxy.test',
    's3cret',
  ])('an invalid proxy URL is rejected without repeating it (%s)', (proxy) => {
    const message = 'proxy must be an address such as http://user:password@proxy.example:3128'
    expect(() => open({ proxy })).toThrow(new TypeError(message))
  })

  async function serveProxy(options?: TunnelProxyOptions): Promise<TunnelProxy> {
    const proxy = await openTunnelProxy(options)
    closers.push(() => proxy.close())
    return proxy
  }
})

/** Opens a fetcher whose outcomes have no latency, so that tests can compare whole outcomes. */
function open(options: Partial<HttpFetcherOptions> = {}): HttpFetcher {
  const fetcher = openTimed(options)
  return {
    ...fetcher,
    async fetch(request) {
      const { latencyMs: _, ...outcome } = await fetcher.fetch(request)
      return outcome
    },
  }
}

function openTimed(options: Partial<HttpFetcherOptions> = {}): HttpFetcher {
  const fetcher = openHttpFetcher({ userAgent: USER_AGENT, allowance: allow(ALL_PRIVATE), ...options })
  closers.push(() => fetcher.close())
  return fetcher
}

function allow(...texts: string[]): Allowance {
  const parsed = parseAllowance(texts)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  return parsed.allowance
}

function makeCertificate(host: string, alternative = `DNS:${host}`): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-tls-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const name = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=${alternative}`]
  execFileSync('openssl', ['req', '-x509', ...kind, ...name, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

interface FailureFacts {
  readonly status?: number
  readonly isTransient?: boolean
}

function failed(reason: string, detail: string, { status, isTransient = false }: FailureFacts = {}): object {
  return { type: 'failed', status: status ?? null, reason, detail, isTransient, retryAfterMs: null }
}

/** Returns the outcome with its body as text. */
function readable(outcome: FetchOutcome): object {
  if (outcome.type !== 'fetched') return outcome
  const { body } = outcome.snapshot
  return { ...outcome, snapshot: { ...outcome.snapshot, body: Buffer.from(body as Uint8Array).toString() } }
}

function withHost(url: string, host: string): string {
  return url.replace('127.0.0.1', host).replace('127.0.0.3', host)
}

async function serve(answer: RequestListener): Promise<string> {
  const { port } = await listen(createServer(answer))
  return `http://127.0.0.1:${port}`
}

interface RecordingServer {
  readonly url: string
  readonly seen: object[]
  closeSockets(): void
}

/** A server that records its requests. */
async function serveRecording(host = '127.0.0.1', wantedPort = 0): Promise<RecordingServer> {
  const seen: object[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    seen.push({ method: request.method, url: request.url, ...request.headers })
    response.end(PAGE)
  })
  const { port } = await listen(server, host, wantedPort)
  return { url: `http://${host}:${port}`, seen, closeSockets: () => server.closeAllConnections() }
}

async function serveSockets(answer: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.resume()
    closers.push(() => socket.destroy())
    answer(socket)
  })
  const { port } = await listen(server)
  return `http://127.0.0.1:${port}`
}

/** Responds to the first bytes of a request with the given bytes, as Latin-1. */
function serveBytes(bytes: string, { staysOpen = false } = {}): Promise<string> {
  return serveSockets((socket) => {
    socket.once('data', () => {
      socket.write(bytes, 'latin1')
      if (!staysOpen) socket.end()
    })
  })
}

function drip(socket: Socket, beginning: string, piece: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(piece), 10)
  socket.on('close', () => clearInterval(timer))
}

type AnyServer =
  | ReturnType<typeof createServer>
  | ReturnType<typeof createTcpServer>
  | ReturnType<typeof createHttpsServer>

async function listen(server: AnyServer, host = '127.0.0.1', port = 0): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  closers.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return server.address() as AddressInfo
}

function* endless<T>(piece: T): Generator<T> {
  for (;;) yield piece
}

/** Compresses 256 MB of zeros. */
async function writeBomb(field: string): Promise<Buffer> {
  const zeros = Buffer.alloc(2 ** 20)
  const pieces = Readable.from(Array.from({ length: 256 }, () => zeros))
  switch (field) {
    case 'br':
      return await buffer(
        pieces.pipe(zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })),
      )
    case 'zstd':
      return await buffer(pieces.pipe(zlib.createZstdCompress()))
    case 'deflate':
      return await buffer(pieces.pipe(zlib.createDeflate({ level: 1 })))
    case 'gzip':
      return await buffer(pieces.pipe(zlib.createGzip({ level: 1 })))
    default:
      return zlib.gzipSync(await buffer(pieces.pipe(zlib.createGzip({ level: 1 }))))
  }
}

function compress(field: string, bytes: Buffer): Buffer {
  switch (field) {
    case 'br':
      return zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })
    case 'zstd':
      return zlib.zstdCompressSync(bytes)
    case 'deflate':
      return zlib.deflateSync(bytes)
    default:
      return zlib.gzipSync(bytes)
  }
}
