import { withAnchor, writeCitationUrl } from '../../core/retrieval/anchored-url.ts'
import {
  type ComparableText,
  createComparable,
  isEquivalentText,
  isNearDuplicate,
} from '../../core/retrieval/near-duplicates.ts'
import { anchorAt } from '../../core/retrieval/page-layout.ts'
import {
  createPassageGrower,
  type GrownPassage,
  type GrowResult,
  type LineRange,
  type PassageBudget,
  type PassageGrower,
  type PassagePage,
} from '../../core/retrieval/passages.ts'
import { writePlain } from '../../core/retrieval/plain-text.ts'
import { writeSnippet } from '../../core/search/snippet.ts'
import { textAnalyzer } from '../../core/text/analyzer.ts'
import { CHARS_PER_TOKEN } from '../../core/text/estimate.ts'
import type { PageExcerpt, Store } from '../ports/store.ts'
import type { PageMention, Passage, SimilarPage } from '../search.ts'
import { labelOf } from '../source.ts'
import { resolveDisplayLinks } from './display-links.ts'
import { writeCitation, writeMention } from './display-text.ts'
import type { GroupedHit } from './group-hits.ts'
import type { HitSources } from './hit-sources.ts'
import { ownScoreOf } from './ranked-hits.ts'

/** Parts of an answer. */
export interface AnswerParts {
  readonly passages: readonly Passage[]
  readonly more: readonly PageMention[]
  /** Number of mentions that fit into the token budget; a text answer shows only these. */
  readonly moreShown: number
  readonly tokens: number
}

/** Limits of an answer. */
export interface AnswerLimits {
  /** Maximum number of pages. */
  readonly limit: number
  /** Maximum number of model tokens for the whole text: passages, citations and mentions. */
  readonly tokens: number
}

/** Turns hits into consecutive answers without repeating a text or losing a hit. */
export interface AnswerComposer {
  /** Appends hits that rank below the present ones. */
  add(hits: readonly GroupedHit[]): void
  /** Withdraws the hits of a page, given its source and key; returns false if an answer already shows or mentions it. */
  withdraw(page: string): boolean
  /** Whether any hits have not been shown. */
  readonly hasHits: boolean
  /** Counts pages with hits that have not been shown. */
  countPages(): number
  /** Whether near-duplicates of shown pages still need a mention. */
  readonly hasRepeats: boolean
  /** Makes the next answer from the hits that have not been shown. */
  compose(limits: AnswerLimits): Promise<AnswerParts>
}

/** Maximum number of passages from one page; more would crowd out other pages. */
const MAX_PASSAGES_PER_PAGE = 3

/** A hit with this share of links or more is a list of links. It gets a passage only if all hits are lists of links. */
const LINK_LIST_SHARE = 0.75

/** No further passage starts when less than this share of the budget is left. */
const MIN_BUDGET_SHARE = 1 / 25

/** A hit below this share of the best score gets a mention instead of a passage. */
const MIN_SCORE_SHARE = 0.6

/**
 * Target size of the first and of further passages: a share of the token budget, with bounds in tokens. A passage may grow to `stretch`
 * times its target size.
 */
const FIRST_PASSAGE_SIZE = { share: 1 / 2, min: 240, max: 3000, stretch: 1.2 }
const FURTHER_PASSAGE_SIZE = { share: 1 / 6, min: 150, max: 800, stretch: 1.6 }

/** Maximum number of passages: at least MIN_PASSAGE_LIMIT, or one per PASSAGE_TOKENS of the budget. */
const MIN_PASSAGE_LIMIT = 4
const PASSAGE_TOKENS = 500

/** Tokens of text that the first passage may take, even if its citation nearly fills the budget. */
const MIN_TEXT_TOKENS = 60

/** Estimated tokens of one mention, and the maximum share of the budget reserved for mentions. */
const MENTION_TOKENS = 45
const MENTION_SHARE = 1 / 4

/** Characters that the separator and number of each block add. */
const BLOCK_CHARS = 8

