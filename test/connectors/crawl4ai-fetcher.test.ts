import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FetchOutcome } from '../../src/crawl/ports.ts'
import { createAddressCheck } from '../../src/fetch/address-check.ts'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import {
  type Crawl4AIFetcher,
  type Crawl4AIFetcherOptions,
  openCrawl4AIFetcher,
} from '../../src/fetch/crawl4ai-fetcher.ts'
import { openServiceClient, type ServiceClient } from '../../src/fetch/service-client.ts'
import { listUrls, resolvePublic } from './crawl4ai-fixture.ts'
import { createQuickClock, type QuickClock } from './quick-clock.ts'
import { type CrawlResult, type FailureStyle, openCrawl4AIServer } from './servers/crawl4ai.ts'
import type { Fault, FaultyServer } from './servers/faults.ts'

const URL_1 = 'https://example.com/1'
const CRAWL = 'POST /crawl'

let server: FaultyServer
let http: ServiceClient
let clock: QuickClock
let found: CrawlResult

beforeEach(async () => {
  found = {}
  server = await openCrawl4AIServer({ find: () => found, token: 'right' })
  http = openServiceClient({ origins: [server.origin], userAgent: 'Pharos' })
  clock = createQuickClock()
})
afterEach(async () => {
  await http.close()
  await server.close()
})

function open(options: Partial<Crawl4AIFetcherOptions> = {}): Promise<Crawl4AIFetcher> {
  return openCrawl4AIFetcher({
    endpoint: server.origin,
    token: 'right',
    timeoutMs: 5000,
    concurrency: 2,
    retries: 1,
    client: http,
    clock,
    checkAddress: createAddressCheck({ allowance: PUBLIC_ONLY, resolve: resolvePublic, timeoutMs: 1000 }),
    ...options,
  })
}

/** The outcome for an address with this result of the service. */
async function fetchFound(result: CrawlResult, request = {}): Promise<FetchOutcome> {
  found = result
  return (await open()).fetch({ url: URL_1, ...request })
}

const failed = (reason: string, detail: string, more: object = {}): object => ({
  type: 'failed',
  status: null,
  reason,
  detail,
  isTransient: true,
  retryAfterMs: null,
  ...more,
})

