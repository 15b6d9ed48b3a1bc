import { expect, test } from 'vitest'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { type CrawlFixture, createCrawlFixture, runCrawl, UNPACED } from './crawl.ts'
import { page } from './site.ts'

const BELOW = Array.from({ length: 10 }, (_, at) => `/below/${at}`)

/** A site with ten pages two links from its start. */
function stageSite(): Promise<CrawlFixture> {
  const pages = Object.fromEntries(BELOW.map((path) => [path, page(`Page ${path}`)]))
  return createCrawlFixture(
    { '/': page('Home', ['/list']), '/list': page('List', BELOW), ...pages },
    { limits: UNPACED },
  )
}

function kindsOf({ events }: { readonly events: readonly CrawlEvent[] }): string[] {
  return events.flatMap((event) => (event.type === 'milestone' ? [event.kind] : []))
}

test('a milestone is announced once, and not again in every recrawl', async () => {
  const { crawl } = await stageSite()
  expect(kindsOf(await crawl())).toEqual(['depth2-coverage'])
  expect(kindsOf(await crawl({ kind: 'recrawl' }))).toEqual([])
  expect(kindsOf(await crawl({ kind: 'recrawl', full: true }))).toEqual([])
})

test('downloads of earlier crawls count towards a thousand', async () => {
  const { crawl, library, source, site } = await stageSite()
  await crawl()
  const { store } = library
  /** Crawls again, as if each earlier crawl had downloaded this many pages. */
  const recrawl = async (earlier: number) => {
    const listCrawls: typeof store.listCrawls = async (...args) =>
      (await store.listCrawls(...args)).map(({ summary, ...rest }) => ({
        ...rest,
        summary: summary && { ...summary, indexed: earlier },
      }))
    return runCrawl(
      { ...library, store: { ...store, listCrawls } },
      source,
      { kind: 'recrawl', full: true },
      site.origin,
    )
  }
  expect(kindsOf(await recrawl(900))).toEqual([])
  // Two earlier crawls with 495 downloads each, and ten in this one.
  expect(kindsOf(await recrawl(495))).toEqual(['downloads-1k'])
  expect(kindsOf(await recrawl(495))).toEqual([])
})
