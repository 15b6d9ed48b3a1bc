import type { Element } from '../../html/tree.ts'
import { linkShare, type Statistics, type StatisticsMap } from '../content/statistics.ts'
import { type ChromeKind, wordsIn } from './chrome-kind.ts'
import { FormFinder, isLinkDense, isSection } from './evidence.ts'
import { type Term, TermReader } from './terms.ts'

/** Kinds of chrome by term. */
export interface TermRules {
  readonly strong: ReadonlyMap<string, ChromeKind>
  readonly weak: ReadonlyMap<string, ChromeKind>
  readonly products: ReadonlyMap<string, ChromeKind>
}

/** Indexes kinds of chrome by term. If two share a term, the later one wins. */
export function indexTerms(kinds: readonly ChromeKind[]): TermRules {
  const index = (list: (kind: ChromeKind) => string) =>
    new Map(kinds.flatMap((kind) => wordsIn(list(kind)).map((term) => [term, kind] as const)))
  return {
    strong: index(({ terms = '' }) => terms),
    weak: index(({ weakTerms = '' }) => weakTerms),
    products: index(({ products = '' }) => products),
  }
}

/** Elements that are never chrome, under any name. */
const NEVER_CHROME = new Set(
  wordsIn('html body main article h1 h2 h3 h4 h5 h6 pre code table tbody tr td th dt dd blockquote'),
)

/** Words that do not change the meaning of the term before them: `buttons` in `share-buttons`, but not `work` in `related-work`. */
const PARTS = new Set(
  wordsIn(
    `a accordion all app area arrow articles aside back background backdrop badge banner bar base block blocks body border
    bottom box brand brands btn button buttons card cards carousel cell center child close col collapse column columns
    component container content contents control controls copy count counter cta custom dark default desc description
    desktop details dialog div divider drop el email end entry expand extra field fields first flex footer form full grid
    group head header heading helper holder home horizontal icon icons image images img info inline inner input item items
    js label large last layer layout left li light line link links list live logo logos main media menu menus message meta
    middle mobile modal module more name nav network networks new next notice offers outer overlay page panel parent
    placeholder policy popup post posts prev previous primary privacy products prompt promo region right root row rows
    scroll scroller search secondary section sections select separator service services settings side sidebar single site
    slider slot small social source space spacer sticky stories style styles sub submit subtitle success support svg tab
    tabs target template terms text theme threads tile title toggle toggler tool tools top topics ul unit user utilities
    vertical video videos widget widgets wide width window wrap wrapper zone`,
  ),
)

/** Creates a function that tells whether the classes, the id or the custom name of an element make it chrome, and why. */
export function createNameMatcher(
  { strong, weak, products }: TermRules,
  statistics: StatisticsMap,
  root: Element,
): (element: Element) => string | undefined {
  const whole = statistics.get(root)
  const terms = new TermReader()
  const forms = new FormFinder(root)
  const isWholeName = ({ next }: Term) => next === '' || PARTS.has(next) || strong.has(next) || weak.has(next)
  return (element) => {
    if (NEVER_CHROME.has(element.name)) return undefined
    const counts = statistics.get(element)
    if (counts.textLength === 0 || counts.mainCount > 0) return undefined
    const product = counts.h1Count > 0 ? undefined : productOf(element, products)
    if (product !== undefined) return product.reason
    if (outweighsName(counts, whole)) return undefined
    for (const term of terms.read(element)) {
      const kind =
        (isWholeName(term) || isLinkDense(counts) ? strong.get(term.text) : undefined) ??
        (term.isLast && isThin(counts, whole) ? weak.get(term.text) : undefined)
      if (kind === undefined || counts.textLength > (kind.maxChars ?? Infinity)) continue
      if (!hasOwnText(counts, kind) || forms.hasForm(element)) return kind.reason
    }
    return undefined
  }
}

/** The product whose name begins the id or a class of an element. Unlike for other terms, long ids count too. */
function productOf(element: Element, products: TermRules['products']): ChromeKind | undefined {
  if (products.size === 0) return undefined
  const { id, classes } = element
  const productOfId = id === '' ? undefined : products.get(firstWord(id))
  if (productOfId !== undefined) return productOfId
  for (const name of classes) {
    const product = products.get(firstWord(name))
    if (product !== undefined) return product
  }
  return undefined
}

function firstWord(name: string): string {
  const end = name.search(/[-_]/)
  return (end < 0 ? name : name.slice(0, end)).toLowerCase()
}

/** Whether a part has text of its own, so that its name describes its topic. */
function hasOwnText(counts: Statistics, { isJargon = false, isLinkList = false }: ChromeKind): boolean {
  return isJargon ? false : isSection(counts) || (isLinkList && counts.proseLength > 0 && counts.linkCount === 0)
}

/** Whether an element holds so much of the page that its name must describe the layout. */
function outweighsName(counts: Statistics, whole: Statistics): boolean {
  if (counts.textLength > whole.textLength * 0.4) return true
  const share = counts.proseLength / Math.max(1, whole.proseLength)
  return counts.h1Count > 0 ? share > 0.1 : share > 0.3
}

/** Whether an element has hardly any prose, or consists mostly of links. */
function isThin(counts: Statistics, whole: Statistics): boolean {
  return (
    counts.h1Count === 0 &&
    counts.codeBlockCount === 0 &&
    (counts.proseLength < whole.proseLength * 0.03 || linkShare(counts) > 0.5)
  )
}
