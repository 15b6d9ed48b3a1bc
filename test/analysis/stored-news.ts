import { createHash } from 'node:crypto'
import type { Link, Page } from '../../src/core/model.ts'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import type { Store } from '../../src/library/ports/store.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'

/* A library full of generated, deterministic news, for tests of stored pages. */

/** Amount of news. */
export interface NewsOptions {
  readonly host?: string
  readonly articles: number
  /** Minimum and maximum number of words in an article. */
  readonly words?: readonly [number, number]
  /** Number of links from every article to other articles. */
  readonly links?: number
}

/** One fixed time for everything, so that two libraries are equal. */
export const STORED_AT = 1_700_000_000_000

const SECTIONS = ['world', 'politics', 'business', 'culture', 'science', 'sport'] as const
export const COUNTRIES = ['france', 'germany', 'kenya', 'japan', 'brazil', 'canada', 'india', 'egypt'] as const

/** Stores hubs of countries and sections, and articles with their links. Returns the number of pages. */
export async function storeNews(store: Store, options: NewsOptions): Promise<number> {
  const { host = 'news.example.uk' } = options
  const sourceId = `source of ${host}`
  const url = `https://${host}/`
  await store.addSource({
    id: sourceId,
    name: host,
    version: null,
    url,
    siteUrl: url,
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 1,
  })
  return storePages(store, sourceId, listPages(host, options))
}

/** A page and its link depth. */
interface NewsPage {
  readonly page: Page
  readonly depth: number
}

/** Stores pages as a crawl does. */
export async function storePages(store: Store, sourceId: string, pages: Iterable<NewsPage>): Promise<number> {
  const crawlId = `crawl of ${sourceId}`
  let count = 0
  for (const batch of batches(pages)) {
    await store.offer(sourceId, crawlId, batch.map(foundAddressOf), STORED_AT)
    const byUrl = new Map(batch.map(({ page }) => [page.url, page]))
    const lease = {
      sourceId,
      limit: batch.length,
      now: STORED_AT,
      until: STORED_AT + 1000,
      horizon: STORED_AT * 2,
      isBreadthFirst: false,
    }
    for (const visit of await store.lease(lease)) {
      const page = byUrl.get(visit.url)
      if (page === undefined) throw new Error(`${visit.url} was never offered`)
      const record = { page, chunks: [], links: page.links.map(({ url }) => url) }
      await store.settle({ visit, crawlId, now: STORED_AT, state: 'indexed', status: 200, record })
      count++
    }
  }
  return count
}

