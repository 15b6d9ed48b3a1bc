import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import { reportSource } from '../../src/library/sources/source-status.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { runCrawl } from '../sites/crawl.ts'
import { createFixtureOn, type Dump, readUninterrupted, toComparable } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { openSite, type Site } from '../sites/site.ts'

const DAY_MS = 86_400_000
const SCOPE = { maxDepth: 50 }

let site: Site
/** The result of a crawl without clock changes. */
let whole: Dump

beforeAll(async () => {
  site = await openSite(messySite(40))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  whole = await readUninterrupted(site, SCOPE)
})

afterAll(() => site.close())

/** A library whose clock can be set. */
async function createClockFixture() {
  const { library, source, readContent } = await createFixtureOn(site, '/', { scope: SCOPE }, { concurrency: 4 })
  let offsetMs = 0
  const clock = { ...library.clock, now: () => library.clock.now() + offsetMs }
  const jump = (ms: number) => {
    offsetMs += ms
  }
  const dump = async () => toComparable(await readContent(), site.origin)
  return { source, dump, jump, library: { ...library, clock } }
}

/** Crawls until the given number of pages is settled, like a process that is killed then: the end of the crawl is not recorded. */
async function crawlPartly(library: OpenLibrary, source: Parameters<typeof crawlSource>[1], settled: number) {
  const store = { ...library.store, endCrawl: async () => undefined }
  let remaining = settled
  for await (const { type } of crawlSource(
    { ...library, store },
    source,
    { kind: 'add' },
    AbortSignal.timeout(120_000),
  ))
    if (type === 'settled' && --remaining === 0) break
}

describe('a clock change', () => {
  test.each([DAY_MS, -DAY_MS, 3 * 60_000])('has no effect between two runs if it is %i ms', async (ms) => {
    const { library, source, dump, jump } = await createClockFixture()
    jump(-ms)
    await crawlPartly(library, source, 15)
    await expect(library.store.listCrawls(source.id, 1)).resolves.toMatchObject([{ state: 'running' }])
    jump(ms)
    await expect(reportSource(library, source)).resolves.toMatchObject({ isRunning: false, isInterrupted: true })
    const { summary, events } = await runCrawl(library, source, { kind: 'add' }, site.origin)
    expect(events[0]).toMatchObject({ isResumed: true })
    expect(summary.end).toBe('completed')
    expect(await dump()).toEqual(whole)
  })

  test('has no effect during a run if it goes into the future', async () => {
    const { library, source, dump, jump } = await createClockFixture()
    let settled = 0
    const store = {
      ...library.store,
      settle: async (settlement: Parameters<typeof library.store.settle>[0]) => {
        if (++settled % 10 === 0) jump(DAY_MS)
        return library.store.settle(settlement)
      },
    }
    const { summary } = await runCrawl({ ...library, store }, source, { kind: 'add' }, site.origin)
    expect(summary.end).toBe('completed')
    expect(settled).toBeGreaterThan(40)
    expect(await dump()).toEqual(whole)
  })
})
