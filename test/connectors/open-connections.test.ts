import { afterEach, expect, test } from 'vitest'
import { openConnections } from '../../src/open-connections.ts'
import { createEmbedFixture } from './embed-fixture.ts'
import { createQuickClock } from './quick-clock.ts'
import { openCrawl4AIServer } from './servers/crawl4ai.ts'
import { openTeiServer } from './servers/tei.ts'

const HEALTH = 'GET /health'
const stage = createEmbedFixture()
afterEach(() => stage.end())

/** Connections to running services. The configured browser path is that of Node.js, because no test starts a browser. */
async function stageConnections() {
  const crawl4ai = stage.later(await openCrawl4AIServer())
  const tei = stage.later(await openTeiServer())
  const connections = stage.later(
    openConnections({
      options: {
        browser: { path: process.execPath },
        crawl4ai: { endpoint: crawl4ai.origin },
        embedding: { type: 'tei', endpoint: tei.origin },
      },
      userAgent: 'Pharos/test',
      allowance: { isNameAllowed: () => false, isAllowed: () => false },
      proxy: undefined,
      maxPageBytes: undefined,
      clock: createQuickClock(),
    }),
  )
  return { crawl4ai, tei, connections }
}

test('close also closes connections that are still being opened', async () => {
  const { connections, crawl4ai } = await stageConnections()
  const renderer = connections.openRenderer()
  const fetcher = connections.openCrawl4AI()
  const settled = Promise.allSettled([fetcher])
  await connections.close()
  await expect((await renderer).prepare()).rejects.toThrow('the renderer was closed')
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'INTERRUPTED' } }])
  expect(crawl4ai.count()).toBe(0)
})

test('close does not wait for a service that does not answer', async () => {
  const { connections, crawl4ai } = await stageConnections()
  crawl4ai.setFault(HEALTH, { type: 'hang' })
  const settled = Promise.allSettled([connections.openCrawl4AI()])
  await crawl4ai.waitForRequests(HEALTH, 1)
  await connections.close()
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'SERVICE_UNUSABLE' } }])
})

test('after close, nothing can be opened, not even a service that was open before', async () => {
  const { connections, crawl4ai, tei } = await stageConnections()
  const { openRenderer, openCrawl4AI, openEmbedder, openReranker } = connections
  await openCrawl4AI()
  await connections.close()
  await connections.close()
  for (const open of [openRenderer, openCrawl4AI, openEmbedder, openReranker]) {
    await expect(open?.()).rejects.toMatchObject({ code: 'INTERRUPTED' })
  }
  expect([crawl4ai.count(), tei.count()]).toEqual([1, 0])
})

test('close closes a service that opened at the second attempt', async () => {
  const { connections, crawl4ai } = await stageConnections()
  crawl4ai.queueFaults(HEALTH, { type: 'reset' })
  await expect(connections.openCrawl4AI()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  const fetcher = await connections.openCrawl4AI()
  await connections.close()
  await expect(fetcher.fetch({ url: 'http://127.0.0.1/' })).rejects.toThrow('the fetcher is closed')
})
