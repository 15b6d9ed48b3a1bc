import { HEADINGS } from '../../html/element-names.ts'
import { type Element, lineOf } from '../../html/tree.ts'
import { type Statistics, type StatisticsMap, sumStatistics } from '../content/statistics.ts'
import { drop } from '../drop.ts'
import { FormFinder, holdsComments } from './evidence.ts'

const STEP = 'titled parts'

/** Checks that the content of a part confirms its heading. */
type Evidence = (part: TitledPart) => boolean

interface TitledPart {
  readonly counts: Statistics
  /** Length of the text without the heading. */
  readonly chars: number
  /** Whether the part has form fields. */
  readonly hasForm: boolean
  readonly members: readonly Element[]
}

const isLinkList: Evidence = ({ counts, chars }) =>
  chars === 0 ||
  counts.linkLength > chars * MIN_LINK_SHARE ||
  (counts.linkCount > 1 && counts.imageCount + counts.headingCount > 2)
const hasFormOrLinks: Evidence = (part) =>
  (part.hasForm && part.counts.proseLength <= MAX_FORM_PROSE) || isLinkList(part)
const hasFormOrNoProse: Evidence = (part) => hasFormOrLinks(part) || part.counts.proseLength === 0
const hasReaderComments: Evidence = (part) => part.hasForm || part.members.some(holdsComments)
/** The heading alone is enough. */
const always: Evidence = () => true

/** With more sentences a part is more than its form. */
const MAX_FORM_PROSE = 600

/** Share of the text that must be in links. It is low, because a list of links may have words between them. */
const MIN_LINK_SHARE = 0.4

type TitleRule = readonly [heading: RegExp, evidence: Evidence, reason: string]

/** Complete headings of parts that are not content. */
const TITLE_RULES: readonly TitleRule[] = [
  [
    /^(?:related|recommended|similar|suggested|popular|trending|latest|recent|featured|other) (?:posts?|articles?|stories|content|news|products?|items?|topics?|reading|resources|questions|guides?|pages?|videos?|links|searches|blogs?)\b.{0,20}$/,
    isLinkList,
    'other pages',
  ],
  [
    /^(?:you (?:may|might|could|would|will)(?: also)? (?:like|love|enjoy|be interested)(?: .{1,30})?|(?:more|also) (?:from|like|by|for you|stories|articles|news|to (?:explore|read|discover|love))(?: .{1,30})?|read (?:next|more|also)|up next|keep (?:reading|exploring)|continue reading|what to read next|next (?:post|article)|recently viewed(?: .{1,20})?|(?:people|customers|others|shoppers|users)(?: who .{1,30})? also .{1,30}|frequently bought(?: together)?|(?:often )?bought together|complete (?:the|your) (?:look|set)|pairs? (?:well|with)(?: .{1,20})?|goes well with|recommended(?: for you)?|related|you may need|compare (?:with )?similar(?: .{1,20})?|explore more(?: .{1,30})?|discover more(?: .{1,30})?|don.t miss(?: .{1,20})?|trending(?: now)?|most (?:popular|read|viewed)(?: .{1,20})?|popular (?:right )?now|editors?.? picks?)$/,
    isLinkList,
    'other pages',
  ],
  [
    /^(?:das könnte .{1,40}|(?:ähnliche|weitere) (?:artikel|beiträge|themen|produkte|seiten)|mehr zum thema|vous aimerez .{1,30}|articles? (?:similaires|liés)|à lire aussi|produits? (?:similaires|associés)|también te .{1,30}|artículos relacionados|productos relacionados|potrebbe interessarti.{0,20}|articoli correlati|artigos relacionados|veja também|gerelateerde .{1,30})$/,
    isLinkList,
    'other pages',
  ],
  [
    /^(?:share(?: (?:this|on|via|the)\b.{0,30})?|follow us(?: .{1,30})?|connect with us|stay (?:connected|in touch|informed|up to date)|join (?:our|the) (?:newsletter|mailing list|community)|(?:sign up|subscribe)\b.{0,40}|get (?:our|the) (?:newsletter|latest)\b.{0,40}|newsletter)$/,
    hasFormOrLinks,
    'newsletter and sharing',
  ],
  [
    /^\d+ (?:comments?|responses?|replies|thoughts on .+)$|^(?:comments?|responses?|replies) \(?\d+\)?$|^(?:leave|add|post|write) (?:a|your) (?:comment|reply|response)$|^join the (?:discussion|conversation)$/,
    always,
    'comments of readers',
  ],
  [/^(?:comments?|responses?|replies)$/, hasReaderComments, 'comments of readers'],
  [
    /^(?:\d+ )?(?:kommentare?|leserkommentare|commentaires?|comentarios?|comentários?|commenti|reacties|kommentarer|komentarze|комментари[йяи]|留言列表|留言|评论|評論|コメント|댓글)(?: ?[(（:：]?\d+[)）]?)?$/,
    hasReaderComments,
    'comments of readers',
  ],
  [/^(?:about the authors?|written by|meet the author|author bio)$/, always, 'byline'],
  [
    /^(?:table of contents|on this page|in this (?:article|guide|post|section)|contents|jump to|quick links|inhaltsverzeichnis|sommaire)$/,
    isLinkList,
    'table of contents',
  ],
  [
    /^(?:was this (?:page|article|helpful)|did (?:this|you find)|is this page useful|how (?:helpful|useful) was|give feedback|feedback$|help us improve|rate this)/,
    hasFormOrNoProse,
    'feedback on the page',
  ],
]

