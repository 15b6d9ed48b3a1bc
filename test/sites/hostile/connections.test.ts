import { expect, test } from 'vitest'
import { page } from '../site.ts'
import {
  type Answerer,
  crawlHostile,
  isLong,
  openCanary,
  openRawServer,
  type RawServer,
  type RunOptions,
  rowsOf,
  SHORT_TIMEOUTS,
  SHORTEST_TIMEOUTS,
  send,
  sendForever,
  sendRaw,
  sendRedirect,
} from './harness.ts'

/* Servers that violate HTTP, on raw connections. */

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n'
const HTML = page('Body of a broken response')

/** Maximum number of requests to one server: six for start and lists, three good pages, three attempts at the broken one, and one probe. */
const MAX_REQUESTS = 13

/** Broken responses with the expected state. */
const BROKEN: Readonly<Record<string, readonly [Answerer, string]>> = {
  '/slow/header': [sendForever('HTTP/1.1 200 OK\r\na: ', 'b', isLong ? 1000 : 100), 'failed timeout'],
  '/slow/fields': [sendForever(OK, 'a: b\r\n', isLong ? 1000 : 100), 'failed timeout'],
  '/slow/body': [sendForever(`${OK}\r\n`, '<p>word ', isLong ? 1000 : 100), 'failed timeout'],
  '/slow/known-length': [sendForever(`${OK}content-length: 5000\r\n\r\n`, 'x', isLong ? 1000 : 100), 'failed timeout'],
  '/silent': [() => undefined, 'failed timeout'],
  '/silent/after-header': [sendRaw(`${OK}content-length: 10\r\n\r\n`, 'stay'), 'failed timeout'],
  '/endless/body': [sendForever(`${OK}\r\n`, Buffer.alloc(65_536, '<p>word '), 0), 'failed too-large'],
  '/endless/chunks': [
    sendForever(`${OK}transfer-encoding: chunked\r\n\r\n`, `8000\r\n${'x'.repeat(32_768)}\r\n`, 0),
    'failed too-large',
  ],
  '/endless/chunk-extension': [
    sendForever(`${OK}transfer-encoding: chunked\r\n\r\n1;a=`, Buffer.alloc(65_536, 'a'), 5),
    'failed timeout',
  ],
  '/endless/trailers': [
    sendForever(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, 'a: b\r\n'.repeat(1000), 5),
    'failed bad-answer',
  ],
  '/endless/fields': [sendForever(OK, 'a: b\r\n'.repeat(1000), 5), 'failed bad-answer'],
  '/endless/status-line': [sendForever('HTTP/1.1 200 ', Buffer.alloc(65_536, 'a'), 5), 'failed timeout'],
  '/endless/continue': [sendForever('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), 5), 'failed network'],
  '/header/megabyte': [sendRaw(`${OK}a: ${'b'.repeat(2 ** 20)}\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/header/many': [sendRaw(`${OK}${'a: b\r\n'.repeat(200_000)}\r\n${HTML}`), 'failed bad-answer'],
  '/reset/at-once': [(socket) => socket.resetAndDestroy(), 'failed network'],
  '/reset/header': [sendRaw(OK, 'reset'), 'failed network'],
  '/reset/body': [sendRaw(`${OK}content-length: 9999\r\n\r\n${HTML}`, 'reset'), 'failed network'],
  '/reset/body-without-length': [sendRaw(`${OK}\r\n${HTML}`, 'reset'), 'failed network'],
  '/closed/at-once': [(socket) => socket.end(), 'failed network'],
  '/closed/chunk': [sendRaw(`${OK}transfer-encoding: chunked\r\n\r\nff\r\n${HTML.slice(0, 99)}`), 'failed network'],
  '/length/more': [sendRaw(`${OK}content-length: 99999\r\n\r\n${HTML}`), 'failed network'],
  '/length/two': [sendRaw(`${OK}content-length: 5\r\ncontent-length: 50\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/length/negative': [sendRaw(`${OK}content-length: -5\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/length/word': [sendRaw(`${OK}content-length: many\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/length/huge': [sendRaw(`${OK}content-length: 9007199254740991\r\n\r\n${HTML}`), 'failed too-large'],
  '/length/beyond': [sendRaw(`${OK}content-length: ${'9'.repeat(40)}\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/length/and-chunked': [
    sendRaw(`${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    'failed bad-answer',
  ],
  '/chunk/no-number': [
    sendRaw(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n${HTML}\r\n0\r\n\r\n`),
    'failed bad-answer',
  ],
  '/chunk/overflow': [sendRaw(`${OK}transfer-encoding: chunked\r\n\r\n${'f'.repeat(40)}\r\n`), 'failed bad-answer'],
  '/status/garbage': [sendRaw(`\u0001\u0002garbage\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/status/no-number': [sendRaw(`HTTP/1.1 abc OK\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/status/0': [sendRaw(`HTTP/1.1 000 OK\r\ncontent-length: 0\r\n\r\n`), 'failed network'],
  '/status/999': [sendRaw(`HTTP/1.1 999 OK\r\ncontent-length: 0\r\n\r\n`), 'failed bad-answer'],
  '/status/http-9': [sendRaw(`HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n`), 'failed bad-answer'],
  '/status/http-0.9': [sendRaw(HTML), 'failed bad-answer'],
  '/status/http-2': [sendRaw(Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0)), 'failed bad-answer'],
  '/status/tls': [sendRaw(Uint8Array.of(0x15, 3, 3, 0, 2, 2, 0x28)), 'failed bad-answer'],
  '/header/nul': [sendRaw(`${OK}a: b\0c\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/header/no-colon': [sendRaw(`${OK}nothing here\r\n\r\n${HTML}`), 'failed bad-answer'],
  '/upgrade': [
    sendRaw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'stay'),
    'failed network',
  ],
  '/part': [send(HTML, { 'content-type': 'text/html', 'content-range': 'bytes 0-9/10' }, 206), 'failed bad-answer'],
  '/encoding/unknown': [send(HTML, { 'content-type': 'text/html', 'content-encoding': 'rot13' }), 'failed bad-answer'],
  '/encoding/false': [send(HTML, { 'content-type': 'text/html', 'content-encoding': 'gzip' }), 'failed bad-answer'],
  '/length/less': [
    sendRaw(`${OK}content-length: ${HTML.length}\r\n\r\n${HTML}HTTP/1.1 200 OK\r\n\r\nsmuggled`, 'stay'),
    'indexed',
  ],
  '/redirect/self': [sendRedirect('/redirect/self'), 'failed redirect-loop'],
  '/redirect/nowhere': [send('', {}, 302), 'failed bad-answer'],
  '/redirect/no-address': [sendRedirect('http://[::1'), 'failed bad-answer'],
  '/redirect/file': [sendRedirect('file:///etc/passwd'), 'skipped redirect'],
  '/redirect/script': [sendRedirect('javascript:alert(1)'), 'skipped redirect'],
  '/redirect/data': [sendRedirect('data:text/html,<p>x'), 'skipped redirect'],
  '/redirect/long': [sendRedirect(`/${'a'.repeat(50_000)}`), 'skipped redirect'],
}

test('the good pages of servers that violate HTTP are indexed', async () => {
  const paths = Object.keys(BROKEN)
  const good = ['/good/1', '/good/2', '/good/3']
  const servers = await Promise.all(
    paths.map(async (path) => {
      const server = await openRawServer()
      server.answers.set('/', send(page('Start', [path, ...good])))
      for (const goodPath of good) server.answers.set(goodPath, send(page(`Good ${goodPath}`)))
      server.answers.set(path, BROKEN[path]?.[0] ?? send(''))
      return server
    }),
  )
  // Only pages that must time out have a short timeout, because a busy machine needs longer to send a large response.
  const mustTimeOut = (_: RawServer, i: number) => BROKEN[paths[i] ?? '']?.[1] === 'failed timeout'
  const timingOut = servers.filter(mustTimeOut)
  const crawl = (some: readonly RawServer[], options: RunOptions) =>
    crawlHostile(
      some.map(({ origin }) => ({ url: `${origin}/` })),
      options,
    )
  const [hastyRun, patientRun] = await Promise.all([
    crawl(timingOut, SHORT_TIMEOUTS),
    crawl(
      servers.filter((server) => !timingOut.includes(server)),
      isLong ? {} : { limits: { attempts: 2 } },
    ),
  ])
  const results = servers.map((server, i) => {
    const run = timingOut.includes(server) ? hastyRun : patientRun
    const rows = rowsOf(run, server)
    const { end } = run.sources.get(`${server.origin}/`) ?? {}
    const isBounded = server.requestedPaths.length <= MAX_REQUESTS
    return { path: paths[i], end, state: rows[paths[i] ?? ''], good: good.map((goodPath) => rows[goodPath]), isBounded }
  })
  const indexed = good.map(() => 'indexed')
  expect(results).toEqual(
    paths.map((path) => ({ path, end: 'completed', state: BROKEN[path]?.[1], good: indexed, isBounded: true })),
  )
})

test('redirects in circles and long chains stop at a limit, and none leads to a forbidden address', async () => {
  const canary = await openCanary()
  const server = await openRedirectServer(canary.origin)
  const run = await crawlHostile([{ url: `${server.origin}/` }])
  const rows = rowsOf(run, server)
  expect(rows['/good']).toBe('indexed')
  expect(rows['/chain/10/10']).toBe('indexed')
  for (const path of ['/chain/11/10', '/chain/1000/10']) expect(rows[path]).toBe('failed redirect-loop')
  expect(rows['/chain/11/11'] ?? rows['/chain/1000/11']).toBeUndefined()
  expect(['/loop/a', '/loop/b', '/loop/c'].map((path) => rows[path])).toContain('failed redirect-loop')
  expect(rows['/away']).toBe('skipped redirect')
  expect(rows[`${canary.origin}/`]).toBe('skipped off-site')
  expect(canary.connections).toBe(0)
  expect(server.requestedPaths.length).toBeLessThan(60)
  expect(run.sources.get(`${server.origin}/`)?.end).toBe('completed')
})

/** A server that redirects in loops, in long chains, and to a forbidden address. */
async function openRedirectServer(elsewhere: string): Promise<RawServer> {
  const server = await openRawServer()
  const links = ['/chain/10/0', '/chain/11/0', '/chain/1000/0', '/loop/a', '/away', '/good']
  server.answers.set('/', send(page('Start', links)))
  server.answers.set('/good', send(page('Good')))
  server.answers.set('/loop/a', sendRedirect('/loop/b'))
  server.answers.set('/loop/b', sendRedirect('/loop/c'))
  server.answers.set('/loop/c', sendRedirect('/loop/a'))
  server.answers.set('/away', sendRedirect(`${elsewhere}/`))
  server.fallback = (path) => {
    const [, length = '0', step = '0'] = /^\/chain\/(\d+)\/(\d+)$/.exec(path) ?? []
    if (length === '0') return undefined
    return Number(step) === Number(length)
      ? send(page(`End of ${length}`))
      : sendRedirect(`/chain/${length}/${Number(step) + 1}`)
  }
  return server
}

test('a server that never answers or resets every connection is reported as a failure', async () => {
  const silent = await openRawServer()
  silent.onConnection = () => true
  const resetting = await openRawServer()
  resetting.onConnection = (socket) => {
    socket.resetAndDestroy()
    return true
  }
  const servers = [silent, resetting]
  const run = await crawlHostile(
    servers.map(({ origin }) => ({ url: `${origin}/` })),
    SHORTEST_TIMEOUTS,
  )
  for (const server of servers) {
    expect(run.sources.get(`${server.origin}/`)).toMatchObject({ end: 'failed' })
    expect(rowsOf(run, server)).toEqual({ '/': `failed ${server === silent ? 'robots-unreachable' : 'network'}` })
    expect(server.connections).toBeLessThan(20)
  }
})
