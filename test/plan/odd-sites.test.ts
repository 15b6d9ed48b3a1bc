import { beforeAll, describe, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { slugOf } from '../../src/places/analysis/place.ts'
import { type Crawled, openTestSite } from '../sites/crawl.ts'
import { type Answer, page, redirect, type Site, text } from '../sites/site.ts'
import { createNewsFixture, openWorld, type World } from './fixture.ts'
import { milestonesOf, missingOf } from './replay.ts'

const LONG = process.env['TEST_LONG'] !== undefined

let world: World

beforeAll(async () => {
  world = await openWorld()
})

const LISTED = ['france', 'germany', 'china', 'india', 'japan', 'brazil']
const SECTIONS = ['/world', '/sport', '/money', '/science']
const NAVIGATION = ['/', ...SECTIONS, ...LISTED.map((slug) => `/world/${slug}`)]

/** The path of the probe request for a page that cannot exist. */
const PROBE = '/world/no-such-place-here'

/** A hub with articles of its own. */
function hubPage(slug: string): string {
  const articles = [1, 2, 3].map((n) => `/2026/11/0${n}/what-has-happened-in-${slug}-this-week`)
  return page(`News of ${slug}`, [...NAVIGATION, ...articles])
}

/** A small newspaper with hubs for six countries that it lists. */
const GAZETTE: Readonly<Record<string, Answer>> = {
  '/': page('The Gazette', NAVIGATION),
  ...Object.fromEntries(SECTIONS.map((path) => [path, page(`Section ${path}`, NAVIGATION)])),
  ...Object.fromEntries(LISTED.map((slug) => [`/world/${slug}`, hubPage(slug)])),
}

/** The result of a planned crawl. */
interface PlannedCrawl extends Crawled {
  readonly site: Site
  readonly guesses: readonly string[]
  /** Paths of hubs with a given verdict. */
  hubs(state: string): readonly string[]
}

async function crawlPlanned(
  pages: Readonly<Record<string, Answer>>,
  fallback?: Answer,
  input: Partial<CrawlInput> = {},
): Promise<PlannedCrawl> {
  const site = await openTestSite({ ...GAZETTE, ...pages }, fallback === undefined ? {} : { fallback })
  const { crawl, library } = await createNewsFixture(site, world)
  const crawled = await crawl(input)
  expect(crawled.summary.end).toBe('completed')
  const verdicts = await readVerdicts(library, site)
  return {
    ...crawled,
    site,
    guesses: crawled.events.flatMap((event) =>
      event.type === 'enqueued' && event.discovery === 'planner' ? [event.url.replace(site.origin, '')] : [],
    ),
    hubs: (state) => verdicts.filter((one) => one.state === state).map(({ path }) => path),
  }
}

async function readVerdicts({ planMemory }: OpenLibrary, { origin }: Site) {
  const verdicts = await planMemory.readVerdicts(new URL(origin).host)
  return verdicts
    .map(({ url, state }) => ({ path: url.replace(origin, ''), state }))
    .sort((a, b) => compareUtf8(a.path, b.path))
}

const LISTED_HUBS = LISTED.map((slug) => `/world/${slug}`).sort(compareUtf8)

describe('the response for a page that does not exist', () => {
  const notFoundPage = (path = '') => page(`Nothing was found for ${path}`, NAVIGATION)
  const answers: readonly (readonly [what: string, fallback: Answer, pages?: Readonly<Record<string, Answer>>])[] = [
    ['a page that repeats the requested path', (request) => notFoundPage(request.url)],
    ['one page for all requests', () => notFoundPage()],
    ['the home page', () => GAZETTE['/'] as string],
    ['the home page with something new on it', (request) => page(`The Gazette, ${request.url}`, NAVIGATION)],
    ['a redirect to the home page', () => redirect('/', 302)],
    ['a redirect to a not-found page', () => redirect('/world/lost', 302), { '/world/lost': notFoundPage('it') }],
    ['a redirect to the hub of another country', () => redirect('/world/france', 302)],
  ]

  test.each(answers.map(([what, ...site]) => [what, site] as const))(
    '%s is not a hub',
    async (_, [fallback, pages = {}]) => {
      const planned = await crawlPlanned(pages, fallback)
      expect(planned.hubs('confirmed')).toEqual(LISTED_HUBS)
      expect(missingOf(planned, planned.site.origin)).toEqual([])
      expect(planned.guesses.length).toBeLessThanOrEqual(9)
      expect(milestonesOf(planned).map(({ kind }) => kind)).toContain('cache-primed')
    },
  )
})

test('empty hubs count as hubs where the site answers 404 for unknown pages', async () => {
  const slugs = new Set(world.countries.map(({ name }) => slugOf(name)))
  const planned = await crawlPlanned({}, (request) => {
    const slug = /^\/world\/([^/]+)$/.exec(request.url ?? '')?.[1] ?? ''
    return slugs.has(slug) ? page(`News of ${slug}`, NAVIGATION) : { status: 404 }
  })
  expect(planned.site.requests.filter(({ path }) => path === PROBE)).toHaveLength(1)
  expect(planned.hubs('confirmed').length).toBeGreaterThan(0.95 * world.countries.length)
  expect(milestonesOf(planned).map(({ kind }) => kind)).toContain('full-understanding')
})

test('guesses that robots.txt disallows are not reported as missing', async () => {
  const robots = text('User-agent: *\nDisallow: /world/united-states\nDisallow: /world/indonesia\n')
  const planned = await crawlPlanned({ '/robots.txt': robots })
  const forbidden = ['/world/indonesia', '/world/united-states']
  expect(planned.guesses).toEqual(expect.arrayContaining(forbidden))
  expect(planned.hubs('missing').filter((path) => forbidden.includes(path))).toEqual([])
  expect(planned.hubs('missing').length).toBeGreaterThan(0)
})

test('no hub is guessed outside of the scope', async () => {
  const planned = await crawlPlanned({}, undefined, { scope: { block: ['/world/united*', '/world/p*'] } })
  expect(planned.guesses.length).toBeGreaterThan(0)
  expect([...planned.rows.keys()].filter((path) => /^\/world\/(?:united|p)/.test(path))).toEqual([])
})

describe('limits of a crawl', () => {
  const chain = (n: number) => `/world/all?page=${n}`
  const listed = LISTED.map((slug) => `/world/${slug}`)
  /** A list of hubs with further pages in a chain. */
  const lists: Readonly<Record<string, Answer>> = {
    '/': page('The Gazette', [...NAVIGATION, '/world/all']),
    '/world/all': page('All countries', [...listed, chain(2)]),
    ...Object.fromEntries([2, 3, 4, 5].map((n) => [chain(n), page(`All countries, ${n}`, [...listed, chain(n + 1)])])),
    '/world/nigeria': page('Nigeria', [...NAVIGATION, '/2026/11/05/what-nobody-else-leads-to-in-nigeria']),
  }
  const indexedPaths = ({ rows }: Crawled) =>
    [...rows].flatMap(([path, { state }]) => (state === 'indexed' ? [path] : [])).sort(compareUtf8)

  test.each(LONG ? [0, 1, 2, 3] : [0, 2])(
    'no page more than %i links away is read, except guesses',
    async (maxDepth) => {
      const planned = await crawlPlanned(lists, undefined, { scope: { maxDepth } })
      const plain = await createNewsFixture(planned.site, undefined, { crawlType: 'basic' })
      const guessed = maxDepth === 0 ? [] : ['/world/nigeria']
      const expected = indexedPaths(await plain.crawl({ scope: { maxDepth } }))
      expect(indexedPaths(planned)).toEqual([...expected, ...guessed].sort(compareUtf8))
    },
  )

  test('a planned crawl respects the page limit', async () => {
    const planned = await crawlPlanned(lists, undefined, { scope: { maxPages: 5 } })
    expect(indexedPaths(planned)).toHaveLength(5)
  })

  test('further pages of a list are skipped after the page limit of hubs', async () => {
    const planned = await crawlPlanned(lists, undefined, { planner: { hubMaxPages: 2 } })
    expect(planned.rows.get(chain(5))?.reason ?? 'never found').not.toBe(null)
    expect(planned.site.requests.filter(({ path }) => path.startsWith('/world/all?')).length).toBeLessThanOrEqual(2)
  })
})