/** Length in characters of the line that shows why a page is mentioned. */
const LINE_CHARS = 120

/** A page with hits, and the parts of it that have been read. */
interface OpenPage {
  readonly parts: OpenPart[]
  /** Lines already shown, in this answer or an earlier one. */
  readonly taken: LineRange[]
}

/** A hit with the part of the page it is in. */
interface OpenHit {
  readonly page: OpenPage
  readonly part: OpenPart
}

/** A part of a page, read from the store. */
interface OpenPart {
  readonly excerpt: PageExcerpt
  /** The line numbers of the grower count from the start of the part. */
  readonly grower: PassageGrower
}

/** A passage of the answer under construction. */
interface Draft extends OpenHit {
  grown: GrownPassage
  /** Best first. */
  readonly hits: GroupedHit[]
  comparable: ComparableText
}

/** A passage already shown. */
interface ShownPassage {
  readonly sourceId: string
  readonly comparable: ComparableText
}

/**
 * Creates a composer over the pages of a store; `origins` are the sources that hits can come from. With `showsRepeats`, equal texts are
 * shown every time.
 */
export function createComposer(store: Store, origins: HitSources, showsRepeats = false): AnswerComposer {
  const pages = new Map<string, OpenPage>()
  /** Texts shown in earlier answers. */
  const earlier: ShownPassage[] = []
  let queue: readonly GroupedHit[] = []
  /** Hits on other pages with a text already shown: their pages are mentioned if there is room. */
  let repeats: readonly GroupedHit[] = []
  /** Pages that answers have shown or mentioned. */
  const citedPages = new Set<string>()
  const shownTexts = new Map<number | string, GroupedHit>()

  const openHit = async (hit: GroupedHit): Promise<OpenHit | null> => {
    const key = keyOf(hit)
    const page = pages.get(key) ?? { parts: [], taken: [] }
    pages.set(key, page)
    const { sourceId, chunk } = hit
    const known = page.parts.find(({ excerpt: { usableChunks } }) =>
      isBetween(chunk.chunkIndex, usableChunks.first, usableChunks.last),
    )
    if (known !== undefined) return { page, part: known }
    const stored = await store.readExcerpt(sourceId, chunk.path, chunk.chunkIndex)
    // The page was removed or replaced during the search.
    if (stored === undefined || !hasChunk(stored, hit)) return null
    // Resolves links before measuring, because full addresses are longer than relative ones.
    const excerpt = { ...stored, markdown: showLinks(hit, stored.markdown, origins) }
    const part = { excerpt, grower: createPassageGrower(toPassagePage(excerpt)) }
    page.parts.push(part)
    return { page, part }
  }

  return {
    get hasHits() {
      return queue.length > 0
    },
    countPages: () => new Set(queue.map(keyOf)).size,
    get hasRepeats() {
      return repeats.length > 0
    },
    add(hits) {
      const known = hits.filter(({ sourceId }) => origins.sourceOf(sourceId) !== undefined)
      const split = showsRepeats ? { first: known, repeats: [] } : splitRepeats(known, origins, shownTexts)
      queue = [...queue, ...split.first]
      repeats = [...repeats, ...split.repeats]
    },
    withdraw(page) {
      if (citedPages.has(page)) return false
      queue = queue.filter((hit) => keyOf(hit) !== page)
      repeats = repeats.filter((hit) => keyOf(hit) !== page)
      for (const [text, hit] of shownTexts) if (keyOf(hit) === page) shownTexts.delete(text)
      return true
    },
    async compose({ limit, tokens }) {
      const room = { limit, tokens, pages: new Set([...queue, ...repeats].map(keyOf)).size }
      const answer = createDraftAnswer(room, origins, showsRepeats ? undefined : earlier)
      const texts = queue.filter(({ linkShare }) => linkShare < LINK_LIST_SHARE)
      const shown = new Set<GroupedHit>()
      for (const hit of texts.length > 0 ? texts : queue) {
        if (answer.isFull(hit)) continue
        if (await answer.take(hit, () => openHit(hit))) shown.add(hit)
        else answer.mention(hit)
      }
      queue = queue.filter((hit) => !shown.has(hit))
      // Lists of links come last, so that they are mentioned only if there is room left.
      for (const hit of queue) if (!answer.isFull(hit)) answer.mention(hit)
      repeats = [...repeats, ...answer.listRepeats()].filter((hit) => !citedPages.has(keyOf(hit)))
      for (const hit of repeats) if (!answer.isFull(hit)) answer.mention(hit)
      const drafts = answer.listDrafts()
      const passages = drafts.map((draft) => createPassage(draft, origins)).sort((a, b) => b.score - a.score)
      const spent = passages.reduce((sum, passage) => sum + passage.tokens + tokensOf(writeCitation(passage)), 0)
      const mentioned = answer.listMentions()
      const mentions = fitMentions(mentioned, tokens - spent, drafts.length === 0, origins)
      for (const hit of [...drafts.flatMap(({ hits }) => hits), ...mentioned]) citedPages.add(keyOf(hit))
      repeats = repeats.filter((hit) => !citedPages.has(keyOf(hit)))
      for (const { hits, comparable } of drafts) earlier.push({ sourceId: hits[0]?.sourceId ?? '', comparable })
      return { passages, ...mentions, tokens: spent + mentions.tokens }
    },
  }
}

