import { describe, expect, test } from 'vitest'
import { statusRecord, writeStatus } from '../../src/cli/text/status-text.ts'
import { sourceRecord } from '../../src/http/records/source-records.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import { describeCrawl } from '../../src/library/sources/describe-crawl.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { reportRecord } from '../../src/mcp/records.ts'
import { writeCrawlStatus } from '../../src/mcp/status-text.ts'
import type { SourceItem } from '../../web/dashboard/api.ts'
import { describeSourceState } from '../../web/dashboard/sources/source-state.ts'
import type { Crawled } from './crawl.ts'
import { createCrawlFixture, openTestSite, statesOf } from './crawl.ts'
import { page, redirect, text } from './site.ts'

/** The requests for llms.txt, in order. */
const listRequests = (requests: readonly { readonly path: string }[]) =>
  requests.map(({ path }) => path).filter((path) => path.endsWith('/llms.txt'))

/** The discovery events about llms.txt. */
const listEvents = ({ events }: Crawled) =>
  events.flatMap((event) =>
    event.type === 'discovery' && event.discovery === 'llms-txt' ? [[new URL(event.url).pathname, event.found]] : [],
  )

const html = (title: string, links: readonly string[] = []) => page(title, links)

describe('llms.txt', () => {
  test('pages listed by llms.txt at the root have the depth of the start, and their links are followed', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': html('Home', ['/linked']),
        '/linked': html('Linked'),
        '/llms.txt': text('# Site\n\n> About it\n\n## Docs\n\n- [A](/a.html): the first\n* [B](/b.html)\n'),
        '/a.html': html('A', ['/behind']),
        '/b.html': html('B'),
        '/behind': html('Behind'),
      },
      { scope: { maxDepth: 1 } },
    )
    const crawled = await crawl()
    expect(Object.keys(statesOf(crawled))).toEqual(['/', '/a.html', '/b.html', '/behind', '/linked'])
    expect(crawled.rows.get('/a.html')).toMatchObject({
      state: 'indexed',
      depth: 0,
      discovery: 'llms-txt',
      foundOn: `${site.origin}/llms.txt`,
    })
    expect(crawled.rows.get('/behind')).toMatchObject({ depth: 1, discovery: 'link' })
    expect(listEvents(crawled)).toEqual([['/llms.txt', 2]])
  })

  test('llms.txt is requested in the folder of the start, and at the root only if it is missing there', async () => {
    const pages = {
      '/docs/v2/': html('Docs'),
      '/docs/v2/a.md': text('# A\n\nSomething to be read about A on this page.'),
      '/docs/v2/b.md': text('# B\n\nSomething to be read about B on this page.'),
      '/llms.txt': text('# Site\n\n- [B](/docs/v2/b.md)\n'),
    }
    const folder = await createCrawlFixture(
      { ...pages, '/docs/v2/llms.txt': text('# Docs\n\n- [A](a.md)\n') },
      { start: '/docs/v2/' },
    )
    const inFolder = await folder.crawl()
    expect(listRequests(folder.site.requests)).toEqual(['/docs/v2/llms.txt'])
    expect(Object.keys(statesOf(inFolder))).toEqual(['/docs/v2', '/docs/v2/a.md'])

    const root = await createCrawlFixture(pages, { start: '/docs/v2/' })
    const atRoot = await root.crawl()
    expect(listRequests(root.site.requests)).toEqual(['/docs/v2/llms.txt', '/llms.txt'])
    expect(Object.keys(statesOf(atRoot))).toEqual(['/docs/v2', '/docs/v2/b.md'])
    expect(listEvents(atRoot)).toEqual([
      ['/docs/v2/llms.txt', 0],
      ['/llms.txt', 1],
    ])
  })

  test('llms.txt is requested beside a start without a trailing slash', async () => {
    const { site, crawl } = await createCrawlFixture({ '/docs/guide': html('Guide') }, { start: '/docs/guide' })
    await crawl()
    expect(listRequests(site.requests)).toEqual(['/docs/llms.txt', '/llms.txt'])
  })

  test('an llms.txt given by the user is read first and alone', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': html('Home'),
        '/llms.txt': text('# Site\n\n- [A](/a.md)\n'),
        '/lists/ours.txt': text('# Ours\n\n- [B](../b.md)\n'),
        '/b.md': text('# B\n\nSomething to be read about B on this page.'),
      },
      { settings: (origin) => ({ llmsTxtUrl: `${origin}/lists/ours.txt` }) },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/b.md': 'indexed' })
    expect(site.requestedPaths()).toEqual(['/', '/b.md', '/lists/ours.txt'])
  })

  test('a missing llms.txt given by the user is reported, and the usual places are tried', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': html('Home'),
        '/llms.txt': text('# Site\n\n- [A](/a.md)\n'),
        '/a.md': text('# A\n\nSomething to be read about A on this page.'),
      },
      { settings: (origin) => ({ llmsTxtUrl: `${origin}/lists/llms.txt` }) },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a.md': 'indexed' })
    expect(listRequests(site.requests)).toEqual(['/lists/llms.txt', '/llms.txt'])
    const { origin } = site
    const problem = (instead: string) => ({
      type: 'problem',
      kind: 'llms-txt-unusable',
      target: `${origin}/lists/llms.txt`,
      message: `the given llms.txt, ${origin}/lists/llms.txt, cannot be used (status 404); ${instead}`,
    })
    const problems = ({ events }: typeof crawled) => events.filter(({ type }) => type === 'problem')
    expect(problems(crawled)).toMatchObject([problem(`${origin}/llms.txt was read instead`)])
    site.pages.delete('/llms.txt')
    expect(problems(await crawl({ kind: 'recrawl' }))).toMatchObject([problem('no other was found')])
    site.pages.set('/lists/llms.txt', text('# Site\n\n- [A](/a.md)\n'))
    expect(problems(await crawl({ kind: 'recrawl' }))).toEqual([])
  })

  test('a missing llms.txt changes nothing', async () => {
    const { site, crawl } = await createCrawlFixture({ '/': html('Home', ['/a']), '/a': html('A') })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect(listRequests(site.requests)).toEqual(['/llms.txt'])
    expect(crawled.summary.incomplete).toBeNull()
  })

  test.each([
    ['sent as HTML', { body: html('Not found', ['/nonsense']) }, undefined],
    ['HTML sent as text', text(html('Not found', ['/nonsense'])), undefined],
    ['a heading without a list', text('# Site\n\nNothing here. [Nonsense](/nonsense)\n'), 'no list of links'],
    ['empty', text(''), 'empty'],
    ['binary', text('# Site\0\n\n- [Nonsense](/nonsense)\n'), 'not text'],
  ])('an invalid llms.txt (%s) is refused and changes nothing', async (_, answer, fault) => {
    const { site, crawl } = await createCrawlFixture({
      '/': html('Home', ['/a']),
      '/a': html('A'),
      '/llms.txt': answer,
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
    expect(crawled.summary.incomplete).toBeNull()
    expect(crawled.summary.listFaults).toEqual(fault === undefined ? [] : [`${site.origin}/llms.txt: ${fault}`])
  })

  test('an llms.txt without a title is read, and what is wrong with lists is shown until the next run', async () => {
    const { site, crawl, library, source } = await createCrawlFixture({
      '/': html('Home'),
      '/a': html('A'),
      '/llms.txt': text('## Docs\n\n- [A](/a): the first\n'),
      '/sitemap.xml': text('<urlset><url><loc>/a</loc>', 'application/xml'),
      '/robots.txt': text('Sitemap: /lost.xml\n'),
    })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/': 'indexed', '/a': 'indexed' })
    const faults = [
      `${site.origin}/llms.txt: no first-level heading (1 link read)`,
      `${site.origin}/lost.xml: status 404`,
    ]
    const readFaults = async () => {
      const about = await describeSource(library, source, 0)
      const report = await describeCrawl(library, createJobs(library), source, 0)
      const now = library.clock.now()
      const item = JSON.parse(JSON.stringify(sourceRecord(about))) as SourceItem
      return {
        cli: writeStatus(about, (verb) => verb, now)
          .split('\n')
          .filter((line) => line.startsWith('List: ')),
        json: statusRecord(about, now)['list_faults'],
        mcp: writeCrawlStatus(report)
          .split('\n')
          .filter((line) => line.startsWith('List: ')),
        structured: reportRecord(report)['listFaults'],
        dashboard: describeSourceState(item, []).note,
      }
    }
    const lines = faults.map((fault) => `List: ${fault}`)
    expect(await readFaults()).toEqual({
      cli: lines,
      json: faults,
      mcp: lines,
      structured: faults,
      dashboard: faults.map((fault) => `List ${fault}.`).join(' '),
    })
    await crawl({ kind: 'refresh' })
    expect(await readFaults()).toEqual({ cli: [], json: [], mcp: [], structured: undefined, dashboard: null })
  })

  test('llms.txt can have relative links, several on a line, and the same page twice', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': html('Docs'),
        '/docs/llms.txt': text(
          '# Docs\n\n- [A](a.md), [B](./deep/b.md) | [C](/docs/c.md "title")\n- [A again](a.md#part) and <x> [D](../docs/d.md)\n',
        ),
        ...Object.fromEntries(
          ['a', 'deep/b', 'c', 'd'].map((name) => [
            `/docs/${name}.md`,
            text(`# ${name}\n\nThis is the text of ${name}.`),
          ]),
        ),
      },
      { start: '/docs/' },
    )
    await crawl()
    expect(site.requestedPaths()).toEqual([
      '/docs/',
      '/docs/a.md',
      '/docs/c.md',
      '/docs/d.md',
      '/docs/deep/b.md',
      '/docs/llms.txt',
    ])
  })

  test('out-of-scope addresses in llms.txt are recorded with a reason and not fetched', async () => {
    const other = await openTestSite({ '/docs/x.md': text('# X') }, { address: '127.0.0.2' })
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/': html('Docs'),
        '/llms.txt': text(
          `# Site\n\n- [A](/docs/a.md)\n- [B](/blog/b.md)\n- [C](${other.origin}/docs/x.md)\n- [D](/docs/old/d.md)\n- [E](/docs/llms.txt)\n- [F](mailto:a@b.example)\n`,
        ),
        '/docs/a.md': text('# A\n\nSomething to be read about A on this page.'),
      },
      { start: '/docs/', scope: { block: ['/docs/old/**'] } },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/docs': 'indexed',
      '/docs/a.md': 'indexed',
      '/blog/b.md': 'skipped out-of-scope',
      [`${other.origin}/docs/x.md`]: 'skipped off-site',
      '/docs/old/d.md': 'skipped blocked',
      '/docs/llms.txt': 'skipped excluded',
    })
    expect(site.requestedPaths()).toEqual(['/docs/', '/docs/a.md', '/llms.txt'])
    expect(other.requests).toEqual([])
  })

  test('a redirected llms.txt is read at its target, and its links are resolved there', async () => {
    const { crawl } = await createCrawlFixture({
      '/': html('Home'),
      '/llms.txt': redirect('/files/llms.txt'),
      '/files/llms.txt': text('# Site\n\n- [A](a.md)\n'),
      '/files/a.md': text('# A\n\nSomething to be read about A on this page.'),
    })
    expect(statesOf(await crawl())).toEqual({ '/': 'indexed', '/files/a.md': 'indexed' })
  })

  test('llms.txt is never a page: not as a link, an allowed pattern, a redirect target, or a seed', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/': html('Home', ['/llms.txt', '/deep/llms.txt?x=1', '/list']),
        '/list': redirect('/llms.txt'),
        '/llms.txt': text('# Site\n\n- [Itself](/llms.txt)\n- [A](/a.md)\n'),
        '/a.md': text('# A\n\nSomething to be read about A on this page. [list](/LLMS.txt)'),
      },
      {
        scope: { allow: ['**', '/llms.txt', '*.txt'], useDefaultExcludes: false },
        settings: (origin) => ({ seeds: [`${origin}/llms.txt`] }),
      },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/': 'indexed',
      '/list': 'skipped redirect',
      '/a.md': 'indexed',
      '/llms.txt': 'skipped excluded',
      '/LLMS.txt': 'skipped excluded',
      '/deep/llms.txt?x=1': 'skipped excluded',
    })
    expect(listRequests(site.requests)).toEqual(['/llms.txt'])
  })

  test('an llms.txt given as the start is read as a list', async () => {
    const { site, crawl } = await createCrawlFixture(
      {
        '/docs/llms.txt': text('# Site\n\n- [A](a.md)\n'),
        '/docs/a.md': text('# A\n\nSomething to read about A here.'),
      },
      { start: '/docs/llms.txt' },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/docs/llms.txt': 'skipped excluded', '/docs/a.md': 'indexed' })
    expect(listRequests(site.requests)).toEqual(['/docs/llms.txt'])
    expect(crawled.summary.end).toBe('completed')
  })
})