/** The rule for reviews, which applies only to product pages. */
const REVIEWS: TitleRule = [
  /^(?:(?:customer|user|product|verified|guest|our) )?(?:reviews?|ratings?)(?: (?:&|and) (?:reviews?|ratings?|questions?))?(?: \(?[\d,.]+\)?)?$|^what (?:customers|people) (?:are saying|say)/,
  always,
  'reviews of customers',
]

/** A part with a larger share of the page's sentences is the subject of the page. */
const MAX_SHARE = 0.3
const MAX_TITLE_CHARS = 60

/** An element on the path to a heading, and its index among the children of its parent. */
interface Step {
  readonly element: Element
  readonly index: number
}

/** Drops parts that are not content according to both their heading and what they contain. */
export function removeTitledParts(content: Element, statistics: StatisticsMap, isProduct: boolean): void {
  const rules = isProduct ? [...TITLE_RULES, REVIEWS] : TITLE_RULES
  const maxProse = statistics.get(content).proseLength * MAX_SHARE
  const forms = new FormFinder(content)
  const path: Step[] = []
  const visit = (element: Element, index: number) => {
    if (element.dropped !== undefined) return
    path.push({ element, index })
    const titleRule = HEADINGS.has(element.name) && element.name !== 'h1' ? findRule(element, rules) : undefined
    if (titleRule === undefined || !removePart(element, titleRule)) {
      element.children.forEach((child, position) => {
        if (typeof child !== 'string') visit(child, position)
      })
    }
    path.pop()
  }
  const removePart = (heading: Element, [, isConfirmed, reason]: TitleRule): boolean => {
    const members = partOf(path, statistics)
    const counts = sumStatistics(members.map((member) => statistics.get(member)))
    const chars = counts.textLength - statistics.get(heading).textLength
    const hasForm = members.some((member) => forms.hasForm(member))
    if (counts.codeBlockCount > 0 || counts.proseLength > maxProse || !isConfirmed({ counts, chars, hasForm, members }))
      return false
    for (const member of members) drop(member, STEP, reason)
    return true
  }
  visit(content, 0)
}

function findRule(heading: Element, rules: readonly TitleRule[]): TitleRule | undefined {
  const line = lineOf(heading)
  // Check the length first: the pattern below takes quadratic time on a run of periods.
  if (line.length > 2 * MAX_TITLE_CHARS) return undefined
  const text = line.toLowerCase().replace(/(?<![:!.…])[:!.…]+$/, '')
  if (text.length > MAX_TITLE_CHARS) return undefined
  return rules.find(([pattern]) => pattern.test(text))
}

/**
 * The largest element that begins with the heading. If that element has no other text, also the siblings after it, up to the next heading
 * of the same rank or above.
 */
function partOf(path: readonly Step[], statistics: StatisticsMap): Element[] {
  const heading = path.at(-1)
  if (heading === undefined) return []
  let depth = path.length - 1
  // The first step of the path is the content itself.
  while (depth > 1 && beginsWith(path[depth - 1], path[depth], statistics)) depth--
  const { element, index } = path[depth] ?? heading
  if (statistics.get(element).textLength > statistics.get(heading.element).textLength) return [element]
  return [element, ...followersOf(path[depth - 1]?.element, index, heading.element.name)]
}

function beginsWith(parent: Step | undefined, child: Step | undefined, statistics: StatisticsMap): boolean {
  if (parent === undefined || child === undefined || statistics.get(parent.element).h1Count > 0) return false
  for (const first of parent.element.children) {
    if (first === child.element) return true
    if (typeof first === 'string' ? first.trim() !== '' : statistics.get(first).textLength > 0) return false
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
