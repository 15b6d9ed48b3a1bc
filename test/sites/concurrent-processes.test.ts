import { describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import { startChild } from './children.ts'
import { openTestLibrary, openTestSite, runCrawl } from './crawl.ts'
import { createLibraryPath } from './file-fixture.ts'
import { page } from './site.ts'

const LONG = process.env['TEST_LONG'] !== undefined
const PAGE_COUNT = LONG ? 1000 : 60

/** A site with many pages about one word. */
function manyPages(word: string): Record<string, string> {
  const paths = Array.from({ length: PAGE_COUNT }, (_, i) => `/p/${i}`)
  const entries = paths.map((path, i) => [path, page(`${word} number ${i}`, [`/p/${(i * 3) % PAGE_COUNT}`])] as const)
  return { '/': page(`${word} home`, paths), ...Object.fromEntries(entries) }
}

describe('processes that share a library', () => {
  test('crawl and search concurrently without an error', async () => {
    const path = await createLibraryPath()
    const sites = await Promise.all(['Lapwing', 'Sparrow'].map((word) => openTestSite(manyPages(word))))
    const searcher = startChild('search', path, 'lapwing sparrow')
    const crawlers = sites.map((site) => startChild('crawl', path, `${site.origin}/`))
    for (const { ended } of crawlers) await expect(ended).resolves.toEqual({ code: 0, stderr: '' })
    searcher.process.stdin.end()
    await expect(searcher.ended).resolves.toEqual({ code: 0, stderr: '' })
    expect(searcher.lines).toEqual([{ type: 'searched', searches: expect.any(Number), maxHits: 50 }])

    const library = await openTestLibrary(path)
    const sources = await library.store.listSources()
    expect(sources).toHaveLength(2)
    for (const [i, site] of sites.entries()) {
      expect(crawlers[i]?.lines.at(-1)).toMatchObject({
        type: 'ended',
        summary: { end: 'completed', indexed: PAGE_COUNT + 1 },
      })
      const source = sources.find(({ url }) => url === `${site.origin}/`)
      if (source === undefined) throw new Error('a source is missing')
      await expect(reportSource(library, source)).resolves.toMatchObject({
        status: 'INDEXED',
        pages: PAGE_COUNT + 1,
        balance: { discovered: PAGE_COUNT + 1, indexed: PAGE_COUNT + 1, pending: 0 },
      })
      const requested = site.requestedPaths()
      expect(requested).toEqual([...new Set(requested)])
    }
  })

  test('do not crawl one source concurrently, and another process resumes the crawl of a killed one', async () => {
    const path = await createLibraryPath()
    const site = await openTestSite(manyPages('Lapwing'))
    // The response comes long after the other processes were refused.
    site.pages.set('/p/7', { delayMs: 20_000, body: page('Lapwing number 7') })
    const first = startChild('crawl', path, `${site.origin}/`)
    await first.waitForEvents('settled', 3)
    const second = startChild('crawl', path, `${site.origin}/`)
    await expect(second.ended).resolves.toMatchObject({ code: 1 })
    expect(second.lines).toMatchObject([{ type: 'error', code: 'CRAWL_RUNNING' }])
    const library = await openTestLibrary(path)
    const [source] = await library.store.listSources()
    if (source === undefined) throw new Error('the source is missing')
    for (const input of [
      { kind: 'add' },
      { kind: 'recrawl' },
      { kind: 'refresh' },
      { kind: 'add', isFresh: true },
    ] as const) {
      await expect(runCrawl(library, source, input, site.origin)).rejects.toThrow(PharosError)
      await expect(runCrawl(library, source, input, site.origin)).rejects.toMatchObject({ code: 'CRAWL_RUNNING' })
    }
    await expect(reportSource(library, source)).resolves.toMatchObject({ status: 'CRAWLING', isRunning: true })

    first.process.kill('SIGKILL')
    await first.ended
    site.pages.set('/p/7', page('Lapwing number 7'))
    await expect(reportSource(library, source)).resolves.toMatchObject({ isRunning: false, isInterrupted: true })
    const crawled = await runCrawl(library, source, { kind: 'add' }, site.origin)
    expect(crawled.events[0]).toMatchObject({ isResumed: true })
    expect(crawled.summary.end).toBe('completed')
  })
})
