import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Crawl4AIReaderOptions,
  readerOptionsOf,
  resolveReaderOptions,
} from '../../src/readers/crawl4ai-options.ts'
import type { Crawl4AIReader } from '../../src/readers/crawl4ai-reader.ts'
import { documentId, type VectorSink } from '../../src/readers/document.ts'
import { type Crawl4AIFixture, listUrls, openCrawl4AIFixture } from './crawl4ai-fixture.ts'
import type { CrawlResult } from './servers/crawl4ai.ts'
import { type Fault, findClosedPort } from './servers/faults.ts'

const URL_1 = 'https://example.com/1'
const CRAWL = 'POST /crawl'
const HEALTH = 'GET /health'

let stage: Crawl4AIFixture
/** Results of the service by address. Every other address has a normal page. */
let found: Record<string, CrawlResult>

beforeEach(async () => {
  found = {}
  stage = await openCrawl4AIFixture({ find: (url) => found[url] ?? {} })
})
afterEach(() => stage.close())

const status = (code: number, json: unknown = { detail: 'no' }): Fault => ({ type: 'answer', status: code, json })

/** Reads one page with this result of the service. */
async function readFound(result: CrawlResult) {
  found[URL_1] = result
  const reader = await stage.openReader()
  const [document = null] = await reader.loadAll([URL_1])
  return { document, problem: reader.lastFailures[0]?.error.message }
}

describe('opening a reader', () => {
  test('uses the default values if no options are given', async () => {
    const reader = await stage.openReader()
    expect({ ...reader }).toEqual({
      endpointUrl: stage.server.origin,
      timeoutSeconds: 60,
      failOnError: false,
      maxConcurrentRequests: 5,
      maxRetries: 3,
      retryDelays: [1, 2, 4],
      enableDeduplication: true,
      vectorStore: undefined,
      isRemote: true,
      className: 'Crawl4AIReader',
    })
    expect(reader.circuitState).toBe('closed')
    expect(reader.lastFailures).toEqual([])
  })

  test('uses localhost:52004 as the default address of the service', () => {
    expect(resolveReaderOptions({}).endpointUrl).toBe('http://localhost:52004')
  })

  test.each([
    ['timeoutSeconds', [10, 10.5, 300]],
    ['maxConcurrentRequests', [1, 20]],
    ['maxRetries', [0, 10]],
    ['failOnError', [true, false]],
    ['enableDeduplication', [true, false]],
    ['retryDelays', [[0], [0.5, 1.5]]],
  ] as const)('accepts %s within its range', async (field, values) => {
    for (const value of values) {
      const reader = await stage.openReader({ [field]: value })
      expect(reader[field]).toEqual(value)
    }
  })

  test.each([
    ['timeoutSeconds', 9, 'a number from 10 to 300'],
    ['timeoutSeconds', 301, 'a number from 10 to 300'],
    ['timeoutSeconds', Number.NaN, 'a number from 10 to 300'],
    ['timeoutSeconds', '60', 'a number from 10 to 300'],
    ['maxConcurrentRequests', 0, 'a whole number from 1 to 20'],
    ['maxConcurrentRequests', 21, 'a whole number from 1 to 20'],
    ['maxConcurrentRequests', 2.5, 'a whole number from 1 to 20'],
    ['maxRetries', -1, 'a whole number from 0 to 10'],
    ['maxRetries', 11, 'a whole number from 0 to 10'],
    ['retryDelays', [], 'at least one number of seconds, none below 0'],
    ['retryDelays', [1, -1], 'at least one number of seconds, none below 0'],
    ['retryDelays', 1, 'at least one number of seconds, none below 0'],
    ['failOnError', 'yes', 'true or false'],
    ['enableDeduplication', 1, 'true or false'],
    ['endpointUrl', 'localhost', 'an address with http or https'],
    ['endpointUrl', 'ftp://localhost', 'an address with http or https'],
  ])('refuses %s %j, and sends no request', async (field, value, wanted) => {
    const opening = stage.openReader({ [field]: value } as unknown as Crawl4AIReaderOptions)
    await expect(opening).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: `${field} must be ${wanted}, got ${JSON.stringify(value)}`,
    })
    expect(stage.server.count()).toBe(0)
  })

  test('does not repeat a password, and refuses an invalid allowPrivate', async () => {
    const opening = stage.openReader({ endpointUrl: 'me:secret@127.0.0.1' })
    await expect(opening).rejects.toThrow('endpointUrl must be an address with http or https, got "…@127.0.0.1"')
    await expect(stage.openReader({ allowPrivate: ['*.internal'] })).rejects.toThrow(
      'allowPrivate: "*.internal" is a pattern',
    )
  })

  test('sends one health check', async () => {
    await stage.openReader({ endpointUrl: `${stage.server.origin}/` })
    expect(stage.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([HEALTH])
  })

  test.each([
    ['says that it is unhealthy', [status(503)], 'its health check answered 503'],
    ['answers without content', [{ type: 'answer', status: 204 }], 'its health check answered 204'],
    ['breaks the connection', [{ type: 'reset' }], 'broke'],
  ] as const)('fails when the service %s', async (_, faults, problem) => {
    stage.server.queueFaults(HEALTH, ...(faults as readonly Fault[]))
    const opening = stage.openReader()
    await expect(opening).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    await expect(opening).rejects.toThrow(problem)
    expect(stage.server.count(HEALTH)).toBe(1)
  })

  test('fails when nothing listens', async () => {
    const endpointUrl = `http://127.0.0.1:${await findClosedPort()}`
    await expect(stage.openReader({ endpointUrl })).rejects.toMatchObject({
      code: 'SERVICE_UNUSABLE',
      message: `Crawl4AI at ${endpointUrl} cannot be used: 127.0.0.1 refused the connection`,
    })
  })

  test('uses the settings of the configuration', async () => {
    const reader = await stage.openReader(
      readerOptionsOf({
        crawl4aiEndpoint: `${stage.server.origin}/`,
        crawl4aiToken: 't',
        crawl4aiTimeout: 90_000,
        crawl4aiConcurrency: 7,
        crawl4aiRetries: 1,
        crawl4aiFailOnError: true,
        allowPrivate: ['private.test'],
      }),
    )
    expect(reader).toMatchObject({
      endpointUrl: stage.server.origin,
      timeoutSeconds: 90,
      maxConcurrentRequests: 7,
      maxRetries: 1,
      failOnError: true,
    })
    expect(await reader.loadData(['http://private.test/'])).toHaveLength(1)
    expect(stage.server.requests.at(-1)?.headers['authorization']).toBe('Bearer t')
  })

  test('sends the configured token', async () => {
    const guarded = await openCrawl4AIFixture({ token: 'right' })
    try {
      const [right, wrong] = [
        await guarded.openReader({ token: 'right' }),
        await guarded.openReader({ token: 'wrong' }),
      ]
      expect(await right.loadData([URL_1])).toHaveLength(1)
      expect(await wrong.loadData([URL_1])).toEqual([])
      expect(wrong.lastFailures[0]?.error.message).toBe(
        `${URL_1} could not be read: Crawl4AI answered 401: Authentication required`,
      )
    } finally {
      await guarded.close()
    }
  })
})

