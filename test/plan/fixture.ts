import { copyFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import type { DefaultCrawlType } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { countriesGazetteer } from '../gazetteer/world.ts'
import { type Crawled, openTestLibrary, runCrawl } from '../sites/crawl.ts'
import { createLibraryPath } from '../sites/file-fixture.ts'
import { listCountries } from './list-countries.ts'
import { type NewsSite, openNewsSite, type ServedNews, type SiteCountry } from './news-site.ts'

/** The countries of the world, and a library that knows them, to be copied for each test. */
export interface World {
  readonly countries: readonly SiteCountry[]
  /** Copies the library to a path. */
  copyTo(path: string): void
}

/** Opens the library that knows the countries of the world. */
export async function openWorld(): Promise<World> {
  const path = await countriesGazetteer()
  return { countries: await listCountries(path), copyTo: (target) => copyFileSync(path, target) }
}

/** A library with one source. */
export interface NewsFixture {
  readonly library: OpenLibrary
  crawl(input?: Partial<CrawlInput>, signal?: AbortSignal): Promise<Crawled>
}

/** Serves a site until the test ends. */
export async function serveNews(news: NewsSite): Promise<ServedNews> {
  const site = await openNewsSite(news)
  onTestFinished(() => site.close())
  return site
}

/** Opens a library and adds a site as its source. Without `world`, the library knows no places. */
export async function createNewsFixture(
  site: Pick<ServedNews, 'origin'>,
  world: World | undefined,
  {
    crawlType = 'intelligent',
    concurrency = 8,
  }: { readonly crawlType?: DefaultCrawlType; readonly concurrency?: number } = {},
): Promise<NewsFixture> {
  const path = await createLibraryPath()
  world?.copyTo(path)
  const library = await openTestLibrary(path, { concurrency })
  const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType } })
  return {
    library,
    crawl: (input = {}, signal) => runCrawl(library, source, { kind: 'add', ...input }, site.origin, signal),
  }
}
