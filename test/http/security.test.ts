import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeEtag } from '../../src/http/server/etag.ts'
import { openTestServer, type TestServer } from './server.ts'
import * as shapes from './shapes.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

let server: TestServer
let tokenServer: TestServer

beforeAll(async () => {
  server = await openTestServer({
    isShared: true,
    settings: { hosts: ['pharos.example'], allowedOrigins: ['https://friend.example'] },
  })
  tokenServer = await openTestServer({ isShared: true, settings: { token: TOKEN } })
})

afterAll(async () => {
  await server?.dispose()
  await tokenServer?.dispose()
})

interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Sends exactly these headers, because `fetch` sets some of its own. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(`${server.origin}${path}`, { method, headers, timeout: 20_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}

function codeOf({ body }: RawResponse): string {
  return shapes.failure.parse(JSON.parse(body)).code
}

describe('a request', () => {
  test('a request for another host is refused on every route', async () => {
    for (const host of [
      'evil.example',
      'evil.example:41000',
      '127.0.0.1.evil.example',
      'localhost.evil.example:80',
      '[::2]',
    ]) {
      for (const [path, method] of [
        ['/health', 'GET'],
        ['/', 'GET'],
        ['/api/search?q=x', 'GET'],
        ['/events', 'GET'],
        ['/api/crawl', 'POST'],
        ['/mcp', 'POST'],
      ] as const) {
        const answer = await ask(path, { host }, method)
        expect([host, path, answer.status, codeOf(answer)]).toEqual([host, path, 421, 'HOST_REFUSED'])
      }
    }
    for (const host of ['localhost:1234', '127.0.0.1', '[::1]:80', 'pharos.example', 'PHAROS.example:8080']) {
      expect([host, (await ask('/health', { host })).status]).toEqual([host, 200])
    }
  })

  test('a request from a page of another site is refused', async () => {
    for (const origin of ['https://evil.example', 'http://localhost:3000', 'null', 'nonsense']) {
      for (const [path, method] of [
        ['/api/stop', 'POST'],
        ['/api/crawl', 'POST'],
        ['/api/analysis/start', 'POST'],
        ['/analysis/start', 'POST'],
        ['/api/sources/x', 'DELETE'],
        ['/api/crawls', 'GET'],
        ['/events', 'GET'],
        ['/mcp', 'POST'],
      ] as const) {
        const answer = await ask(path, { origin }, method)
        expect([origin, path, answer.status, codeOf(answer)]).toEqual([origin, path, 403, 'ORIGIN_REFUSED'])
        expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      }
    }
  })

  test('a request that the browser marks as cross-site can neither change anything nor open a stream', async () => {
    for (const site of ['cross-site', 'same-site']) {
      for (const path of ['/api/stop', '/api/analysis/start', '/analysis/start']) {
        expect([path, (await ask(path, { 'sec-fetch-site': site }, 'POST')).status]).toEqual([path, 403])
      }
      for (const path of ['/events', '/mcp']) {
        expect([path, (await ask(path, { 'sec-fetch-site': site })).status]).toEqual([path, 403])
      }
      // A user may follow a link to this server.
      expect((await ask('/health', { 'sec-fetch-site': site })).status).toBe(200)
    }
    expect((await ask('/api/stop', { 'sec-fetch-site': 'same-origin', origin: server.origin }, 'POST')).status).toBe(
      200,
    )
    // A form on a page that sends no referrer has the origin `null`.
    expect((await ask('/api/stop', { 'sec-fetch-site': 'same-origin', origin: 'null' }, 'POST')).status).toBe(200)
  })

  test('a request from an allowed origin is answered with CORS headers', async () => {
    const origin = 'https://friend.example'
    const answer = await ask('/api/crawls', { origin, 'sec-fetch-site': 'cross-site' })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin])
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    expect(answer.headers['vary']).toContain('origin')
    const preflight = await ask('/api/crawl', { origin, 'access-control-request-method': 'POST' }, 'OPTIONS')
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, origin])
    expect(preflight.headers['access-control-allow-methods']).toContain('POST')
    const other = await ask(
      '/api/crawl',
      { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      'OPTIONS',
    )
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined])
  })

  test('a body or an address that is too large is refused', async () => {
    const large = `{"startUrl":"${'x'.repeat(1_100_000)}"}`
    const headers = { 'content-type': 'application/json' }
    const withLength = await ask('/api/crawl', { ...headers, 'content-length': String(large.length) }, 'POST', large)
    expect([withLength.status, codeOf(withLength)]).toEqual([413, 'BODY_TOO_LARGE'])
    expect(withLength.headers['connection']).toBe('close')
    const chunked = await ask('/api/crawl', { ...headers, 'transfer-encoding': 'chunked' }, 'POST', large)
    expect([chunked.status, codeOf(chunked)]).toEqual([413, 'BODY_TOO_LARGE'])
    const mcp = await ask('/mcp', headers, 'POST', large)
    expect([mcp.status, codeOf(mcp)]).toEqual([413, 'BODY_TOO_LARGE'])
    const long = await ask(`/api/search?q=${'x'.repeat(9000)}`)
    expect([long.status, codeOf(long)]).toEqual([414, 'ADDRESS_TOO_LONG'])
  })

  test('a body that is not JSON is refused', async () => {
    const form = await ask('/api/crawl', { 'content-type': 'application/x-www-form-urlencoded' }, 'POST', 'startUrl=x')
    expect([form.status, codeOf(form)]).toEqual([415, 'BODY_NOT_JSON'])
    const plain = await ask('/api/crawl', { 'content-type': 'text/plain' }, 'POST', '{"startUrl":"https://a.example/"}')
    expect([plain.status, codeOf(plain)]).toEqual([415, 'BODY_NOT_JSON'])
    for (const deep of ['['.repeat(200_000), `{"startUrl":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`]) {
      const answer = await ask('/api/crawl', { 'content-type': 'application/json' }, 'POST', deep)
      expect([answer.status, codeOf(answer)]).toEqual([400, 'USAGE'])
    }
    const broken = await ask('/api/crawl', { 'content-type': 'application/json' }, 'POST', '{"startUrl":')
    expect([broken.status, codeOf(broken)]).toEqual([400, 'USAGE'])
  })
})