describe('the id of a document', () => {
  test('is the UUID of the first sixteen bytes of the SHA-256 of its address', () => {
    // python3 -c "import uuid,hashlib; print(uuid.UUID(bytes=hashlib.sha256(b'https://example.com').digest()[:16]))"
    expect(documentId('https://example.com')).toBe('100680ad-546c-e6a5-77f4-2f52df33b4cf')
    expect(documentId('https://example.com')).toBe(documentId('https://example.com'))
    expect(documentId('https://example.com')).not.toBe(documentId('https://example.com/'))
    expect(documentId('https://example.com/ä')).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })
})

describe('the metadata of a document', () => {
  const METADATA = {
    source: URL_1,
    source_url: URL_1,
    title: 'Page',
    description: '',
    status_code: 200,
    // The service gives no time, so the clock of the reader is used.
    crawl_timestamp: '2026-01-01T00:00:00.000Z',
    internal_links_count: 0,
    external_links_count: 0,
    source_type: 'web_crawl',
  }

  test.each<[string, CrawlResult, object]>([
    [
      'has all values that the service returns',
      {
        metadata: { title: 'Example', description: 'About it' },
        status_code: 203,
        crawl_timestamp: '2026-01-15T00:00:00Z',
        links: { internal: [{ href: '/a' }, { href: '/b' }], external: [{ href: 'https://other.example/' }] },
      },
      {
        title: 'Example',
        description: 'About it',
        status_code: 203,
        crawl_timestamp: '2026-01-15T00:00:00Z',
        internal_links_count: 2,
        external_links_count: 1,
      },
    ],
    [
      'has an empty title if the page has none',
      { metadata: { description: 'About it' } },
      { title: '', description: 'About it' },
    ],
    ['has empty texts if metadata is null', { metadata: null }, { title: '' }],
    ['has empty texts if metadata holds null', { metadata: { title: null, description: null } }, { title: '' }],
    ['counts no links if there are none', { links: {} }, {}],
    ['counts no links if they are null', { links: null }, {}],
    ['counts no links if a list is null', { links: { internal: null } }, {}],
    ['counts links without a target', { links: { internal: [{}, { href: '' }, null] } }, { internal_links_count: 3 }],
    ['has the status 0 if it is null', { status_code: null }, { status_code: 0 }],
    ['has no values of a wrong type', { metadata: { title: 7 }, crawl_timestamp: 7 }, { title: '' }],
    ['has the time of this machine if the service reports none', { crawl_timestamp: 'yesterday' }, {}],
    ['has the time of this machine instead of an impossible one', { crawl_timestamp: '2026-13-45T00:00:00Z' }, {}],
    ['names the requested address after a redirect', { redirected_url: 'https://example.com/2' }, {}],
  ])('%s', async (_, result, expected) => {
    const { document } = await readFound(result)
    expect(document?.metadata).toEqual({ ...METADATA, ...expected })
    for (const value of Object.values(document?.metadata ?? {})) expect(['string', 'number']).toContain(typeof value)
  })
})

