import type { NewsInput, SiteArticle, SiteCountry } from './news-site.ts'
import { createRandom, writeParagraphs, writeSentence } from './news-text.ts'

/** The input of the page writer. */
interface PageWriterInput extends Pick<NewsInput, 'grammar' | 'moreLinks' | 'countries'> {
  /** The newest first. */
  readonly articles: readonly SiteArticle[]
  /** Countries that the home page links to. */
  readonly navigated: readonly SiteCountry[]
  /** Countries in the list of all countries. */
  readonly listed: readonly SiteCountry[]
  readonly hubOf: (country: SiteCountry) => string
}

/** A sequence of list pages. */
interface Series {
  readonly count: number
  readonly write: (n: number) => string
}

/** Writes the pages of a news site. */
export interface NewsPages {
  home(): string
  section(slug: string): Series
  index(): Series
  hub(country: SiteCountry): Series
  tag(tag: string): Series
  article(article: SiteArticle): string
  /** A page about the site itself. */
  aboutPage(title: string): string
  /** A page of links. */
  links(title: string, paths: readonly string[]): string
}

const TEASERS_PER_PAGE = 20
/** Number of countries on one page of the list of all countries. */
const COUNTRIES_PER_PAGE = 20
/** Minimum number of teasers of a hub: a hub with fewer articles of its own shows other articles below them. */
const MIN_HUB_TEASERS = 15

/** Creates the page writer of a site. */
export function createNewsPages(input: PageWriterInput): NewsPages {
  const { grammar, articles, navigated, listed, countries, hubOf } = input
  const { words, language } = grammar
  const byCountry = Map.groupBy(articles, ({ country }) => country?.code ?? '')
  const bySection = Map.groupBy(articles, ({ section }) => section)
  const byTag = new Map(grammar.tags.map((tag) => [tag, articles.filter(({ tags }) => tags.includes(tag))]))
  const positions = new Map(countries.map(({ code }, i) => [code, i]))
  const frame = (title: string, main: string, head = '') => writeFrame(input, title, main, head)
  const series = (
    path: string,
    title: string,
    items: readonly SiteArticle[],
    intro = '',
    rest: readonly SiteArticle[] = [],
  ) => {
    const count = Math.max(1, Math.ceil(items.length / TEASERS_PER_PAGE))
    return {
      count,
      write: (n: number) => {
        const shown = items.slice((n - 1) * TEASERS_PER_PAGE, n * TEASERS_PER_PAGE)
        const others = rest.slice(0, Math.max(0, MIN_HUB_TEASERS - shown.length))
        const below =
          others.length === 0
            ? ''
            : `<h2>${words.mostRead}</h2>${others.map((one) => teaser(language, one, '?ref=more')).join('')}`
        const next =
          n < count
            ? `<nav class="pagination"><a rel="next" href="${grammar.page(path, n + 1)}">${words.next}</a></nav>`
            : ''
        const heading = n === 1 ? title : `${title} – ${n}`
        return frame(
          heading,
          `<h1>${heading}</h1>${n === 1 ? intro : ''}<section class="river">${shown.map((one, i) => teaser(language, one, i % 3 === 2 ? '?utm_source=river&amp;utm_medium=teaser' : '')).join('')}${below}</section>${next}`,
        )
      },
    }
  }
  return {
    home: () =>
      frame(
        grammar.title,
        `<h1>${grammar.title}</h1><section class="top">${articles
          .slice(0, 15)
          .map((one) => teaser(language, one, ''))
          .join('')}</section>
<section class="world"><h2>${words.countries}</h2>${linkList(navigated.map((one) => [hubOf(one), one.name]))}
<p><a href="${grammar.index}">${words.countries}</a> <a href="/?edition=int">International</a></p></section>`,
      ),
    section(slug) {
      const label = grammar.sections.find((one) => one.slug === slug)?.label ?? slug
      const more = input.moreLinks?.[slug] ?? []
      const isWorld = slug === grammar.sections[0]?.slug
      const places = isWorld ? navigated.map((one): Anchor => [hubOf(one), one.name]) : []
      const links: Anchor[] = [...places, ...more.map((path): Anchor => [path, path.split('/').at(-1) ?? path])]
      const list = isWorld ? `<p><a href="${grammar.index}">${words.countries}</a></p>` : ''
      return series(grammar.section(slug), label, bySection.get(slug) ?? [], `${linkList(links)}${list}`)
    },
    index() {
      const count = Math.ceil(listed.length / COUNTRIES_PER_PAGE)
      return {
        count,
        write: (n) => {
          const shown = listed.slice((n - 1) * COUNTRIES_PER_PAGE, n * COUNTRIES_PER_PAGE)
          const next = n < count ? `<a rel="next" href="${grammar.page(grammar.index, n + 1)}">${words.next}</a>` : ''
          const heading = n === 1 ? words.countries : `${words.countries} – ${n}`
          return frame(heading, `<h1>${heading}</h1>${linkList(shown.map((one) => [hubOf(one), one.name]))}${next}`)
        },
      }
    },
    hub(country) {
      const position = positions.get(country.code) ?? 0
      const countryAfter = (step: number) => countries[(position + step) % countries.length]
      const near = Array.from({ length: 2 * MIN_HUB_TEASERS }, (_, i) => countryAfter(i + 1))
      const rest = near.flatMap((one) => byCountry.get(one?.code ?? '')?.slice(0, 1) ?? [])
      const neighbours = grammar.hasNeighbours ? [1, 7, 13].flatMap((step) => countryAfter(step) ?? []) : []
      const intro = linkList(neighbours.map((one) => [hubOf(one), one.name]))
      return series(hubOf(country), country.name, byCountry.get(country.code) ?? [], intro, rest)
    },
    tag: (tag) => series(grammar.tag(tag), `${words.tags}: ${tag}`, byTag.get(tag) ?? []),
    article(article) {
      const random = createRandom(article.path)
      const about = article.country?.name ?? article.section
      const paragraphs = writeParagraphs(random, language, about, 150 + Math.floor(random() * 250))
      const related = (
        article.country === null ? (bySection.get(article.section) ?? []) : (byCountry.get(article.country.code) ?? [])
      )
        .filter(({ path }) => path !== article.path)
        .slice(0, 3)
      const crumb = article.country === null ? '' : ` › <a href="${hubOf(article.country)}">${article.country.name}</a>`
      const tags = article.tags.map((tag): Anchor => [grammar.tag(tag), tag])
      const main = `<nav class="breadcrumb"><a href="${grammar.section(article.section)}">${article.section}</a>${crumb}</nav>
<article><h1>${article.title}</h1><p class="byline">${article.author} · <time datetime="${day(article.date)}">${day(article.date)}</time></p>
${paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n')}</article>
<footer class="tags">${linkList(tags)}</footer><aside><h2>${words.mostRead}</h2>${related.map((one) => teaser(language, one, '?ref=related')).join('')}</aside>`
      return frame(article.title, main, writeHead(input, article))
    },
    aboutPage: (title) =>
      frame(
        title,
        `<h1>${title}</h1><p>${writeParagraphs(createRandom(title), language, grammar.title, 60).join('</p><p>')}</p>`,
      ),
    links: (title, paths) =>
      frame(title, `<h1>${title}</h1>${linkList(paths.map((path) => [path, path.split('/').at(-1) ?? path]))}`),
  }
}

