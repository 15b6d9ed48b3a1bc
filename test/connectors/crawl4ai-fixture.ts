import { createAddressCheck } from '../../src/fetch/address-check.ts'
import { PUBLIC_ONLY } from '../../src/fetch/addresses.ts'
import { createCrawl4AIClient } from '../../src/fetch/crawl4ai-client.ts'
import { openServiceClient } from '../../src/fetch/service-client.ts'
import type { HttpClient } from '../../src/library/ports/http-client.ts'
import { type Crawl4AIReaderOptions, resolveReaderOptions } from '../../src/readers/crawl4ai-options.ts'
import { Crawl4AIReader, openCrawl4AIReader } from '../../src/readers/crawl4ai-reader.ts'
import type { LogRecord } from '../../src/readers/reader-log.ts'
import { createQuickClock, type QuickClock } from './quick-clock.ts'
import { type Crawl4AIServerOptions, openCrawl4AIServer } from './servers/crawl4ai.ts'
import type { FaultyServer } from './servers/faults.ts'

/** Every name resolves to a public address, except for `private.test`. The tests never connect to these addresses. */
export const resolvePublic = async (host: string): Promise<readonly string[]> =>
  host === 'private.test' ? ['10.0.0.7'] : ['93.184.216.34']

/** A Crawl4AI server, and readers that use it. */
export interface Crawl4AIFixture {
  readonly server: FaultyServer
  readonly clock: QuickClock
  readonly records: LogRecord[]
  /** Number of page requests of readers with a short timeout, including those that timed out. */
  readonly shortTimeoutCalls: number
  /** Opens a reader of the service, which is closed with the fixture. */
  openReader(options?: Crawl4AIReaderOptions): Promise<Crawl4AIReader>
  /** Opens a reader whose first `count` page requests time out after 20 ms, which is less than the options allow. */
  openShortTimeoutReader(count: number, options?: Crawl4AIReaderOptions): Crawl4AIReader
  close(): Promise<void>
}

/** Opens a Crawl4AI test server, which by default has a page for every address. */
export async function openCrawl4AIFixture(options: Crawl4AIServerOptions = {}): Promise<Crawl4AIFixture> {
  const server = await openCrawl4AIServer(options)
  const clock = createQuickClock()
  const records: LogRecord[] = []
  const readers: Crawl4AIReader[] = []
  let shortTimeoutCallCount = 0
  const complete = (given: Crawl4AIReaderOptions): Crawl4AIReaderOptions => ({
    endpointUrl: server.origin,
    clock,
    resolve: resolvePublic,
    log: (record) => records.push(record),
    ...given,
  })
  const register = (reader: Crawl4AIReader): Crawl4AIReader => {
    readers.push(reader)
    return reader
  }
  return {
    server,
    clock,
    records,
    get shortTimeoutCalls() {
      return shortTimeoutCallCount
    },
    openReader: async (given = {}) => register(await openCrawl4AIReader(complete(given))),
    openShortTimeoutReader(count, given = {}) {
      const settings = resolveReaderOptions(complete(given))
      const http = openServiceClient({ origins: [server.origin], userAgent: 'Pharos' })
      const last = shortTimeoutCallCount + count
      const shortTimeoutClient: HttpClient = {
        request: (request) => {
          const isShort = request.method === 'POST' && ++shortTimeoutCallCount <= last
          return http.request(isShort ? { ...request, timeoutMs: 20 } : request)
        },
      }
      const client = createCrawl4AIClient({
        endpoint: server.origin,
        timeoutMs: settings.timeoutSeconds * 1000,
        retries: settings.maxRetries,
        delaysMs: settings.retryDelays.map((seconds) => seconds * 1000),
        client: shortTimeoutClient,
        clock,
      })
      const checkAddress = createAddressCheck({ allowance: PUBLIC_ONLY, resolve: resolvePublic, timeoutMs: 1000 })
      return register(new Crawl4AIReader(settings, { http, client, checkAddress }))
    },
    async close() {
      for (const reader of readers) await reader.close()
      await server.close()
    },
  }
}

/** `https://example.com/1` to `/count`. */
export function listUrls(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `https://example.com/${i + 1}`)
}
