import type { IncomingMessage } from 'node:http'
import { type Answer, openSite, type Site, type SiteOptions, sitemap, text } from '../sites/site.ts'
import { createNewsPages } from './news-pages.ts'
import { AUTHORS, createRandom, pick, type SiteLanguage, shuffle, writeHeadline } from './news-text.ts'

/** A country for which a site may have a hub. */
export interface SiteCountry {
  /** ISO 3166-1 alpha-2. */
  readonly code: string
  readonly name: string
}

/** How a site forms its addresses, and the words it uses. */
export interface NewsGrammar {
  readonly title: string
  readonly language: SiteLanguage
  /** The section that hubs belong to comes first. */
  readonly sections: readonly { readonly slug: string; readonly label: string }[]
  readonly tags: readonly string[]
  readonly section: (slug: string) => string
  readonly hub: (slug: string) => string
  readonly article: (article: { section: string; date: Date; slug: string; number: number }) => string
  readonly tag: (slug: string) => string
  /** Path of the list of all countries. */
  readonly index: string
  /** Path of the nth page of a list. */
  readonly page: (path: string, n: number) => string
  readonly slugOf: (country: SiteCountry) => string
  /** Whether articles have schema.org metadata. */
  readonly hasSchema: boolean
  /** Whether hubs link to those of some other countries. */
  readonly hasNeighbours: boolean
  readonly words: Readonly<Record<'countries' | 'next' | 'tags' | 'mostRead', string>>
}

/** The input for a site. The same input makes the same site. */
export interface NewsInput {
  readonly grammar: NewsGrammar
  /** Countries with hubs. The first ones are linked from the home page. */
  readonly countries: readonly SiteCountry[]
  /** Countries that the site's own lists link to, but whose hubs are missing. */
  readonly dead?: readonly SiteCountry[]
  /** Countries whose hubs are in no list: only articles and other hubs link to them. @default none */
  readonly unlisted?: readonly SiteCountry[]
  /** Number of countries that the home page links to. @default 20 */
  readonly inNavigation?: number
  /** Every nth hub is in the sitemap. @default 3 */
  readonly sitemapStep?: number
  /** Minimum and maximum number of articles about a country. */
  readonly articlesPerHub: readonly [least: number, most: number]
  /** Number of articles of each section that are about no country. */
  readonly articlesPerSection: number
  /** The day of the newest articles; the others are older. */
  readonly today: Date
  /** Number of days over which articles are spread. @default 60 */
  readonly days?: number
  /** @default news */
  readonly seed?: string
  /** Additional pages by path. */
  readonly more?: Readonly<Record<string, (pages: ReturnType<typeof createNewsPages>) => string>>
  /** Additional links on the front of a section, by the slug of the section. */
  readonly moreLinks?: Readonly<Record<string, readonly string[]>>
  /** Redirects from addresses to others. */
  readonly redirects?: Readonly<Record<string, string>>
}

/** An article of a site. */
export interface SiteArticle {
  readonly path: string
  readonly title: string
  readonly section: string
  readonly country: SiteCountry | null
  readonly date: Date
  readonly author: string
  readonly tags: readonly string[]
}

/** Known facts about a generated site. */
export interface NewsTruth {
  /** Paths of hubs by the codes of their countries. */
  readonly hubs: ReadonlyMap<string, string>
  /** Paths of hubs that the lists of the site link to and that are missing. */
  readonly dead: ReadonlyMap<string, string>
  /** Paths of hubs that the home page links to. */
  readonly inNavigation: readonly string[]
  /** Paths of hubs in the sitemap. */
  readonly inSitemap: readonly string[]
  /** Fronts of sections. */
  readonly sections: readonly string[]
  readonly articles: readonly SiteArticle[]
  readonly tags: readonly string[]
}

/** A site that can be served, and the known facts about it. */
export interface NewsSite {
  readonly pages: Readonly<Record<string, Answer>>
  readonly truth: NewsTruth
}

/** A site that is served. */
export interface ServedNews extends Site {
  readonly truth: NewsTruth
  /** The first request for each of these paths, in order, with the number of requests until then. */
  order(paths: Iterable<string>): { readonly path: string; readonly after: number }[]
  /** Number of requests until all of these paths had been requested; undefined if one was not. */
  requestsUntil(paths: Iterable<string>): number | undefined
}

/** Serves a news site on loopback. */
export async function openNewsSite(news: NewsSite, options: SiteOptions = {}): Promise<ServedNews> {
  const site = await openSite(news.pages, { fallback: NOT_FOUND, ...options })
  const order = (paths: Iterable<string>) => {
    const wanted = new Set(paths)
    const found: { path: string; after: number }[] = []
    for (const [i, { path }] of site.requests.entries()) {
      if (wanted.delete(path)) found.push({ path, after: i + 1 })
    }
    return found
  }
  return {
    ...site,
    truth: news.truth,
    order,
    requestsUntil(paths) {
      const wanted = [...paths]
      const found = order(wanted)
      return found.length === new Set(wanted).size ? found.at(-1)?.after : undefined
    },
  }
}

/** The response for unknown addresses: a page with navigation, as on a real site. */
const NOT_FOUND: Answer = {
  status: 404,
  body: `<!doctype html><html lang="en"><head><title>Page not found</title></head><body><header><nav><a href="/">Home</a></nav></header>
<main><h1>Page not found</h1><p>The page you are looking for has been moved or was never there.</p></main></body></html>`,
}