/** An answer under construction. */
interface DraftAnswer {
  /** Whether the hit is on a page that no longer fits the answer. */
  isFull(hit: GroupedHit): boolean
  /** Mentions the page of a hit, unless a passage shows it. */
  mention(hit: GroupedHit): void
  /** Adds a hit to the answer; returns false if it must wait for the next answer. */
  take(hit: GroupedHit, open: () => Promise<OpenHit | null>): Promise<boolean>
  listDrafts(): readonly Draft[]
  /** The best hit of each page without a passage. */
  listMentions(): readonly GroupedHit[]
  /** Hits on other pages that nearly repeat a shown text, except another version of the same page with exactly that text. */
  listRepeats(): readonly GroupedHit[]
}

/**
 * `earlier` holds texts already shown; if it is undefined, repeats are not left out. `pages` is the number of matching pages. Passages
 * leave room to mention the other pages, but the first passage takes that room if it would be cut otherwise.
 */
function createDraftAnswer(
  { limit, tokens: budget, pages: count }: AnswerLimits & { readonly pages: number },
  origins: HitSources,
  earlier: readonly ShownPassage[] | undefined,
): DraftAnswer {
  /** Passages by page; a page with no passage is mentioned. */
  const pages = new Map<string, { readonly first: GroupedHit; readonly drafts: Draft[] }>()
  const drafts: Draft[] = []
  const repeats: GroupedHit[] = []
  const mentionTokens = Math.min(budget * MENTION_SHARE, (Math.min(limit, count) - 1) * MENTION_TOKENS)
  let left = budget - (mentionTokens < MENTION_TOKENS ? 0 : Math.ceil(mentionTokens))
  const maxPassages = Math.max(MIN_PASSAGE_LIMIT, Math.round(budget / PASSAGE_TOKENS))
  let bestScore = 0
  let bestOwnScore = 0
  /** Set once a page gets only a mention: lower-ranked pages then get no passage, so that pages keep their order. */
  let isClosed = false

  const pageOf = (hit: GroupedHit) => {
    const key = keyOf(hit)
    const known = pages.get(key)
    if (known !== undefined) return known
    const page = { first: hit, drafts: [] }
    pages.set(key, page)
    return page
  }

  /** Merges a passage with an adjacent one if the result fits the size limit. */
  const joinNeighbor = (
    hit: GroupedHit,
    grown: GrownPassage,
    { page, part }: OpenHit,
    pageDrafts: readonly Draft[],
  ): boolean => {
    for (const draft of pageDrafts) {
      if (draft.part !== part || !areNested(draft.hits[0]?.chunk.headingPath ?? [], hit.chunk.headingPath)) continue
      const { max } = sizesFor(drafts.indexOf(draft), budget, left)
      const joined = join(part, draft.grown, grown, max)
      const added = (joined?.tokens ?? 0) - draft.grown.tokens
      if (joined === undefined || added > left) continue
      left -= added
      draft.grown = joined
      draft.hits.push(hit)
      draft.comparable = createComparable(joined.text)
      page.taken.push(grown)
      return true
    }
    return false
  }

  /** Whether a passage repeats another. Different pages must have the same text; versions of one page may differ in details. */
  const isRepeat = (hit: GroupedHit, comparable: ComparableText, other: ShownPassage): boolean => {
    if (!isNearDuplicate(other.comparable, comparable)) return false
    return origins.areVersions(hit.sourceId, other.sourceId) || isEquivalentText(other.comparable, comparable)
  }

  /** Queues a hit for a mention, unless its page is another version with the same text. */
  const keepRepeat = (hit: GroupedHit, comparable: ComparableText, other: ShownPassage): void => {
    if (!origins.areVersions(hit.sourceId, other.sourceId) || !isEquivalentText(other.comparable, comparable)) {
      repeats.push(hit)
    }
  }

  /** Replaces a passage by the same text of a preferred version. Returns true if a passage with the same text exists. */
  const handleDuplicate = (
    hit: GroupedHit,
    grown: GrownPassage,
    open: OpenHit,
    comparable: ComparableText,
  ): boolean => {
    if (earlier === undefined) return false
    const before = earlier.find((other) => isRepeat(hit, comparable, other))
    if (before !== undefined) {
      keepRepeat(hit, comparable, before)
      return true
    }
    const twin = drafts.find(({ hits, comparable: other }) => {
      return isRepeat(hit, comparable, { sourceId: hits[0]?.sourceId ?? '', comparable: other })
    })
    const best = twin?.hits[0]
    if (twin === undefined || best === undefined) return false
    const { sourceId } = best
    const added = grown.tokens - twin.grown.tokens
    if (!origins.isPreferred(hit.sourceId, sourceId) || added > left) {
      keepRepeat(hit, comparable, { sourceId, comparable: twin.comparable })
      return true
    }
    left -= added
    drafts.splice(drafts.indexOf(twin), 1)
    const old = pages.get(keyOf(best))
    old?.drafts.splice(old.drafts.indexOf(twin), 1)
    if (old?.drafts.length === 0) pages.delete(keyOf(best))
    keepRepeat(best, twin.comparable, { sourceId: hit.sourceId, comparable })
    const draft = { ...open, grown, hits: [hit], comparable }
    drafts.push(draft)
    pageOf(hit).drafts.push(draft)
    open.page.taken.push(grown)
    return true
  }

  return {
    isFull: (hit) => pages.size >= limit && !pages.has(keyOf(hit)),
    mention: (hit) => void pageOf(hit),
    async take(hit, open) {
      const known = pages.get(keyOf(hit))
      const pageDrafts = known?.drafts ?? []
      const isExhausted =
        left < budget * MIN_BUDGET_SHARE ||
        drafts.length >= maxPassages ||
        (hit.score < bestScore * MIN_SCORE_SHARE && ownScoreOf(hit) < bestOwnScore * MIN_SCORE_SHARE)
      if (isExhausted || pageDrafts.length >= MAX_PASSAGES_PER_PAGE || (isClosed && pageDrafts.length === 0)) {
        isClosed ||= pageDrafts.length === 0
        return false
      }
      const opened = await open()
      if (opened === null) return true
      const citationTokens = citationTokensOf(hit, opened, origins)
      const textTokens = Math.max(left - citationTokens, drafts.length === 0 ? Math.min(left, MIN_TEXT_TOKENS) : 0)
      const fitting = grow(opened, hit, sizesFor(drafts.length, budget, textTokens))
      // A first passage that would be cut only because of the room for mentions takes that room.
      const isBest = drafts.length === 0
      const whole =
        isBest && !isWhole(fitting) ? grow(opened, hit, sizesFor(0, budget, budget - citationTokens)) : fitting
      const grown = isWhole(whole) ? whole : fitting
      if (grown === 'shown') {
        pageDrafts.find((draft) => overlaps(draft.grown, hit.chunk))?.hits.push(hit)
        return true
      }
      if (grown === 'too-large') {
        pageOf(hit)
        // A passage too large for an empty answer is only mentioned; the next answer continues after it.
        if (drafts.length === 0) return true
        isClosed ||= pageDrafts.length === 0
        return false
      }
      if (joinNeighbor(hit, grown, opened, pageDrafts)) return true
      const comparable = createComparable(grown.text)
      if (handleDuplicate(hit, grown, opened, comparable)) return true
      left -= grown.tokens + citationTokens
      bestScore = Math.max(bestScore, hit.score)
      bestOwnScore = Math.max(bestOwnScore, ownScoreOf(hit))
      const draft = { ...opened, grown, hits: [hit], comparable }
      drafts.push(draft)
      pageOf(hit).drafts.push(draft)
      opened.page.taken.push(grown)
      return true
    },
    listDrafts: () => drafts,
    listMentions: () => {
      const mentioned = [...pages.values()].filter((page) => page.drafts.length === 0).map(({ first }) => first)
      // A chunk without an id was removed during the search.
      return mentioned.filter(({ chunk }) => chunk.id !== '').sort((a, b) => b.score - a.score)
    },
    listRepeats: () => repeats,
  }
}

