import { expect, test } from 'vitest'
import { createCrawlFixture } from '../../../test/sites/crawl.ts'
import { page } from '../../../test/sites/site.ts'
import { capOf, readRunningStatus, totalPages } from './source-status.ts'

test('readRunningStatus ignores the running crawl even if it is recorded as completed', async () => {
  const { library, source, crawl } = await createCrawlFixture({ '/': page('Home') })
  const { summary } = await crawl({ kind: 'add' })
  expect(await readRunningStatus(library, source.id, summary.crawlId)).toBe('CRAWLING')
  const again = await crawl({ kind: 'recrawl' })
  expect(await readRunningStatus(library, source.id, again.summary.crawlId)).toBe('UPDATING')
})

test('the cap of a run overrides that of its source, and limits remaining pages but not finished ones', async () => {
  const { library, source, crawl } = await createCrawlFixture({ '/': page('Home') }, { scope: { maxPages: 40 } })
  await crawl({ kind: 'add', scope: { maxPages: 20 } })
  const [last = null] = await library.store.listCrawls(source.id, 1)
  expect([capOf(source, last?.options.scope), capOf(source, undefined)]).toEqual([20, 40])
  const counts = { indexed: 15, unchanged: 2, failed: 0 }
  const totals = [totalPages(counts, 180, null), totalPages(counts, 180, 40), totalPages(counts, 2, 40)]
  expect(totals).toEqual([197, 40, 19])
  expect(totalPages(counts, 180, 10)).toBe(17)
  // An address that fails does not make the total smaller.
  expect(totalPages({ ...counts, failed: 5 }, 175, null)).toBe(197)
})
