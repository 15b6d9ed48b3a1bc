import { copyFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { addSource } from '../../src/library/operations/add-source.ts'
import type { CrawlInput } from '../../src/library/operations/crawl-source.ts'
import type { CrawlType } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { countriesGazetteer } from '../gazetteer/world.ts'
import { type Crawled, runCrawl, stageLibrary } from '../sites/crawl.ts'
import { stagePath } from '../sites/library-file.ts'
import { listCountries } from './list-countries.ts'
import { type NewsSite, openNewsSite, type ServedNews, type SiteCountry } from './news-site.ts'

/** The countries of the world, and a library that knows them, to be copied for each test. */
export interface World {
  readonly countries: readonly SiteCountry[]
  /** Puts a copy in a place. */
  copyTo(path: string): void
}

/** Opens the library that knows the countries of the world. */
export async function openWorld(): Promise<World> {
  const path = await countriesGazetteer()
  return { countries: await listCountries(path), copyTo: (place) => copyFileSync(path, place) }
}

/** A news site with a library that may know the world, and a source on it. */
export interface NewsStage {
  readonly site: ServedNews
  readonly library: OpenLibrary
  readonly path: string
  crawl(input?: Partial<CrawlInput>, signal?: AbortSignal): Promise<Crawled>
}

/** Serves a site that is gone after the test. */
export async function stageNews(news: NewsSite): Promise<ServedNews> {
  const site = await openNewsSite(news)
  onTestFinished(() => site.close())
  return site
}

/** Opens a library and records a source on a site. Without a template it knows no places. */
export async function stageNewsCrawl(
  site: ServedNews,
  template: World | undefined,
  {
    crawlType = 'intelligent',
    concurrency = 8,
  }: { readonly crawlType?: CrawlType; readonly concurrency?: number } = {},
): Promise<NewsStage> {
  const path = stagePath()
  template?.copyTo(path)
  const library = await stageLibrary(path, { concurrency })
  const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType } })
  return {
    site,
    library,
    path,
    crawl: (input = {}, signal) => runCrawl(library, source, { kind: 'add', ...input }, site.origin, signal),
  }
}