/** Whether the result is a passage that is not cut, or says that the lines are already shown. */
function isWhole(grown: GrowResult): boolean {
  return grown === 'shown' || (grown !== 'too-large' && !grown.isCut)
}

/** Whether an excerpt still holds the chunk of a hit as it was found; a chunk may overlap the end of the previous one. */
function hasChunk({ first, spans }: PageExcerpt, { chunk }: GroupedHit): boolean {
  const span = spans[chunk.chunkIndex - first]
  return (
    span !== undefined && isBetween(span.startLine, chunk.startLine, chunk.endLine) && span.endLine === chunk.endLine
  )
}

/** Returns the Markdown of a page with its links resolved to full addresses. */
function showLinks({ sourceId, url, chunk }: GroupedHit, markdown: string, origins: HitSources): string {
  const source = origins.sourceOf(sourceId)
  if (source === undefined || chunk.kind !== 'markdown') return markdown
  return resolveDisplayLinks(source, { url, key: chunk.path, markdown })
}

/** Converts an excerpt to a page of its own, with line numbers from its start. */
function toPassagePage({ markdown, linesBefore, spans }: PageExcerpt): PassagePage {
  return { markdown, chunks: spans.map((span) => ({ headingPath: span.headingPath, ...shift(span, -linesBefore) })) }
}