/** Makes a site: pages that are written on request, and the known facts about it. */
export function createNewsSite(input: NewsInput): NewsSite {
  const { grammar, countries, dead = [], unlisted = [], inNavigation = 20, sitemapStep = 3 } = input
  const hubOf = (country: SiteCountry) => grammar.hub(grammar.slugOf(country))
  const unlistedCodes = new Set(unlisted.map(({ code }) => code))
  const articles = createArticles(input)
  const navigated = countries.filter(({ code }) => !unlistedCodes.has(code)).slice(0, inNavigation)
  const inSitemap = [
    ...countries.filter(({ code }, i) => i % sitemapStep === 0 && !unlistedCodes.has(code)),
    ...dead.slice(0, 2),
  ]
  const listed = [...countries.filter(({ code }) => !unlistedCodes.has(code)), ...dead].sort((a, b) =>
    a.code < b.code ? -1 : 1,
  )
  const pages = createNewsPages({ ...input, articles, navigated, listed, hubOf })
  // The home page is the same for every edition.
  const answers: Record<string, Answer> = { '/': pages.home, '/?edition=int': pages.home }
  for (const { slug } of grammar.sections) addSeries(answers, grammar, grammar.section(slug), pages.section(slug))
  addSeries(answers, grammar, grammar.index, pages.index())
  for (const country of countries) addSeries(answers, grammar, hubOf(country), pages.hub(country))
  for (const tag of grammar.tags) addSeries(answers, grammar, grammar.tag(tag), pages.tag(tag))
  for (const article of articles) answers[article.path] = () => pages.article(article)
  for (const path of FOOTER) answers[path] = () => pages.aboutPage(path.slice(1))
  for (const [path, write] of Object.entries(input.more ?? {})) answers[path] = () => write(pages)
  for (const [path, location] of Object.entries(input.redirects ?? {})) {
    answers[path] = { status: 301, headers: { location } }
  }
  addLists(answers, articles.slice(0, Math.ceil(articles.length / 10)), inSitemap.map(hubOf))
  return {
    pages: answers,
    truth: {
      hubs: new Map(countries.map((country) => [country.code, hubOf(country)])),
      dead: new Map(dead.map((country) => [country.code, hubOf(country)])),
      inNavigation: navigated.map(hubOf),
      inSitemap: inSitemap.map(hubOf),
      sections: grammar.sections.map(({ slug }) => grammar.section(slug)),
      articles,
      tags: grammar.tags.map(grammar.tag),
    },
  }
}

/** Pages about the site, which the footer of every page links to. */
export const FOOTER: readonly string[] = ['/about', '/contact', '/privacy', '/terms']

/** Adds a sequence of list pages under their addresses. */
function addSeries(
  answers: Record<string, Answer>,
  { page }: NewsGrammar,
  path: string,
  { count, write }: { readonly count: number; readonly write: (n: number) => string },
): void {
  answers[path] = () => write(1)
  for (let n = 2; n <= count; n++) answers[page(path, n)] = () => write(n)
}

/** The files for crawlers: robots.txt, and sitemaps with the newest articles and some of the hubs. */
function addLists(answers: Record<string, Answer>, newest: readonly SiteArticle[], hubs: readonly string[]): void {
  const originOf = ({ headers }: IncomingMessage) => `http://${headers.host ?? ''}`
  const listOf = (paths: readonly string[]) => (request: IncomingMessage) =>
    sitemap(paths.map((path) => originOf(request) + path))
  answers['/robots.txt'] = (request) =>
    text(`User-agent: *\nDisallow: /search\nDisallow: /login\nSitemap: ${originOf(request)}/sitemap.xml\n`)
  answers['/sitemap.xml'] = (request) =>
    sitemap(
      ['/sitemaps/news.xml', '/sitemaps/hubs.xml'].map((path) => originOf(request) + path),
      'sitemapindex',
    )
  answers['/sitemaps/news.xml'] = listOf(newest.map(({ path }) => path))
  answers['/sitemaps/hubs.xml'] = listOf(hubs)
}

/** The articles of a site, the newest first. */
function createArticles(input: NewsInput): SiteArticle[] {
  const { grammar, countries, articlesPerHub, articlesPerSection, today, days = 60, seed = 'news' } = input
  const [least, most] = articlesPerHub
  const [world] = grammar.sections
  if (world === undefined) throw new Error('the grammar has no sections')
  const random = createRandom(seed)
  const drafts: Omit<SiteArticle, 'path'>[] = []
  const add = (section: { slug: string; label: string }, country: SiteCountry | null, count: number) => {
    for (let i = 0; i < count; i++) {
      drafts.push({
        title: writeHeadline(random, grammar.language, country?.name ?? section.label),
        section: section.slug,
        country,
        date: new Date(today.getTime() - Math.floor(random() * days) * 86_400_000),
        author: pick(random, AUTHORS),
        tags: shuffle(random, grammar.tags).slice(0, 2),
      })
    }
  }
  for (const country of countries) add(world, country, least + Math.floor(random() * (most - least + 1)))
  for (const section of grammar.sections.slice(1)) add(section, null, articlesPerSection)
  return drafts
    .map((draft, number) => {
      const slug = `${slugify(draft.title)
        .slice(0, 60)
        .replace(/-[^-]*$/, '')}-${number.toString(36)}`
      return { ...draft, path: grammar.article({ ...draft, slug, number: number + 100_000 }) }
    })
    .sort((a, b) => b.date.getTime() - a.date.getTime())
}

/** A text as a slug: letters without diacritics, digits, and hyphens between words. */
export function slugify(words: string): string {
  return words
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
