import { find } from '../html/selector.ts'
import { type Element, lineOf } from '../html/tree.ts'
import { countCards } from './content/cards.ts'
import { findContainer, findGeneratorContent, findMain, findProseElement } from './content/container.ts'
import { findThread } from './content/forum.ts'
import { detectPageKind, hasMainText, isSigned, type PageKind } from './content/page-kind.ts'
import { countStatistics, type StatisticsMap } from './content/statistics.ts'
import { findTitle, findTitleInBreadcrumb } from './content/title.ts'
import type { Generator } from './generators/generator.ts'
import type { Metadata } from './metadata.ts'
import { removeBylines } from './remove/bylines.ts'
import { removeCredits } from './remove/captions.ts'
import { removeComments } from './remove/comments.ts'
import { removeCopies } from './remove/copies.ts'
import { removeOffers } from './remove/offers.ts'
import { removeFollowingArticles } from './remove/related/following-articles.ts'
import { removeHeadlineLists } from './remove/related/headline-lists.ts'
import { removeTeasers } from './remove/related/teasers.ts'
import { removeThumbnails } from './remove/related/thumbnails.ts'
import { restore, textChars, visibleChars } from './remove/restore.ts'
import { removeReviews } from './remove/reviews.ts'
import { removeTableOfContents } from './remove/table-of-contents.ts'
import { removeTitledParts } from './remove/titled-parts.ts'

/** Where the content of a document is. */
export interface FoundContent {
  /** In document order; no element contains another. */
  readonly elements: Element[]
  /** The software of the forum, if the page is a thread. */
  readonly forum: string | null
}

/**
 * Finds the elements that hold the content of a document and drops other parts inside them. If hardly any text would remain, the whole page
 * is taken.
 */
export function findContent(root: Element, generator: Generator | undefined, metadata: Metadata): FoundContent {
  const body = find(root, (element) => element.name === 'body') ?? root
  const statistics = countStatistics(body)
  const thread = findThread(body, statistics, metadata)
  const forum = thread?.forum ?? null
  const elements = thread?.elements ?? findPageContent(body, statistics, generator, metadata)
  const contentChars = elements.reduce((sum, element) => sum + textChars(element), 0)
  const isEnough = contentChars >= MIN_CONTENT_CHARS || contentChars * MAX_LOST_RATIO >= visibleChars(body)
  if (isEnough || isPlaceholder(elements) || isShortText(elements)) return { elements, forum }
  restore(body)
  return { elements: [body], forum }
}

/** Whether the text has no letters and digits: dots or a dash are a placeholder for content that scripts load. */
function isPlaceholder(elements: readonly Element[]): boolean {
  const text = elements.map(lineOf).join('')
  return text !== '' && !/[\p{L}\p{N}]/u.test(text)
}

/** Whether the content is a title with a sentence, as in a short notice, and nothing large was dropped beside them. */
function isShortText(elements: readonly Element[]): boolean {
  const title = findFirst(elements, ({ name }) => name === 'h1')
  const sentence = findFirst(elements, (element) => element.name === 'p' && isSentence(lineOf(element)))
  if (title === undefined || sentence === undefined) return false
  const titleAncestors = new Set(title.ancestors())
  const commonAncestor = [...sentence.ancestors()].find((element) => titleAncestors.has(element))
  return commonAncestor !== undefined && textChars(commonAncestor) * MAX_LOST_RATIO >= visibleChars(commonAncestor)
}

function findFirst(elements: readonly Element[], matches: (element: Element) => boolean): Element | undefined {
  for (const element of elements) {
    const found = find(element, matches)
    if (found !== undefined) return found
  }
  return undefined
}

function isSentence(line: string): boolean {
  return line.length >= MIN_SENTENCE_CHARS && /[.!?。！？]$/.test(line)
}

const MIN_SENTENCE_CHARS = 15

/** The content counts as not found if it is shorter than MIN_CONTENT_CHARS and the page has more than MAX_LOST_RATIO times as much text. */
const MIN_CONTENT_CHARS = 100
const MAX_LOST_RATIO = 10

/** Finds the content of a page other than a forum thread. */
function findPageContent(
  body: Element,
  initialStatistics: StatisticsMap,
  generator: Generator | undefined,
  metadata: Metadata,
): Element[] {
  const main = findMain(body, initialStatistics)
  const cards = countCards(main, initialStatistics)
  const proseElement = findProseElement(main, initialStatistics)
  const kind = detectPageKind(metadata, initialStatistics.get(main), initialStatistics.get(proseElement), cards)
  const hadComments = removeComments(body, initialStatistics)
  const hadReviews = kind === 'product' && removeReviews(body, initialStatistics)
  const statistics = hadComments || hadReviews ? countStatistics(body) : initialStatistics
  const hasOneText = hasMainText(metadata, initialStatistics.get(main), cards)
  const container =
    findGeneratorContent(body, statistics, generator) ?? findContainer(body, statistics, kind, hasOneText)
  removeTableOfContents(container)
  if (kind === 'article' || (kind === 'page' && isSigned(metadata))) {
    removeFollowingArticles(container, statistics, metadata.title)
    removeHeadlineLists(container, statistics)
  }
  prune(container, kind, statistics)
  removeThumbnails(container, statistics, {
    title: metadata.title,
    isCatalogue: kind === 'product' || kind === 'listing',
  })
  const title = kind === 'article' ? undefined : (findTitle(body, container) ?? findBreadcrumbTitle(body, container))
  return title === undefined ? [container] : [title, container]
}

/** The title in the breadcrumb path, if the content has no `h1`. */
function findBreadcrumbTitle(body: Element, container: Element): Element | undefined {
  return find(container, ({ name }) => name === 'h1') === undefined ? findTitleInBreadcrumb(body) : undefined
}

/** Drops parts that pages of this kind often have beside their content. */
function prune(container: Element, kind: PageKind, statistics: StatisticsMap): void {
  if (kind !== 'listing') removeBylines(container, statistics)
  if (kind === 'reference') return
  if (kind !== 'listing') removeTitledParts(container, statistics, kind === 'product')
  if (kind === 'product' || kind === 'article') removeTeasers(container, statistics)
  if (kind === 'product') removeOffers(container, statistics)
  if (kind === 'article') removeCredits(container)
  removeCopies(container, statistics, kind === 'product')
}