function* batches(pages: Iterable<NewsPage>): Generator<NewsPage[]> {
  let batch: NewsPage[] = []
  for (const page of pages) {
    batch.push(page)
    if (batch.length < 200) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function foundAddressOf({ page: { url }, depth }: NewsPage): FoundAddress {
  return { key: url, url, host: new URL(url).host, depth, foundOn: null, discovery: 'link', refusal: null }
}

function* listPages(host: string, { articles, words = [120, 200], links = 12 }: NewsOptions): Generator<NewsPage> {
  const random = createRandom(articles)
  const addresses = Array.from({ length: articles }, (_, i) => addressOf(host, i))
  const titles = addresses.map(() => titleOf(random))
  const pick = (count: number): Link[] =>
    Array.from({ length: Math.min(count, articles) }, () => {
      const at = Math.floor(random() * articles)
      return { url: addresses[at] ?? '', text: titles[at] ?? '', rel: [], isContent: true }
    })
  const paths = [...SECTIONS.map((section) => `/${section}`), ...COUNTRIES.map((country) => `/world/${country}`)]
  const navigation = paths.map(
    (path): Link => ({
      url: `https://${host}${path}`,
      text: capitalize(path.split('/').at(-1) ?? ''),
      rel: [],
      isContent: false,
    }),
  )
  yield { depth: 0, page: hubPage(`https://${host}/`, 'The Daily Example', [...navigation, ...pick(30)]) }
  for (const { url, text } of navigation) yield { depth: 1, page: hubPage(url, text, [...navigation, ...pick(30)]) }
  for (const [i, url] of addresses.entries()) {
    const length = words[0] + Math.floor(random() * (words[1] - words[0]))
    const body = [`# ${titles[i]}`, ...paragraphs(random, length)].join('\n\n')
    const page = { ...pageOf(url, titles[i] ?? '', body, [...navigation, ...pick(links)]), publishedAt: dateOf(i) }
    yield { depth: 2, page: { ...page, author: 'A. Reporter', types: ['newsarticle'], section: sectionOf(i) } }
  }
}

function hubPage(url: string, title: string, links: readonly Link[]): Page {
  const lines = links.filter(({ isContent }) => isContent).map((link) => `- [${link.text}](${link.url})`)
  return pageOf(url, title, [`# ${title}`, ...lines].join('\n\n'), links)
}

function pageOf(url: string, title: string, markdown: string, links: readonly Link[]): Page {
  return {
    ...{ url, title, markdown, links },
    ...{ description: null, author: null, publishedAt: null, modifiedAt: null, language: 'en', canonical: null },
    ...{ alternates: [], robots: { index: true, follow: true }, generator: null, sections: [], hiddenChars: 0 },
    wordCount: markdown.split(/\s+/).length,
    contentHash: createHash('sha256').update(`${url}\n${markdown}`).digest('hex'),
  }
}

function addressOf(host: string, i: number): string {
  return `https://${host}/${sectionOf(i)}/${dateOf(i).replaceAll('-', '/')}/${i}-a-story-about-${COUNTRIES[i % COUNTRIES.length]}`
}

function sectionOf(i: number): string {
  return SECTIONS[i % SECTIONS.length] ?? ''
}

function dateOf(i: number): string {
  return new Date(Date.UTC(2024, 0, 1 + (i % 360))).toISOString().slice(0, 10)
}

const PLACES =
  'Paris, London, Berlin, Nairobi, Tokyo, Brasília, Ottawa, New Delhi, Cairo, Lagos, Kyiv, Warsaw, Lima, Bogotá, Seoul, Texas, Ontario, Bavaria, France, Germany, Kenya, Japan, Brazil, Canada, India, Egypt, Nigeria, Ukraine, Poland, Peru'.split(
    ', ',
  )
const WORDS =
  'the of and to in a that is was for on with as it by at from said government minister people year new more after would who will have been has had their its one two first last week month report officials according percent economy market growth company workers union strike talks deal agreement court law bill vote election party leader president parliament police city region border war peace crisis health hospital school students climate energy power oil gas water food price prices bank rate rates inflation budget tax trade export import industry technology research study scientists team match season player coach club film music book artist museum history family children women men home house street road train airport weather storm rain flood fire good bad great strong weak rising falling likely unlikely however although because while before since until during against between under over'.split(
    ' ',
  )

function titleOf(random: () => number): string {
  return capitalize(`${wordsOf(random, 5).join(' ')} in ${choose(random, PLACES)}`)
}

function paragraphs(random: () => number, words: number): string[] {
  const count = Math.max(3, Math.round(words / 60))
  return Array.from({ length: count }, () =>
    Array.from({ length: 4 }, () => {
      const sentence = wordsOf(random, Math.round(words / count / 4))
      if (random() < 0.5) sentence.splice(Math.floor(random() * sentence.length), 0, 'in', choose(random, PLACES))
      return `${capitalize(sentence.join(' '))}.`
    }).join(' '),
  )
}

const NAMES =
  'Smith Okafor Müller Tanaka Silva Kowalski Haddad Novak Larsen Ferreira Mwangi Ivanova Dubois Rossi Nguyen Patel Kim Cohen'.split(
    ' ',
  )
const PREFIXES = ['', '', '', 're', 'un', 'over', 'non', 'counter', 'inter', 'pre']
const SUFFIXES = ['s', 'ed', 'ing', 'er', 'ers', 'less', 'ness', 'able', 'ment', 'ism', 'ful', 'wise']

/** Half of the words come from a short list, as in real text; the others are rare, and most are made up. */
function wordsOf(random: () => number, count: number): string[] {
  return Array.from({ length: count }, () => {
    const kind = random()
    if (kind < 0.5) return choose(random, WORDS)
    if (kind < 0.53) return choose(random, NAMES)
    return choose(random, PREFIXES) + choose(random, WORDS) + choose(random, SUFFIXES)
  })
}

function choose(random: () => number, list: readonly string[]): string {
  return list[Math.floor(random() * list.length)] ?? ''
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** A deterministic random number generator for numbers from 0 up to 1: mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