function shift({ startLine, endLine }: LineRange, lines: number): LineRange {
  return { startLine: startLine + lines, endLine: endLine + lines }
}

/** Grows a hit into a passage; returned lines count from the start of the page. */
function grow({ page, part }: OpenHit, { chunk, terms }: GroupedHit, room: PassageBudget): GrowResult {
  const { first, linesBefore } = part.excerpt
  const found = {
    chunkIndex: chunk.chunkIndex - first,
    content: chunk.content,
    isMarkdown: chunk.kind === 'markdown',
    terms,
  }
  const taken = page.taken.map((range) => shift(range, -linesBefore))
  const grown = part.grower.grow(found, room, taken)
  return typeof grown === 'string' ? grown : { ...grown, ...shift(grown, linesBefore) }
}

/** Merges two passages of a part; lines count from the start of the page. */
function join(
  { excerpt, grower }: OpenPart,
  a: GrownPassage,
  b: GrownPassage,
  maxTokens: number,
): GrownPassage | undefined {
  const { linesBefore } = excerpt
  const inPart = (grown: GrownPassage) => ({ ...grown, ...shift(grown, -linesBefore) })
  const joined = grower.join(inPart(a), inPart(b), maxTokens)
  return joined && { ...joined, ...shift(joined, linesBefore) }
}

