import { describe, expect, test } from 'vitest'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { isLong } from '../faults/bounded.ts'
import { startChild } from './children.ts'
import { type Crawled, openTestLibrary, openTestSite, runCrawl, shareFixture } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import {
  createFileFixture,
  createFixtureOn,
  createLibraryPath,
  type Dump,
  type FileFixture,
  readSourceContent,
  readUninterrupted,
  toComparable,
} from './file-fixture.ts'
import { messySite, sitemapOf } from './messy-site.ts'
import { page, type SeenRequest, type Site } from './site.ts'

const SIZE = isLong ? 300 : 40
/** Requests at which a crawl is stopped: at the start, in the middle, and near the end. */
const STOPS = isLong ? [1, 2, 5, 9, 17, 33, 45] : [1, 2, 17, 45]
/** How many processes are killed, each after a random number of settled addresses. */
const KILLS = isLong ? 20 : 2
/** The depth limit makes a crawl go level by level, so that depths can be compared. */
const SCOPE = { block: ['/blocked/**'], maxDepth: 50 }

/** A site that no test changes, and its content after an uninterrupted crawl, with and without the scope. */
const stageUninterrupted = shareFixture(async () => {
  const site = await openTestSite(messySite(SIZE))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  const scoped = await readUninterrupted(site, SCOPE)
  return { site, scoped, unscoped: await readUninterrupted(site, {}, false) }
})

/** A library that has not crawled this site yet, and the content after an uninterrupted crawl. */
async function stageMessy(): Promise<FileFixture & { readonly uninterrupted: Dump }> {
  const { site, scoped } = await stageUninterrupted()
  site.clearRequests()
  return { ...(await createFixtureOn(site, '/', { scope: SCOPE }, { concurrency: 4 })), uninterrupted: scoped }
}

/** Stops a crawl at the nth request to the site. */
function stopAt(site: Site, n: number): { readonly signal: AbortSignal; undo(): void } {
  const stop = new AbortController()
  const push = (...seen: SeenRequest[]) => {
    if (site.requests.length + 1 >= n) stop.abort()
    return Array.prototype.push.apply(site.requests, seen)
  }
  Object.assign(site.requests, { push })
  return {
    signal: stop.signal,
    undo: () => {
      Reflect.deleteProperty(site.requests, 'push')
    },
  }
}

/** Addresses that a crawl has settled, without those whose content belongs to a canonical address. */
function settledBy({ events }: Crawled, origin: string): string[] {
  return events.flatMap((event) =>
    event.type === 'settled' && event.reason !== 'canonical' ? [event.url.replace(origin, '')] : [],
  )
}

