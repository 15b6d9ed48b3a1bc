import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import type { CrawlEvent, HostProgress } from '../../src/crawl/events.ts'
import type { CrawlLimits } from '../../src/crawl/run.ts'
import { parseAllowance } from '../../src/fetch/addresses.ts'
import { openHttpFetcher } from '../../src/fetch/http.ts'
import { addSource, type SourceInput } from '../../src/library/crawl/add-source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { type Crawled, runCrawl } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import { type Answer, openSite, type SeenRequest, type Site, type SiteOptions } from './site.ts'

/**
 * Tolerance for times measured at a server on a busy machine: the first of two requests may have waited for its connection, or for the
 * event loop that the server shares with the crawl.
 */
export const TOLERANCE_MS = 300
const MEDIAN_TOLERANCE_MS = 60

const opened: { close(): Promise<void> }[] = []

// These tests run concurrently, so their sites cannot close after each one.
afterAll(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** Opens a site that closes after the tests of the file. */
export async function openPoliteSite(
  pages: Readonly<Record<string, Answer>> = {},
  options?: SiteOptions,
): Promise<Site> {
  const site = await openSite(pages, options)
  opened.push(site)
  return site
}

/** The origin of a site under a host name that does not count as this machine. */
export function originOf(site: Site, name: string): string {
  return `http://${name}:${new URL(site.origin).port}`
}

/** Options of a library for tests of politeness. */
export interface PoliteOptions {
  readonly limits?: Partial<CrawlLimits>
  /** How many times faster the clock of the library runs. @default 1 */
  readonly speed?: number
  /** Duration of a DNS lookup. @default 0 */
  readonly lookupMs?: number
}

/** Opens a library that resolves every name ending in `.test` to this machine. It closes with the test file. */
export async function openPoliteLibrary({
  limits = {},
  speed = 1,
  lookupMs = 0,
}: PoliteOptions = {}): Promise<OpenLibrary> {
  const library = await openLibrary({ path: ':memory:', version: '0.0.0', limits })
  const parsed = parseAllowance(['127.0.0.0/8'])
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const fetcher = openHttpFetcher({
    userAgent: 'Pharos/0.0.0',
    allowance: parsed.allowance,
    connectionsPerOrigin: library.limits.concurrency,
    resolve: async (host) => {
      if (lookupMs > 0) await sleep(lookupMs)
      return host.endsWith('.test') ? ['127.0.0.1'] : []
    },
  })
  opened.push(library, fetcher)
  return withFastClock({ ...library, fetcher }, speed)
}

/** Crawls an address as a new source of a library. */
export async function crawlPolitely(
  library: OpenLibrary,
  url: string,
  more: Partial<Omit<SourceInput, 'url'>> = {},
): Promise<Crawled> {
  const source = await addSource(library, { url, ...more })
  return runCrawl(library, source, { kind: 'add' }, new URL(url).origin)
}

/** Arrival times of the selected requests of a site, in order. */
export function arrivalTimes(site: Site, isSelected: (request: SeenRequest) => boolean = () => true): number[] {
  return site.requests
    .filter(isSelected)
    .map(({ at }) => at)
    .sort((a, b) => a - b)
}

/** Matches requests to one host name of a site. */
export function isTo(name: string): (request: SeenRequest) => boolean {
  return ({ headers }) => String(headers['host']).split(':', 1)[0] === name
}

/** Expects that n consecutive requests take at least n - 1 times the pause and its minimum jitter. */
export function expectPaced(
  moments: readonly number[],
  pauseMs: number,
  minJitterMs = 25,
  toleranceMs: number = TOLERANCE_MS,
): void {
  const step = pauseMs + minJitterMs
  for (const [i, from] of moments.entries()) {
    for (const [j, to] of moments.entries()) {
      if (j <= i) continue
      const minMs = (j - i) * step - toleranceMs
      expect(to - from, `from request ${i} to ${j} of ${moments.length}`).toBeGreaterThanOrEqual(minMs)
    }
  }
  // A late request makes one gap longer and the next one shorter. The median gap hardly changes, so its tolerance is smaller.
  const median = gapsOf(moments).toSorted((a, b) => a - b)[Math.floor((moments.length - 1) / 2)] ?? step
  expect(median).toBeGreaterThanOrEqual(step - MEDIAN_TOLERANCE_MS)
}

/** The times between consecutive moments. */
export function gapsOf(moments: readonly number[]): number[] {
  return moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0))
}

/** The state of a host in every progress event that names it. */
export function progressOf(events: readonly CrawlEvent[], host: string): HostProgress[] {
  return events.flatMap((event) => (event.type === 'progress' ? event.hosts : [])).filter((one) => one.host === host)
}
