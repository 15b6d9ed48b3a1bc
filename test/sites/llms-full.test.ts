import { describe, expect, test } from 'vitest'
import type { Snapshot } from '../../src/core/model.ts'
import { type Crawled, type CrawlFixture, createCrawlFixture, statesOf } from './crawl.ts'
import { type Answer, markdown, page, sitemap, text } from './site.ts'

/** A section of an llms-full.txt with its source address. */
const section = (origin: string, path: string, more = '') =>
  `# About ${path}\nSource: ${origin}${path}\n\nThe full file says enough about ${path} to be a page of its own.${more}\n\n`

const full = (origin: string, paths: readonly string[]) => text(paths.map((path) => section(origin, path)).join(''))

const site = (origin: string) => ({
  '/': page('Home', ['/a', '/b', '/c']),
  '/a': page('A in HTML'),
  '/b': page('B in HTML'),
  '/c': page('C in HTML'),
  '/llms.txt': text('# Site\n\n- [A](/a)\n- [B](/b)\n'),
  '/llms-full.txt': full(origin, ['/a', '/b', '/c']),
})

async function markdownOf({ library, source, site: { origin } }: CrawlFixture, path: string): Promise<string> {
  return (await library.store.readPage(source.id, `${origin}${path}`))?.page.markdown ?? ''
}

/** When each page was last stored. */
const changeTimes = ({ rows }: Crawled) => new Map([...rows].map(([path, { changedAt }]) => [path, changedAt]))