describe('reading one page', () => {
  test('bypasses the cache, with a threshold of ten words', async () => {
    const reader = await stage.openReader()
    const [document] = await reader.loadData([URL_1])
    expect(document).toMatchObject({ id: documentId(URL_1), text: `# Page\n\nThis is what stands at ${URL_1}.\n` })
    expect(stage.server.bodies(CRAWL)).toEqual([
      {
        urls: [URL_1],
        browser_config: { type: 'BrowserConfig', params: { headless: true } },
        crawler_config: { type: 'CrawlerRunConfig', params: { cache_mode: 'bypass', word_count_threshold: 10 } },
      },
    ])
  })

  test.each<[string, unknown, string]>([
    ['fit_markdown first', { fit_markdown: 'fit', raw_markdown: 'raw' }, 'fit'],
    ['raw_markdown if fit_markdown is empty', { fit_markdown: '', raw_markdown: 'raw' }, 'raw'],
    ['raw_markdown if fit_markdown is white space', { fit_markdown: '\n \n', raw_markdown: 'raw' }, 'raw'],
    ['raw_markdown if fit_markdown is null', { fit_markdown: null, raw_markdown: 'raw' }, 'raw'],
    ['raw_markdown alone', { raw_markdown: 'raw' }, 'raw'],
    ['the string of older versions', 'text', 'text'],
  ])('takes %s', async (_, markdown, text) => {
    expect((await readFound({ markdown })).document?.text).toBe(text)
  })

  test('trusts a success reported by the service, whatever the status', async () => {
    expect((await readFound({ status_code: 404 })).document?.metadata.status_code).toBe(404)
  })

  test.each<[string, CrawlResult, string]>([
    ['no Markdown', { markdown: null }, 'the service found no content on the page'],
    [
      'empty Markdown',
      { markdown: { raw_markdown: ' \n', fit_markdown: '' } },
      'the service found no content on the page',
    ],
    ['an empty text', { markdown: '' }, 'the service found no content on the page'],
    ['success=false with a reason', { success: false, error_message: 'Page not found' }, 'Page not found'],
    [
      'success=false with a long reason',
      { success: false, error_message: `no\n  ${'x'.repeat(300)}` },
      `no ${'x'.repeat(175)}…`,
    ],
    ['success=false without a reason', { success: false, error_message: null }, 'the service gave no reason'],
  ])('fails for %s, and does not retry', async (_, result, problem) => {
    const { document, problem: message } = await readFound(result)
    expect(document).toBeNull()
    expect(message).toBe(`${URL_1} could not be read: ${problem}`)
    expect(stage.server.count(CRAWL)).toBe(1)
  })

  test('takes a result that is the whole answer', async () => {
    const answer = { url: URL_1, success: true, status_code: 200, markdown: { fit_markdown: 'bare' } }
    stage.server.queueFaults(CRAWL, { type: 'answer', status: 200, json: answer })
    const reader = await stage.openReader()
    const [document] = await reader.loadAll([URL_1])
    expect(document).toMatchObject({ text: 'bare', metadata: { status_code: 200 } })
  })

  test.each<[string, object]>([
    [
      'of a result that is the whole answer',
      { url: URL_1, success: false, status_code: 404, error_message: 'Page not found' },
    ],
    ['of an answer without a result', { success: false, error_message: 'Page not found' }],
    ['of an answer with no results', { success: false, results: [], error_message: 'Page not found' }],
    [
      'inside a result of a failed answer',
      { success: false, results: [{ success: false, error_message: 'Page not found' }] },
    ],
  ])('shows the message %s, and does not retry', async (_, answer) => {
    stage.server.queueFaults(CRAWL, { type: 'answer', status: 200, json: answer })
    const reader = await stage.openReader()
    expect(await reader.loadAll([URL_1])).toEqual([null])
    expect(reader.lastFailures.map(({ error }) => error.message)).toEqual([
      `${URL_1} could not be read: Page not found`,
    ])
    expect(stage.server.count(CRAWL)).toBe(1)
  })

  test('a log that throws does not reject a batch', async () => {
    const log = () => {
      throw new Error('disk full')
    }
    const reader = await stage.openReader({ log })
    expect(await reader.loadAll([URL_1])).toMatchObject([{ id: documentId(URL_1) }])
  })

  test.each<[string, Fault, string]>([
    ['400', status(400, { detail: 'URL blocked' }), 'Crawl4AI answered 400: URL blocked'],
    ['404', status(404), 'Crawl4AI answered 404: no'],
    ['413', status(413), 'Crawl4AI answered 413: no'],
    ['422', status(422, { detail: [{ msg: 'Field required' }] }), 'Crawl4AI answered 422: Field required'],
    ['429', { ...status(429), headers: { 'retry-after': '1' } } as Fault, 'Crawl4AI answered 429: no'],
    ['a body that is not JSON', { type: 'not-json' }, 'Crawl4AI answered 200 with a body that is not JSON'],
    ['an empty body', { type: 'answer', status: 200 }, 'the answer of Crawl4AI reports a failure'],
    ['success=false', status(200, { success: false }), 'the answer of Crawl4AI reports a failure'],
    ['no results', status(200, { success: true }), 'the answer of Crawl4AI contains no result'],
    ['an empty list', status(200, { success: true, results: [] }), 'the answer of Crawl4AI contains no result'],
    ['a null result', status(200, { success: true, results: [null] }), 'the service gave no reason'],
  ])('fails for an answer with %s, and does not retry', async (_, fault, problem) => {
    const reader = await stage.openReader()
    stage.server.queueFaults(CRAWL, fault)
    expect(await reader.loadAll([URL_1])).toEqual([null])
    expect(reader.lastFailures[0]?.error).toMatchObject({
      code: 'READ_FAILED',
      message: `${URL_1} could not be read: ${problem}`,
    })
    expect(stage.server.count(CRAWL)).toBe(1)
    expect(stage.clock.pauses).toEqual([])
    expect(reader.circuitState).toBe('closed')
  })
})

