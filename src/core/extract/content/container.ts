import { compileSelector, find, SelectorMap } from '../../html/selector.ts'
import type { Element } from '../../html/tree.ts'
import type { Generator } from '../generators/generator.ts'
import type { PageKind } from './page-kind.ts'
import type { StatisticsMap } from './statistics.ts'

/** Selectors of elements that commonly hold the text of a page. */
const CONTENT_SELECTORS = [
  '[itemprop=articleBody]',
  '.entry-content, .post-content, .article-content, .article-body, .post-body, .article__body, .article__content, .post__content, .story-body, .blog-content, .single-content, .td-post-content, .available-content, .body.markup',
  '.markdown-body, .mw-parser-output, .rst-content, .field-name-body, .theme-doc-markdown',
]

const CONTENT = new SelectorMap(CONTENT_SELECTORS.map((list) => [list, true] as const))

/** The element that holds the content of a page other than a forum thread. */
export function findContainer(body: Element, statistics: StatisticsMap, kind: PageKind, hasMainText: boolean): Element {
  const main = findMain(body, statistics)
  switch (kind) {
    case 'listing':
    case 'product':
      return main
    default:
      return descend(findArticle(main, statistics) ?? main, statistics, kind, hasMainText)
  }
}

/** The element in which the generator of the page is known to put the content, unless a page can have several of them. */
export function findGeneratorContent(
  body: Element,
  statistics: StatisticsMap,
  generator: Generator | undefined,
): Element | undefined {
  if (generator === undefined || generator.isContentRepeatable === true) return undefined
  for (const text of generator.content) {
    const element = find(body, compileSelector(text))
    if (element !== undefined && statistics.get(element).textLength > 0) return element
  }
  return undefined
}

export function findMain(body: Element, statistics: StatisticsMap): Element {
  const main =
    find(body, (element) => element.name === 'main') ?? find(body, (element) => element.attribute('role') === 'main')
  if (main === undefined) return body
  const [own, all] = [statistics.get(main), statistics.get(body)]
  return own.textLength >= all.textLength * MAIN_SHARE && own.proseLength >= all.proseLength * MAIN_PROSE_SHARE
    ? main
    : body
}

/** A main element with a smaller share of the text or of the prose of the page does not hold the whole content. */
const MAIN_SHARE = 0.4
const MAIN_PROSE_SHARE = 0.1

/**
 * The element that matches `CONTENT_SELECTORS` and holds most of the prose. If the `<article>` around it has further such elements, returns
 * the article.
 */
function findArticle(main: Element, statistics: StatisticsMap): Element | undefined {
  const { proseLength } = statistics.get(main)
  const markedElement = find(
    main,
    (element) => isMarkedContent(element) && statistics.get(element).proseLength >= proseLength * ARTICLE_SHARE,
  )
  if (markedElement === undefined) return undefined
  let article: Element | undefined = markedElement
  while (article !== undefined && article !== main && article.name !== 'article') article = article.parent
  if (article === undefined || article.name !== 'article') return markedElement
  return markedProseLength(article, statistics) > statistics.get(markedElement).proseLength ? article : markedElement
}

/** Length of the prose in the outermost elements that match `CONTENT_SELECTORS`. */
function markedProseLength(element: Element, statistics: StatisticsMap): number {
  if (isMarkedContent(element)) return statistics.get(element).proseLength
  return element.elements().reduce((sum, child) => sum + markedProseLength(child, statistics), 0)
}

function isMarkedContent(element: Element): boolean {
  return CONTENT.match(element) === true
}

/** The share of the prose that a marked element must hold to be the content. */
const ARTICLE_SHARE = 0.6

/** The smallest element that holds nearly all sentences. */
export function findProseElement(main: Element, statistics: StatisticsMap): Element {
  let at = main
  for (;;) {
    const { proseLength } = statistics.get(at)
    const next = at.elements().find((child) => statistics.get(child).proseLength >= proseLength * TEXT_SHARE)
    if (next === undefined || proseLength === 0 || DESCENT_STOPS.has(next.name)) return at
    at = next
  }
}

const TEXT_SHARE = 0.85

/** Descends while one child holds nearly all of the text. If the page has one main text, text in links does not count. */
function descend(
  from: Element,
  statistics: StatisticsMap,
  kind: keyof typeof DESCENT_SHARE,
  hasMainText: boolean,
): Element {
  const share = DESCENT_SHARE[kind]
  const charsOf = (element: Element) => {
    const { textLength, linkLength } = statistics.get(element)
    return hasMainText ? textLength - linkLength : textLength
  }
  let at = from
  for (;;) {
    const { proseLength } = statistics.get(at)
    const text = charsOf(at)
    let next: Element | undefined
    for (const child of at.elements()) {
      if (statistics.get(child).proseLength >= proseLength * share && charsOf(child) >= text * DESCENT_TEXT_SHARE)
        next = child
    }
    if (
      next === undefined ||
      proseLength === 0 ||
      DESCENT_STOPS.has(next.name) ||
      (kind !== 'article' && isSiblingSection(next, at))
    )
      return at
    at = next
  }
}

/**
 * Whether an element is a section beside another section with a heading of the same rank. Such sections are parts of one text, even short
 * ones; only on an article page they lead to other pages.
 */
function isSiblingSection(element: Element, parent: Element): boolean {
  if (element.name !== 'section') return false
  const rank = rankOf(element)
  if (rank === undefined) return false
  for (const sibling of parent.elements()) {
    if (sibling !== element && sibling.name === 'section' && rankOf(sibling) === rank) return true
  }
  return false
}

function rankOf(section: Element): string | undefined {
  return find(section, ({ name }) => HEADINGS.has(name))?.name
}

const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])

/**
 * Share of the prose that a child must hold to be descended into. It is lower for an article, whose siblings lead to other pages; on other
 * pages a sibling is often the introduction.
 */
const DESCENT_SHARE = { article: 0.9, page: 0.93, reference: 0.98 }
const DESCENT_TEXT_SHARE = 0.7
const DESCENT_STOPS = new Set(['p', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre', 'figure', 'details', 'li'])
