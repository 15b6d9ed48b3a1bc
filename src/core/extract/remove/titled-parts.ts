import { HEADINGS } from '../../html/names.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import type { StatisticsMap } from '../content/statistics.ts'
import { drop } from '../drop.ts'

const STEP = 'titled parts'

type Title = readonly [RegExp, string]

/** What headings over parts that are no content say, by reason. Whole headings, but for a number or a name after them. */
const TITLES: readonly Title[] = [
  [
    /^(?:related|recommended|similar|suggested|popular|trending|latest|recent|featured|other) (?:posts?|articles?|stories|content|news|products?|items?|topics?|reading|resources|questions|guides?|pages?|videos?|links|searches|blogs?)\b.{0,20}$/,
    'other pages',
  ],
  [
    /^(?:you (?:may|might|could|would|will)(?: also)? (?:like|love|enjoy|be interested)|(?:more|also) (?:from|like|by|for you|stories|articles|news|to (?:explore|read|discover|love))|read (?:next|more|also)|up next|keep (?:reading|exploring)|continue reading|what to read next|next (?:post|article)|recently viewed|(?:people|customers|others|shoppers|users)(?: who .{1,30})? also|frequently bought|(?:often )?bought together|complete (?:the|your) (?:look|set)|pairs? (?:well|with)|goes well with|recommended(?: for you)?$|related$|you may need|compare (?:with )?similar|explore more|discover more|don.t miss|trending(?: now)?$|most (?:popular|read|viewed)|popular (?:now|right now)|editors?.? picks?)/,
    'other pages',
  ],
  [
    /^(?:das könnte|ähnliche |weitere |mehr zum thema|vous aimerez|articles? (?:similaires|liés)|à lire aussi|produits? (?:similaires|associés)|también te|artículos relacionados|productos relacionados|potrebbe interessarti|articoli correlati|artigos relacionados|veja também|gerelateerde )/,
    'other pages',
  ],
  [
    /^(?:share (?:this|on|via|the)\b|share$|follow us|connect with us|stay (?:connected|in touch|informed|up to date)|join (?:our|the) (?:newsletter|mailing list|community)|(?:sign up|subscribe)\b|get (?:our|the) (?:newsletter|latest)|newsletter)/,
    'newsletter and sharing',
  ],
  [
    /^(?:\d+ )?(?:comments?|responses?|replies)(?: \(?\d+\)?)?$|^(?:leave|add|post|write) (?:a|your) (?:comment|reply|response)|^(?:join the (?:discussion|conversation))|^(?:\d+ )?thoughts on /,
    'comments of readers',
  ],
  [/^(?:about the authors?|written by|meet the author|author bio)/, 'byline'],
  [
    /^(?:table of contents|on this page|in this (?:article|guide|post|section)|contents|jump to|quick links|inhaltsverzeichnis|sommaire)$/,
    'table of contents',
  ],
  [
    /^(?:was this (?:page|article|helpful)|did (?:this|you find)|is this page useful|how (?:helpful|useful) was|give feedback|feedback$|help us improve|rate this)/,
    'feedback on the page',
  ],
]

/** On the page of a product others speak of it. */
const REVIEWS: Title = [
  /^(?:(?:customer|user|product|verified|guest|our) )?(?:reviews?|ratings?)(?: (?:&|and) (?:reviews?|ratings?|questions?))?(?: \(?[\d,.]+\)?)?$|^what (?:customers|people) (?:are saying|say)/,
  'reviews of customers',
]

/** A part with more of the sentences of a page is what the page is about. */
const MAX_SHARE = 0.3
const MAX_TITLE_CHARS = 60

/** An element on the way down to a heading, and its place among the children of the one above. */
interface Step {
  readonly element: Element
  readonly index: number
}

/** Drops parts whose heading says that they are no content. */
export function removeTitledParts(content: Element, statistics: StatisticsMap, isProduct: boolean): void {
  const titles = isProduct ? [...TITLES, REVIEWS] : TITLES
  const most = statistics.get(content).prose * MAX_SHARE
  const path: Step[] = []
  const visit = (element: Element, index: number) => {
    if (element.dropped !== undefined) return
    path.push({ element, index })
    const reason = HEADINGS.has(element.name) && element.name !== 'h1' ? reasonOf(element, titles) : undefined
    if (reason === undefined) {
      element.children.forEach((child, position) => {
        if (typeof child !== 'string') visit(child, position)
      })
    } else {
      const part = partOf(path, statistics)
      const prose = part.reduce((sum, member) => sum + statistics.get(member).prose, 0)
      if (prose <= most) for (const member of part) drop(member, STEP, reason)
    }
    path.pop()
  }
  visit(content, 0)
}

function reasonOf(heading: Element, titles: readonly Title[]): string | undefined {
  const title = lineOf(heading)
    .toLowerCase()
    .replace(/[:!.…]+$/, '')
  if (title.length > MAX_TITLE_CHARS) return undefined
  return titles.find(([pattern]) => pattern.test(title))?.[1]
}

/** The largest element that begins with a heading; or the heading and what follows it up to the next one of its rank. */
function partOf(path: readonly Step[], statistics: StatisticsMap): Element[] {
  const heading = path.at(-1)
  if (heading === undefined) return []
  let depth = path.length - 1
  // The first of the path is the content itself.
  while (depth > 1 && beginsWith(path[depth - 1], path[depth], statistics)) depth--
  const { element, index } = path[depth] ?? heading
  if (statistics.get(element).text > statistics.get(heading.element).text) return [element]
  return [element, ...followersOf(path[depth - 1]?.element, index, heading.element.name)]
}

function beginsWith(parent: Step | undefined, child: Step | undefined, statistics: StatisticsMap): boolean {
  if (parent === undefined || child === undefined || statistics.get(parent.element).titles > 0) return false
  for (const first of parent.element.children) {
    if (first === child.element) return true
    if (typeof first === 'string' ? first.trim() !== '' : statistics.get(first).text > 0) return false
  }
  return false
}

function followersOf(parent: Element | undefined, index: number, rank: string): Element[] {
  const followers: Element[] = []
  for (let i = index + 1; parent !== undefined && i < parent.children.length; i++) {
    const sibling = parent.children[i]
    if (sibling === undefined || typeof sibling === 'string' || sibling.dropped !== undefined) continue
    if (startsSection(sibling, rank)) break
    followers.push(sibling)
  }
  return followers
}

/** Whether an element is a heading of a rank or above, or begins with one. */
function startsSection(element: Element, rank: string): boolean {
  for (let at: Element | undefined = element; at !== undefined; [at] = at.elements()) {
    if (HEADINGS.has(at.name)) return at.name <= rank
  }
  return false
}
