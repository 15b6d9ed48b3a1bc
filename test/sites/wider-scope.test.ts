import { describe, expect, test } from 'vitest'
import { writeStatus } from '../../src/cli/text/status-text.ts'
import { writeWidenAdvice } from '../../src/cli/text/summary.ts'
import { sourceRecord } from '../../src/http/records/source-records.ts'
import { writeWidening } from '../../src/library/crawl/wider-scope.ts'
import { createJobs } from '../../src/library/jobs/crawl-jobs.ts'
import type { Source } from '../../src/library/source.ts'
import { describeCrawl } from '../../src/library/sources/describe-crawl.ts'
import { describeSource } from '../../src/library/sources/describe-source.ts'
import { reportRecord } from '../../src/mcp/records.ts'
import { writeCrawlStatus } from '../../src/mcp/status-text.ts'
import { type CrawlFixture, createCrawlFixture, UNPACED } from './crawl.ts'
import { page, text } from './site.ts'

const SIBLINGS = Array.from({ length: 9 }, (_, i) => `/docs/guide/p${i}`)
const SITE = {
  '/docs/guide/start/': page('Start', [...SIBLINGS, '/docs/guide/start/more', '/about']),
  '/docs/guide/start/more': page('More'),
  '/llms.txt': text('# Guide\n\n- [A](/docs/guide/p0): about\n- [B](/docs/guide/p1): about\n'),
  ...Object.fromEntries(SIBLINGS.map((path) => [path, page(`Page ${path}`)])),
}

/** What each surface reports about a source. */
async function readSurfaces({ library, source }: CrawlFixture) {
  const hint = (verb: string, ...words: string[]) => ['pharos', verb, ...words].join(' ')
  const about = await describeSource(library, source, 0)
  const report = await describeCrawl(library, createJobs(library), source, 0)
  return {
    cli: writeStatus(about, hint, library.clock.now()),
    mcp: writeCrawlStatus(report),
    readOnly: writeCrawlStatus(report, true),
    structured: reportRecord(report)['widerScope'],
    http: sourceRecord(about)['widerScope'],
  }
}

describe('a scope that leaves only a few pages', () => {
  test('a narrow scope is reported on every surface, with the scope that takes in the refused addresses', async () => {
    const staged = await createCrawlFixture(SITE, { name: 'guide', start: '/docs/guide/start/', limits: UNPACED })
    const { summary } = await staged.crawl()
    const wider = { pages: 2, refused: 10, listed: 2, folder: '/docs/guide/' }
    expect(summary.wider).toEqual(wider)
    const words =
      'the scope left only 2 pages: it refused 10 addresses of the site (2 of them listed by llms.txt or a sitemap)'
    const { cli, mcp, readOnly, structured, http } = await readSurfaces(staged)
    const { url } = staged.source
    expect(cli).toContain(
      `${words}; include them with: pharos remove guide && pharos add ${url} --scope hostname --allow /docs/guide/** --name guide`,
    )
    expect(mcp).toContain(
      `${words}; remove_source with source guide, then add_source with url ${url}, name guide, scope hostname and allowPatterns /docs/guide/** includes them`,
    )
    expect(readOnly).toContain(words)
    expect(readOnly).not.toContain('remove_source')
    expect(structured).toEqual({ message: words, ...wider, scope: 'hostname', allowPatterns: ['/docs/guide/**'] })
    const advice = `${words}; the scope “the whole host” and only paths like /docs/guide/** would include them`
    expect(http).toEqual({ message: words, advice, ...wider, scope: { reach: 'hostname', allow: ['/docs/guide/**'] } })
  })

  test('the way to a wider scope keeps what the user chose', async () => {
    const { source } = await createCrawlFixture(SITE, { name: 'guide', start: '/docs/guide/start', limits: UNPACED })
    const { name, url } = source
    const chosen: Source = {
      ...source,
      version: '2.1 beta',
      scope: { ...source.scope, block: ['/docs/guide/old/**'], maxDepth: 4, maxPages: 900, trapGuards: false },
      settings: {
        ...source.settings,
        ...{ seeds: [`${url}/two`], llmsTxtUrl: `${url}/llms.txt`, llmsFull: 'off', crawlType: 'basic' },
        ...{ render: 'auto', chunks: 'pack' },
      },
      refresh: { everyMs: 43_200_000, dueAt: 0, attempts: 0, problem: null },
    }
    const hint = (verb: string, ...words: string[]) => ['pharos', verb, ...words].join(' ')
    const wider = { pages: 1, refused: 4, listed: 0, folder: '/docs/guide/' }
    expect(writeWidenAdvice(chosen, wider, hint).split(' && ')[1]).toBe(
      `pharos add ${url} --scope hostname --allow /docs/guide/** --block /docs/guide/old/** --max-depth 4 --max-pages 900 --no-trap-guards --seed ${url}/two --llms-txt ${url}/llms.txt --llms-full off --crawl-type basic --render auto --chunks pack --every 12h --name ${name} --version 2.1 beta`,
    )
    expect(writeWidening(chosen, wider)).toBe(
      `remove_source with source "guide@2.1 beta", then add_source with url ${url}, name guide, version "2.1 beta", scope hostname, allowPatterns /docs/guide/**, blockPatterns /docs/guide/old/**, maxDepth 4, maxPages 900, llmsTxtUrl ${url}/llms.txt, render auto and chunks pack includes them`,
    )
    const page = { ...source, url: 'https://github.com/owner/name' }
    expect(writeWidenAdvice(page, wider, hint)).toContain('--as site')
    expect(writeWidening(page, wider)).toContain('url https://github.com/owner/name, as site, ')
  })

  test('is not reported if the refused addresses are elsewhere on the site', async () => {
    const pages = { '/docs/': page('Start', ['/docs/a', '/about', '/blog']), '/docs/a': page('A') }
    const staged = await createCrawlFixture(pages, { name: 'guide', start: '/docs/', limits: UNPACED })
    expect((await staged.crawl()).summary.wider).toBeUndefined()
    const { cli, mcp, structured, http } = await readSurfaces(staged)
    expect(cli + mcp).not.toContain('the scope left only')
    expect([structured, http]).toEqual([null, null])
  })
})
