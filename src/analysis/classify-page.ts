import type { Classification, ContentSignals, Page, PageClass, UrlSignals } from '../core/model.ts'
import { classifyUrl, isArticleUrl, type PageUrl } from '../core/url/page-url.ts'
import { type ContentMeasure, measureContent } from './classify-content.ts'
import { readSigns, type Signs } from './classify-signs.ts'

/** Of the rules below; grows when the same page may be classified otherwise. */
export const CLASSIFIER_VERSION = 1

/**
 * Says whether a page is something to read, something that leads to that, or neither, by what its address, its statements about
 * itself and the make of its text come to. Every crawl pays for it, so it costs a fraction of what reading the page has cost.
 */
export function classifyPage(page: Page): Classification {
  const { url, content, signs } = lookAt(page)
  const { kind, margin } = decide(scoreArticle(signs), scoreNav(signs))
  return {
    version: CLASSIFIER_VERSION,
    kind,
    confidence: round(1 / (1 + Math.exp(-margin))),
    url,
    content,
    combined: combineVotes(url, content),
  }
}

/** What is seen of a page before it is judged. */
export interface PageView {
  readonly url: UrlSignals
  readonly content: ContentSignals
  readonly signs: Signs
}

/** Looks at a page without judging it. */
export function lookAt(page: Page): PageView {
  const told = classifyUrl(page.url)
  const measure = measureContent(page)
  const url = urlSignalsOf(page.url, told)
  const content = contentSignalsOf(page, url.host, measure)
  return { url, content, signs: readSigns(page, told, measure, content) }
}

/*
 * Of a page that says nothing and of which nothing is known, each score is that of `start`; each sign adds its weight. The weights
 * are those of a logistic regression over pages of each kind, rounded, with what such a collection cannot tell added by hand: a
 * front page is no article, whatever it says of itself. `npm run bench classify` fits them anew on parts of a collection.
 */
const ARTICLE_WEIGHTS: Weights = {
  start: -1.5,
  saysArticle: 1.6,
  sharesArticle: 0.6,
  hasAuthor: 0.5,
  hasDate: 0.6,
  urlArticle: 1.4,
  urlDated: 1.5,
  prose: 1.7,
  isThread: -3.5,
  isManual: -2.5,
  saysList: -0.8,
  isFront: -4,
  urlNav: -1.2,
  urlOther: -2.2,
  linked: -1.2,
  code: -2.5,
  teasers: -0.8,
  teaserShare: -1.6,
  fewWords: -0.8,
}

const NAV_WEIGHTS: Weights = {
  start: -2,
  isFront: 1.5,
  urlNav: 1.5,
  saysList: 0.8,
  teasers: 1.5,
  teaserShare: 1.5,
  linked: 1.5,
  leadsOn: 0.7,
  leadsToArticles: 0.8,
  fewWords: 0.5,
  prose: -1.2,
  isThread: -3,
  isManual: -1.5,
  urlOther: -1.2,
  code: -1.5,
}

type Weights = Readonly<Partial<Record<keyof Signs, number>>> & { readonly start: number }

function createScore({ start, ...weights }: Weights): (signs: Signs) => number {
  const entries = Object.entries(weights) as [keyof Signs, number][]
  return (signs) => {
    let score = start
    for (const [name, weight] of entries) score += weight * signs[name]
    return score
  }
}

/** How much speaks for an article: one has more than nothing. */
export const scoreArticle: (signs: Signs) => number = createScore(ARTICLE_WEIGHTS)
const scoreNav = createScore(NAV_WEIGHTS)

/** The class that two scores come to, and how far they are from another one. */
function decide(article: number, nav: number): { readonly kind: PageClass; readonly margin: number } {
  if (article > 0) return { kind: 'article', margin: article }
  if (nav > 0) return { kind: 'nav', margin: Math.min(nav, -article) }
  return { kind: 'other', margin: Math.min(-nav, -article) }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

function urlSignalsOf(address: string, { segments, hasDate, hasArticleWords }: PageUrl): UrlSignals {
  const { hostname, host, searchParams } = URL.parse(address) ?? NO_URL
  const [first = null] = segments
  const label = hostname.slice(hostname.lastIndexOf('.') + 1)
  return {
    host,
    tld: label !== hostname && /[a-z]/.test(label) ? label : null,
    // One that stands alone and reads like a headline, or a date, is no section.
    section: first === null || /^\d+$/.test(first) || (segments.length === 1 && hasArticleWords) ? null : first,
    pathDepth: segments.length,
    slugLen: segments.at(-1)?.length ?? 0,
    hasDatePath: hasDate,
    hasArticleWords,
    queryCount: searchParams.size,
  }
}

const NO_URL = { hostname: '', host: '', searchParams: { size: 0 } }

function contentSignalsOf(page: Page, host: string, measure: ContentMeasure): ContentSignals {
  const bare = host.replace(/^www\./, '')
  let navLinks = 0
  let articleLinks = 0
  for (const { url } of page.links) {
    if (!isOnHost(url, bare)) continue
    if (isArticleUrl(url)) articleLinks++
    else navLinks++
  }
  return {
    linkDensity: round(measure.text === 0 ? 0 : Math.min(1, measure.linkText / measure.text)),
    h2: measure.h2,
    h3: measure.h3,
    a: page.links.length,
    p: measure.paragraphs,
    wordCount: page.wordCount,
    navLinks,
    articleLinks,
  }
}

/** Whether an absolute address is on a host, with or without `www.`. */
function isOnHost(url: string, bare: string): boolean {
  let start = url.indexOf('//') + 2
  if (url.startsWith('www.', start)) start += 4
  if (!url.startsWith(bare, start)) return false
  const after = url[start + bare.length]
  return after === undefined || after === '/' || after === '?' || after === '#'
}

/** What single signals say, each with one vote. */
function combineVotes(url: UrlSignals, content: ContentSignals): Classification['combined'] {
  const { linkDensity, a, p, wordCount } = content
  const isArticleUrlLike = url.hasDatePath || url.hasArticleWords
  const article = count([isArticleUrlLike, linkDensity < 0.08 && p >= 3, wordCount > 150])
  const nav = count([url.pathDepth <= 2 && !url.hasDatePath, linkDensity > 0.25 && a > 40, wordCount < 60 && a > 20])
  const considered = article + nav
  const votes = Math.max(article, nav)
  const hint = votes === 0 || article === nav ? 'other' : article > nav ? 'article' : 'nav'
  return { hint, confidence: round(votes / Math.max(2, considered)), considered }
}

function count(votes: readonly boolean[]): number {
  return votes.filter(Boolean).length
}
