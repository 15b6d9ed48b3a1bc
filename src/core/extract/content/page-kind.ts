import type { Metadata } from '../metadata.ts'
import type { CardTotals } from './cards.ts'
import { linkShare, type Statistics } from './statistics.ts'

/**
 * The purpose of a page, as far as it decides what is content. An article has one text, and everything else leads away from it. A product
 * has its description, a listing its items. A reference explains code, repeats itself and has meaningful headings. On any other page
 * everything except chrome is meant to be read.
 */
export type PageKind = 'article' | 'product' | 'listing' | 'reference' | 'page'

const ARTICLES = new Set([
  'article',
  'og:article',
  'newsarticle',
  'blogposting',
  'analysisnewsarticle',
  'reportagenewsarticle',
  'scholarlyarticle',
])
const PRODUCTS = new Set(['product', 'productgroup', 'itempage', 'og:product', 'og:product.item', 'og:og:product'])

/**
 * `main` counts the part of the page without chrome, `text` the smallest element in it that holds nearly all of its sentences, `cards` the
 * items that link to other pages.
 */
export function detectPageKind(metadata: Metadata, main: Statistics, text: Statistics, cards: CardTotals): PageKind {
  const { types, author, publishedAt } = metadata
  const isArticle = types.some((type) => ARTICLES.has(type))
  const isProduct = types.some((type) => PRODUCTS.has(type)) && !types.includes('og:product.group')
  // A page by an author about a product is an article, not a shop.
  if (isProduct && !(isArticle && author !== null)) return 'product'
  if (main.proseLength < main.textLength * LISTING_PROSE && !isText(text)) return 'listing'
  const hasArticle = isArticle && isSigned(metadata) && main.proseLength - cards.prose >= ARTICLE_PROSE
  if (isCatalogue(main, cards) && !hasArticle) return 'listing'
  // Publishing programs declare every page an article; only a writer or a date confirms it.
  if (isArticle && (author !== null || publishedAt !== null)) return 'article'
  return main.codeBlockCount > 0 ? 'reference' : 'page'
}

/** Whether a page states its author and date, as an article does. */
export function isSigned({ author, publishedAt }: Metadata): boolean {
  return author !== null && publishedAt !== null
}

/** A shorter text beside cards introduces them. */
const ARTICLE_PROSE = 1500

/** A page with a smaller share of sentences holds labels and links: items of a shop, headlines of a front page. */
const LISTING_PROSE = 0.5

/** Whether an element is one text, so that lists of links around it do not make the page a listing. */
function isText({ proseLength, textLength }: Statistics): boolean {
  return proseLength >= TEXT_CHARS && proseLength >= textLength * TEXT_PROSE
}

const TEXT_CHARS = 500
const TEXT_PROSE = 0.8

/** Whether cards hold most of the text and of the prose of a page. */
function isCatalogue(main: Statistics, { count, text, prose }: CardTotals): boolean {
  return count >= MIN_CARDS && text > main.textLength * CARDS_SHARE && prose >= main.proseLength * CARDS_SHARE
}

const MIN_CARDS = 6
const CARDS_SHARE = 0.5

/**
 * Whether a page has one main text, so that links beside it lead to other pages: it names a writer or a date, or much of its text is in
 * links but few of these are cards.
 */
export function hasMainText({ author, publishedAt }: Metadata, main: Statistics, { count }: CardTotals): boolean {
  return author !== null || publishedAt !== null || (count < MIN_CARDS && linkShare(main) > MIN_LINK_SHARE)
}

const MIN_LINK_SHARE = 0.3
