import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Crawl4AIClient, createCrawl4AIClient } from '../../src/fetch/crawl4ai-client.ts'
import { openServiceClient, type ServiceClient } from '../../src/fetch/service-client.ts'
import { createQuickClock } from './quick-clock.ts'
import { openCrawl4AIServer } from './servers/crawl4ai.ts'
import type { FaultyServer } from './servers/faults.ts'

const URL_1 = 'https://example.com/1'

let server: FaultyServer
let http: ServiceClient
let client: Crawl4AIClient

beforeEach(async () => {
  server = await openCrawl4AIServer({
    find: (url) =>
      url.endsWith('/broken')
        ? { success: false, error_message: 'Blocked by anti-bot protection: challenge' }
        : {
            markdown: { raw_markdown: 'raw', fit_markdown: 'fit' },
            links: {
              internal: [{ href: '/2' }, { href: 'http://[' }, { href: 7 }],
              external: [{ href: 'https://o.example/' }],
            },
          },
  })
  http = openServiceClient({ origins: [server.origin], userAgent: 'Pharos' })
  const options = { timeoutMs: 1000, retries: 1, delaysMs: [1], client: http, clock: createQuickClock() }
  client = createCrawl4AIClient({ endpoint: `${server.origin}//`, ...options })
})
afterEach(async () => {
  await http.close()
  await server.close()
})

describe('a client of Crawl4AI', () => {
  test('gives the targets of links as absolute addresses', async () => {
    const page = await client.crawl(URL_1)
    expect(page.links).toEqual(['https://example.com/2', 'https://o.example/'])
    expect([page.internalLinkCount, page.externalLinkCount]).toEqual([3, 1])
  })

  test('gives the final address of a page, or the requested one if it is unknown', async () => {
    expect((await client.crawl(URL_1)).url).toBe(URL_1)
    const answer = { success: true, results: [{ success: true, markdown: 'x', redirected_url: null }] }
    server.queueFaults('POST /crawl', { type: 'answer', status: 200, json: answer })
    expect((await client.crawl(URL_1)).url).toBe(URL_1)
  })

  test('gets the Markdown of a page with the requested filter', async () => {
    expect(await client.readMarkdown(URL_1, 'fit')).toBe('fit')
    expect(await client.readMarkdown(URL_1, 'raw')).toBe('raw')
    expect(await client.readMarkdown(URL_1, 'bm25', 'what to look for')).toBe('fit')
    expect(server.bodies('POST /md')).toEqual([
      { url: URL_1, f: 'fit', q: null, c: '0' },
      { url: URL_1, f: 'raw', q: null, c: '0' },
      { url: URL_1, f: 'bm25', q: 'what to look for', c: '0' },
    ])
  })

  test('reports why there is no Markdown', async () => {
    await expect(client.readMarkdown('https://example.com/broken', 'fit')).rejects.toMatchObject({
      type: 'refused',
      message: 'Crawl4AI answered 502: Blocked by anti-bot protection: challenge',
    })
    expect(server.count('POST /md')).toBe(1)
    server.queueFaults('POST /md', { type: 'answer', status: 502, json: { error: 'bad gateway' } })
    expect(await client.readMarkdown(URL_1, 'fit')).toBe('fit')
    await expect(client.readMarkdown('ftp://example.com/', 'fit')).rejects.toMatchObject({
      type: 'refused',
      status: 400,
    })
    server.queueFaults('POST /md', { type: 'answer', status: 200, json: { success: false } })
    await expect(client.readMarkdown(URL_1, 'fit')).rejects.toMatchObject({ type: 'bad-answer' })
  })

  test('removes the token from the message of a failed result', async () => {
    const options = { timeoutMs: 1000, retries: 0, delaysMs: [], client: http, clock: createQuickClock() }
    const keyed = createCrawl4AIClient({ endpoint: server.origin, token: 'sk-1', ...options })
    const results = [{ success: false, error_message: 'sk-1 is not known' }]
    server.queueFaults('POST /crawl', { type: 'answer', status: 200, json: { success: true, results } })
    expect((await keyed.crawl(URL_1)).problem).toBe('… is not known')
  })

  test('reports a token that cannot be sent as a header', async () => {
    const options = { timeoutMs: 1000, retries: 3, delaysMs: [1], client: http, clock: createQuickClock() }
    const keyed = createCrawl4AIClient({ endpoint: server.origin, token: 'a\nb', ...options })
    await expect(keyed.checkHealth()).rejects.toMatchObject({
      code: 'SERVICE_UNUSABLE',
      details: {
        problem: 'the key contains characters that a header must not have',
        advice: expect.stringContaining('token'),
      },
    })
    await expect(keyed.crawl(URL_1)).rejects.toMatchObject({ type: 'not-allowed' })
    expect(server.count()).toBe(0)
  })

  test('rejects with the reason of its signal', async () => {
    const enough = new Error('enough')
    await expect(client.checkHealth(AbortSignal.abort(enough))).rejects.toBe(enough)
  })
})

