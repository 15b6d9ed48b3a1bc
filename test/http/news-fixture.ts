import { join } from 'node:path'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { copyCountries } from '../gazetteer/world.ts'
import { locateLibrary } from '../library-location.ts'
import { runCrawl, UNPACED } from '../sites/crawl.ts'
import { type Answer, openSite, page, redirect, type Site } from '../sites/site.ts'

/* A small news site after a real crawl, with the countries of the world, before any analysis. */

/** Countries with a hub. */
export const COUNTRIES = ['france', 'japan', 'brazil'] as const

/** An article about France, with an author, dates and enough words. */
export const ARTICLE = '/2026/01/05/wonderful-bridge-opens-in-france'

/** Opens the site, crawls it into a library in the folder, and returns the site. */
export async function fillNews(folder: string): Promise<Site> {
  const site = await openSite({})
  for (const [path, answer] of Object.entries(listPages())) site.pages.set(path, answer)
  const path = await locateLibrary(join(folder, 'library.db'))
  await copyCountries(path)
  const library = await openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.0/8'], limits: UNPACED })
  try {
    const source = await addSource(library, {
      url: `${site.origin}/`,
      name: 'news',
      settings: { crawlType: 'basic' },
    })
    await runCrawl(library, source, { kind: 'add' }, site.origin)
  } finally {
    await library.close()
  }
  return site
}

function listPages(): Record<string, Answer> {
  const hubs = COUNTRIES.map((country) => `/world/${country}`)
  const links = ['/about', '/contact', '/sport', '/culture', '/world', '/business', '/science', '/weather', '/travel']
  const hub = (country: string) =>
    page(`${country} news`, [...links, ...hubs, ARTICLE, ...(country === 'france' ? ['/world/france?page=2'] : [])])
  return {
    '/': page('The Daily Test', [...hubs, ...links, '/old-france', '/world/france?utm_source=mail', '/world/atlantis']),
    ...Object.fromEntries(COUNTRIES.map((country) => [`/world/${country}`, hub(country)])),
    [ARTICLE]: ARTICLE_PAGE,
    '/old-france': redirect('/world/france'),
    '/about': page('About us'),
  }
}

const SENTENCES = [
  'A wonderful new bridge was opened in France this week, and thousands of happy visitors from Japan came to admire it.',
  'Engineers from Brazil had helped to plan the bridge for nine years, and the people of France thanked them warmly.',
  'The bridge crosses a wide river, carries trains and bicycles, and was praised as an excellent example of patient work.',
]

const ARTICLE_PAGE = `<!doctype html><html lang="en"><head><title>Wonderful bridge opens in France</title>
<meta name="author" content="Ada Example"><meta property="article:published_time" content="2026-01-05T08:00:00Z">
<meta property="og:type" content="article"></head><body><article><h1>Wonderful bridge opens in France</h1>
${Array.from({ length: 4 }, () => SENTENCES.map((sentence) => `<p>${sentence}</p>`).join('\n')).join('\n')}
</article></body></html>`