/** Size limits of the next passage; the first one may be larger. */
function sizesFor(passages: number, budget: number, left: number): PassageBudget {
  const { share, min, max, stretch } = passages === 0 ? FIRST_PASSAGE_SIZE : FURTHER_PASSAGE_SIZE
  const target = Math.min(max, Math.max(min, Math.round(budget * share)))
  return { target, max: Math.round(target * stretch), remaining: left, budget: passages === 0 ? left : budget }
}

/** Estimates the tokens of a citation. */
function citationTokensOf(hit: GroupedHit, { part }: OpenHit, origins: HitSources): number {
  const { chunk, similar } = hit
  const { headingPath, startLine, endLine } = chunk
  const url = withAnchor(hit.url, spanAt(part.excerpt, hit, startLine)?.anchor ?? null)
  const citation = { ...citationFieldsOf(hit, origins), url, headingPath, startLine, endLine, similar }
  return tokensOf(writeCitation(citation))
}

/** Estimates the tokens of a line with its number and separator. */
function tokensOf(line: string): number {
  return Math.ceil((line.length + BLOCK_CHARS) / CHARS_PER_TOKEN)
}

/**
 * Lists mentions, best first. Those within the token budget get a line that shows why they match, as far as tokens are left. An answer
 * without passages shows at least one mention.
 */
function fitMentions(
  hits: readonly GroupedHit[],
  room: number,
  hasNoPassages: boolean,
  origins: HitSources,
): FittedMentions {
  const more = hits.map((hit) => createMention(hit, origins))
  let tokens = 0
  let moreShown = 0
  for (const bare of more) {
    const added = tokensOf(writeMention(bare))
    const isNeeded = hasNoPassages && moreShown === 0
    if (tokens + added > room && !isNeeded) break
    tokens += added
    moreShown++
  }
  for (const [i, bare] of more.slice(0, moreShown).entries()) {
    const hit = hits[i]
    if (hit === undefined || tokens >= room) break
    const page = { ...bare, line: writeLine(hit) }
    const added = tokensOf(writeMention(page)) - tokensOf(writeMention(bare))
    if (tokens + added > room) break
    tokens += added
    more[i] = page
  }
  return { more, moreShown, tokens }
}

/** The pages that are mentioned, and how. */
type FittedMentions = Pick<AnswerParts, 'more' | 'moreShown' | 'tokens'>

/** Splits hits with equal texts: `first` keeps the preferred version, `repeats` the same text on pages that are not versions of it. */
function splitRepeats(
  hits: readonly GroupedHit[],
  origins: HitSources,
  shown: Map<number | string, GroupedHit>,
): { readonly first: GroupedHit[]; readonly repeats: GroupedHit[] } {
  const best = new Map<number | string, GroupedHit>()
  const texts = hits.map(textKeyOf)
  hits.forEach((hit, i) => {
    const text = texts[i] ?? ''
    const other = best.get(text)
    if (shown.has(text)) return
    if (other === undefined || origins.isPreferred(hit.sourceId, other.sourceId)) best.set(text, hit)
  })
  for (const [text, hit] of best) shown.set(text, hit)
  const isFirst = (hit: GroupedHit, i: number) => best.get(texts[i] ?? '') === hit
  const isElsewhere = (hit: GroupedHit, i: number) => {
    const other = shown.get(texts[i] ?? '')
    return other !== undefined && !isFirst(hit, i) && !origins.areVersions(hit.sourceId, other.sourceId)
  }
  return { first: hits.filter(isFirst), repeats: hits.filter(isElsewhere) }
}

/** Identifies the text of a hit: by its number in the index, or by its content hash if the number is 0. */
function textKeyOf({ text, chunk }: GroupedHit): number | string {
  return text === 0 ? chunk.contentHash : text
}