describe('a fetcher by Crawl4AI', () => {
  test('returns the Markdown of a page with its known metadata', async () => {
    const outcome = await fetchFound({
      markdown: '# Hello\n',
      metadata: { title: 'Hello', description: 'A greeting' },
      links: { internal: [{ href: '/2' }], external: [{ href: 'https://other.example/' }] },
      status_code: 203,
    })
    expect(outcome).toEqual({
      type: 'fetched',
      snapshot: {
        url: URL_1,
        body: '# Hello\n',
        status: 203,
        headers: { 'content-type': 'text/markdown; charset=utf-8' },
        known: {
          title: 'Hello',
          description: 'A greeting',
          links: ['https://example.com/2', 'https://other.example/'],
        },
      },
      etag: null,
      lastModified: null,
    })
  })

  test('leaves unknown fields out, and treats a missing status as 200', async () => {
    const outcome = await fetchFound({ metadata: null, status_code: null })
    expect(outcome).toMatchObject({ type: 'fetched', snapshot: { status: 200, known: { links: [] } } })
  })

  test.each<[string, CrawlResult, object]>([
    ['nothing if the page declares nothing', { html: '' }, {}],
    [
      'noindex from a meta element',
      { html: '<meta name="robots" content="noindex, follow">' },
      { 'x-robots-tag': 'noindex' },
    ],
    [
      'the X-Robots-Tag of the response',
      { html: null, response_headers: { 'X-Robots-Tag': 'none', Date: null } },
      { 'x-robots-tag': 'noindex, nofollow' },
    ],
    [
      'the canonical address and the language',
      { html: '<html lang="de"><link rel="canonical" href="/proper">', response_headers: null },
      { link: '<https://example.com/proper>; rel="canonical"', 'content-language': 'de' },
    ],
  ])('passes on %s as headers', async (_, result, fields) => {
    const outcome = await fetchFound(result)
    const headers = outcome.type === 'fetched' ? outcome.snapshot.headers : undefined
    expect(headers).toEqual({ 'content-type': 'text/markdown; charset=utf-8', ...fields })
  })

  test('treats an address with a fragment as the same page', async () => {
    const outcome = await fetchFound({ redirected_url: `${URL_1}#top` }, { url: `${URL_1}#part` })
    expect(outcome).toMatchObject({ type: 'fetched', snapshot: { url: URL_1 } })
  })

  test.each<[string, CrawlResult, object]>([
    ['404', { status_code: 404 }, { type: 'gone', status: 404 }],
    ['410', { status_code: 410 }, { type: 'gone', status: 410 }],
    [
      '403',
      { status_code: 403 },
      { type: 'refused', status: 403, reason: 'http-client-error', detail: 'the server answered 403' },
    ],
    ['408', { status_code: 408 }, failed('http-client-error', 'the server answered 408', { status: 408 })],
    ['429', { status_code: 429 }, failed('rate-limited', 'the server answered 429', { status: 429 })],
    ['503', { status_code: 503 }, failed('http-server-error', 'the server answered 503', { status: 503 })],
    [
      'a redirect',
      { redirected_url: 'https://example.com/2#x' },
      { type: 'moved', status: 302, target: 'https://example.com/2', isPermanent: false },
    ],
    [
      'a redirect to a private address',
      { redirected_url: 'http://private.test/' },
      failed('address-refused', 'it redirects: private.test leads to an address that is not public', {
        isTransient: false,
      }),
    ],
    [
      'a page that could not be read',
      { success: false, status_code: null, error_message: 'net::ERR_CONNECTION_REFUSED' },
      failed('network', 'the service could not read the page: net::ERR_CONNECTION_REFUSED'),
    ],
    [
      'a page that failed without a reason',
      { success: false, status_code: null },
      failed('network', 'the service could not read the page: it gave no reason'),
    ],
  ])('returns the outcome for %s', async (_, result, outcome) => {
    expect(await fetchFound(result)).toEqual(outcome)
    expect(server.count(CRAWL)).toBe(1)
  })

  test.each<[FailureStyle, string]>([
    ['detail', 'net::ERR_NAME_NOT_RESOLVED'],
    ['hidden', 'Internal server error'],
    ['result', 'net::ERR_NAME_NOT_RESOLVED'],
  ])('does not take failing pages for a failing service (style of failures: %s)', async (onFailure, problem) => {
    const find = (url: string): CrawlResult =>
      url.includes('dead.') ? { success: false, status_code: null, error_message: 'net::ERR_NAME_NOT_RESOLVED' } : {}
    const other = await openCrawl4AIServer({ find, onFailure })
    const client = openServiceClient({ origins: [other.origin], userAgent: 'Pharos' })
    try {
      const fetcher = await open({ endpoint: other.origin, client })
      for (let i = 0; i < 6; i++) {
        expect(await fetcher.fetch({ url: `https://dead.example/${i}` })).toEqual(
          failed('network', `the service could not read the page: ${problem}`),
        )
      }
      expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({ type: 'fetched' })
      expect(other.count(CRAWL)).toBe(7)
    } finally {
      await client.close()
      await other.close()
    }
  })

  test('returns an empty page without judging it', async () => {
    expect(await fetchFound({ markdown: '' })).toMatchObject({ type: 'fetched', snapshot: { body: '' } })
  })

  test('refuses a page that is too large', async () => {
    expect(await fetchFound({ markdown: 'äää' }, { maxBytes: 5 })).toEqual(
      failed('too-large', 'more than 5 bytes', { isTransient: false }),
    )
    expect(await fetchFound({ markdown: 'äää' }, { maxBytes: 6 })).toMatchObject({ type: 'fetched' })
  })

  test.each([
    ['http://private.test/', 'address-refused'],
    ['http://127.0.0.1/', 'address-refused'],
    ['file:///etc/passwd', 'scheme'],
    ['no address', 'bad-url'],
  ])('does not hand over %s to the service', async (url, reason) => {
    const fetcher = await open()
    expect(await fetcher.fetch({ url })).toMatchObject({ type: 'failed', reason, isTransient: false })
    expect(server.count(CRAWL)).toBe(0)
  })
})

