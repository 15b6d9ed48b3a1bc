import { createServer, get, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { closeLater } from '../../test/close-later.ts'
import { DownloadError, type DownloadRequest, type Downloads } from '../library/ports/download.ts'
import { type Allowance, parseAllowance } from './addresses.ts'
import { openDownloads } from './download.ts'

async function listen(answer: RequestListener, address = '127.0.0.1'): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  closeLater(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  return `http://${address}:${(server.address() as AddressInfo).port}`
}

function allow(...rules: string[]): Allowance {
  const parsed = parseAllowance(rules)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  return parsed.allowance
}

function open(options: Partial<Parameters<typeof openDownloads>[0]> = {}): Downloads {
  const downloads = openDownloads({ userAgent: 'Pharos/0.0.0', allowance: allow('127.0.0.1'), origins: [], ...options })
  closeLater(() => downloads.close())
  return downloads
}

async function fetchText(
  download: Downloads['web'],
  url: string,
  request: Partial<DownloadRequest> = {},
): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of await download({ url, maxBytes: 1000, ...request })) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('downloads a file unchanged, with the configured User-Agent and through redirects', async () => {
  const seen: (string | undefined)[] = []
  const origin = await listen((request, response) => {
    seen.push(request.headers['user-agent'], request.headers['accept-encoding'])
    const redirectsLeft = Number(request.url?.slice(1))
    if (redirectsLeft > 0) response.writeHead(302, { location: `/${redirectsLeft - 1}` }).end('moved')
    else response.end('the archive')
  })
  const { web } = open()
  expect(await fetchText(web, `${origin}/5`)).toBe('the archive')
  expect(new Set(seen)).toEqual(new Set(['Pharos/0.0.0', 'identity']))
  await expect(fetchText(web, `${origin}/6`)).rejects.toThrow('more than 5 redirects')
})

test.each([
  [404, 'missing'],
  [410, 'missing'],
  [401, 'failed'],
  [500, 'busy'],
  // A redirect without a Location header.
  [302, 'failed'],
  [304, 'failed'],
  [206, 'failed'],
])('status %i fails the download as %s', async (status, problem) => {
  const origin = await listen((_request, response) => response.writeHead(status).end())
  const failure = fetchText(open().web, `${origin}/`)
  await expect(failure).rejects.toMatchObject({ name: 'DownloadError', problem })
  await expect(failure).rejects.toThrow(`answered ${status}`)
})

test('refuses more bytes than allowed, with or without Content-Length', async () => {
  const origin = await listen((request, response) => {
    const body = 'x'.repeat(2000)
    if (request.url === '/announced') response.writeHead(200, { 'content-length': '2000' })
    response.write(body.slice(0, 500))
    response.end(body.slice(500))
  })
  const { web } = open()
  for (const path of ['announced', 'streamed']) {
    await expect(fetchText(web, `${origin}/${path}`)).rejects.toThrow('it has more than 1000 bytes')
    expect(await fetchText(web, `${origin}/${path}`, { maxBytes: 2000 })).toHaveLength(2000)
  }
})

test("private addresses need the owner's permission, also behind a redirect", async () => {
  const secret = await listen((_request, response) => response.end('secret'), '127.0.0.2')
  const origin = await listen((_request, response) => response.writeHead(302, { location: `${secret}/` }).end())
  const { web, registry } = open({ origins: [secret] })
  await expect(fetchText(web, `${secret}/`)).rejects.toThrow('127.0.0.2 is not a public address')
  await expect(fetchText(web, `${origin}/`)).rejects.toThrow('127.0.0.2 is not a public address')
  // The registry's origin is reached only by downloads from registries.
  expect(await fetchText(registry, `${secret}/`)).toBe('secret')
  expect(await fetchText(registry, `${origin}/`)).toBe('secret')
  await expect(fetchText(registry, secret.replace('127.0.0.2', '127.0.0.3'))).rejects.toThrow('not a public address')
})

test.each(['file:///etc/passwd', 'ftp://127.0.0.1/x', 'nothing'])('a redirect to %s fails', async (location) => {
  const origin = await listen((request, response) => {
    if (request.url === '/') response.writeHead(301, { location }).end()
    else response.writeHead(404).end()
  })
  await expect(fetchText(open().web, `${origin}/`)).rejects.toBeInstanceOf(DownloadError)
  if (location !== 'nothing') await expect(fetchText(open().web, location)).rejects.toThrow('not a web address')
})

