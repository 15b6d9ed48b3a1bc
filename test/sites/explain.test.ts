import { describe, expect, test } from 'vitest'
import { writeExplanation } from '../../src/cli/text/explanation-text.ts'
import { explainUrl } from '../../src/library/sources/explain.ts'
import { openTestSite, shareFixture } from './crawl.ts'
import { createFixtureOn } from './file-fixture.ts'
import { messySite, sitemapOf } from './messy-site.ts'
import { page } from './site.ts'

const TOO_LONG = `/long/${'x'.repeat(3000)}`

/** These tests only read, so they share one library. */
const stageMessy = shareFixture(async () => {
  const site = await openTestSite(messySite(12))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  site.pages.set(
    '/listed',
    page('Listed lark', [
      '/guide/2?utm_source=list',
      '/loop/1',
      TOO_LONG,
      'http://[bad',
      '/with?id=5',
      '/Caf%C3%A9',
      '/space here',
    ]),
  )
  site.pages.set('/with?id=5', page('With warbler'))
  const staged = await createFixtureOn(site, '/docs/../', { scope: { block: ['/blocked/**'] } })
  await staged.crawl()
  return staged
})

describe('an explanation', () => {
  test('exists for every known address', async () => {
    const { library, source, readContent } = await stageMessy()
    const { rows } = await readContent()
    expect(rows.size).toBeGreaterThan(35)
    const reasons = new Set<string>()
    for (const row of rows.values()) {
      const explained = await explainUrl(library, source, row.url)
      expect(explained.row, row.url).toEqual(row)
      expect(explained.row?.state === 'indexed' || explained.row?.reason !== null, row.url).toBe(true)
      if (row.target !== null) expect(explained.target?.key, row.url).toBe(row.target)
      reasons.add(row.reason ?? row.state)
    }
    expect([...reasons].sort((a, b) => a.localeCompare(b))).toEqual(
      expect.arrayContaining([
        'blocked',
        'canonical',
        'duplicate',
        'indexed',
        'noindex',
        'nofollow',
        'not-found',
        'off-site',
        'redirect',
        'redirect-loop',
        'removed',
        'robots-disallow',
      ]),
    )
  })

  test('is found by other spellings of an address', async () => {
    const { library, source, site, readContent } = await stageMessy()
    const { rows } = await readContent()
    const ask = async (url: string) => (await explainUrl(library, source, url)).row
    const row = rows.get('/guide/2')
    expect(row).toBeDefined()
    for (const url of [
      '/guide/2',
      '/guide/2#part',
      '/guide/../guide/2',
      '/guide/2?utm_source=list',
      `${site.origin.toUpperCase().replace('HTTP', 'http')}/guide/2`,
    ]) {
      expect(await ask(url), url).toEqual(row)
    }
    expect(await explainUrl(library, source, '/guide/2/')).toMatchObject({ row: null, other: row })
    expect(await ask('/with?id=5')).toMatchObject({ state: 'indexed' })
    expect(await ask('/with?id=6')).toBeNull()
    expect(await ask('http://[bad')).toMatchObject({ state: 'skipped', reason: 'bad-url' })
    expect(await ask(`${site.origin}${TOO_LONG}`)).toMatchObject({ state: 'skipped', reason: 'bad-url' })
  })

  test('names the other addresses of the same content', async () => {
    const { library, source, site } = await stageMessy()
    const moved = await explainUrl(library, source, '/moved')
    expect(moved.row).toMatchObject({ state: 'skipped', reason: 'redirect' })
    expect(moved.target?.url).toBe(`${site.origin}/moved/again`)
    expect(moved.aliases).toMatchObject([{ classification: 'redirect', aliasUrl: `${site.origin}/moved/again` }])
    const twin = await explainUrl(library, source, '/twin/b')
    expect(twin.target).toMatchObject({ url: `${site.origin}/twin/a`, state: 'indexed' })
    const query = await explainUrl(library, source, '/guide/2?utm_source=list')
    expect(query).toMatchObject({ refusal: { reason: 'query-skip' } })
    expect(query.aliases).toMatchObject([{ classification: 'superfluous-query', aliasUrl: `${site.origin}/guide/2` }])
  })

  test.each([
    ['/never/seen', null],
    ['/never/seen?id=1', null],
    ['/blocked/never', { reason: 'blocked', pattern: '/blocked/**' }],
    ['https://elsewhere.example/', { reason: 'off-site' }],
    ['/picture.png', { reason: 'excluded' }],
    ['mailto:somebody@example.org', { reason: 'scheme' }],
    ['javascript:void(0)', { reason: 'scheme' }],
    [`/${'y'.repeat(5000)}`, { reason: 'bad-url' }],
    ['/llms.txt', { reason: 'excluded' }],
  ])('exists for the unknown address %.60s', async (url, refusal) => {
    const { library, source } = await stageMessy()
    const explained = await explainUrl(library, source, url)
    expect(explained.row).toBeNull()
    expect(explained.target).toBeNull()
    expect(explained.aliases).toEqual([])
    if (refusal === null) expect(explained.refusal).toBeNull()
    else expect(explained.refusal).toMatchObject(refusal)
  })

  test.each([
    ['/llms.txt', 'it is a list for crawlers, which is read but is not a page (rule: llms.txt)'],
    ['/sitemap-2.xml', 'it is a list for crawlers, which is read but is not a page (rule: sitemap*.xml)'],
    ['/picture.png', 'files of this kind are never indexed: images,'],
  ])('says of %s that it is no page', async (url, words) => {
    const { library, source } = await stageMessy()
    const explained = await explainUrl(library, source, url)
    expect(writeExplanation(explained, source, (verb) => verb, library.clock.now())).toContain(words)
  })

  test.each(['http://', 'http://[::1', 'https://a b.example/'])('reports that %s is not an address', async (text) => {
    const { library, source } = await stageMessy()
    await expect(explainUrl(library, source, text)).rejects.toMatchObject({ code: 'URL_INVALID' })
  })

  test('fetches nothing', async () => {
    const { site, library, source } = await stageMessy()
    site.clearRequests()
    await explainUrl(library, source, '/never/seen')
    await explainUrl(library, source, '/guide/1')
    expect(site.requests).toEqual([])
  })

  test('says why the last crawl may not have seen an unknown address', async () => {
    const pages = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`/${i}`, page(`Heron ${i}`)]))
    const site = await openTestSite({ '/': page('Herons', Object.keys(pages)), ...pages })
    const { library, source, crawl } = await createFixtureOn(site, '/', { scope: { maxPages: 2 } })
    const { store, newId, clock } = library
    const readIncomplete = async () => (await explainUrl(library, source, '/unseen')).incomplete
    expect(await readIncomplete()).toBeNull()
    await crawl()
    expect(await readIncomplete()).toBe('it stopped at its page limit of 2')
    await crawl({ kind: 'recrawl', scope: { maxPages: 100 } })
    expect(await readIncomplete()).toBeNull()
    const now = clock.now()
    const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
    const run = { id: newId(), sourceId: source.id, kind: 'recrawl', state: 'running', options } as const
    await store.beginCrawl(
      { ...run, runner: null, startedAt: now, heartbeatAt: now, endedAt: null, summary: null },
      1000,
    )
    expect(await readIncomplete()).toBe('it has not ended yet')
  })
})