describe('a missing start', () => {
  test('is replaced by the pages that llms.txt lists', async () => {
    const { crawl } = await createCrawlFixture(
      {
        '/llms.txt': text('# Site\n\n- [A](/docs/a.html)\n'),
        '/docs/a.html': html('A', ['b']),
        '/docs/b': html('B'),
      },
      { start: '/docs/' },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/docs': 'failed not-found', '/docs/a.html': 'indexed', '/docs/b': 'indexed' })
    expect(crawled.summary.end).toBe('completed')
  })

  test('fails the crawl if nothing else exists', async () => {
    const { crawl } = await createCrawlFixture({}, { start: '/docs/' })
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({ '/docs': 'failed not-found' })
    expect(crawled.summary).toMatchObject({ end: 'failed' })
    expect(crawled.summary.problem).toContain('not-found')
  })

  test('fails the crawl if everything that llms.txt lists is out of scope or missing', async () => {
    const { crawl } = await createCrawlFixture(
      { '/llms.txt': text('# Site\n\n- [A](/docs/a)\n- [B](/blog/b)\n') },
      { start: '/docs/' },
    )
    const crawled = await crawl()
    expect(statesOf(crawled)).toEqual({
      '/docs': 'failed not-found',
      '/docs/a': 'failed not-found',
      '/blog/b': 'skipped out-of-scope',
    })
    expect(crawled.summary.end).toBe('failed')
  })
})

describe('llms.txt in later runs', () => {
  const pages = {
    '/': html('Home'),
    '/llms.txt': text('# Site\n\n- [A](/a.md)\n- [B](/b.md)\n'),
    '/a.md': text('# A\n\nSomething to be read about A on this page.'),
    '/b.md': text('# B\n\nSomething to be read about B on this page.'),
  }

  test('a recrawl requests a page that llms.txt no longer lists, and removes it once it is gone', async () => {
    const { site, crawl } = await createCrawlFixture(pages)
    await crawl()
    site.pages.set('/llms.txt', text('# Site\n\n- [A](/a.md)\n'))
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toMatchObject({ '/a.md': 'unchanged', '/b.md': 'unchanged' })
    site.pages.delete('/b.md')
    expect(statesOf(await crawl({ kind: 'recrawl' }))).toMatchObject({
      '/a.md': 'unchanged',
      '/b.md': 'gone not-found',
    })
  })

  test('a recrawl removes nothing if llms.txt fails', async () => {
    const { site, crawl } = await createCrawlFixture(pages)
    await crawl()
    site.pages.set('/llms.txt', { status: 502 })
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.summary).toMatchObject({ removed: 0, end: 'completed' })
    expect(crawled.summary.incomplete).toContain('llms.txt')
    expect([...crawled.rows.values()].every(({ hasPage }) => hasPage)).toBe(true)
  })

  test('a refresh does not request llms.txt', async () => {
    const { site, crawl } = await createCrawlFixture(pages)
    await crawl()
    site.clearRequests()
    await crawl({ kind: 'refresh' })
    expect(listRequests(site.requests)).toEqual([])
    expect(site.requestedPaths()).toEqual(['/', '/a.md', '/b.md'])
  })
})
