import type { Metadata } from '../metadata.ts'
import type { Statistics } from './statistics.ts'

/**
 * What a page is for, as far as it decides what on it is content:
 * an article has one text and all else leads away from it; a product has its description; a listing is its items; a
 * reference explains code, says many a thing twice and means its headings; of any other page all that is not chrome is
 * meant to be read.
 */
export type Kind = 'article' | 'product' | 'listing' | 'reference' | 'page'

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

/** `main` counts the part of the page that is left without chrome. */
export function kindOf({ types, author, publishedAt }: Metadata, main: Statistics): Kind {
  const isArticle = types.some((type) => ARTICLES.has(type))
  const isProduct = types.some((type) => PRODUCTS.has(type)) && !types.includes('og:product.group')
  // One who writes about products is no shop.
  if (isProduct && !(isArticle && author !== null)) return 'product'
  if (main.prose < main.text * LISTING_PROSE) return 'listing'
  // Publishing programs call every page an article; one with a writer or a date is.
  if (isArticle && (author !== null || publishedAt !== null)) return 'article'
  return main.codes > 0 ? 'reference' : 'page'
}

/** With less of its text in sentences a page holds labels and links: items of a shop, headlines of a front page. */
const LISTING_PROSE = 0.5
