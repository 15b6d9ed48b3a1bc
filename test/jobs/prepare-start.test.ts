import { expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareStart } from '../../src/library/crawl/prepare-start.ts'
import { createCrawlFixture, openTestLibrary, runCrawl, statesOf } from '../sites/crawl.ts'
import { page, sitemap } from '../sites/site.ts'

const SITE_URL = 'https://docs.example/guide/'

test('a new start URL becomes a source of its whole host, and limits apply to its first crawl only', async () => {
  const library = await openTestLibrary()
  const { source, input } = await prepareStart(library, { url: SITE_URL, scope: { maxPages: 9 }, maxAgeMs: 5 })
  expect(source).toMatchObject({
    name: 'docs.example/guide',
    url: SITE_URL,
    scope: { reach: 'hostname', maxDepth: null, maxPages: null },
    settings: { crawlType: 'basic-with-sitemap' },
  })
  expect(input).toEqual({ kind: 'add', scope: { maxDepth: 2, maxPages: 9 }, maxAgeMs: 5 })
})

test('a known start URL keeps its source, and different options apply to this crawl only', async () => {
  const library = await openTestLibrary()
  const known = await addSource(library, { url: SITE_URL, name: 'guide', scope: { maxPages: 9 } })
  const start = { url: `${SITE_URL}#top`, scope: { maxPages: 9, maxDepth: 1 }, crawlType: 'basic' as const }
  const { source, input } = await prepareStart(library, { ...start, maxAgeMsOf: { hub: 1 } })
  expect(source).toEqual(known)
  expect(input).toEqual({ kind: 'recrawl', scope: { maxDepth: 1 }, crawlType: 'basic', maxAgeMsOf: { hub: 1 } })
  // Without limits of its own a request has those of the API, not those of the source.
  const { input: plain } = await prepareStart(library, { url: SITE_URL, scope: {} })
  expect(plain).toEqual({ kind: 'recrawl', scope: { maxDepth: 2, maxPages: null } })
  expect(await library.store.listSources()).toEqual([known])
})

test('a start URL whose name is taken becomes a source with a numbered name', async () => {
  const library = await openTestLibrary()
  for (const url of [SITE_URL, 'http://docs.example/guide/', 'https://docs.example/guide/?v=2']) {
    await prepareStart(library, { url, scope: {} })
  }
  const names = (await library.store.listSources()).map(({ name }) => name)
  expect(new Set(names)).toEqual(new Set(['docs.example/guide', 'docs.example/guide-2', 'docs.example/guide-3']))
})

test('a history crawl of an unprepared site is refused without leaving a source, and a forced one applies to one crawl only', async () => {
  const library = await openTestLibrary()
  const start = { url: SITE_URL, scope: {}, crawlType: 'history' } as const
  await expect(prepareStart(library, start)).rejects.toMatchObject({ code: 'CRAWL_UNPREPARED' })
  expect(await library.store.listSources()).toEqual([])
  const forced = await prepareStart(library, { ...start, force: true })
  expect(forced.source.settings.crawlType).toBe('intelligent')
  const scope = { maxDepth: 2 }
  expect(forced.input).toEqual({ kind: 'add', scope, crawlType: 'history', force: true })
  // The forced type does not become the default of an existing source either.
  const again = await prepareStart(library, { ...start, force: true })
  expect(again.input).toEqual({ kind: 'recrawl', scope, crawlType: 'history', force: true })
})

test('another crawl type applies to one run only, and that run removes nothing', async () => {
  const { site, library, source, crawl } = await createCrawlFixture(
    { '/': page('Start', ['/linked']), '/linked': page('Linked') },
    { settings: { crawlType: 'basic' } },
  )
  site.pages.set('/sitemap.xml', sitemap([`${site.origin}/mapped`]))
  site.pages.set('/mapped', page('Mapped'))
  expect(Object.keys(statesOf(await crawl()))).toEqual(['/', '/linked'])
  const { input } = await prepareStart(library, { url: `${site.origin}/`, scope: {}, crawlType: 'sitemap-only' })
  const crawled = await runCrawl(library, source, input, site.origin)
  expect(statesOf(crawled)).toMatchObject({ '/': 'unchanged', '/linked': 'indexed', '/mapped': 'indexed' })
  expect(crawled.summary.removed).toBe(0)
  // The next run uses the type of the source, and may remove pages.
  site.pages.delete('/mapped')
  const next = await crawl({ kind: 'recrawl' })
  expect(statesOf(next)).toMatchObject({ '/linked': 'unchanged', '/mapped': 'gone not-found' })
})

test('a depth limit applies to one run only, and that run neither requests nor removes what is beyond it', async () => {
  const paths = ['/1', '/2', '/3', '/4']
  const chain = ['/', ...paths].map((path, i) => [path, page(`Level ${i}`, i < 4 ? [`/${i + 1}`] : [])] as const)
  const { site, library } = await createCrawlFixture(Object.fromEntries(chain))
  const crawlTo = async (maxDepth?: number) => {
    site.clearRequests()
    const { source, input } = await prepareStart(library, {
      url: `${site.origin}/`,
      scope: maxDepth === undefined ? {} : { maxDepth },
    })
    return runCrawl(library, source, input, site.origin)
  }
  expect((await crawlTo(4)).summary).toMatchObject({ indexed: 5 })
  site.pages.delete('/2')
  site.pages.set('/1', page('Level 1'))
  const shallow = await crawlTo()
  expect(shallow.summary).toMatchObject({ end: 'completed', removed: 1, incomplete: null })
  expect(statesOf(shallow)).toMatchObject({ '/2': 'gone not-found', '/3': 'indexed', '/4': 'indexed' })
  expect(site.requestedPaths()).not.toContain('/3')
  // Without a limit, pages that nothing links to are requested, and stay while they answer.
  const [source] = await library.store.listSources()
  const whole = source && (await runCrawl(library, source, { kind: 'recrawl' }, site.origin))
  expect(whole && statesOf(whole)).toMatchObject({ '/3': 'unchanged', '/4': 'unchanged' })
})
