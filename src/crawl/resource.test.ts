import { expect, test } from 'vitest'
import type { Clock, Fetcher, FetchOutcome, FetchRequest } from './ports.ts'
import { createResourceFetcher, type ResourceFetcherOptions } from './resource.ts'

/** An in-memory web: outcomes by address; all other addresses are gone. */
function createWeb(outcomes: Record<string, FetchOutcome>) {
  const requests: FetchRequest[] = []
  const fetcher: Fetcher = {
    async fetch(request) {
      request.signal?.throwIfAborted()
      requests.push(request)
      return outcomes[request.url] ?? { type: 'gone', status: 404 }
    },
  }
  return { requests, fetcher }
}

function found(url: string): FetchOutcome {
  return { type: 'fetched', snapshot: { url, body: 'text' }, etag: null, lastModified: null }
}

function moved(target: string): FetchOutcome {
  return { type: 'moved', status: 302, target, isPermanent: false }
}

function failing(status: number | null, isTransient: boolean): FetchOutcome {
  return { type: 'failed', status, reason: 'http-server-error', detail: 'x', isTransient, retryAfterMs: null }
}

function createClock(): Clock & { slept: number[] } {
  let now = 1000
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      slept.push(ms)
      now += ms
    },
  }
}

function setUp(outcomes: Record<string, FetchOutcome>, options: Partial<ResourceFetcherOptions> = {}) {
  const web = createWeb(outcomes)
  const clock = createClock()
  const reserved: string[] = []
  const pacer = {
    async takeTurn(host: string, signal?: AbortSignal) {
      reserved.push(host)
      await clock.sleep(250, signal)
      return { host, slot: 0, extraDelayMs: 0, lease: undefined, givenAt: 0, previousRequestAt: 0 }
    },
  }
  return {
    ...web,
    clock,
    reserved,
    fetchResource: createResourceFetcher({ fetcher: web.fetcher, pacer, ...options }),
  }
}

test('fetches a file in a slot of its host', async () => {
  const { fetchResource, reserved, clock, requests } = setUp({ 'https://e.com:8443/a': found('https://e.com:8443/a') })
  expect(await fetchResource('https://e.com:8443/a#part', { maxBytes: 9 })).toEqual({
    type: 'found',
    url: 'https://e.com:8443/a',
    snapshot: { url: 'https://e.com:8443/a', body: 'text' },
    etag: null,
    lastModified: null,
  })
  expect([reserved, clock.slept]).toEqual([['e.com:8443'], [250]])
  expect(requests).toEqual([{ url: 'https://e.com:8443/a', maxBytes: 9 }])
})

test('sends validators to their own address only and accepts a 304', async () => {
  const unchanged: FetchOutcome = { type: 'unchanged', etag: null, lastModified: null }
  const { fetchResource, requests } = setUp({
    'https://e.com/a': unchanged,
    'https://e.com/b': moved('https://e.com/c'),
    'https://e.com/c': found('https://e.com/c'),
  })
  expect(await fetchResource('https://e.com/a', { etag: '"1"' })).toEqual({ type: 'unchanged', url: 'https://e.com/a' })
  expect(await fetchResource('https://e.com/b', { etag: '"1"' })).toMatchObject({ type: 'found' })
  expect(requests.map(({ etag }) => etag)).toEqual(['"1"', '"1"', undefined])
  expect(await fetchResource('https://e.com/a')).toMatchObject({ type: 'failed', reason: 'bad-answer' })
})

test('follows redirects, each in its own slot, with headers for their own origin only', async () => {
  const headersFor = (url: string) => (new URL(url).origin === 'https://e.com' ? { authorization: 'secret' } : {})
  const { fetchResource, requests, reserved } = setUp(
    {
      'https://e.com/a': moved('https://other.com/b'),
      'https://other.com/b': moved('http://e.com/c#x'),
      'http://e.com/c': found('http://e.com/c'),
    },
    { headersFor },
  )
  expect(await fetchResource('https://e.com/a')).toMatchObject({ type: 'found', url: 'http://e.com/c' })
  expect(reserved).toEqual(['e.com', 'other.com', 'e.com'])
  expect(requests).toEqual([
    { url: 'https://e.com/a', headers: { authorization: 'secret' } },
    { url: 'https://other.com/b' },
    { url: 'http://e.com/c' },
  ])
})

test('stops redirects at the limit, in a loop and at a non-web address', async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`https://e.com/${i}`, moved(`https://e.com/${i + 1}`)]),
  )
  const long = setUp({ ...chain, 'https://e.com/9': found('https://e.com/9') })
  expect(await long.fetchResource('https://e.com/0')).toMatchObject({ type: 'failed', reason: 'redirect-loop' })
  expect(long.requests).toHaveLength(6)
  expect(await long.fetchResource('https://e.com/4')).toMatchObject({ type: 'found' })
  const circle = setUp({ 'https://e.com/a': moved('https://e.com/b'), 'https://e.com/b': moved('https://e.com/a') })
  expect(await circle.fetchResource('https://e.com/a')).toMatchObject({ type: 'failed', reason: 'redirect-loop' })
  expect(circle.requests).toHaveLength(2)
  const outside = setUp({ 'https://e.com/a': moved('file:///etc/passwd') })
  expect(await outside.fetchResource('https://e.com/a')).toMatchObject({ type: 'failed', reason: 'scheme' })
  expect(outside.requests).toHaveLength(1)
})

test('checks robots.txt before each hop and fetches nothing that it forbids', async () => {
  const judged: string[] = []
  const { fetchResource, requests, reserved } = setUp(
    { 'https://e.com/a': moved('https://e.com/private') },
    {
      async judgeRobots(url) {
        judged.push(url)
        return url.endsWith('private')
          ? { allowed: false, reason: 'robots-disallow', pattern: 'Disallow: /private' }
          : { allowed: true }
      },
    },
  )
  expect(await fetchResource('https://e.com/a')).toEqual({
    type: 'failed',
    reason: 'robots-disallow',
    detail: 'Disallow: /private',
    status: null,
  })
  expect(judged).toEqual(['https://e.com/a', 'https://e.com/private'])
  expect([requests.length, reserved.length]).toEqual([1, 1])
})

test.each<[FetchOutcome, object]>([
  [
    { type: 'gone', status: 410 },
    { type: 'missing', status: 410 },
  ],
  [
    { type: 'refused', status: 403, reason: 'http-client-error', detail: 'x' },
    { type: 'missing', status: 403 },
  ],
  [failing(400, false), { type: 'missing', status: 400 }],
  [failing(429, true), { type: 'failed', status: 429 }],
  [failing(503, true), { type: 'failed', status: 503 }],
  [failing(null, true), { type: 'failed', status: null }],
  [
    { type: 'unchanged', etag: null, lastModified: null },
    { type: 'failed', reason: 'bad-answer' },
  ],
])('the fetch outcome %j becomes the resource %j', async (outcome, expected) => {
  expect(await setUp({ 'https://e.com/a': outcome }).fetchResource('https://e.com/a')).toMatchObject(expected)
})

test('an aborted signal ends the wait for a slot, and nothing is requested', async () => {
  const { fetchResource, requests } = setUp({})
  await expect(fetchResource('https://e.com/a', { signal: AbortSignal.abort() })).rejects.toThrow()
  expect(requests).toEqual([])
})
