import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseAllowance } from '../../src/fetch/addresses.ts'
import { openHttpFetcher } from '../../src/fetch/http.ts'
import { openCrawl4AIReader } from '../../src/readers/crawl4ai-reader.ts'
import type { DocumentReader } from '../../src/readers/document-reader.ts'
import { openPharosReader } from '../../src/readers/pharos-reader.ts'
import { type Canary, INSIDE_ANSWERS, INSIDE_HOSTS, LOCAL_ANSWERS, LOCAL_HOSTS, openCanary } from '../sites/canary.ts'
import { openTestLibrary, openTestSite } from '../sites/crawl.ts'
import { redirect } from '../sites/site.ts'
import { type CrawlResult, openCrawl4AIServer } from './servers/crawl4ai.ts'

/** Address of the test site, the only local address that the redirect test allows. The canary listens on all others. */
const SITE_ADDRESS = '127.0.0.3'

/** A public address, to which the tests never connect. */
const PUBLIC_ADDRESS = '93.184.215.14'

/** The pacer does not delay requests to names below `localhost`. */
const DOMAIN = 'docs.localhost'

const ANSWERS = [...LOCAL_ANSWERS, ...INSIDE_ANSWERS]

const closers: (() => Promise<unknown>)[] = []
let canary: Canary

beforeEach(async () => {
  canary = await openCanary()
  closers.push(() => canary.close())
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** DNS answers of the tests: `name-3.docs.localhost` gets the fourth entry of ANSWERS, and `public.…` gets a public address. */
async function resolve(host: string): Promise<readonly string[]> {
  const [, number] = /^name-(\d+)\./.exec(host) ?? []
  if (number !== undefined) return ANSWERS[Number(number)] ?? []
  if (host.startsWith('public.')) return [PUBLIC_ADDRESS]
  // Resolves local names like a system resolver.
  return ['127.0.0.1', '::1']
}

/** URLs that lead to internal addresses: every spelling of such an address, and names that resolve to one. */
function listInternalUrls(port: number): string[] {
  const names = ANSWERS.map((_, i) => `name-${i}.${DOMAIN}`)
  const urls = [...LOCAL_HOSTS, ...INSIDE_HOSTS, ...names].map((host) => `http://${host}:${port}/latest/meta-data`)
  return [...urls, 'http://127.0.0.1/', 'http://localhost/', 'http://169.254.169.254/latest/meta-data']
}

/** A reader that may reach the given internal addresses besides all public ones. */
async function openGuarded(allowed: readonly string[], obeysRobots = true): Promise<DocumentReader> {
  const parsed = parseAllowance(allowed)
  if (parsed.type === 'problem') throw new TypeError(parsed.problem)
  const fetcher = openHttpFetcher({ userAgent: 'Pharos', allowance: parsed.allowance, resolve })
  const limits = { intervalMs: 0, startIntervalMs: 0, jitterMs: [0, 0] as const }
  const library = { ...(await openTestLibrary(':memory:', limits)), fetcher }
  const reader = await openPharosReader({ library, obeysRobots, maxConcurrentRequests: 20 })
  closers.push(
    () => fetcher.close(),
    () => reader.close(),
  )
  return reader
}

async function openServiceReader(find: (url: string) => CrawlResult = () => ({})) {
  const server = await openCrawl4AIServer({ find })
  const reader = await openCrawl4AIReader({ endpointUrl: server.origin, resolve, maxConcurrentRequests: 20 })
  closers.push(
    () => server.close(),
    () => reader.close(),
  )
  return { server, reader }
}

/** Expects that every URL is refused because of the address it leads to, and that nothing connected to the canary. */
async function expectRefused(reader: DocumentReader, urls: readonly string[]): Promise<void> {
  expect(await reader.loadAll(urls)).toEqual(urls.map(() => null))
  const reasons = reader.lastFailures.map(({ url, error }) => [url, error.message])
  expect(reasons).toHaveLength(urls.length)
  expect(reasons.filter(([, message]) => !REFUSED.test(message ?? ''))).toEqual([])
  expect(canary.connections, canary.paths.join(' ')).toBe(0)
}

/** Error messages of refusals: the address is not public, names a metadata service, or is not a usable URL. */
const REFUSED =
  /not a public address|not public|name of a cloud metadata service|not an address|not a URL|user name or password|Location/

describe('a reader without a service', () => {
  test.each([true, false])(
    'does not connect to internal addresses, with robots.txt obeyed: %s',
    async (obeysRobots) => {
      await expectRefused(await openGuarded([], obeysRobots), listInternalUrls(canary.port))
    },
  )

  test('follows no redirect to an internal address', async () => {
    const internalUrls = listInternalUrls(canary.port)
    const site = await openTestSite(
      Object.fromEntries(internalUrls.map((url, i) => [`/${i}`, redirect(Buffer.from(url).toString('latin1'))])),
      {
        address: SITE_ADDRESS,
      },
    )
    const reader = await openGuarded([new URL(site.origin).host])
    await expectRefused(
      reader,
      internalUrls.map((_, i) => `${site.origin}/${i}`),
    )
    expect(site.requests.length).toBeGreaterThan(internalUrls.length)
  })

  test('connects to an internal address that is allowed', async () => {
    const reader = await openGuarded(['127.0.0.0/8'])
    await reader.loadAll([`http://127.0.0.1:${canary.port}/`])
    expect(canary.connections).toBeGreaterThan(0)
  })
})

describe('a reader with a Crawl4AI service', () => {
  test('does not pass internal addresses to the service', async () => {
    const { server, reader } = await openServiceReader()
    await expectRefused(reader, listInternalUrls(canary.port))
    expect(server.count('POST /crawl')).toBe(0)
  })

  test('discards pages that were read at internal addresses', async () => {
    const internalUrls = listInternalUrls(canary.port).filter((url) => URL.canParse(url))
    const { server, reader } = await openServiceReader((url) => ({
      redirected_url: internalUrls[Number(new URL(url).pathname.slice(1))],
    }))
    const urls = internalUrls.map((_, i) => `http://public.${DOMAIN}/${i}`)
    await expectRefused(reader, urls)
    expect(server.count('POST /crawl')).toBe(urls.length)
  })

  test('accepts public pages', async () => {
    const { server, reader } = await openServiceReader()
    expect(await reader.loadData([`http://public.${DOMAIN}/guide`])).toHaveLength(1)
    expect(server.count('POST /crawl')).toBe(1)
  })
})