describe('the Crawl4AI test server', () => {
  const ask = (path: string, body: unknown, init: RequestInit = {}) =>
    fetch(`${server.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
    })
  const crawlerConfig = (params: object, type = 'CrawlerRunConfig') => ({
    urls: [URL_1],
    crawler_config: { type, params },
  })

  test.each<[string, string, unknown, number, string]>([
    ['a single url in place of urls', '/crawl', { url: URL_1, crawler_params: {} }, 422, 'Field required'],
    ['a body that is not JSON', '/crawl', 'urls', 422, 'JSON decode error'],
    ['a list as the body', '/crawl', [], 422, 'valid dictionary'],
    ['a text for a list', '/crawl', { urls: URL_1 }, 422, 'valid list'],
    ['an empty list', '/crawl', { urls: [] }, 422, 'at least 1 item'],
    ['101 addresses', '/crawl', { urls: Array(101).fill(URL_1) }, 422, 'at most 100 items'],
    ['a number for an address', '/crawl', { urls: [7] }, 422, 'valid string'],
    ['a text for a configuration', '/crawl', { urls: [URL_1], crawler_config: 'fast' }, 422, 'valid dictionary'],
    ['an unknown member', '/crawl', { urls: [URL_1], priority: 10 }, 422, 'not permitted'],
    ['a forbidden field', '/crawl', crawlerConfig({ js_code: 'x' }), 400, 'js_code is not allowed'],
    [
      'a forbidden flat field',
      '/crawl',
      { urls: [URL_1], browser_config: { proxy: 'x' } },
      400,
      'proxy is not allowed',
    ],
    ['the wrong type', '/crawl', crawlerConfig({}, 'BrowserConfig'), 400, 'type BrowserConfig'],
    [
      'more than type and params',
      '/crawl',
      { urls: [URL_1], crawler_config: { params: {}, x: 1 } },
      400,
      'x is not allowed',
    ],
    ['an unknown cache mode', '/crawl', crawlerConfig({ cache_mode: 'BYPASS' }), 400, 'cache_mode has a value'],
    ['a missing address', '/md', {}, 422, 'Field required'],
    ['an empty body for Markdown', '/md', '', 422, 'JSON decode error'],
    ['an unknown filter', '/md', { url: URL_1, f: 'best' }, 422, "Input should be 'raw'"],
    ['a number for a query', '/md', { url: URL_1, q: 7, c: 7, provider: 7 }, 422, 'valid string'],
    ['an unknown path', '/scrape', {}, 404, 'Not Found'],
    ['an unknown method', '/health', {}, 405, 'Method Not Allowed'],
  ])('refuses %s', async (_, path, body, status, detail) => {
    const answer = await ask(path, body)
    expect(answer.status).toBe(status)
    expect(JSON.stringify(await answer.json())).toContain(detail)
  })

  test('refuses a content type other than JSON', async () => {
    const body = JSON.stringify({ urls: [URL_1] })
    const answer = await ask('/crawl', body, { headers: { 'content-type': 'text/plain' } })
    expect(answer.status).toBe(422)
  })
})