describe('a failing call', () => {
  const FAULTS: readonly [string, Fault][] = [
    ['a status 500', status(500)],
    ['a status 503', status(503)],
    ['a connection that is reset', { type: 'reset' }],
    ['an answer that is cut', { type: 'cut' }],
  ]

  test.each(FAULTS)('is retried after %s', async (_, fault) => {
    const reader = await stage.openReader()
    stage.server.queueFaults(CRAWL, fault)
    expect(await reader.loadData([URL_1])).toHaveLength(1)
    expect(stage.server.count(CRAWL)).toBe(2)
    expect(stage.clock.pauses).toEqual([1000])
  })

  test.each(FAULTS)('is made four times at most after %s', async (_, fault) => {
    const reader = await stage.openReader()
    stage.server.setFault(CRAWL, fault)
    expect(await reader.loadAll([URL_1])).toEqual([null])
    expect(stage.server.count(CRAWL)).toBe(4)
    expect(stage.clock.pauses).toEqual([1000, 2000, 4000])
  })

  test('is retried after a timeout', async () => {
    const reader = stage.openShortTimeoutReader(3, { maxRetries: 1 })
    stage.server.setFault(CRAWL, { type: 'hang' })
    expect(await reader.loadData([URL_1])).toEqual([])
    expect(reader.lastFailures[0]?.error.message).toContain('gave no complete answer within 20 ms')
    // The service recovers before the second request.
    stage.clock.onSleep(() => stage.server.clearFaults())
    expect(await reader.loadData([URL_1])).toHaveLength(1)
    expect(stage.shortTimeoutCalls).toBe(4)
    expect(stage.clock.pauses).toEqual([1000, 1000])
  })

  test('is retried after a refused connection', async () => {
    let down: Promise<void> | undefined
    let pauses = 0
    const sleep = async () => {
      await down
      // At the first pause the server is still down.
      if (++pauses === 2) await stage.server.resumeListening()
    }
    const reader = await stage.openReader({ clock: { ...stage.clock, sleep } })
    // The server goes down at the request for the page, after it has passed the health check.
    const goDownOnce = (): undefined => {
      down ??= stage.server.stopListening()
    }
    found = new Proxy({}, { get: goDownOnce })
    expect(await reader.loadData([URL_1])).toHaveLength(1)
    expect(pauses).toBe(2)
    expect(stage.server.count(CRAWL)).toBe(2)
  })

  test('uses the last delay for all further retries', async () => {
    const reader = await stage.openReader({ maxRetries: 4, retryDelays: [0.5, 1.5] })
    stage.server.setFault(CRAWL, status(500))
    await reader.loadAll([URL_1])
    expect(stage.clock.pauses).toEqual([500, 1500, 1500, 1500])
  })

  test('is not retried with zero retries', async () => {
    const reader = await stage.openReader({ maxRetries: 0 })
    stage.server.setFault(CRAWL, status(500))
    await reader.loadAll([URL_1])
    expect(stage.server.count(CRAWL)).toBe(1)
  })
})