describe('llms-full.txt', () => {
  test('llms-full.txt with every page makes fetching the pages unnecessary', async () => {
    const staged = await createCrawlFixture(site)
    const crawled = await staged.crawl()
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms-full.txt', '/llms.txt'])
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/b': 'indexed',
      '/c': 'indexed',
      '/llms-full.txt': 'skipped covered',
    })
    expect(crawled.rows.get('/a')).toMatchObject({
      discovery: 'llms-full',
      foundOn: `${staged.site.origin}/llms-full.txt`,
    })
    expect(await markdownOf(staged, '/a')).toContain('The full file says enough about /a')
    expect(await markdownOf(staged, '/a')).not.toContain('/b')
  })

  test('pages get the titles of their sections, and the syntax of a site generator becomes plain Markdown', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': text(
        `---\ntitle: Lamps\nurl: ${origin}/a\n---\n\n## Examples\n\n:::tip\nKeep the lamp dry and out of the wind.\n:::\n`,
      ),
    }))
    await staged.crawl()
    const { library, source, site: opened } = staged
    const { page: stored } = (await library.store.readPage(source.id, `${opened.origin}/a`)) ?? {}
    expect(stored?.title).toBe('Lamps')
    expect(stored?.markdown).toBe('## Examples\n\n> [!TIP]\n> Keep the lamp dry and out of the wind.\n')
  })

  test('pages missing from llms-full.txt are crawled if llms.txt, a page or the file itself links to them', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/d': page('D'),
      '/llms-full.txt': text(section(origin, '/a', `\n\nMore.\n\nAnd more.\n\n[d](${origin}/d)`)),
    }))
    const crawled = await staged.crawl()
    const pages = staged.site.requestedPaths().filter((path) => !/llms|\.md$/.test(path))
    expect(pages).toEqual(['/', '/b', '/c', '/d'])
    expect(await markdownOf(staged, '/b')).toContain('B in HTML')
    expect(statesOf(crawled)['/a']).toBe('indexed')
  })

  test('llms-full.txt is split at headings that are titles in llms.txt', async () => {
    const staged = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': text('# Site\n\n- [First part](/a)\n- [Second part](/b)\n'),
      '/llms-full.txt': text(
        '# First part\n\nEnough to be read about the first part.\n\n# Second part\n\nEnough to be read about the second.\n',
      ),
    })
    const crawled = await staged.crawl()
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms-full.txt', '/llms.txt'])
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/b': 'indexed' })
    expect(await markdownOf(staged, '/b')).toContain('about the second')
  })

  test('llms-full.txt that cannot be split is one document under its own address, and everything else is crawled', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': text(`${markdown('All of it')}\n## Part\n\nIn one piece, and no address anywhere.\n`),
    }))
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/a': 'indexed',
      '/b': 'indexed',
      '/c': 'indexed',
      '/llms-full.txt': 'indexed',
    })
    expect(await markdownOf(staged, '/llms-full.txt')).toContain('In one piece')
    expect(staged.site.requestedPaths()).toEqual(expect.arrayContaining(['/a', '/b', '/c']))
    expect(staged.site.requestedPaths().filter((path) => path === '/llms-full.txt')).toHaveLength(1)
  })

  test('text that belongs to no page is kept as one document beside the pages', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': text(`A preface that belongs to no page in particular.\n\n${section(origin, '/a')}`),
    }))
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/llms-full.txt': 'indexed' })
    expect((await markdownOf(staged, '/llms-full.txt')).trim()).toBe('A preface that belongs to no page in particular.')
    staged.site.pages.set('/llms-full.txt', text(section(staged.site.origin, '/a')))
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.rows.get('/llms-full.txt')).toMatchObject({ state: 'skipped', reason: 'covered', hasPage: false })
    expect(staged.site.requestedPaths().filter((path) => path === '/llms-full.txt')).toHaveLength(1)
  })

  test.each([
    ['a mere list of links', text('# Site\n\n- [A](/a)\n- [B](/b)\n- [C](/c)\n')],
    ['HTML', { body: page('Not found') }],
    ['empty', text('')],
  ])('llms-full.txt that is %s is ignored', async (_, answer) => {
    const staged = await createCrawlFixture((origin) => ({ ...site(origin), '/llms-full.txt': answer }))
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/b': 'indexed', '/c': 'indexed' })
    expect(await markdownOf(staged, '/a')).toContain('A in HTML')
  })

  test('pages in llms-full.txt that are out of scope or off the site are refused', async () => {
    const { crawl } = await createCrawlFixture(
      (origin) => ({
        '/docs/': page('Docs'),
        '/llms-full.txt': text(
          `${section(origin, '/docs/a')}${section(origin, '/blog/b')}${section('https://other.example', '/docs/c')}${section(origin, '/docs/llms.txt')}`,
        ),
      }),
      { start: '/docs/' },
    )
    expect(statesOf(await crawl())).toEqual({
      '/docs': 'indexed',
      '/docs/a': 'indexed',
      '/blog/b': 'skipped out-of-scope',
      'https://other.example/docs/c': 'skipped off-site',
      '/docs/llms.txt': 'skipped excluded',
      '/llms-full.txt': 'skipped covered',
    })
  })

  test('does not replace the start, which was read already', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': full(origin, ['/', '/a']),
    }))
    const crawled = await staged.crawl()
    expect(statesOf(crawled)['/']).toBe('indexed')
    expect(await markdownOf(staged, '/')).toContain('This page is about Home')
  })

  test('llms-full.txt is not requested with the setting `off`', async () => {
    const staged = await createCrawlFixture(site, { settings: { llmsFull: 'off' } })
    await staged.crawl()
    expect(staged.site.requests.map(({ path }) => path)).not.toContain('/llms-full.txt')
    expect(await markdownOf(staged, '/a')).toContain('A in HTML')
  })

  test('the crawl follows no links and no lists with the setting `only`', async () => {
    const staged = await createCrawlFixture((origin) => ({ ...site(origin), '/llms-full.txt': full(origin, ['/a']) }), {
      settings: { llmsFull: 'only' },
    })
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed', '/llms-full.txt': 'skipped covered' })
    expect(staged.site.requests.map(({ path }) => path)).not.toContain('/b')
  })

  test('a missing llms-full.txt is reported with `only`, and nothing else is read', async () => {
    const pages = (origin: string) => ({
      ...site(origin),
      '/llms.txt': text(`# Site\n\n- [A](${origin}/a)\n`),
      '/sitemap.xml': sitemap([`${origin}/b`]),
      '/llms-full.txt': full(origin, ['/a']),
    })
    const staged = await createCrawlFixture(pages, { settings: { llmsFull: 'only' } })
    const { origin } = staged.site
    staged.site.pages.delete('/llms-full.txt')
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'skipped excluded' })
    expect(crawled.summary).toMatchObject({ end: 'failed', uselessReason: 'excluded' })
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms.txt'])
    const problem = {
      type: 'problem',
      kind: 'llms-full-missing',
      message: `no llms-full.txt was found, and the source reads nothing else: ${origin}/llms-full.txt (status 404)`,
    }
    expect(crawled.events.filter(({ type }) => type === 'problem')).toMatchObject([problem])

    staged.site.pages.set('/llms-full.txt', full(origin, ['/a']))
    expect(statesOf(await staged.crawl({ kind: 'recrawl' }))).toMatchObject({ '/a': 'indexed' })
    staged.site.pages.delete('/llms-full.txt')
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.events.filter(({ type }) => type === 'problem')).toMatchObject([problem])
    expect(again.summary).toMatchObject({ end: 'completed', removed: 0, incomplete: 'no llms-full.txt was found' })
  })

  test('llms-full.txt without a page of the source is reported with `only`', async () => {
    const others = full('https://elsewhere.example', ['/a'])
    const staged = await createCrawlFixture((origin) => ({ ...site(origin), '/llms-full.txt': others }), {
      settings: { llmsFull: 'only' },
    })
    const { events } = await staged.crawl()
    expect(events.filter(({ type }) => type === 'problem')).toMatchObject([
      { kind: 'llms-full-missing', message: expect.stringMatching(/^llms-full\.txt holds no page of the source, /) },
    ])
  })

  test('a page without text in llms-full.txt is fetched', async () => {
    const staged = await createCrawlFixture((origin) => ({
      '/': page('Home'),
      '/a': page('A in HTML'),
      '/b': page('B in HTML'),
      '/llms-full.txt': text(
        `${section(origin, '/full')}# A\nSource: ${origin}/a\n\n<!-- to be written -->\n\n# B\nSource: ${origin}/b\n`,
      ),
    }))
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toMatchObject({ '/full': 'indexed', '/a': 'indexed', '/b': 'indexed' })
    expect(await markdownOf(staged, '/a')).toContain('A in HTML')
  })

  test('llms-full.txt makes fetching its pages unnecessary also if the start has a tracking parameter', async () => {
    const staged = await createCrawlFixture(site, { start: '/?utm_source=mail' })
    await staged.crawl()
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms-full.txt', '/llms.txt'])
  })

  test('llms-full.txt is found beside an llms.txt given by the user', async () => {
    const staged = await createCrawlFixture(
      (origin) => ({
        '/': page('Home'),
        '/lists/llms.txt': text('# Site\n\n- [A](/a)\n'),
        '/lists/llms-full.txt': full(origin, ['/a']),
      }),
      { settings: (origin) => ({ llmsTxtUrl: `${origin}/lists/llms.txt` }) },
    )
    expect(statesOf(await staged.crawl())).toMatchObject({ '/a': 'indexed' })
    expect(staged.site.requestedPaths()).toEqual(['/', '/lists/llms-full.txt', '/lists/llms.txt'])
  })
})