test('reports a connection that breaks, goes silent or takes too long', async () => {
  const origin = await listen((request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half')
    if (request.url === '/broken') setTimeout(() => response.destroy(), 20)
  })
  const { web } = open({ idleTimeoutMs: 200 })
  await expect(fetchText(web, `${origin}/broken`)).rejects.toThrow(/^the connection to 127.0.0.1:\d+ broke$/)
  await expect(fetchText(web, `${origin}/silent`)).rejects.toThrow(/stopped sending data$/)
  const { web: hasty } = open({ timeoutMs: 100 })
  await expect(fetchText(hasty, `${origin}/silent`)).rejects.toThrow(/took too long$/)
})

test('the caller can abort a download', async () => {
  const origin = await listen((_request, response) => void response.writeHead(200).write('half'))
  const stop = new AbortController()
  const body = await open().web({ url: `${origin}/`, maxBytes: 1000, signal: stop.signal })
  const pieces = body[Symbol.asyncIterator]()
  await pieces.next()
  stop.abort(new Error('enough'))
  await expect(pieces.next()).rejects.toThrow('enough')
})

test('sends a token only to its host, and only over https or to this machine', async () => {
  const seen: [string | undefined, string | undefined][] = []
  const other = await listen((request, response) => {
    seen.push([request.headers.authorization, request.headers['x-lamp'] as string | undefined])
    response.end('the archive')
  })
  const origin = await listen((request, response) => {
    seen.push([request.headers.authorization, request.headers['x-lamp'] as string | undefined])
    response.writeHead(302, { location: `${other}/a` }).end()
  })
  const { host } = new URL(origin)
  const headersOf: Record<string, string> = {
    [host]: 'Bearer s3cret',
    // A registry must not choose what is requested with the token of another one.
    [new URL(other).host]: 'Bearer 0ther',
    'lamp.example': 'Basic s3cret',
  }
  const { registry, web } = open({ authorize: (url) => headersOf[url.host], origins: [origin, other] })
  const headers = { 'x-lamp': 'lit' }
  expect(await fetchText(registry, `${origin}/a`, { headers })).toBe('the archive')
  expect(await fetchText(web, `${origin}/a`)).toBe('the archive')
  expect(seen).toEqual([
    ['Bearer s3cret', 'lit'],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ])
  const refused = fetchText(registry, 'http://lamp.example/a')
  await expect(refused).rejects.toThrow('the token for lamp.example is sent with https only')
})

test('reports the retry time of a busy server, and advises a token when a registry refuses access', async () => {
  const origin = await listen((request, response) => {
    const status = Number(request.url?.slice(1))
    response.writeHead(status, { 'retry-after': '7' }).end()
  })
  const { web, registry } = open({ origins: [origin] })
  await expect(fetchText(web, `${origin}/503`)).rejects.toMatchObject({ problem: 'busy', retryAfterMs: 7000 })
  await expect(fetchText(web, `${origin}/429`)).rejects.toMatchObject({ problem: 'busy', retryAfterMs: 7000 })
  const { host } = new URL(origin)
  await expect(fetchText(registry, `${origin}/401`)).rejects.toThrow(
    `${host} answered 401: name a variable that holds a token with registryTokens, as ${host}=VARIABLE`,
  )
  const { registry: authorized } = open({ origins: [origin], authorize: () => 'Bearer old' })
  await expect(fetchText(authorized, `${origin}/401`)).rejects.toThrow(
    `${host} answered 401: it refused the token that was sent; renew it, or name a variable`,
  )
})

test('the proxy for another program reaches one host at its checked addresses, up to a byte limit', async () => {
  const origin = await listen((_, response) => response.end('x'.repeat(1000)))
  const other = await listen((_, response) => response.end('other'))
  const port = Number(new URL(origin).port)
  const target = { host: 'lamps.example', port, addresses: ['127.0.0.1'], maxBytes: 1500 }
  const proxy = await open({ allowance: allow('lamps.example', '127.0.0.1') }).openProxy(target)
  closeLater(() => proxy.close())
  const requestStatus = (url: string): Promise<number | undefined> =>
    new Promise((resolve) => {
      const { hostname, port: proxyPort } = new URL(proxy.url)
      const request = get({ host: hostname, port: proxyPort, path: url }, (response) => {
        response.resume().on('close', () => resolve(response.complete ? response.statusCode : undefined))
      })
      request.on('error', () => resolve(undefined))
    })
  expect(await requestStatus(`http://lamps.example:${port}/`)).toBe(200)
  expect(proxy.failure).toBeNull()
  expect(await requestStatus(`${other}/`)).toBe(403)
  expect(await requestStatus(`http://lamps.example:${port}/`)).toBeUndefined()
  expect(proxy.failure).toBe('too many bytes')
})