type Anchor = readonly [href: string, label: string]

function linkList(anchors: readonly Anchor[]): string {
  return anchors.length === 0
    ? ''
    : `<ul>${anchors.map(([href, label]) => `<li><a href="${href}">${label}</a></li>`).join('')}</ul>`
}

function teaser(language: NewsInput['grammar']['language'], { path, title, date }: SiteArticle, query: string): string {
  const short = writeSentence(createRandom(title), language).slice(0, 70)
  return `<div class="card"><h3><a href="${path}${query}">${title}</a></h3><p>${short}…</p><time datetime="${day(date)}">${day(date)}</time></div>`
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** The metadata in the head of an article. */
function writeHead({ grammar }: PageWriterInput, { title, date, author, section }: SiteArticle): string {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'NewsArticle',
    headline: title,
    datePublished: date.toISOString(),
    author: { '@type': 'Person', name: author },
    articleSection: section,
  }
  if (grammar.hasSchema) {
    return `<meta property="og:type" content="article"><script type="application/ld+json">${JSON.stringify(data)}</script>`
  }
  return `<meta name="author" content="${author}"><meta name="date" content="${day(date)}">`
}

/** Wraps a page in header, navigation and footer. */
function writeFrame({ grammar }: PageWriterInput, title: string, main: string, head: string): string {
  const sections = grammar.sections.map(({ slug, label }): Anchor => [grammar.section(slug), label])
  return `<!doctype html><html lang="${grammar.language}"><head><meta charset="utf-8"><title>${title} | ${grammar.title}</title>${head}</head><body>
<header class="masthead"><a href="/" class="logo">${grammar.title}</a><nav aria-label="main">${linkList(sections)}</nav></header>
<main>${main}</main>
<footer class="site-footer">${linkList(['about', 'contact', 'privacy', 'terms', 'login', 'search?q=all'].map((name): Anchor => [`/${name}`, name]))}</footer></body></html>`
}
