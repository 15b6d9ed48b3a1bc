import { copyFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { addSource } from '../../src/library/operations/add-source.ts'
import type { CrawlInput } from '../../src/library/operations/crawl-source.ts'
import type { UsualType } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { countriesGazetteer } from '../gazetteer/world.ts'
import { type Crawled, runCrawl, stageLibrary } from '../sites/crawl.ts'
import { stagePath } from '../sites/library-file.ts'
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
  return { countries: await listCountries(path), copyTo: (place) => copyFileSync(path, place) }
}

/** A library that may know the world, with a source in it. */
export interface NewsStage {
  readonly library: OpenLibrary
  crawl(input?: Partial<CrawlInput>, signal?: AbortSignal): Promise<Crawled>
}

/** Serves a site until the test ends. */
export async function stageNews(news: NewsSite): Promise<ServedNews> {
  const site = await openNewsSite(news)
  onTestFinished(() => site.close())
  return site
}

/** Opens a library and records a source on a site. Without the world it knows no places. */
export async function stageNewsCrawl(
  site: Pick<ServedNews, 'origin'>,
  world: World | undefined,
  {
    crawlType = 'intelligent',
    concurrency = 8,
  }: { readonly crawlType?: UsualType; readonly concurrency?: number } = {},
): Promise<NewsStage> {
  const path = await stagePath()
  world?.copyTo(path)
  const library = await stageLibrary(path, { concurrency })
  const source = await addSource(library, { url: `${site.origin}/`, settings: { crawlType } })
  return {
    library,
    crawl: (input = {}, signal) => runCrawl(library, source, { kind: 'add', ...input }, site.origin, signal),
  }
}