describe('a stopped crawl', () => {
  test.each(STOPS)('resumes after a stop at request %i', async (n) => {
    const { site, crawl, readContent, uninterrupted } = await stageMessy()
    const { signal, undo } = stopAt(site, n)
    const stopped = await crawl({}, signal)
    undo()
    expect(stopped.summary.end).toBe('cancelled')
    site.clearRequests()
    const crawled = await crawl()
    expect(crawled.events[0]).toMatchObject({ type: 'started', isResumed: true, crawlId: stopped.summary.crawlId })
    expect(crawled.summary.end).toBe('completed')
    const settled = settledBy(stopped, site.origin)
    expect(site.requestedPaths().filter((path) => settled.includes(path))).toEqual([])
    expect(toComparable(await readContent(), site.origin)).toEqual(uninterrupted)
  })

  test('has the same result after many stops as without any', async () => {
    const { site, crawl, readContent, uninterrupted } = await stageMessy()
    let stops = 0
    for (;;) {
      site.clearRequests()
      const { signal, undo } = stopAt(site, 7)
      const { summary, events } = await crawl({}, signal)
      undo()
      expect(events[0]).toMatchObject({ isResumed: stops > 0 })
      if (summary.end === 'completed') break
      expect(summary.end).toBe('cancelled')
      stops++
    }
    expect(stops).toBeGreaterThan(3)
    expect(toComparable(await readContent(), site.origin)).toEqual(uninterrupted)
  })

  test('reads the lists if it was stopped before its start was read', async () => {
    const { site, crawl } = await createFileFixture({
      '/': { status: 302, headers: { location: '/home' } },
      '/home': page('Home heron'),
      '/llms.txt': { headers: { 'content-type': 'text/plain' }, body: '# Docs\n\n- [Listed](/listed)\n' },
      '/listed': page('Listed lark'),
    })
    const stop = new AbortController()
    site.pages.set('/home', () => {
      stop.abort()
      return page('Home heron')
    })
    await crawl({}, stop.signal)
    site.pages.set('/home', page('Home heron'))
    const crawled = await crawl()
    expect(crawled.rows.get('/listed')).toMatchObject({ state: 'indexed', discovery: 'llms-txt' })
  })

  test('removes nothing when it resumes after a list could not be read', async () => {
    const list = { headers: { 'content-type': 'text/plain' }, body: '# Docs\n\n- [Listed](/listed)\n' }
    const { site, crawl, search } = await createFileFixture({
      '/': page('Home heron', ['/a']),
      '/a': page('Alpha albatross'),
      '/llms.txt': list,
      '/listed': page('Listed lark'),
    })
    await crawl()
    site.pages.set('/llms.txt', { status: 500, body: 'no' })
    const stop = new AbortController()
    site.pages.set('/a', () => {
      stop.abort()
      return page('Alpha albatross')
    })
    const stopped = await crawl({ kind: 'recrawl' }, stop.signal)
    expect(stopped.summary.end).toBe('cancelled')
    site.pages.set('/a', page('Alpha albatross'))
    const crawled = await crawl({ kind: 'recrawl' })
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(crawled.summary).toMatchObject({ removed: 0 })
    await expect(search('lark')).resolves.toEqual(['/listed'])
  })

  test('resumes with the pages of llms-full.txt as if it had not been stopped', async () => {
    const file = (...names: string[]) => ({
      headers: { 'content-type': 'text/plain' },
      body: names
        .map((name) => `# Page ${name}\nSource: ORIGIN/${name}\n\nAll about ${name}, in many words that say it.\n`)
        .join('\n'),
    })
    const stages = await Promise.all(
      [true, false].map(async (isStopped) => {
        const staged = await createFileFixture({
          '/': page('Home heron', ['/a']),
          '/a': page('Alpha albatross'),
          '/b': page('Beta'),
        })
        const full = file('x', 'y')
        staged.site.pages.set('/llms-full.txt', { ...full, body: full.body.replaceAll('ORIGIN', staged.site.origin) })
        await staged.crawl()
        const changed = file('x', 'z')
        staged.site.pages.set('/llms-full.txt', {
          ...changed,
          body: changed.body.replaceAll('ORIGIN', staged.site.origin),
        })
        const stop = new AbortController()
        if (isStopped) {
          staged.site.pages.set('/a', () => {
            stop.abort()
            return page('Alpha albatross')
          })
          await staged.crawl({ kind: 'recrawl' }, stop.signal)
          staged.site.pages.set('/a', page('Alpha albatross'))
        }
        const { summary } = await staged.crawl({ kind: 'recrawl' })
        expect(summary.end).toBe('completed')
        const { rows, pages } = toComparable(await staged.readContent(), staged.site.origin, false)
        // Each crawl has its own site, so chunk ids differ.
        return { rows, pages: pages.map(({ path, markdown }) => ({ path, markdown })) }
      }),
    )
    expect(stages[0]).toEqual(stages[1])
  })

  test('resumes at once after its caller stopped reading events', async () => {
    const { site, library, source, crawl, readContent, uninterrupted } = await stageMessy()
    for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) {
      if (event.type === 'settled') break
    }
    expect(await library.store.listCrawls(source.id, 1)).toMatchObject([{ state: 'cancelled' }])
    const crawled = await crawl()
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(toComparable(await readContent(), site.origin)).toEqual(uninterrupted)
  })

  test('leaves no 404 response to the next run, which needs two of its own to remove a page', async () => {
    const { site, crawl, search } = await createFileFixture({
      '/': page('Home heron', ['/a', '/b']),
      '/a': page('Alpha albatross'),
      '/b': page('Beta bittern'),
    })
    await crawl()
    // The first answer is 404, and the crawl is stopped before it is confirmed.
    const stop = new AbortController()
    let requestCount = 0
    site.pages.set('/a', () => {
      if (++requestCount === 2) stop.abort()
      return { status: 404, body: 'no' }
    })
    const stopped = await crawl({ kind: 'recrawl' }, stop.signal)
    expect(stopped.summary.end).toBe('cancelled')
    requestCount = 0
    site.pages.set('/a', () => (++requestCount === 1 ? { status: 404, body: 'no' } : page('Alpha albatross')))
    const { summary } = await crawl({ kind: 'recrawl', full: true })
    expect(summary).toMatchObject({ end: 'completed', removed: 0 })
    expect(requestCount).toBe(2)
    await expect(search('albatross')).resolves.toEqual(['/a'])
  })

  test('is not resumed by a run with other options', async () => {
    const { site, crawl } = await stageMessy()
    const { signal, undo } = stopAt(site, 9)
    const stopped = await crawl({}, signal)
    undo()
    const other = await crawl({ kind: 'recrawl', full: true })
    expect(other.events[0]).toMatchObject({ isResumed: false })
    expect(other.summary.crawlId).not.toBe(stopped.summary.crawlId)
    expect(other.summary.end).toBe('completed')
  })
})

describe('a process that was killed', () => {
  test.each(Array.from({ length: KILLS }, (_, i) => i))('loses only requests under way (%i)', async () => {
    const { site, unscoped } = await stageUninterrupted()
    const path = await createLibraryPath()
    const child = startChild('crawl', path, `${site.origin}/`)
    await child.waitForEvents('settled', 1 + Math.floor(Math.random() * SIZE))
    child.process.kill('SIGKILL')
    await child.ended
    const settled = child.lines.flatMap(({ type, url, reason }) =>
      type === 'settled' && reason !== 'canonical' ? [String(url).replace(site.origin, '')] : [],
    )
    site.clearRequests()

    const library = withFastClock(await openTestLibrary(path))
    const [source] = await library.store.listSources()
    if (source === undefined) throw new Error('the source was not kept')
    const crawled = await runCrawl(library, source, { kind: 'add' }, site.origin)
    expect(crawled.summary.end).toBe('completed')
    const isOver = child.lines.some(({ type }) => type === 'ended')
    expect(crawled.events[0]).toMatchObject({ isResumed: !isOver })
    if (!isOver) expect(site.requestedPaths().filter((requested) => settled.includes(requested))).toEqual([])
    const content = toComparable(await readSourceContent(path, library, source, site.origin), site.origin, false)
    expect(content.pages).toEqual(unscoped.pages)
    if (!isOver) expect(content).toEqual(unscoped)
  })
})