describe('a failing service', () => {
  const answer = (status: number, more: object = {}): Fault => ({
    type: 'answer',
    status,
    json: { detail: 'no' },
    ...more,
  })

  test.each<[string, Fault, object]>([
    ['500', answer(500), failed('service-failed', 'Crawl4AI answered 500: no')],
    [
      '503',
      answer(503, { headers: { 'retry-after': '90' } }),
      failed('service-failed', 'Crawl4AI answered 503: no', { retryAfterMs: 90_000 }),
    ],
    [
      '429',
      answer(429, { headers: { 'retry-after': '7' } }),
      failed('service-failed', 'Crawl4AI answered 429: no', { retryAfterMs: 7000 }),
    ],
    ['401', answer(401), failed('service-failed', 'Crawl4AI answered 401: no', { isTransient: false })],
    ['413', answer(413), failed('service-failed', 'Crawl4AI answered 413: no', { isTransient: false })],
    [
      'no JSON',
      { type: 'not-json' },
      failed('service-failed', 'Crawl4AI answered 200 with a body that is not JSON', { isTransient: false }),
    ],
  ])('is distinguished from a failing page if it answers %s', async (_, fault, outcome) => {
    const fetcher = await open()
    server.setFault(CRAWL, fault)
    expect(await fetcher.fetch({ url: URL_1 })).toEqual(outcome)
  })

  test.each<Fault>([{ type: 'reset' }, { type: 'cut' }])('does not count against the host, with %o', async (fault) => {
    const fetcher = await open()
    server.setFault(CRAWL, fault)
    expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({
      type: 'failed',
      reason: 'service-failed',
      isTransient: true,
    })
    expect(server.count(CRAWL)).toBe(2)
    expect(clock.pauses).toEqual([1000])
  })

  test('is reported as a timeout if it does not answer', async () => {
    const fetcher = await open({ timeoutMs: 20 })
    server.setFault(CRAWL, { type: 'hang' })
    expect(await fetcher.fetch({ url: URL_1 })).toEqual(
      failed('service-failed', `Crawl4AI: ${server.origin} gave no complete answer within 20 ms`),
    )
  })

  test('is retried once at most, even if more retries are set', async () => {
    const fetcher = await open({ retries: 3 })
    server.setFault(CRAWL, answer(500))
    await fetcher.fetch({ url: URL_1 })
    expect(server.count(CRAWL)).toBe(2)
  })

  test('gets a single trial request after a minute, and other pages fail meanwhile', async () => {
    const fetcher = await open({ retries: 0 })
    server.setFault(CRAWL, answer(500))
    for (const url of listUrls(5)) await fetcher.fetch({ url })
    clock.advance(60_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    server.setFault(CRAWL, { type: 'wait', for: promise })
    const trial = fetcher.fetch({ url: URL_1 })
    await server.waitForRequests(CRAWL, 6)
    expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({ reason: 'service-failed', retryAfterMs: 5000 })
    resolve()
    expect(await trial).toMatchObject({ type: 'fetched' })
  })

  test('is reported without the token', async () => {
    const fetcher = await open()
    server.setFault(CRAWL, answer(401, { json: { detail: 'Invalid token: right' } }))
    expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({ detail: 'Crawl4AI answered 401: Invalid token: …' })
    server.clearFaults()
    found = { success: false, status_code: null, error_message: 'no way with right' }
    expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({
      detail: 'the service could not read the page: no way with …',
    })
  })

  test('gets no requests for a minute after five failed pages', async () => {
    const fetcher = await open({ retries: 0 })
    server.setFault(CRAWL, answer(500))
    for (const url of listUrls(5)) await fetcher.fetch({ url })
    const detail = 'Crawl4AI was skipped after repeated failures; next request in 60 s'
    expect(await fetcher.fetch({ url: URL_1 })).toEqual(failed('service-failed', detail, { retryAfterMs: 60_000 }))
    expect(server.count(CRAWL)).toBe(5)
    server.clearFaults()
    clock.advance(60_000)
    expect(await fetcher.fetch({ url: URL_1 })).toMatchObject({ type: 'fetched' })
  })

  test('makes opening fail if it fails at the start', async () => {
    server.queueFaults('GET /health', answer(500))
    await expect(open()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })
})

describe('concurrent fetches', () => {
  test('stay within the concurrency limit', async () => {
    const fetcher = await open({ concurrency: 3 })
    server.clearRequests()
    const { promise, resolve } = Promise.withResolvers<void>()
    server.setFault(CRAWL, { type: 'wait', for: promise })
    const fetching = Promise.all(listUrls(10).map((url) => fetcher.fetch({ url })))
    await server.waitForRequests(CRAWL, 3)
    resolve()
    const outcomes = await fetching
    expect(new Set(outcomes.map(({ type }) => type))).toEqual(new Set(['fetched']))
    expect(server.maxConcurrent).toBe(3)
  })

  test('reject with the reason of their signal, also while they wait', async () => {
    const fetcher = await open({ concurrency: 1 })
    server.setFault(CRAWL, { type: 'hang' })
    const controller = new AbortController()
    const { signal } = controller
    const fetches = listUrls(3).map((url) => fetcher.fetch({ url, signal }))
    const ends = Promise.allSettled(fetches)
    await server.waitForRequests(CRAWL, 1)
    const enough = new Error('enough')
    controller.abort(enough)
    expect(await ends).toEqual(fetches.map(() => ({ status: 'rejected', reason: enough })))
    await expect(fetcher.fetch({ url: URL_1, signal })).rejects.toBe(enough)
    expect(server.count(CRAWL)).toBe(1)
  })

  test('fail when the fetcher is closed, and are refused after that', async () => {
    const fetcher = await open()
    server.setFault(CRAWL, { type: 'hang' })
    const fetching = fetcher.fetch({ url: URL_1 })
    await server.waitForRequests(CRAWL, 1)
    await fetcher.close()
    expect(await fetching).toEqual(failed('service-failed', 'the fetcher was closed'))
    await expect(fetcher.fetch({ url: URL_1 })).rejects.toThrow('the fetcher is closed')
  })
})