function createPassage({ part, grown, hits }: Draft, origins: HitSources): Passage {
  const sorted = hits.toSorted((a, b) => b.score - a.score)
  const [best] = sorted
  if (best === undefined) throw new TypeError('Expected a passage to have a hit, got none')
  const { chunk, score, explanation } = best
  const { startLine, endLine, text, tokens, isCut, describedSignature } = grown
  const { excerpt } = part
  // A passage that grew upwards begins under another heading than its hit.
  const span = spanAt(excerpt, best, startLine)
  const headingPath = span?.headingPath ?? chunk.headingPath
  return {
    ...citationFieldsOf(best, origins),
    url: writeCitationUrl({
      source: origins.sourceOf(best.sourceId)?.url ?? '',
      url: best.url,
      anchor: span === undefined ? null : anchorAt(span, startLine),
      isVerbatimFile: chunk.kind !== 'markdown',
      startLine,
      endLine,
    }),
    headingPath: describedSignature === null ? headingPath : [...headingPath, describedSignature],
    kind: chunk.kind,
    startLine,
    endLine,
    text,
    tokens,
    isCut,
    chunkIds: sorted.map((hit) => hit.chunk.id),
    score,
    terms: [...new Set(sorted.flatMap(({ terms }) => terms))],
    checkedAt: excerpt.checkedAt,
    changedAt: excerpt.changedAt,
    ...similarOf(best),
    ...(explanation === undefined ? {} : { explain: explanation }),
  }
}

/** Returns the chunk that a passage begins in: that of its hit, or an earlier one. */
function spanAt(
  { spans, first }: PageExcerpt,
  { chunk }: GroupedHit,
  line: number,
): PageExcerpt['spans'][number] | undefined {
  const own = spans[chunk.chunkIndex - first]
  if (own !== undefined && own.startLine <= line) return own
  return spans.findLast(({ startLine }) => startLine <= line)
}

/** Returns the pages that this hit stands for, if any. */
function similarOf({ similar }: GroupedHit): { readonly similar?: readonly SimilarPage[] } {
  return similar.length === 0 ? {} : { similar: [...similar] }
}

/** A mention has no section anchor, because finding it would require reading the page. */
function createMention(hit: GroupedHit, origins: HitSources): PageMention {
  const { url, chunk, score } = hit
  return { ...citationFieldsOf(hit, origins), url, headingPath: chunk.headingPath, line: '', score, ...similarOf(hit) }
}

/** Writes one line of a hit that shows why it matches; headings are left out because they precede it. */
function writeLine({ chunk, terms }: GroupedHit): string {
  const text = chunk.kind === 'markdown' ? writePlain(chunk.content.replace(HEADING_LINES, '')) : chunk.content
  return writeSnippet(text, terms, { ...textAnalyzer, chars: LINE_CHARS })
}

const HEADING_LINES = /^#{1,6} .*$/gm

/** Fields of a citation that passages and mentions share. */
function citationFieldsOf(
  { sourceId, title, chunk }: GroupedHit,
  origins: HitSources,
): Pick<Passage, 'sourceId' | 'source' | 'version' | 'title' | 'chunk'> {
  const source = origins.sourceOf(sourceId)
  const label = source === undefined ? sourceId : labelOf(source)
  return { sourceId, source: label, version: source?.version ?? null, title, chunk: `${label}/${chunk.id}` }
}

function keyOf({ pageKey }: GroupedHit): string {
  return pageKey
}

/** Whether two heading paths are equal or one contains the other. */
function areNested(a: readonly string[], b: readonly string[]): boolean {
  const [outer, inner] = a.length <= b.length ? [a, b] : [b, a]
  return outer.every((heading, i) => heading === inner[i])
}

function isBetween(place: number, first: number, last: number): boolean {
  return first <= place && place <= last
}

function overlaps(a: LineRange, b: LineRange): boolean {
  return a.startLine <= b.endLine && b.startLine <= a.endLine
}
