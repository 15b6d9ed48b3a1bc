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
  expect([totalPages(17, 180, null), totalPages(17, 180, 40), totalPages(17, 2, 40)]).toEqual([197, 40, 19])
  expect(totalPages(17, 180, 10)).toBe(17)
})