describe('reading many pages', () => {
  test('an empty list gives an empty result, and sends no request', async () => {
    const reader = await stage.openReader()
    stage.server.clearRequests()
    expect(await reader.loadAll([])).toEqual([])
    expect(await reader.loadData([])).toEqual([])
    expect(stage.server.count()).toBe(0)
  })

  test('keeps their order, whichever page is answered first', async () => {
    const reader = await stage.openReader()
    stage.server.queueFaults(CRAWL, { type: 'slow', ms: 30 }, { type: 'slow', ms: 15 })
    const documents = await reader.loadData(listUrls(8))
    expect(documents.map(({ metadata }) => metadata.source)).toEqual(listUrls(8))
  })

  test('sends one health check, and one request per page', async () => {
    const reader = await stage.openReader()
    stage.server.clearRequests()
    await reader.loadData(listUrls(12))
    expect(stage.server.count(HEALTH)).toBe(1)
    expect(stage.server.count(CRAWL)).toBe(12)
  })

  test.each([1, 3, 5])('sends %i concurrent requests at most', async (maxConcurrentRequests) => {
    const reader = await stage.openReader({ maxConcurrentRequests })
    stage.server.clearRequests()
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.server.setFault(CRAWL, { type: 'wait', for: promise })
    const loading = reader.loadData(listUrls(12))
    await stage.server.waitForRequests(CRAWL, maxConcurrentRequests)
    resolve()
    expect(await loading).toHaveLength(12)
    expect(stage.server.maxConcurrent).toBe(maxConcurrentRequests)
  })

  test('requests a page twice if it is listed twice', async () => {
    const reader = await stage.openReader()
    const documents = await reader.loadData([URL_1, URL_1])
    expect(documents.map(({ id }) => id)).toEqual([documentId(URL_1), documentId(URL_1)])
    expect(stage.server.count(CRAWL)).toBe(2)
  })

  test('continues after failures, with null for failed pages and the failures in order', async () => {
    const urls = listUrls(4)
    for (const place of [0, 2]) found[urls[place] ?? ''] = { success: false, error_message: 'no' }
    const reader = await stage.openReader()
    const slots = await reader.loadAll(urls)
    expect(slots.map((slot) => slot?.metadata.source ?? null)).toEqual([null, urls[1], null, urls[3]])
    expect(reader.lastFailures.map(({ url }) => url)).toEqual([urls[0], urls[2]])
    expect((await reader.loadData(urls)).map(({ metadata }) => metadata.source)).toEqual([urls[1], urls[3]])
    found = {}
    await reader.loadData(urls)
    expect(reader.lastFailures).toEqual([])
  })

  test('rejects with the first failure if failOnError is set, and requests nothing more', async () => {
    const urls = listUrls(20)
    found[urls[1] ?? ''] = { success: false, error_message: 'no' }
    const reader = await stage.openReader({ failOnError: true, maxConcurrentRequests: 2 })
    stage.server.queueFaults(CRAWL, { type: 'hang' })
    await expect(reader.loadData(urls)).rejects.toMatchObject({ code: 'READ_FAILED', details: { url: urls[1] } })
    expect(stage.server.count(CRAWL)).toBe(2)
  })

  test('fails as a whole if the health check fails', async () => {
    const reader = await stage.openReader()
    stage.server.queueFaults(HEALTH, status(500))
    await expect(reader.loadAll(listUrls(2))).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
    expect(stage.server.count(CRAWL)).toBe(0)
    expect(await reader.loadAll(listUrls(2))).toHaveLength(2)
  })

  test('rejects with the reason of a signal', async () => {
    const reader = await stage.openReader()
    const controller = new AbortController()
    stage.server.setFault(CRAWL, { type: 'hang' })
    const loading = reader.loadAll(listUrls(9), controller.signal)
    await stage.server.waitForRequests(CRAWL, 5)
    controller.abort(new Error('enough'))
    await expect(loading).rejects.toThrow('enough')
    expect(stage.server.count(CRAWL)).toBe(5)
    expect(reader.circuitState).toBe('closed')
  })

  test('stops when the reader is closed, and is refused after that', async () => {
    const reader = await stage.openReader()
    stage.server.setFault(CRAWL, { type: 'hang' })
    const loading = reader.loadAll(listUrls(2))
    loading.catch(() => {})
    await stage.server.waitForRequests(CRAWL, 2)
    await reader.close()
    const closed = { code: 'OPTION_INVALID', message: 'the reader is closed' }
    await expect(loading).rejects.toMatchObject(closed)
    await expect(reader.loadAll([URL_1])).rejects.toMatchObject(closed)
  })

  test('removes nothing from the vector store', async () => {
    const touched: string[] = []
    const touch = async (what: string) => touched.push(what)
    const vectorStore: VectorSink = {
      upsert: () => touch('upsert'),
      replaceUrl: () => touch('replaceUrl'),
      deleteByUrl: () => touch('deleteByUrl'),
    }
    const reader = await stage.openReader({ vectorStore })
    expect(reader.vectorStore).toBe(vectorStore)
    stage.server.queueFaults(CRAWL, status(404))
    await reader.loadAll(listUrls(3))
    expect(touched).toEqual([])
  })
})