test('every response carries the security headers', async () => {
  for (const path of ['/', '/api/crawls', '/queues/ssr', '/docs', '/nothing', '/events?logs=2']) {
    const { headers } = await ask(path)
    expect([path, headers['content-security-policy']]).toEqual([
      path,
      expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'; /),
    ])
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['cache-control']).toBeDefined()
  }
})

test('an unexpected failure returns a fixed message, a code and an id, and nothing else', async () => {
  const broken = await openTestServer()
  const library = await broken.library()
  // Internal errors must not reach the client.
  const { store } = library
  Object.assign(library, { store: { ...store, listSources: () => Promise.reject(new Error('secret of /home/me')) } })
  const { status, body, text } = await broken.ask('/api/sources')
  expect([status, body]).toEqual([500, { error: 'unexpected failure', code: 'INTERNAL', id: expect.any(String) }])
  expect(text).not.toContain('secret')
  expect(broken.lines.some((line) => line.includes(body.id) && line.includes('secret of /home/me'))).toBe(true)
})

describe('a token', () => {
  const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

  test('is needed for every route except liveness and readiness', async () => {
    expect((await tokenServer.ask('/health')).status).toBe(200)
    expect((await tokenServer.ask('/ready')).body).toEqual({ status: 'ready' })
    const answers = await Promise.all([
      tokenServer.ask('/api/crawls'),
      tokenServer.ask('/metrics'),
      tokenServer.ask('/openapi.json'),
      tokenServer.ask('/events'),
      tokenServer.ask('/'),
      tokenServer.ask('/queues/ssr'),
      tokenServer.ask('/assets/app-1a2b3c.js'),
      tokenServer.post('/api/crawl', { startUrl: 'https://a.example/' }),
      tokenServer.post('/health'),
      tokenServer.post('/ready'),
      tokenServer.post('/mcp', {}),
      tokenServer.ask('/nothing'),
      tokenServer.ask('/api/crawls', withToken('wrong')),
      tokenServer.ask('/api/crawls', withToken(`${TOKEN}x`)),
      tokenServer.ask('/api/crawls', { headers: { authorization: `Basic ${TOKEN}` } }),
      tokenServer.ask(`/api/crawls?token=${TOKEN}`),
      tokenServer.ask('/api/crawls', { headers: { cookie: `pharos_session=${TOKEN}` } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401))
    expect(answers[0]?.headers.get('www-authenticate')).toContain('Bearer')
    expect((await tokenServer.ask('/api/crawls', withToken(TOKEN))).status).toBe(200)
    expect(tokenServer.dispatcher.list()).toEqual([])
  })

  test('is entered once by the user, and the session cookie does not contain it', async () => {
    const asHtml = { accept: 'text/html' }
    const redirected = await tokenServer.ask('/queues/ssr?limit=5', { headers: asHtml })
    expect([redirected.status, redirected.headers.get('location')]).toEqual([
      303,
      `/login?next=${encodeURIComponent('/queues/ssr?limit=5')}`,
    ])
    const page = await tokenServer.ask('/login?next=/queues/ssr', { headers: asHtml })
    expect([page.status, page.text.includes('name="token"')]).toEqual([200, true])
    expect((await tokenServer.ask('/pages/style.css')).status).toBe(200)
    const login = (fields: Record<string, string>) =>
      tokenServer.ask('/login', {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { origin: tokenServer.origin },
      })
    expect((await login({ token: 'wrong' })).status).toBe(401)
    const done = await login({ token: TOKEN, next: '/queues/ssr' })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/queues/ssr'])
    const cookie = done.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(TOKEN)
    const [session = ''] = cookie.split(';')
    const queuePage = await tokenServer.ask('/queues/ssr', { headers: { cookie: `other=1; ${session}` } })
    expect([queuePage.status, queuePage.text.includes('action="/logout"')]).toEqual([200, true])
    expect(page.text).not.toContain('action="/logout"')
    const missing = await tokenServer.ask('/nothing', { headers: { cookie: session, ...asHtml } })
    expect([missing.status, missing.text.includes('action="/logout"')]).toEqual([404, true])
    // The bar is part of the page, so it is part of its ETag.
    const docs = await tokenServer.ask('/docs', { headers: { cookie: session } })
    expect([docs.text.includes('action="/logout"'), docs.headers.get('etag')]).toEqual([
      true,
      expect.stringContaining(writeEtag(docs.text)),
    ])
    const away = await login({ token: TOKEN, next: '//evil.example/' })
    expect(away.headers.get('location')).toBe('/')
    // The server trusts `x-forwarded-proto` of a proxy on this machine.
    const secure = await tokenServer.ask('/login', {
      method: 'POST',
      body: new URLSearchParams({ token: TOKEN }),
      headers: { 'x-forwarded-proto': 'https' },
    })
    expect(secure.headers.get('set-cookie')).toMatch(/; Secure$/)
    const out = await tokenServer.ask('/logout', { method: 'POST', headers: { cookie: session } })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
  })

  test('repeated wrong tokens delay every login', async () => {
    const guess = (token: string) => tokenServer.ask('/login', { method: 'POST', body: new URLSearchParams({ token }) })
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await guess('wrong')).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    const delayed = await guess(TOKEN)
    expect([delayed.status, Number(delayed.headers.get('retry-after'))]).toEqual([429, 1])
    expect((await tokenServer.ask('/api/crawls', withToken(TOKEN))).status).toBe(200)
  })

  test('is never logged', () => {
    expect(tokenServer.lines.length).toBeGreaterThan(10)
    expect(tokenServer.lines.filter((line) => line.includes(TOKEN))).toEqual([])
    expect(tokenServer.lines.some((line) => line.includes('/api/crawls?token=***'))).toBe(true)
  })
})
