import { describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { writeSourceLines, writeStatus } from '../../src/cli/text/status-text.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { sourceRecord } from '../../src/http/records/source-records.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { describeCrawl } from '../../src/library/sources/describe-crawl.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { reportRecord } from '../../src/mcp/records.ts'
import { readSourceList, writeListed } from '../../src/mcp/source-list.ts'
import { writeCrawlStatus } from '../../src/mcp/status-text.ts'
import { type CrawlFixture, createCrawlFixture, openTestLibrary, openTestSite, runCrawl, UNPACED } from './crawl.ts'
import { createLibraryPath } from './file-fixture.ts'
import { page, sitemap } from './site.ts'

const PATHS = Array.from({ length: 57 }, (_, i) => `/p${i}`)
const SITE = { '/': page('Start', PATHS), ...Object.fromEntries(PATHS.map((path) => [path, page(`Page ${path}`)])) }

/** What the status, the lists, a search and the HTTP API report about the source. */
async function readTexts({ library, source }: CrawlFixture) {
  const hint = (verb: string, ...words: string[]) => ['pharos', verb, ...words].join(' ')
  const now = library.clock.now()
  const [first] = writeStatus(await describeSource(library, source, 0), hint, now).split('\n')
  const [line] = writeSourceLines([await reportSource(library, source)], now)
  const [listed] = (await readSourceList(library)).map((one) => writeListed(one))
  const { notices } = await searchLibrary(library, { query: 'page', sources: [source.name] })
  const { partial } = sourceRecord(await reportSource(library, source))
  return { first, line, listed, notices, partial }
}

describe('a partial source', () => {
  test('a capped recrawl counts the known pages that it did not read', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', limits: UNPACED })
    await staged.crawl()
    expect((await readTexts(staged)).first).toMatch(/^Source: guide/)
    const { summary } = await staged.crawl({ kind: 'recrawl', scope: { maxPages: 10 } })
    expect(summary).toMatchObject({ cappedAt: 10, unread: 48 })
    const words = 'PARTIAL: the cap of 10 was reached: 48 known addresses not read'
    const { first, line, listed, notices, partial } = await readTexts(staged)
    expect(first).toBe(`${words}; complete it with: pharos recrawl guide --max-pages 58`)
    expect(line).toContain(words)
    expect(listed).toContain(`${words}; recrawl_source with source guide and maxPages 58 completes it`)
    expect(notices).toEqual([`guide is ${words}`])
    expect(partial).toEqual({
      ...{ message: words, cap: 10, unread: 48, pending: 0, failed: 0 },
      complete: [
        { method: 'POST', path: `/api/sources/${staged.source.id}/recrawl`, body: { scope: { maxPages: 58 } } },
      ],
    })
    await staged.crawl({ kind: 'recrawl', scope: { maxPages: 58 } })
    expect((await readTexts(staged)).first).toMatch(/^Source: guide/)
  })

  test('a capped run has the same numbers after later runs', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', limits: UNPACED })
    const { library, source } = staged
    await staged.crawl()
    const { summary } = await staged.crawl({ kind: 'recrawl', scope: { maxPages: 10 } })
    const hint = (verb: string) => verb
    const words = 'Pages: 0 crawled, 10 skipped (unchanged), 0 errors, 48 not read'
    const about = await describeSource(library, source, 0)
    expect(writeStatus(about, hint, library.clock.now())).toContain(words)
    expect(about.settled).toMatchObject({ indexed: 0, unchanged: 10 })
    const jobs = createJobs(library)
    const last = await describeCrawl(library, jobs, source, 0)
    expect(writeCrawlStatus(last)).toContain(words)
    await staged.crawl({ kind: 'recrawl' })
    const past = await describeCrawl(library, jobs, source, 0, summary.crawlId)
    expect(writeCrawlStatus(past)).toContain(words)
    const { pagesCrawled, pagesSkipped, pagesTotal } = last.progress
    expect(past.progress).toMatchObject({ pagesCrawled, pagesSkipped, pagesTotal })
    expect(reportRecord(past)).toMatchObject({ unread: 48, cappedAt: 10 })
  })

  test('a partial last crawl does not make an earlier crawl partial', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', limits: UNPACED })
    const { library, source } = staged
    const { crawlId } = (await staged.crawl()).summary
    await staged.crawl({ kind: 'recrawl', scope: { maxPages: 10 } })
    const jobs = createJobs(library)
    expect(writeCrawlStatus(await describeCrawl(library, jobs, source, 0))).toMatch(/^PARTIAL/)
    expect(writeCrawlStatus(await describeCrawl(library, jobs, source, 0, crawlId))).not.toContain('PARTIAL')
  })

  test('list and status report the numbers as JSON, and the command that completes the source', async () => {
    const site = await openTestSite(SITE)
    const path = await createLibraryPath()
    const library = await openTestLibrary(path, UNPACED)
    const source = await addSource(library, { url: `${site.origin}/`, name: 'guide', scope: { maxPages: 10 } })
    await runCrawl(library, source, { kind: 'add' }, site.origin)
    const ask = async (...args: readonly string[]) => {
      const output = { stdout: '', stderr: '' }
      const stream = (name: keyof typeof output) => ({
        write(text: string) {
          output[name] += text
        },
      })
      const streams = { stdout: stream('stdout'), stderr: stream('stderr') }
      expect(await run([...args, '--library', path], streams)).toBe(0)
      return output
    }
    const message = 'PARTIAL: the cap of 10 was reached: 48 known addresses not read'
    const partial = { message, cap: 10, unread: 48, pending: 0, failed: 0 }
    for (const verb of ['list', 'status']) {
      expect(JSON.parse((await ask(verb, '--json')).stdout)).toMatchObject({ sources: [{ name: 'guide', partial }] })
    }
    const listed = await ask('list')
    expect(listed.stdout).toContain(message)
    expect(listed.stderr).toContain('complete guide with: pharos recrawl guide --max-pages 58')
  })

  test('a capped first crawl counts the addresses that it found and did not read', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', limits: UNPACED, scope: { maxPages: 10 } })
    const { summary } = await staged.crawl()
    expect(summary).toMatchObject({ cappedAt: 10, unread: 48 })
    // A refresh reads the ten pages, and the others stay unread.
    await staged.crawl({ kind: 'refresh' })
    expect((await readTexts(staged)).first).toContain('48 known addresses not read')
  })

  test('a cap that leaves nothing unread does not make a source partial', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', limits: UNPACED, scope: { maxPages: 58 } })
    expect((await staged.crawl()).summary.cappedAt).toBeNull()
    expect((await readTexts(staged)).notices).toEqual([])
  })

  test('an interrupted crawl and failed addresses make a source partial, a missing page does not', async () => {
    const staged = await createCrawlFixture(
      { '/': page('Start', ['/gone', '/broken']), '/broken': { status: 500, body: 'broken' } },
      { name: 'guide', limits: UNPACED },
    )
    await staged.crawl({}, AbortSignal.abort())
    expect((await readTexts(staged)).first).toMatch(/^PARTIAL: interrupted.*; complete it with: pharos recrawl guide$/)
    await staged.crawl()
    const words = 'PARTIAL: 1 address could not be read'
    const { first, notices } = await readTexts(staged)
    expect(first).toBe(`${words}; complete it with: pharos retry guide`)
    expect(notices).toEqual([`guide is ${words}`])
    staged.site.pages.set('/broken', page('Whole'))
    await staged.crawl({ kind: 'retry' })
    expect((await readTexts(staged)).notices).toEqual([])
  })

  test.each([403, 418])('an address that answers %i does not make a source partial', async (status) => {
    const staged = await createCrawlFixture(
      { '/': page('Start', ['/closed']), '/closed': { status, body: 'no' } },
      { name: 'guide', limits: UNPACED },
    )
    const { summary } = await staged.crawl()
    expect(summary.ledger.reasons).toMatchObject({ 'failed/http-client-error': 1 })
    expect((await readTexts(staged)).notices).toEqual([])
  })

  test('a recrawl with a higher cap completes the source, even if some addresses have lost their links', async () => {
    const staged = await createCrawlFixture(
      (origin) => ({
        ...SITE,
        // The start links only to a page that fails, so the crawl cannot know which pages are behind it.
        '/': page('Start', ['/closed']),
        '/closed': { status: 403, body: 'no' },
        '/sitemap.xml': sitemap(PATHS.slice(0, 20).map((path) => origin + path)),
      }),
      { name: 'guide', limits: UNPACED, scope: { maxPages: 5 } },
    )
    expect((await staged.crawl()).summary).toMatchObject({ cappedAt: 5 })
    staged.site.pages.set('/sitemap.xml', sitemap(PATHS.slice(0, 10).map((path) => staged.site.origin + path)))
    await staged.crawl({ kind: 'recrawl', scope: { maxPages: 21 } })
    expect((await readTexts(staged)).notices).toEqual([])
    // No later run counts an address without links as left out by the cap.
    const { rows } = await staged.crawl({ kind: 'refresh', scope: { maxPages: 21 } })
    expect((await readTexts(staged)).notices).toEqual([])
    expect(rows.get('/p19')).toMatchObject({ state: 'skipped', reason: 'unlinked' })
  })
})

test('a crawl without a page limit says once that it has read many pages, with the command that limits it', async () => {
  const { crawl } = await createCrawlFixture(SITE, { limits: { ...UNPACED, noticePages: 20 } })
  const problemsOf = (events: readonly CrawlEvent[]) => events.filter(({ type }) => type === 'problem')
  expect(problemsOf((await crawl({ scope: { maxPages: 30 } })).events)).toEqual([])
  const { events } = await crawl({ kind: 'recrawl', full: true })
  expect(problemsOf(events)).toMatchObject([
    { kind: 'no-page-limit', message: expect.stringContaining('--max-pages 20') },
  ])
})
