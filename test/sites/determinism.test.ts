import { describe, expect, test } from 'vitest'
import { isLong } from '../faults/bounded.ts'
import { openTestSite } from './crawl.ts'
import { createFixtureOn, type FileFixture, toComparable } from './file-fixture.ts'
import { messySite, sitemapOf } from './messy-site.ts'
import type { Site } from './site.ts'

const SIZE = isLong ? 300 : 40
const ROUNDS = isLong ? 10 : 2

async function stageMessy(): Promise<Site> {
  const site = await openTestSite(messySite(SIZE))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  return site
}

/** Crawls a site from the beginning. Above a concurrency of 1, each response has a random delay. */
async function crawlFromScratch(site: Site, concurrency: number, scope: object): Promise<FileFixture> {
  const fixture = await createFixtureOn(site, '/', { scope: { block: ['/blocked/**'], ...scope } }, { concurrency })
  const { fetcher, clock } = fixture.library
  Object.assign(fixture.library, {
    fetcher: {
      fetch: async (request: Parameters<typeof fetcher.fetch>[0]) => {
        const outcome = await fetcher.fetch(request)
        if (concurrency > 1) await clock.sleep(Math.random() < 0.1 ? 800 : Math.random() * 150, request.signal)
        return outcome
      },
    },
  })
  const { summary } = await fixture.crawl()
  expect(summary.end).toBe('completed')
  return fixture
}

describe('determinism', () => {
  test.each([
    ['without limits', {}],
    ['to a depth of 2', { maxDepth: 2 }],
    ['to a depth of 4', { maxDepth: 4 }],
  ])('crawls of the same site in any order give the same library, %s', async (_, scope) => {
    const site = await stageMessy()
    const sequential = await crawlFromScratch(site, 1, scope)
    const isBreadthFirst = 'maxDepth' in scope
    const expected = toComparable(await sequential.readContent(), site.origin, isBreadthFirst)
    expect(expected.pages.length).toBeGreaterThan(20)
    for (let round = 0; round < ROUNDS; round++) {
      const concurrent = await crawlFromScratch(site, 16, scope)
      const found = toComparable(await concurrent.readContent(), site.origin, isBreadthFirst)
      expect(found.pages).toEqual(expected.pages)
      expect(found.rows).toEqual(expected.rows)
    }
  })
})
