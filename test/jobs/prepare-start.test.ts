import { expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareStart } from '../../src/library/crawl/prepare-start.ts'
import { createCrawlFixture, openTestLibrary, runCrawl, statesOf } from '../sites/crawl.ts'
import { page, sitemap } from '../sites/site.ts'

const SITE_URL = 'https://docs.example/guide/'

test('a new start URL becomes a source of its whole host, two links deep', async () => {
  const library = await openTestLibrary()
  const { source, input } = await prepareStart(library, { url: SITE_URL, scope: { maxPages: 9 }, maxAgeMs: 5 })
  expect(source).toMatchObject({
    name: 'docs.example/guide',
    url: SITE_URL,
    scope: { reach: 'hostname', maxDepth: 2, maxPages: 9 },
    settings: { crawlType: 'basic-with-sitemap' },
  })
  expect(input).toEqual({ kind: 'add', maxAgeMs: 5 })
})

test('a known start URL keeps its source, and different options apply to this crawl only', async () => {
  const library = await openTestLibrary()
  const known = await addSource(library, { url: SITE_URL, name: 'guide', scope: { maxPages: 9 } })
  const start = { url: `${SITE_URL}#top`, scope: { maxPages: 9, maxDepth: 1 }, crawlType: 'basic' as const }
  const { source, input } = await prepareStart(library, { ...start, maxAgeMsOf: { hub: 1 } })
  expect(source).toEqual(known)
  expect(input).toEqual({ kind: 'recrawl', scope: { maxDepth: 1 }, crawlType: 'basic', maxAgeMsOf: { hub: 1 } })
  expect((await prepareStart(library, { url: SITE_URL, scope: {} })).input).toEqual({ kind: 'recrawl', scope: {} })
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
  expect(forced.input).toEqual({ kind: 'add', crawlType: 'history', force: true })
  // The forced type does not become the default of an existing source either.
  const again = await prepareStart(library, { ...start, force: true })
  expect(again.input).toEqual({ kind: 'recrawl', scope: {}, crawlType: 'history', force: true })
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
  const next = await crawl({ kind: 'recrawl' })
  expect(statesOf(next)).toMatchObject({ '/linked': 'unchanged', '/mapped': 'gone unlinked' })
})