describe('a crawl with llms-full.txt', () => {
  test.each([true, false])('changes nothing if the file is unchanged (with ETags: %s)', async (hasEtags) => {
    const { site: server, crawl } = await createCrawlFixture(
      (origin) => ({
        ...site(origin),
        '/llms-full.txt': text(
          `A preface that belongs to no page.\n\n${['/a', '/b'].map((path) => section(origin, path)).join('')}`,
        ),
      }),
      { siteOptions: { hasEtags } },
    )
    const first = await crawl()
    server.clearRequests()
    const again = await crawl({ kind: 'recrawl' })
    expect(changeTimes(again)).toEqual(changeTimes(first))
    expect(statesOf(again)).toEqual({
      '/': 'unchanged',
      '/a': 'unchanged',
      '/b': 'unchanged',
      '/c': 'unchanged',
      '/llms-full.txt': 'unchanged',
    })
    expect(again.summary).toMatchObject({ indexed: 0, removed: 0 })
    expect(server.requestedPaths()).toEqual(['/', '/c', '/llms-full.txt', '/llms.txt'])
  })

  test('stores only the page that changed in the file', async () => {
    const staged = await createCrawlFixture(site)
    const first = await staged.crawl()
    const { origin } = staged.site
    const changed = `${section(origin, '/a')}${section(origin, '/b', ' And more than before.')}${section(origin, '/c')}`
    staged.site.pages.set('/llms-full.txt', text(changed))
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toMatchObject({ '/a': 'unchanged', '/b': 'indexed', '/c': 'unchanged' })
    const before = changeTimes(first)
    const changedPaths = [...changeTimes(again)].filter(([path, at]) => before.get(path) !== at).map(([path]) => path)
    expect(changedPaths).toEqual(['/b'])
    expect(await markdownOf(staged, '/b')).toContain('And more than before.')
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms-full.txt', '/llms.txt'])
  })

  test('removes a page that the file dropped, or fetches it if something else links to it', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': full(origin, ['/a', '/b', '/lost']),
    }))
    await staged.crawl()
    staged.site.pages.set('/llms-full.txt', full(staged.site.origin, ['/a']))
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toEqual({
      '/': 'unchanged',
      '/a': 'unchanged',
      '/b': 'indexed',
      '/c': 'unchanged',
      '/lost': 'gone not-found',
      '/llms-full.txt': 'skipped covered',
    })
    expect(await markdownOf(staged, '/b')).toContain('B in HTML')
    expect(again.summary.removed).toBe(1)
  })

  test('removes nothing if the file fails', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': full(origin, ['/a', '/lost']),
    }))
    await staged.crawl()
    staged.site.pages.set('/llms-full.txt', { status: 500 })
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.rows.get('/lost')).toMatchObject({ hasPage: true })
    // The pages of the file are not fetched either, because the next recrawl would replace them again.
    expect(statesOf(again)['/a']).toBe('unchanged')
    expect(staged.site.requestedPaths()).not.toContain('/a')
    expect(again.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(again.summary.incomplete).toContain('llms-full.txt')
  })

  test.each([
    ['forbidden', { status: 403 }],
    ['a page', page('Down for maintenance')],
  ] as const)('removes nothing if the file is %s', async (_, answer: Answer) => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': full(origin, ['/a', '/lost']),
    }))
    await staged.crawl()
    staged.site.pages.set('/llms-full.txt', answer)
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.rows.get('/lost')).toMatchObject({ hasPage: true })
    expect(statesOf(again)['/a']).toBe('unchanged')
    expect(staged.site.requestedPaths()).not.toContain('/a')
    expect(again.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(again.summary.incomplete).toContain('llms-full.txt')
  })

  test('fetches a page whose section crashes the reader', async () => {
    const staged = await createCrawlFixture(site)
    const { readPage } = staged.library
    Object.assign(staged.library, {
      readPage: async (snapshot: Snapshot, key: string) => {
        if (String(snapshot.body).includes('The full file says enough about /b')) throw new RangeError('too deep')
        return readPage(snapshot, key)
      },
    })
    const crawled = await staged.crawl()
    expect(statesOf(crawled)).toMatchObject({ '/a': 'indexed', '/b': 'indexed', '/c': 'indexed' })
    expect(crawled.summary.end).toBe('completed')
    expect(await markdownOf(staged, '/b')).toContain('B in HTML')
    expect(await markdownOf(staged, '/a')).toContain('The full file')
  })

  test.each([
    ['ETag', true],
    ['text', false],
  ])('does not read the pages of the file again if its %s is unchanged', async (_, hasEtags) => {
    const staged = await createCrawlFixture(
      (origin) => ({
        ...site(origin),
        '/d': page('D'),
        '/e': page('E'),
        '/llms-full.txt': text(
          `A preface that belongs to no page.\n\n${section(origin, '/a', `\n\nMore.\n\n[d](${origin}/d)`)}${section(origin, '/b')}# E\nSource: ${origin}/e\n\n`,
        ),
      }),
      { siteOptions: { hasEtags } },
    )
    const first = await staged.crawl()
    const readKeys: string[] = []
    const { readPage } = staged.library
    Object.assign(staged.library, {
      readPage: async (snapshot: Snapshot, key: string) => {
        readKeys.push(key)
        return readPage(snapshot, key)
      },
    })
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(readKeys.filter((key) => /\/(?:a|b|llms-full\.txt)$/.test(key))).toEqual([])
    const fileRequests = staged.site.requests.filter(({ path }) => path === '/llms-full.txt')
    expect(fileRequests.map(({ status }) => status)).toEqual([hasEtags ? 304 : 200])
    expect(again.summary).toMatchObject({ end: 'completed', indexed: 0, removed: 0, incomplete: null })
    expect(Object.values(statesOf(again))).toEqual(Array.from({ length: first.rows.size }, () => 'unchanged'))
    expect(again.summary.unchanged).toBe(first.summary.indexed)
    expect(changeTimes(again)).toEqual(changeTimes(first))
  })

  test('reads an unchanged file again if it would be split differently, or in a full recrawl', async () => {
    const staged = await createCrawlFixture({
      '/': page('Home'),
      '/llms.txt': text('# Site\n\n- [First part](/a)\n'),
      '/llms-full.txt': text(
        '# First part\n\nEnough to be read about the first part.\n\n# Second part\n\nEnough to be read about the second.\n',
      ),
    })
    await staged.crawl()
    staged.site.pages.set('/llms.txt', text('# Site\n\n- [First part](/a)\n- [Second part](/b)\n'))
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(statesOf(again)['/b']).toBe('indexed')
    staged.site.clearRequests()
    await staged.crawl({ kind: 'recrawl', full: true })
    expect(staged.site.requests.find(({ path }) => path === '/llms-full.txt')?.status).toBe(200)
  })

  test('reads the whole file again in a full recrawl, and cuts its pages into new chunks', async () => {
    const staged = await createCrawlFixture((origin) => ({
      '/': page('Home', ['/a', '/b']),
      '/llms-full.txt': text(
        ['/a', '/b'].map((path) => section(origin, path, ' Sentence after sentence follows.'.repeat(200))).join(''),
      ),
    }))
    const first = await staged.crawl()
    const count = async () => (await staged.library.store.countContent(staged.source.id)).chunks
    const before = await count()
    const again = await staged.crawl({ kind: 'recrawl', full: true, chunks: 'tokens' })
    expect(statesOf(again)).toMatchObject({ '/a': 'indexed', '/b': 'indexed' })
    expect(again.summary).toMatchObject({ end: 'completed', indexed: first.summary.indexed, unchanged: 0, removed: 0 })
    expect(await count()).not.toBe(before)
    expect(staged.site.requestedPaths()).not.toContain('/a')
  })

  test('replaces fetched pages by those of a new file', async () => {
    const staged = await createCrawlFixture((origin) => {
      const { '/llms-full.txt': _, ...others } = site(origin)
      return others
    })
    await staged.crawl()
    staged.site.pages.set('/llms-full.txt', full(staged.site.origin, ['/a', '/b', '/c']))
    staged.site.clearRequests()
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(statesOf(again)).toMatchObject({ '/a': 'indexed', '/b': 'indexed', '/c': 'indexed' })
    expect(staged.site.requestedPaths()).toEqual(['/', '/llms-full.txt', '/llms.txt'])
  })

  test('removes the document of the unsplit text when that text is gone', async () => {
    const staged = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': text(`A preface that belongs to no page in particular.\n\n${section(origin, '/a')}`),
    }))
    await staged.crawl()
    staged.site.pages.set('/llms-full.txt', full(staged.site.origin, ['/a']))
    const again = await staged.crawl({ kind: 'recrawl' })
    expect(again.rows.get('/llms-full.txt')?.hasPage).toBe(false)
    expect(again.summary.removed).toBe(1)
  })

  test('a refresh does not request llms-full.txt, and its pages stay as they are', async () => {
    const { site: server, crawl } = await createCrawlFixture((origin) => ({
      ...site(origin),
      '/llms-full.txt': text(`A preface that belongs to no page.\n\n${section(origin, '/a')}${section(origin, '/b')}`),
    }))
    const first = await crawl()
    server.clearRequests()
    const again = await crawl({ kind: 'refresh' })
    expect(server.requestedPaths()).toEqual(['/', '/c'])
    expect(statesOf(again)).toEqual({
      '/': 'unchanged',
      '/a': 'unchanged',
      '/b': 'unchanged',
      '/c': 'unchanged',
      '/llms-full.txt': 'unchanged',
    })
    expect(changeTimes(again)).toEqual(changeTimes(first))
  })
})
