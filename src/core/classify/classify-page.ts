import type { Classification, ContentSignals, Page, PageClass, UrlSignals } from '../model.ts'
import { classifyUrl, isArticleUrl, type PageUrl } from '../url/page-url.ts'
import { readSigns, type Signs } from './classify-signs.ts'
import { type ContentMeasure, measureContent } from './measure-content.ts'

/** Version of the rules below; increases when the same page may get another class. */
export const CLASSIFIER_VERSION = 2

/**
 * Decides whether a page is an article, navigation or neither, from its address, its metadata and the structure of its text. Every crawl
 * runs it for each page, so it must cost a fraction of the extraction.
 */
export function classifyPage(page: Page): Classification {
  const { url, content, signs } = observePage(page)
  const { kind, margin } = decide(scoreArticle(signs), scoreNav(signs))
  return {
    version: CLASSIFIER_VERSION,
    kind,
    confidence: round(1 / (1 + Math.exp(-margin))),
    url,
    content,
  }
}

/** The observations of a page that its classification is based on. */
export interface PageObservation {
  readonly url: UrlSignals
  readonly content: ContentSignals
  readonly signs: Signs
}

/** Observes a page without classifying it. */
export function observePage(page: Page): PageObservation {
  const pageUrl = classifyUrl(page.url)
  const measure = measureContent(page)
  const url = urlSignalsOf(page.url, pageUrl)
  const content = contentSignalsOf(page, url.host, measure)
  return { url, content, signs: readSigns(page, pageUrl, measure, content) }
}

/**
 * A page without any sign has the score `bias`; each sign adds its weight. The weights come from a logistic regression over pages of each
 * kind, rounded. Some were added by hand for cases that the collection lacks: a front page is not an article, whatever it claims. `npm run
 * bench classify` fits them again on parts of a collection.
 */
const ARTICLE_WEIGHTS: Weights = {
  bias: -1.5,
  hasArticleType: 1.6,
  hasOpenGraphArticle: 0.6,
  hasAuthor: 0.5,
  hasDate: 0.6,
  urlArticle: 1.4,
  urlDated: 1.5,
  prose: 1.7,
  isThread: -3.5,
  isManual: -2.5,
  hasListType: -0.8,
  isFront: -4,
  urlNav: -1.2,
  urlOther: -2.2,
  linkDensity: -1.2,
  code: -2.5,
  teasers: -0.8,
  teaserShare: -1.6,
  fewWords: -0.8,
}

const NAV_WEIGHTS: Weights = {
  bias: -2,
  isFront: 1.5,
  urlNav: 1.5,
  hasListType: 0.8,
  teasers: 1.5,
  teaserShare: 1.5,
  linkDensity: 1.5,
  siteLinks: 0.7,
  siteArticleLinks: 0.8,
  fewWords: 0.5,
  prose: -1.2,
  isThread: -3,
  isManual: -1.5,
  urlOther: -1.2,
  code: -1.5,
}

type Weights = Readonly<Partial<Record<keyof Signs, number>>> & { readonly bias: number }

function createScore({ bias, ...weights }: Weights): (signs: Signs) => number {
  const entries = Object.entries(weights) as [keyof Signs, number][]
  return (signs) => {
    let score = bias
    for (const [name, weight] of entries) score += weight * signs[name]
    return score
  }
}

/** Scores a page as an article. It is an article if the score is positive. */
export const scoreArticle: (signs: Signs) => number = createScore(ARTICLE_WEIGHTS)
const scoreNav = createScore(NAV_WEIGHTS)

/** The class that follows from two scores, and how far the scores are from giving another class. */
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
    // A number is not a section, and neither is a headline that is the only segment.
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
  const bareHost = host.replace(/^www\./, '')
  let navLinks = 0
  let articleLinks = 0
  for (const { url } of page.links) {
    if (!isOnHost(url, bareHost)) continue
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

/** Whether an absolute URL is on a host, with or without `www.`. */
function isOnHost(url: string, bareHost: string): boolean {
  let start = url.indexOf('//') + 2
  if (url.startsWith('www.', start)) start += 4
  if (!url.startsWith(bareHost, start)) return false
  const after = url[start + bareHost.length]
  return after === undefined || after === '/' || after === '?' || after === '#'
}