describe('the circuit breaker of a reader', () => {
  /** A reader whose service has failed for the given number of pages, each after its retries. */
  async function openFailing(pages: number, options: Crawl4AIReaderOptions = {}): Promise<Crawl4AIReader> {
    const reader = await stage.openReader({ maxRetries: 1, maxConcurrentRequests: 1, ...options })
    stage.server.setFault(CRAWL, status(500))
    await reader.loadAll(listUrls(pages))
    return reader
  }

  test('counts one failure for a page, after its retries', async () => {
    const reader = await openFailing(4)
    expect(stage.server.count(CRAWL)).toBe(8)
    expect(reader.circuitState).toBe('closed')
    await reader.loadAll([URL_1])
    expect(reader.circuitState).toBe('open')
  })

  test('opens after five failed pages, and refuses the rest without a request', async () => {
    const reader = await openFailing(9)
    expect(stage.server.count(CRAWL)).toBe(10)
    expect(reader.circuitState).toBe('open')
    expect(reader.lastFailures).toHaveLength(9)
    expect(reader.lastFailures[5]?.error.message).toBe(
      'https://example.com/6 could not be read: Crawl4AI was skipped after repeated failures; next request in 60 s',
    )
  })

  test('skips even the health check while it is open', async () => {
    const reader = await openFailing(5)
    stage.server.clearRequests()
    expect(await reader.loadAll(listUrls(2))).toEqual([null, null])
    expect(stage.server.count()).toBe(0)
  })

  test('does not open for failing pages', async () => {
    const urls = listUrls(12)
    for (const url of urls.slice(0, 6)) found[url] = { success: false, error_message: 'net::ERR_NAME_NOT_RESOLVED' }
    const reader = await stage.openReader({ maxConcurrentRequests: 1 })
    expect(await reader.loadData(urls)).toHaveLength(6)
    expect(stage.server.count(CRAWL)).toBe(12)
  })

  const HIDDEN = status(500, { error: 'Internal server error', correlation_id: '5f0c4c1e9d' })

  test('opens if the service fails without a reason, and also fails at a probe page', async () => {
    const reader = await stage.openReader({ maxRetries: 1, maxConcurrentRequests: 1 })
    stage.server.setFault(CRAWL, HIDDEN)
    stage.server.setFault('POST /md', HIDDEN)
    await reader.loadAll(listUrls(9))
    expect(stage.server.count(CRAWL)).toBe(10)
    expect(reader.circuitState).toBe('open')
    expect(reader.lastFailures[0]?.error.message).toBe(
      `${URL_1} could not be read: Crawl4AI answered 500: Internal server error`,
    )
  })

  test.each<[string, Fault]>([
    ['breaks the connection', { type: 'reset' }],
    ['is busy', status(429)],
  ])('opens if the service fails without a reason, and %s at the probe page', async (_, fault) => {
    const reader = await stage.openReader({ maxRetries: 0, maxConcurrentRequests: 1 })
    stage.server.setFault(CRAWL, HIDDEN)
    stage.server.setFault('POST /md', fault)
    await reader.loadAll(listUrls(5))
    expect(reader.circuitState).toBe('open')
  })

  test('does not open if the service fails without a reason, but reads the probe page', async () => {
    const reader = await stage.openReader({ maxConcurrentRequests: 1 })
    stage.server.setFault(CRAWL, HIDDEN)
    await reader.loadAll(listUrls(9))
    expect(stage.server.count(CRAWL)).toBe(9)
    expect(stage.clock.pauses).toEqual([])
    expect(reader.circuitState).toBe('closed')
    expect(reader.lastFailures[0]?.error.message).toBe(`${URL_1} could not be read: Internal server error`)
    expect(stage.server.bodies('POST /md')[0]).toEqual({
      url: expect.stringMatching(/^raw:<html>/),
      f: 'raw',
      q: null,
      c: '0',
    })
  })

  test('lets one page through after a minute, and closes if that page is read', async () => {
    const reader = await openFailing(5)
    stage.server.clearFaults()
    stage.clock.advance(59_999)
    expect(await reader.loadData([URL_1])).toEqual([])
    stage.clock.advance(1)
    expect(reader.circuitState).toBe('half-open')
    expect(await reader.loadData([URL_1])).toHaveLength(1)
    expect(reader.circuitState).toBe('closed')
    expect(await reader.loadData(listUrls(5))).toHaveLength(5)
  })

  test('lets one page through after a minute, while the others of the batch wait for its outcome', async () => {
    const reader = await openFailing(5, { maxConcurrentRequests: 5 })
    stage.server.clearFaults()
    stage.server.clearRequests()
    stage.clock.advance(60_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    stage.server.setFault(CRAWL, { type: 'wait', for: promise })
    const loading = reader.loadData(listUrls(100))
    await vi.waitFor(() => expect(stage.server.count(CRAWL)).toBe(1))
    resolve()
    expect(await loading).toHaveLength(100)
    expect(reader.lastFailures).toEqual([])
    expect(stage.server.count(CRAWL)).toBe(100)
  })

  test('opens for another minute if the first page after the pause fails', async () => {
    const reader = await openFailing(5)
    stage.server.clearRequests()
    stage.clock.advance(60_000)
    await reader.loadAll(listUrls(3))
    expect(stage.server.count(CRAWL)).toBe(2)
    expect(reader.circuitState).toBe('open')
    stage.clock.advance(59_000)
    expect(reader.circuitState).toBe('open')
  })

  test('counts timeouts and broken connections, but no 404, 429 or invalid response', async () => {
    const shortTimeoutReader = stage.openShortTimeoutReader(5, { maxRetries: 0 })
    stage.server.setFault(CRAWL, { type: 'hang' })
    await shortTimeoutReader.loadAll(listUrls(5))
    expect(shortTimeoutReader.circuitState).toBe('open')

    const reader = await stage.openReader({ maxRetries: 0 })
    for (const fault of [status(404), status(429), { type: 'not-json' }, status(200, { success: true })] as const) {
      stage.server.setFault(CRAWL, fault as Fault)
      await reader.loadAll(listUrls(6))
      expect(reader.circuitState).toBe('closed')
    }
    stage.server.setFault(CRAWL, { type: 'reset' })
    await reader.loadAll(listUrls(5))
    expect(reader.circuitState).toBe('open')
  })

  test('restarts its count after a proper answer, even if the answer reports a failed page', async () => {
    const reader = await openFailing(4)
    stage.server.clearFaults()
    found[URL_1] = { success: false }
    await reader.loadAll([URL_1])
    stage.server.setFault(CRAWL, status(500))
    await reader.loadAll(listUrls(4))
    expect(reader.circuitState).toBe('closed')
  })
})

describe('the guard of a reader', () => {
  test.each([
    ['http://127.0.0.1/', '127.0.0.1 is not a public address'],
    ['http://private.test/', 'private.test leads to an address that is not public'],
    ['http://169.254.169.254/', '169.254.169.254 is not a public address'],
    ['file:///etc/passwd', 'file: is not fetched'],
    ['raw:<p>Hello</p>', 'raw: is not fetched'],
    ['no address', 'not a URL'],
  ])('does not hand over %s to the service', async (url, problem) => {
    const reader = await stage.openReader()
    expect(await reader.loadAll([url, URL_1])).toMatchObject([null, { metadata: { source: URL_1 } }])
    expect(reader.lastFailures[0]?.error.message).toBe(`${url} could not be read: ${problem}`)
    expect(stage.server.bodies(CRAWL)).toMatchObject([{ urls: [URL_1] }])
  })

  test.each([
    ['http://public.test\\@10.0.0.7/', 'http://public.test/@10.0.0.7/'],
    [' HTTP://Public.test/a b', 'http://public.test/a%20b'],
    ['http:public.test', 'http://public.test/'],
  ])('passes %j to the service in its normalized form', async (url, sentUrl) => {
    const reader = await stage.openReader()
    expect(await reader.loadData([url])).toMatchObject([{ id: documentId(url), metadata: { source: url } }])
    expect(stage.server.bodies(CRAWL)).toMatchObject([{ urls: [sentUrl] }])
  })

  test('passes no password to the service, and leaves it out of messages', async () => {
    const reader = await stage.openReader()
    const url = 'https://me:secret@example.com/1'
    expect(await reader.loadAll([url, URL_1])).toMatchObject([null, { metadata: { source: URL_1 } }])
    const error = reader.lastFailures[0]?.error
    expect(error).toMatchObject({
      code: 'READ_FAILED',
      message: `${URL_1} could not be read: it contains a user name or password`,
      entry: { advice: expect.stringContaining('without them') },
    })
    expect(stage.server.bodies(CRAWL)).toMatchObject([{ urls: [URL_1] }])
    expect(stage.records).toContainEqual({
      level: 'error',
      event: 'page-failed',
      url: URL_1,
      failure: 'has-credentials',
    })
    expect(JSON.stringify(stage.records)).not.toContain('secret')
  })

  test('refuses a page that was read at a private address', async () => {
    const { document, problem } = await readFound({ redirected_url: 'http://private.test/' })
    expect(document).toBeNull()
    expect(problem).toBe(
      `${URL_1} could not be read: it redirects: private.test leads to an address that is not public`,
    )
  })

  test('admits private addresses that the owner allows', async () => {
    const reader = await stage.openReader({ allowPrivate: ['private.test'] })
    expect(await reader.loadData(['http://private.test/'])).toHaveLength(1)
  })
})

describe('the log of a reader', () => {
  test('has batches, pages, retries and failures, but no text of a page', async () => {
    found['https://example.com/2'] = { success: false, error_message: 'private text of the page' }
    const reader = await stage.openReader({ maxConcurrentRequests: 1 })
    stage.server.queueFaults(CRAWL, status(503), { type: 'none' }, { type: 'none' }, status(404))
    await reader.loadAll(listUrls(3))
    expect(stage.records).toEqual([
      { level: 'info', event: 'batch-started', total: 3 },
      {
        level: 'warning',
        event: 'call-retried',
        url: URL_1,
        attempt: 1,
        delayMs: 1000,
        failure: 'server-error',
        status: 503,
      },
      { level: 'debug', event: 'page-read', url: URL_1, status: 200, length: expect.any(Number) },
      { level: 'error', event: 'page-failed', url: 'https://example.com/2', failure: 'refused' },
      { level: 'error', event: 'page-failed', url: 'https://example.com/3', failure: 'refused', status: 404 },
      { level: 'info', event: 'batch-ended', total: 3, loaded: 1, failed: 2 },
    ])
    expect(JSON.stringify(stage.records)).not.toContain('private')
  })

  test('reports when the circuit breaker opens, refuses and closes', async () => {
    const reader = await stage.openReader({ maxRetries: 0, maxConcurrentRequests: 1 })
    stage.server.setFault(CRAWL, { type: 'reset' })
    await reader.loadAll(listUrls(6))
    stage.server.clearFaults()
    stage.clock.advance(60_000)
    await reader.loadAll([URL_1])
    const events = stage.records.map(({ event, failure }) => (failure === undefined ? event : `${event} ${failure}`))
    expect(events.slice(5)).toEqual([
      'circuit-opened',
      'page-failed network',
      'page-failed circuit-open',
      'batch-ended',
      'batch-started',
      'circuit-closed',
      'page-read',
      'batch-ended',
    ])
  })
})
