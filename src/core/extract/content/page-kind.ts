import type { Metadata } from '../metadata.ts'
import type { CardTotals } from './cards.ts'
import { linkShare, type Statistics } from './statistics.ts'

/**
 * The purpose of a page, as far as it decides what is content. An article has one text, and everything else leads away from it. The
 * content of a product page is the description, that of a listing its items. A reference explains code, repeats itself and has meaningful
 * headings. On any other page everything except chrome is meant to be read.
 */
export type PageKind = 'article' | 'product' | 'listing' | 'reference' | 'page'

const ARTICLE_TYPES = new Set([
  'article',
  'og:article',
  'newsarticle',
  'blogposting',
  'analysisnewsarticle',
  'reportagenewsarticle',
  'scholarlyarticle',
])
const PRODUCT_TYPES = new Set(['product', 'productgroup', 'itempage', 'og:product', 'og:product.item', 'og:og:product'])

/**
 * `main` has the counts of the page without chrome, `text` those of the smallest element that holds nearly all of its sentences, and
 * `cards` those of the items that link to other pages.
 */
export function detectPageKind(metadata: Metadata, main: Statistics, text: Statistics, cards: CardTotals): PageKind {
  const { types, author, publishedAt } = metadata
  const isArticle = types.some((type) => ARTICLE_TYPES.has(type))
  const isProduct = types.some((type) => PRODUCT_TYPES.has(type)) && !types.includes('og:product.group')
  // A page about a product that names its author is an article, not a page of a shop.
  if (isProduct && !(isArticle && author !== null)) return 'product'
  if (main.proseLength < main.textLength * LISTING_PROSE && !isMostlyProse(text)) return 'listing'
  const hasArticle = isArticle && isSigned(metadata) && main.proseLength - cards.proseLength >= ARTICLE_PROSE
  if (isCatalog(main, cards) && !hasArticle) return 'listing'
  // Publishing programs declare every page an article; only a writer or a date confirms it.
  if (isArticle && (author !== null || publishedAt !== null)) return 'article'
  return main.codeBlockCount > 0 ? 'reference' : 'page'
}

/** Whether a page states its author and date, as an article does. */
export function isSigned({ author, publishedAt }: Metadata): boolean {
  return author !== null && publishedAt !== null
}

/** A text beside cards that is shorter only introduces the cards. */
const ARTICLE_PROSE = 1500

/** A page with a smaller share of sentences holds labels and links: items of a shop, headlines of a front page. */
const LISTING_PROSE = 0.5

/** Whether an element holds enough prose, so that lists of links around it do not make the page a listing. */
function isMostlyProse({ proseLength, textLength }: Statistics): boolean {
  return proseLength >= TEXT_CHARS && proseLength >= textLength * TEXT_PROSE
}

const TEXT_CHARS = 500
const TEXT_PROSE = 0.8

/** Whether cards hold most of the text and of the prose of a page. */
function isCatalog(main: Statistics, { count, textLength, proseLength }: CardTotals): boolean {
  return (
    count >= MIN_CARDS && textLength > main.textLength * CARDS_SHARE && proseLength >= main.proseLength * CARDS_SHARE
  )
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
