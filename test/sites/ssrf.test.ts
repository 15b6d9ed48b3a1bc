import { afterEach, describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { Scope } from '../../src/core/url/scope.ts'
import type { CrawlLimits } from '../../src/crawl/run.ts'
import { parseAllowance } from '../../src/fetch/addresses.ts'
import { type HttpFetcherOptions, openHttpFetcher } from '../../src/fetch/http.ts'
import { addSource, type SourceInput } from '../../src/library/crawl/add-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type Canary, INSIDE_ANSWERS, INSIDE_HOSTS, LOCAL_ANSWERS, LOCAL_HOSTS, openCanary } from './canary.ts'
import { type Crawled, openTestLibrary, openTestSite, runCrawl } from './crawl.ts'
import { type Answer, type AnswerParts, page, redirect, type Site, sitemap, text } from './site.ts'
import { openTunnelProxy } from './tunnel-proxy.ts'

const LONG = process.env['TEST_LONG'] !== undefined

/** Address of the site, the only one that may be reached. The canary listens on every other address. */
const SITE_ADDRESS = '127.0.0.3'

/** Every name below this domain is in scope and counts as this machine: the address filter admits it, and requests are not paced. */
const DOMAIN = 'docs.localhost'

/** Trap guards are off, because the pages of this site look alike. */
const SCOPE: Partial<Scope> = { reach: 'domain', trapGuards: false }

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Ways by which many addresses can enter one crawl. */
const WAYS = [
  'link',
  'seed',
  'redirect',
  'refresh',
  'robots-sitemap',
  'robots-redirect',
  'sitemap-loc',
  'sitemap-index',
  'sitemap-redirect',
  'canonical',
  'alternate',
  'base',
  'frame',
  'llms-txt',
  'llms-full',
] as const

type Way = (typeof WAYS)[number]

/** Canonical and alternate addresses are not fetched by themselves, and a sitemap index may only name sitemaps of its own host. */
const NEVER_FETCHED: readonly Way[] = ['canonical', 'alternate', 'sitemap-index']

/**
 * Which forms of addresses are tried: `all` forms in every way, or only the `local` ones of this machine. With `shared`, each way tries a
 * share of all forms, unless TEST_LONG is set, and the ways together try every form.
 */
type Forms = 'all' | 'local' | 'shared'

/** Number of shares into which `shared` divides the forms. */
const FORM_SHARES = 3

/** URLs of internal addresses for one way into a crawl: with the address itself, and with a name of the site that resolves to it. */
function formsFor(way: Way, port: number, which: Forms): string[] {
  const hosts = which === 'local' ? LOCAL_HOSTS : [...LOCAL_HOSTS, ...INSIDE_HOSTS]
  const names = answersFor(which).map((_, i) => `${way}-${i}.${DOMAIN}`)
  const share = WAYS.indexOf(way) % FORM_SHARES
  const urls = [...hosts, ...names]
    .map((host, i) => `http://${host}:${port}/${way}/${i}`)
    .filter((_, i) => which !== 'shared' || LONG || i % FORM_SHARES === share)
  // A robots.txt that redirects to an invalid address is retried, which takes seconds.
  return way === 'robots-redirect' ? urls.filter((url) => URL.canParse(url)) : urls
}

function answersFor(which: Forms): readonly (readonly string[])[] {
  return which === 'local' ? LOCAL_ANSWERS : [...LOCAL_ANSWERS, ...INSIDE_ANSWERS]
}

/** A site that leads to the canary in every way. */
function trapPages(origin: string, port: number, which: Forms): Record<string, Answer> {
  const forms = (way: Way) => formsFor(way, port, which)
  const paths = (way: Way) => forms(way).map((_, i) => `/from-${way}/${i}`)
  const perForm = (way: Way, answer: (url: string, i: number) => Answer) =>
    Object.fromEntries(forms(way).map((url, i) => [`/from-${way}/${i}`, answer(url, i)]))
  const title = (way: Way, i: number) => `${way} number ${i}`
  const statuses = [301, 302, 303, 307, 308]
  // Each of these hosts is the site, under a name of its own with a robots.txt of its own.
  const robotsHosts = forms('robots-redirect').map((_, i) => origin.replace('www.', `robots${i}.`))
  const entries = ['redirect', 'refresh', 'canonical', 'alternate', 'base', 'frame'] as const
  const robots = [
    `Sitemap: ${origin}/sitemap.xml`,
    `Sitemap: ${origin}/index.xml`,
    ...forms('robots-sitemap').map((url) => `Sitemap: ${url}`),
    ...paths('sitemap-redirect').map((path) => `Sitemap: ${origin}${path}`),
  ]
  return {
    '/': page('Home', ['/links', ...entries.flatMap(paths), ...robotsHosts.map((host) => `${host}/hello`)]),
    '/links': page('Links', forms('link')),
    '/hello': page('Hello'),
    '/robots.txt': ({ headers }) => {
      const [, i] = /^robots(\d+)\./.exec(headers.host ?? '') ?? []
      const target = i === undefined ? undefined : forms('robots-redirect')[Number(i)]
      return target === undefined ? text(`${robots.join('\n')}\n`) : redirectTo(target)
    },
    '/sitemap.xml': sitemap([`${origin}/hello`, ...forms('sitemap-loc')]),
    '/index.xml': sitemap(forms('sitemap-index'), 'sitemapindex'),
    '/llms.txt': text(
      `# Docs\n\n${forms('llms-txt')
        .map((url, i) => `- [Page ${i}](${url})\n`)
        .join('')}`,
    ),
    '/llms-full.txt': text(
      forms('llms-full')
        .map((url, i) => `# Page ${i}\nSource: ${url}\n\n`)
        .join(''),
    ),
    ...perForm('redirect', (url, i) => redirectTo(url, statuses[i % statuses.length])),
    ...perForm('refresh', (url) => text(`<meta http-equiv="refresh" content="0; url=${url}">`, 'text/html')),
    ...perForm('sitemap-redirect', (url, i) => redirectTo(url, statuses[i % statuses.length])),
    ...perForm('canonical', (url, i) => page(title('canonical', i), [], `<link rel="canonical" href="${url}">`)),
    ...perForm('alternate', (url, i) =>
      page(title('alternate', i), [], `<link rel="alternate" type="text/markdown" href="${url}">`),
    ),
    ...perForm('base', (url, i) => page(title('base', i), [`../base/${i}`, '#top'], `<base href="${url}">`)),
    ...perForm('frame', (url, i) => ({
      headers: {
        link: bytesOf(`<${url}>; rel="canonical"`),
        refresh: bytesOf(`0; url=${url}`),
        'content-location': bytesOf(url),
      },
      body: `${page(title('frame', i))}<iframe src="${url}"></iframe><img src="${url}"><script src="${url}"></script>`,
    })),
  }
}

describe('crawls cannot reach internal addresses', () => {
  test('no form of an internal address is reached', async () => {
    const { site, canary, library } = await setUp([`${SITE_ADDRESS}:*`])
    const crawled = await crawlTraps(library, site, canary, 'all')
    expect(canary.connections, canary.paths.join(' ')).toBe(0)
    // The crawl saw every address, and the network guard refused all those that the address filter admitted.
    const states = [...crawled.rows].map(([key, { state, reason }]) => [key, `${state} ${reason}`] as const)
    for (const way of [
      'link',
      'seed',
      'redirect',
      'refresh',
      'sitemap-loc',
      'base',
      'llms-txt',
      'llms-full',
    ] as const) {
      const names = answersFor('all').map((_, i) => `http://${way}-${i}.${DOMAIN}:${canary.port}/`)
      const found = names.map((name) => states.find(([key]) => key.startsWith(name))?.[1])
      expect([way, new Set(found)]).toEqual([way, new Set(['failed address-refused'])])
    }
    const inside = states.filter(([key]) => key.includes(`:${canary.port}/`))
    expect(inside.length).toBeGreaterThan(WAYS.length * LOCAL_HOSTS.length)
    expect(inside.filter(([, state]) => /indexed|unchanged|pending|not-found/.test(state))).toEqual([])
    expect(site.requestedPaths()).toContain('/hello')
  })

  test('no internal address is reached through a proxy', async () => {
    const proxy = await openTunnelProxy()
    closers.push(() => proxy.close())
    const { site, canary, library } = await setUp([`${SITE_ADDRESS}:*`], { proxy: proxy.url })
    await crawlTraps(library, site, canary, 'shared')
    expect(new Set(proxy.targets)).toEqual(new Set([`${SITE_ADDRESS}:${new URL(site.origin).port}`]))
    expect(canary.connections).toBe(0)
  })

  test('the same ways reach internal addresses if these are allowed', async () => {
    const { site, canary, library } = await setUp(['127.0.0.0/8', '::1', '0.0.0.0', '::'])
    await crawlTraps(library, site, canary, 'local')
    const reached = new Set(canary.paths.map((path) => path.split('/')[1]))
    reached.delete('robots.txt')
    expect(reached).toEqual(new Set(WAYS.filter((way) => !NEVER_FETCHED.includes(way))))
  })
})

/** Number of shares into which {@link singleForms} are divided if TEST_LONG is not set. */
const SINGLE_FORM_SHARES = 6

/** Ways that take one address for a whole crawl. */
const SINGLE_WAYS: Readonly<Record<string, (origin: string, url: string) => SingleWay>> = {
  start: (_origin, url) => ({ input: { url } }),
  'start-redirect': (origin, url) => ({ pages: { '/': redirectTo(url) }, input: { url: origin } }),
  'llms-txt-redirect': (origin, url) => ({
    pages: { '/': page('Home'), '/llms.txt': redirectTo(url, 302), '/llms-full.txt': redirectTo(url, 307) },
    input: { url: origin },
  }),
  'llms-txt-given': (origin, url) => ({
    pages: { '/': page('Home') },
    input: { url: origin, settings: { llmsTxtUrl: url } },
  }),
  'sitemap-guess-redirect': (origin, url) => ({
    pages: { '/': page('Home'), '/sitemap.xml': redirectTo(url, 308) },
    input: { url: origin },
  }),
  'own-robots-redirect': (origin, url) => ({
    pages: { '/': page('Home'), '/robots.txt': redirectTo(url, 303) },
    input: { url: origin },
  }),
  'variant-redirect': (origin, url) => ({
    pages: { '/a': page('A'), '/a.md': redirectTo(url) },
    input: { url: `${origin}/a` },
  }),
}

interface SingleWay {
  readonly pages?: Readonly<Record<string, Answer>>
  readonly input: SourceInput
}

describe('starts, lists and single pages cannot reach internal addresses', () => {
  test.each(Object.keys(SINGLE_WAYS))('no internal address is reached by %s', async (way) => {
    const { site, canary, library } = await setUp([`${SITE_ADDRESS}:*`])
    const forms = singleForms(way, canary.port).filter((url) => URL.canParse(url))
    const share = Object.keys(SINGLE_WAYS).indexOf(way) % SINGLE_FORM_SHARES
    // Each way tries a share of the forms, and all ways together try every form.
    await crawlSingles(library, site, way, LONG ? forms : forms.filter((_, i) => i % SINGLE_FORM_SHARES === share))
    expect(canary.connections, canary.paths.join(' ')).toBe(0)
  })

  test('the same ways reach internal addresses if these are allowed', async () => {
    const { site, canary, library } = await setUp(['127.0.0.0/8'])
    for (const way of Object.keys(SINGLE_WAYS)) {
      await crawlSingles(library, site, way, [`http://127.0.0.1:${canary.port}/${way}`])
    }
    const reached = new Set(canary.paths.map((path) => path.split('/')[1]))
    for (const way of Object.keys(SINGLE_WAYS)) {
      // A Markdown variant that redirects is not followed.
      expect([way, reached.has(way)]).toEqual([way, way !== 'variant-redirect'])
    }
  })

  test('fetching a page or a redirect does not reach an internal address', async () => {
    const { site, canary, library } = await setUp([`${SITE_ADDRESS}:*`])
    for (const obeysRobots of [true, false]) {
      for (const url of singleForms('fetch', canary.port)) {
        site.pages.set('/moved', redirectTo(url, 302))
        for (const requested of [url, `${site.origin}/moved`]) {
          expect([url, await refusalOf(library, requested, obeysRobots)]).toEqual([url, expect.stringMatching(REFUSED)])
        }
      }
    }
    expect(canary.connections, canary.paths.join(' ')).toBe(0)
    const open = await setUp(['127.0.0.0/8', '::1', '0.0.0.0', '::'])
    const hosts = LOCAL_HOSTS.filter((host) => !host.includes('@'))
    for (const host of hosts) await refusalOf(open.library, `http://${host}:${open.canary.port}/`, false)
    expect(open.canary.paths.length).toBe(hosts.length)
  })

  test('localhost, resolved by the system, does not reach this machine', async () => {
    const canary = await openCanary()
    closers.push(() => canary.close())
    const library = await stageGuarded([])
    expect(await refusalOf(library, `http://localhost:${canary.port}/`, false)).toMatch('address-refused')
    expect(canary.connections).toBe(0)
  })
})

describe('a resolver with changing answers', () => {
  const lookupCounts = new Map<string, number>()

  /** Answers with the address of the site at first and with this machine later, or with both at once, depending on the name. */
  const resolve = async (host: string): Promise<string[]> => {
    const lookupCount = (lookupCounts.get(host) ?? 0) + 1
    lookupCounts.set(host, lookupCount)
    if (host.startsWith('www.')) return [SITE_ADDRESS]
    if (host.startsWith('both.')) return [SITE_ADDRESS, '127.0.0.1']
    if (host.startsWith('other.')) return ['127.0.0.1', SITE_ADDRESS]
    return lookupCount === 1 ? [SITE_ADDRESS] : ['127.0.0.1']
  }

  const crawlOnce = async (allowed: readonly string[]) => {
    lookupCounts.clear()
    const site = await openTestSite({}, { address: SITE_ADDRESS })
    const { port } = new URL(site.origin)
    // The canary listens on the same port of 127.0.0.1, to which the names resolve later.
    const canary = await openCanary('127.0.0.1', Number(port))
    closers.push(() => canary.close())
    const hosts = ['rebind', 'both', 'other'].map((name) => `http://${name}.${DOMAIN}:${port}`)
    // The connections are closed, so that every request resolves the name again.
    const closing = (body: string) => ({ headers: { connection: 'close' }, body })
    site.pages.set('/robots.txt', {
      headers: { 'content-type': 'text/plain', connection: 'close' },
      body: 'User-agent: *\n',
    })
    site.pages.set(
      '/',
      closing(
        page(
          'Home',
          hosts.map((host) => `${host}/page`),
        ),
      ),
    )
    site.pages.set('/page', closing(page('Page')))
    const library = await stageGuarded(allowed.length === 0 ? [`${SITE_ADDRESS}:${port}`] : allowed, { resolve })
    const url = `http://www.${DOMAIN}:${port}`
    const source = await addSource(library, { url, scope: SCOPE })
    const crawled = await runCrawl(library, source, { kind: 'add' }, url)
    return { canary, site, reasons: hosts.map((host) => crawled.rows.get(`${host}/page`)?.reason ?? null) }
  }

  test('does not lead a crawl to the canary, because every connection is checked', async () => {
    const { canary, site, reasons } = await crawlOnce([])
    expect(reasons).toEqual(['address-refused', 'address-refused', 'address-refused'])
    expect(canary.connections, canary.paths.join(' ')).toBe(0)
    // The first answer was used for robots.txt only, because each connection is checked again.
    const seen = site.requests.filter(({ headers }) => headers['host']?.toString().startsWith('rebind.'))
    expect(seen.map(({ path }) => path)).toEqual(['/robots.txt'])
    expect(lookupCounts.get(`rebind.${DOMAIN}`)).toBeGreaterThan(1)
  })

  test('leads to the canary if that is allowed', async () => {
    const { canary } = await crawlOnce(['127.0.0.0/8'])
    expect(canary.connections).toBeGreaterThan(0)
  })
})

/** The error for a refused address: from the guard, or because the URL is invalid. */
const REFUSED = /address-refused|URL_INVALID|bad-answer, the server answered 302 without a usable Location/

/** Code and message of the error with which a fetch fails, or `fetched`. */
async function refusalOf(library: OpenLibrary, url: string, obeysRobots: boolean): Promise<string> {
  try {
    await fetchUrl(library, url, { obeysRobots, signal: new AbortController().signal })
    return 'fetched'
  } catch (error) {
    if (error instanceof PharosError) return `${error.code} ${error.message}`
    throw error
  }
}

function singleForms(way: string, port: number): string[] {
  const names = answersFor('all').map((_, i) => `${way}-${i}.${DOMAIN}`)
  return [...LOCAL_HOSTS, ...INSIDE_HOSTS, ...names].map((host) => `http://${host}:${port}/${way}`)
}

interface GuardedFixture {
  readonly site: Site
  readonly canary: Canary
  readonly library: OpenLibrary
}

/** A site under a name, a canary on every address, and a library with the given allowance. `*` stands for the port of the site. */
async function setUp(allowed: readonly string[], options: Partial<HttpFetcherOptions> = {}): Promise<GuardedFixture> {
  const [canary, real] = [await openCanary(), await openTestSite({}, { address: SITE_ADDRESS })]
  closers.push(() => canary.close())
  const { port } = new URL(real.origin)
  const site = { ...real, origin: `http://www.${DOMAIN}:${port}` }
  const resolve = async (host: string): Promise<readonly string[]> => {
    const [, , i] = new RegExp(`^(\\w[\\w-]*)-(\\d+)\\.${DOMAIN}$`).exec(host) ?? []
    if (i !== undefined) return answersFor('all')[Number(i)] ?? []
    if (host.endsWith(`.${DOMAIN}`)) return [SITE_ADDRESS]
    // Resolves local names like a system resolver.
    return ['127.0.0.1', '::1']
  }
  const rules = allowed.map((rule) => rule.replace('*', port))
  return { site, canary, library: await stageGuarded(rules, { resolve, ...options }) }
}

/** No pacing, because refused requests reach no server. */
const UNPACED: Partial<CrawlLimits> = { intervalMs: 0, startIntervalMs: 0, jitterMs: [0, 0] }

/** A library whose fetcher may reach only the given addresses. */
async function stageGuarded(
  allowed: readonly string[],
  options: Partial<HttpFetcherOptions> = {},
): Promise<OpenLibrary> {
  const parsed = parseAllowance(allowed)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  const fetcher = openHttpFetcher({ userAgent: 'Pharos/0.0.0', allowance: parsed.allowance, ...options })
  closers.push(() => fetcher.close())
  return { ...(await openTestLibrary(':memory:', UNPACED)), fetcher }
}

async function crawlTraps(library: OpenLibrary, site: Site, canary: Canary, which: Forms): Promise<Crawled> {
  const { origin, pages } = site
  for (const [path, answer] of Object.entries(trapPages(origin, canary.port, which))) pages.set(path, answer)
  const seeds = formsFor('seed', canary.port, which).filter((url) => URL.canParse(url) && !url.includes('@'))
  const source = await addSource(library, { url: `${origin}/`, scope: SCOPE, settings: { seeds } })
  return await runCrawl(library, source, { kind: 'add' }, origin)
}

/** Crawls once for each address, each time under another host name of the site. Ignores the errors for invalid addresses. */
async function crawlSingles(library: OpenLibrary, site: Site, way: string, urls: readonly string[]): Promise<void> {
  const singles = urls.map((url, i) => {
    const single = SINGLE_WAYS[way]?.(site.origin.replace('www.', `${way}-site${i}.`), url)
    if (single === undefined) throw new Error(way)
    return single
  })
  site.pages.clear()
  for (const path of Object.keys(singles[0]?.pages ?? {})) {
    site.pages.set(path, (request) => {
      const [, i = ''] = /-site(\d+)\./.exec(request.headers.host ?? '') ?? []
      const answer = singles[Number(i)]?.pages?.[path]
      return (typeof answer === 'function' ? answer(request) : answer) ?? { status: 404 }
    })
  }
  const crawlOne = async ({ input }: SingleWay, i: number) => {
    try {
      const source = await addSource(library, { ...input, name: `${way} ${i}`, scope: SCOPE })
      await runCrawl(library, source, { kind: 'add' }, site.origin)
    } catch (error) {
      if (!(error instanceof PharosError) || error.code !== 'URL_INVALID') throw error
    }
  }
  await Promise.all(singles.map(crawlOne))
}

function redirectTo(url: string, status?: number): AnswerParts {
  return redirect(bytesOf(url), status)
}

/** The value of a header field as servers send it, with one character for each byte. */
function bytesOf(value: string): string {
  return Buffer.from(value).toString('latin1')
}
