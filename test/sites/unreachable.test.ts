import { expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { joinCrawl } from '../../src/crawl/join.ts'
import { NO_COUNTS } from '../../src/crawl/sharing.ts'
import { createRun } from '../../src/library/crawl/create-run.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type CrawlFixture, createCrawlFixture, runCrawl, UNPACED } from './crawl.ts'
import { page } from './site.ts'

/** Wraps a function so that its first call fails because the library is unreachable. */
function failOnce<Args extends unknown[], T>(call: (...args: Args) => Promise<T>, failedCalls: string[], name: string) {
  let isFailing = true
  return async (...args: Args): Promise<T> => {
    if (!isFailing) return call(...args)
    isFailing = false
    failedCalls.push(name)
    throw new PharosError('LIBRARY_UNREACHABLE', { library: 'library', problem: 'it is being restarted' })
  }
}

const BELOW = Array.from({ length: 10 }, (_, at) => `/below/${at}`)

/** A site that was crawled before, and has one more page since. */
async function stageKnown(): Promise<CrawlFixture> {
  const pages = Object.fromEntries(BELOW.map((path) => [path, page(`Page ${path}`)]))
  const staged = await createCrawlFixture(
    { '/': page('Home', ['/list']), '/list': page('List', BELOW.slice(1)), ...pages },
    { limits: UNPACED },
  )
  await staged.crawl()
  staged.site.pages.set('/list', page('List', BELOW))
  return staged
}

test('a crawl survives an outage of its library during kindOf, readHelp, readMilestones and writeMilestones', async () => {
  const { library, source, site } = await stageKnown()
  const { plans, store } = library
  if (plans === undefined) throw new Error('the library has no plans')
  const failedCalls: string[] = []
  const failing: OpenLibrary = {
    ...library,
    kindOf: failOnce(library.kindOf, failedCalls, 'kindOf'),
    plans: {
      ...plans,
      readMilestones: failOnce(plans.readMilestones, failedCalls, 'readMilestones'),
      writeMilestones: failOnce(plans.writeMilestones, failedCalls, 'writeMilestones'),
    },
    store: {
      ...store,
      shareCrawl: async () => undefined,
      readHelperCounts: failOnce(async () => ({ ...NO_COUNTS, visited: 1 }), failedCalls, 'readHelp'),
    },
  }
  const { summary, events } = await runCrawl(failing, source, { kind: 'recrawl' }, site.origin)
  expect(new Set(failedCalls)).toEqual(new Set(['kindOf', 'readHelp', 'readMilestones', 'writeMilestones']))
  expect(summary).toMatchObject({ end: 'completed', indexed: 2, unchanged: 10 })
  expect(events.filter(({ type }) => type === 'milestone')).toHaveLength(1)
})

test('a worker that joined a crawl survives a short outage of the library', async () => {
  const { library, source } = await stageKnown()
  const { store, clock } = library
  const [last] = await store.listCrawls(source.id, 1)
  if (last === undefined) throw new Error('there was no crawl')
  const options = { ...last.options, maxAgeMsOf: { article: 1, hub: 1 } }
  const nextCrawl = { ...last, id: library.newId(), kind: 'refresh', state: 'running', endedAt: null, options } as const
  const crawl = await store.beginCrawl(nextCrawl, 1)
  await store.requeue(source.id, crawl.id, 'pages', clock.now())
  const failedCalls: string[] = []
  const ports = {
    ...library,
    ledger: store,
    kindOf: failOnce(library.kindOf, failedCalls, 'kindOf'),
    moveSite: async () => undefined,
    end: async () => undefined,
  }
  const shared = { siteUrl: source.siteUrl, isFullKnown: true }
  const run = createRun(library, source, crawl, { headers: {}, isResumed: false })
  const events: CrawlEvent[] = []
  const joined = joinCrawl(run, ports, { shared, heartbeat: async () => shared }, new AbortController().signal)
  for await (const event of joined) events.push(event)
  expect(failedCalls).toEqual(['kindOf'])
  expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: 1, unchanged: 10 } })
})
