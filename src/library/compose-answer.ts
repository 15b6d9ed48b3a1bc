import { citedUrl, withAnchor } from '../core/retrieval/anchored-url.ts'
import { type ComparableText, createComparable, isNearDuplicate, saysSame } from '../core/retrieval/near-duplicates.ts'
import { anchorAt } from '../core/retrieval/page-layout.ts'
import {
  createGrower,
  type GrownPassage,
  type Growth,
  type LineRange,
  type PassageGrower,
  type PassagePage,
  type PassageRoom,
} from '../core/retrieval/passages.ts'
import { writePlain } from '../core/retrieval/plain-text.ts'
import { writeSnippet } from '../core/search/snippet.ts'
import { textAnalyzer } from '../core/text/analyzer.ts'
import { CHARS_PER_TOKEN } from '../core/text/estimate.ts'
import type { GroupedHit } from './group-hits.ts'
import type { Origins } from './origins.ts'
import type { PageMention, Passage, SimilarPage } from './search.ts'
import { withShownLinks } from './shown-links.ts'
import { labelOf } from './source.ts'
import type { PageExcerpt, Store } from './store.ts'
import { writeCitation, writeMention } from './words.ts'

/** Parts of an answer. */
export interface AnswerParts {
  readonly passages: readonly Passage[]
  readonly more: readonly PageMention[]
  /** How many of those fit into the budget: a text shows no others. */
  readonly moreShown: number
  readonly tokens: number
}

/** How much an answer may hold. */
export interface AnswerRoom {
  /** Pages. */
  readonly limit: number
  /** Model tokens of the whole text: passages, their citations and mentions. */
  readonly tokens: number
}

/** Turns hits into answers, one after the other, so that nothing is shown twice and nothing is left out. */
export interface AnswerComposer {
  /** Adds hits that come after those that are there. */
  add(hits: readonly GroupedHit[]): void
  /** Takes back the hits on a page, by its source and key; false where an answer has shown or mentioned it. */
  withdraw(page: string): boolean
  /** Whether there are hits that were not shown yet. */
  readonly hasHits: boolean
  /** Pages with such hits. */
  countPages(): number
  /** Whether near-duplicates of shown pages are still to be mentioned. */
  readonly hasRepeats: boolean
  compose(room: AnswerRoom): Promise<AnswerParts>
}

/** Passages of one page in one answer: more of them would crowd out other pages. */
const MOST_PER_PAGE = 3

/** A text with more links than this is a list of them: worth a mention, as long as there is anything else to show. */
const LIST_OF_LINKS = 0.75

/** No further passage starts when less than this share of the budget is left. */
const LEAST_SHARE = 1 / 25

/** A hit with less than this share of the best score adds little: its page is mentioned. */
const WEAK_SHARE = 0.6

/** What a passage of its kind may grow to, as shares of an answer, and within which tokens. */
const FIRST = { share: 1 / 2, least: 240, most: 3000, stretch: 1.2 }
const FURTHER = { share: 1 / 6, least: 150, most: 800, stretch: 1.6 }

/** Passages of an answer: so many, or one for each share of this many tokens. */
const LEAST_PASSAGES = 4
const PASSAGE_TOKENS = 500

/** Tokens of text that the best passage may take, however small the answer. */
const LEAST_TEXT = 60

/** About what the mention of a page takes, and how much of an answer passages leave to mentions at most. */
const MENTION_TOKENS = 45
const MENTION_SHARE = 1 / 4

/** Characters between the blocks of an answer, and the number of each. */
const BLOCK_CHARS = 8

/** Characters of the line that shows why a page is mentioned. */
const LINE_CHARS = 120

/** A page that hits stand in. */
interface OpenPage {
  readonly parts: OpenPart[]
  /** Lines that were shown, in this answer or one before. */
  readonly taken: LineRange[]
}

/** A part of a page that was read, and a hit in it. */
interface OpenHit {
  readonly page: OpenPage
  readonly part: OpenPart
}

/** A part of a page that was read. */
interface OpenPart {
  readonly excerpt: PageExcerpt
  /** Counts the lines of the part. */
  readonly grower: PassageGrower
}

/** A passage of the answer that is being made. */
interface Draft extends OpenHit {
  grown: GrownPassage
  /** Best first. */
  readonly hits: GroupedHit[]
  said: ComparableText
}

/** A passage that was shown. */
interface Said {
  readonly sourceId: string
  readonly said: ComparableText
}

/**
 * Begins answers from the pages of a store; `origins` are the sources that hits can come from. With `showsRepeats` a text is shown as often
 * as it is found.
 */
export function createComposer(store: Store, origins: Origins, showsRepeats = false): AnswerComposer {
  const pages = new Map<string, OpenPage>()
  /** Texts of earlier answers. */
  const earlier: Said[] = []
  let queue: readonly GroupedHit[] = []
  /** Hits on other pages that say what was shown: those pages are mentioned where there is room. */
  let repeats: readonly GroupedHit[] = []
  /** Pages that answers have shown or mentioned. */
  const named = new Set<string>()
  const shownTexts = new Map<number | string, GroupedHit>()

  const openHit = async (hit: GroupedHit): Promise<OpenHit | null> => {
    const key = keyOf(hit)
    const page = pages.get(key) ?? { parts: [], taken: [] }
    pages.set(key, page)
    const { sourceId, chunk } = hit
    const known = page.parts.find(({ excerpt: { enough } }) => isBetween(chunk.chunkIndex, enough.first, enough.last))
    if (known !== undefined) return { page, part: known }
    const stored = await store.readExcerpt(sourceId, chunk.path, chunk.chunkIndex)
    // The page is gone or was replaced: the hit was removed during the search.
    if (stored === undefined || !isIn(stored, hit)) return null
    // Before it is measured: addresses are longer than what they are written as.
    const excerpt = { ...stored, markdown: showLinks(hit, stored.markdown, origins) }
    const part = { excerpt, grower: createGrower(toPassagePage(excerpt)) }
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
      const parted = showsRepeats ? { first: known, repeats: [] } : partRepeats(known, origins, shownTexts)
      queue = [...queue, ...parted.first]
      repeats = [...repeats, ...parted.repeats]
    },
    withdraw(page) {
      if (named.has(page)) return false
      queue = queue.filter((hit) => keyOf(hit) !== page)
      repeats = repeats.filter((hit) => keyOf(hit) !== page)
      for (const [text, hit] of shownTexts) if (keyOf(hit) === page) shownTexts.delete(text)
      return true
    },
    async compose({ limit, tokens }) {
      const room = { limit, tokens, pages: new Set([...queue, ...repeats].map(keyOf)).size }
      const answer = createDraftAnswer(room, origins, showsRepeats ? undefined : earlier)
      const texts = queue.filter(({ linkShare }) => linkShare < LIST_OF_LINKS)
      const shown = new Set<GroupedHit>()
      for (const hit of texts.length > 0 ? texts : queue) {
        if (answer.isFull(hit)) continue
        if (await answer.take(hit, () => openHit(hit))) shown.add(hit)
        else answer.mention(hit)
      }
      queue = queue.filter((hit) => !shown.has(hit))
      // Lists of links are mentioned where texts leave room for them.
      for (const hit of queue) if (!answer.isFull(hit)) answer.mention(hit)
      repeats = [...repeats, ...answer.listRepeats()].filter((hit) => !named.has(keyOf(hit)))
      for (const hit of repeats) if (!answer.isFull(hit)) answer.mention(hit)
      const drafts = answer.listDrafts()
      const passages = drafts.map((draft) => createPassage(draft, origins)).sort((a, b) => b.score - a.score)
      const spent = passages.reduce((sum, passage) => sum + passage.tokens + tokensOf(writeCitation(passage)), 0)
      const mentioned = answer.listMentions()
      const mentions = fitMentions(mentioned, tokens - spent, drafts.length === 0, origins)
      for (const hit of [...drafts.flatMap(({ hits }) => hits), ...mentioned]) named.add(keyOf(hit))
      repeats = repeats.filter((hit) => !named.has(keyOf(hit)))
      for (const { hits, said } of drafts) earlier.push({ sourceId: hits[0]?.sourceId ?? '', said })
      return { passages, ...mentions, tokens: spent + mentions.tokens }
    },
  }
}

/** An answer that is being made. */
interface DraftAnswer {
  /** Whether a hit is on a page for which there is no room. */
  isFull(hit: GroupedHit): boolean
  /** Mentions the page of a hit, unless a passage shows it. */
  mention(hit: GroupedHit): void
  /** Takes a hit into the answer; false when it has to wait for the next one. */
  take(hit: GroupedHit, open: () => Promise<OpenHit | null>): Promise<boolean>
  listDrafts(): readonly Draft[]
  /** The best hit of each page that has no passage. */
  listMentions(): readonly GroupedHit[]
  /** Hits on other pages that nearly say what was shown; another version of the same that says it exactly is none. */
  listRepeats(): readonly GroupedHit[]
}

/**
 * `earlier` is what was said before; without it, nothing that is said again is left out. `pages` is how many pages matched: passages
 * leave room to mention those that are not shown.
 */
function createDraftAnswer(
  { limit, tokens: budget, pages: count }: AnswerRoom & { readonly pages: number },
  origins: Origins,
  earlier: readonly Said[] | undefined,
): DraftAnswer {
  /** The passages of each page of the answer; a page without is mentioned. */
  const pages = new Map<string, { readonly first: GroupedHit; readonly drafts: Draft[] }>()
  const drafts: Draft[] = []
  const repeats: GroupedHit[] = []
  const forMentions = Math.min(budget * MENTION_SHARE, (Math.min(limit, count) - 1) * MENTION_TOKENS)
  let left = budget - (forMentions < MENTION_TOKENS ? 0 : Math.ceil(forMentions))
  const maxPassages = Math.max(LEAST_PASSAGES, Math.round(budget / PASSAGE_TOKENS))
  let best = 0
  /** Whether a page had to be left to a mention: no page that ranks below it gets a passage, so that pages stay in their order. */
  let isClosed = false

  const pageOf = (hit: GroupedHit) => {
    const key = keyOf(hit)
    const known = pages.get(key)
    if (known !== undefined) return known
    const page = { first: hit, drafts: [] }
    pages.set(key, page)
    return page
  }

  /** Joins a passage to its neighbour, if there is one and both fit in one. */
  const joinNeighbour = (
    hit: GroupedHit,
    grown: GrownPassage,
    { page, part }: OpenHit,
    own: readonly Draft[],
  ): boolean => {
    for (const draft of own) {
      if (draft.part !== part || !areNested(draft.hits[0]?.chunk.headingPath ?? [], hit.chunk.headingPath)) continue
      const { most } = sizesFor(drafts.indexOf(draft), budget, left)
      const joined = join(part, draft.grown, grown, most)
      const added = (joined?.tokens ?? 0) - draft.grown.tokens
      if (joined === undefined || added > left) continue
      left -= added
      draft.grown = joined
      draft.hits.push(hit)
      draft.said = createComparable(joined.text)
      page.taken.push(grown)
      return true
    }
    return false
  }

  /** Whether a passage repeats another. Other pages must say the same; other versions of one page may differ in details. */
  const isRepeat = (hit: GroupedHit, said: ComparableText, other: Said): boolean => {
    if (!isNearDuplicate(other.said, said)) return false
    return origins.areVersions(hit.sourceId, other.sourceId) || saysSame(other.said, said)
  }

  /** Keeps a hit to be mentioned, unless it is on another version of a page that says the same. */
  const keepRepeat = (hit: GroupedHit, said: ComparableText, other: Said): void => {
    if (!origins.areVersions(hit.sourceId, other.sourceId) || !saysSame(other.said, said)) repeats.push(hit)
  }

  /** Puts a passage in the place of one that says the same for an older version; true when there is one that says the same. */
  const meetsDuplicate = (hit: GroupedHit, grown: GrownPassage, open: OpenHit, said: ComparableText): boolean => {
    if (earlier === undefined) return false
    const before = earlier.find((other) => isRepeat(hit, said, other))
    if (before !== undefined) {
      keepRepeat(hit, said, before)
      return true
    }
    const twin = drafts.find(({ hits, said: other }) => {
      return isRepeat(hit, said, { sourceId: hits[0]?.sourceId ?? '', said: other })
    })
    const best = twin?.hits[0]
    if (twin === undefined || best === undefined) return false
    const { sourceId } = best
    const added = grown.tokens - twin.grown.tokens
    if (!origins.isNewer(hit.sourceId, sourceId) || added > left) {
      keepRepeat(hit, said, { sourceId, said: twin.said })
      return true
    }
    left -= added
    drafts.splice(drafts.indexOf(twin), 1)
    const old = pages.get(keyOf(best))
    old?.drafts.splice(old.drafts.indexOf(twin), 1)
    if (old?.drafts.length === 0) pages.delete(keyOf(best))
    keepRepeat(best, twin.said, { sourceId: hit.sourceId, said })
    const draft = { ...open, grown, hits: [hit], said }
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
      const own = known?.drafts ?? []
      const isFilled = left < budget * LEAST_SHARE || drafts.length >= maxPassages || hit.score < best * WEAK_SHARE
      if (isFilled || own.length >= MOST_PER_PAGE || (isClosed && own.length === 0)) {
        isClosed ||= own.length === 0
        return false
      }
      const opened = await open()
      if (opened === null) return true
      const cited = citedTokens(hit, opened, origins)
      // Where there is hardly room for a citation, the best passage shows some text all the same.
      const forText = Math.max(left - cited, drafts.length === 0 ? Math.min(left, LEAST_TEXT) : 0)
      const room = sizesFor(drafts.length, budget, forText)
      const grown = grow(opened, hit, room)
      if (grown === 'shown') {
        own.find((draft) => overlaps(draft.grown, hit.chunk))?.hits.push(hit)
        return true
      }
      if (grown === 'too-large') {
        pageOf(hit)
        // A passage that does not fit an empty answer is only mentioned; the next answer continues after it.
        if (drafts.length === 0) return true
        isClosed ||= own.length === 0
        return false
      }
      if (joinNeighbour(hit, grown, opened, own)) return true
      const said = createComparable(grown.text)
      if (meetsDuplicate(hit, grown, opened, said)) return true
      left -= grown.tokens + cited
      best = Math.max(best, hit.score)
      const draft = { ...opened, grown, hits: [hit], said }
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

/** Whether an excerpt holds the chunk of a hit as it was found; a chunk may begin with lines of the one before. */
function isIn({ first, spans }: PageExcerpt, { chunk }: GroupedHit): boolean {
  const span = spans[chunk.chunkIndex - first]
  return (
    span !== undefined && isBetween(span.startLine, chunk.startLine, chunk.endLine) && span.endLine === chunk.endLine
  )
}

/** Markdown of the page of a hit with the addresses that its links lead to. */
function showLinks({ sourceId, url, chunk }: GroupedHit, markdown: string, origins: Origins): string {
  const source = origins.sourceOf(sourceId)
  if (source === undefined || chunk.kind !== 'markdown') return markdown
  return withShownLinks(source, { url, key: chunk.path, markdown })
}

/** An excerpt as a page of its own. */
function toPassagePage({ markdown, linesBefore, spans }: PageExcerpt): PassagePage {
  return { markdown, chunks: spans.map((span) => ({ headingPath: span.headingPath, ...shift(span, -linesBefore) })) }
}

function shift({ startLine, endLine }: LineRange, lines: number): LineRange {
  return { startLine: startLine + lines, endLine: endLine + lines }
}

/** Grows a hit; lines are those of its page. */
function grow({ page, part }: OpenHit, { chunk, terms }: GroupedHit, room: PassageRoom): Growth {
  const { first, linesBefore } = part.excerpt
  const found = {
    place: chunk.chunkIndex - first,
    content: chunk.content,
    isMarkdown: chunk.kind === 'markdown',
    terms,
  }
  const taken = page.taken.map((range) => shift(range, -linesBefore))
  const grown = part.grower.grow(found, room, taken)
  return typeof grown === 'string' ? grown : { ...grown, ...shift(grown, linesBefore) }
}

/** Two passages of a part as one; lines are those of the page. */
function join({ excerpt, grower }: OpenPart, a: GrownPassage, b: GrownPassage, most: number): GrownPassage | undefined {
  const { linesBefore } = excerpt
  const inPart = (grown: GrownPassage) => ({ ...grown, ...shift(grown, -linesBefore) })
  const joined = grower.join(inPart(a), inPart(b), most)
  return joined && { ...joined, ...shift(joined, linesBefore) }
}

/** How large the next passage may become: the first one shows more. */
function sizesFor(passages: number, budget: number, left: number): PassageRoom {
  const { share, least, most, stretch } = passages === 0 ? FIRST : FURTHER
  const target = Math.min(most, Math.max(least, Math.round(budget * share)))
  return { target, most: Math.round(target * stretch), left, budget: passages === 0 ? left : budget }
}

/** About how many tokens the citation of a hit takes. */
function citedTokens(hit: GroupedHit, { part }: OpenHit, origins: Origins): number {
  const { chunk, similar } = hit
  const { headingPath, startLine, endLine } = chunk
  const url = withAnchor(hit.url, spanAt(part.excerpt, hit, startLine)?.anchor ?? null)
  const citation = { ...placeOf(hit, origins), url, headingPath, startLine, endLine, similar }
  return tokensOf(writeCitation(citation))
}

/** Tokens of a line of an answer, with its number and what parts it from the next. */
function tokensOf(line: string): number {
  return Math.ceil((line.length + BLOCK_CHARS) / CHARS_PER_TOKEN)
}

/**
 * Mentions, best first. Those that there is room for show why they are there as long as there is more; an answer of nothing but mentions
 * has room for at least one.
 */
function fitMentions(hits: readonly GroupedHit[], room: number, isAlone: boolean, origins: Origins): FittedMentions {
  const more = hits.map((hit) => createMention(hit, origins))
  let tokens = 0
  let moreShown = 0
  for (const bare of more) {
    const added = tokensOf(writeMention(bare))
    const isNeeded = isAlone && moreShown === 0
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

/** Of chunks with the same text the one of the newest version, and those on pages that are no other version of the same. */
function partRepeats(
  hits: readonly GroupedHit[],
  origins: Origins,
  shown: Map<number | string, GroupedHit>,
): { readonly first: GroupedHit[]; readonly repeats: GroupedHit[] } {
  const best = new Map<number | string, GroupedHit>()
  const texts = hits.map(textOf)
  hits.forEach((hit, i) => {
    const text = texts[i] ?? ''
    const other = best.get(text)
    if (shown.has(text)) return
    if (other === undefined || origins.isNewer(hit.sourceId, other.sourceId)) best.set(text, hit)
  })
  for (const [text, hit] of best) shown.set(text, hit)
  const isFirst = (hit: GroupedHit, i: number) => best.get(texts[i] ?? '') === hit
  const isElsewhere = (hit: GroupedHit, i: number) => {
    const other = shown.get(texts[i] ?? '')
    return other !== undefined && !isFirst(hit, i) && !origins.areVersions(hit.sourceId, other.sourceId)
  }
  return { first: hits.filter(isFirst), repeats: hits.filter(isElsewhere) }
}

/** Names the text of a hit: by the number that the index has of it, where that tells. */
function textOf({ text, chunk }: GroupedHit): number | string {
  return text === 0 ? chunk.contentHash : text
}

function createPassage({ part, grown, hits }: Draft, origins: Origins): Passage {
  const sorted = hits.toSorted((a, b) => b.score - a.score)
  const [best] = sorted
  if (best === undefined) throw new TypeError('Expected a passage to have a hit, got none')
  const { chunk, score, explanation } = best
  const { startLine, endLine, text, tokens, isCut, under } = grown
  const { excerpt } = part
  // A passage that grew upwards begins under another heading than its hit.
  const span = spanAt(excerpt, best, startLine)
  const headingPath = span?.headingPath ?? chunk.headingPath
  return {
    ...placeOf(best, origins),
    url: citedUrl({
      source: origins.sourceOf(best.sourceId)?.url ?? '',
      url: best.url,
      anchor: span === undefined ? null : anchorAt(span, startLine),
      isAsFile: chunk.kind !== 'markdown',
      startLine,
      endLine,
    }),
    headingPath: under === null ? headingPath : [...headingPath, under],
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

/** The chunk that a passage begins in: that of its hit, or one before it. */
function spanAt(
  { spans, first }: PageExcerpt,
  { chunk }: GroupedHit,
  line: number,
): PageExcerpt['spans'][number] | undefined {
  const own = spans[chunk.chunkIndex - first]
  if (own !== undefined && own.startLine <= line) return own
  return spans.findLast(({ startLine }) => startLine <= line)
}

/** The pages that are not shown because this one is, where there are any. */
function similarOf({ similar }: GroupedHit): { readonly similar?: readonly SimilarPage[] } {
  return similar.length === 0 ? {} : { similar: [...similar] }
}

/** A page is mentioned without the anchor of a section: to know it the page would have to be read. */
function createMention(hit: GroupedHit, origins: Origins): PageMention {
  const { url, chunk, score } = hit
  return { ...placeOf(hit, origins), url, headingPath: chunk.headingPath, line: '', score, ...similarOf(hit) }
}

/** One line of a hit that shows why it is there; the headings stand before it. */
function writeLine({ chunk, terms }: GroupedHit): string {
  const text = chunk.kind === 'markdown' ? writePlain(chunk.content.replace(HEADING_LINES, '')) : chunk.content
  return writeSnippet(text, terms, { ...textAnalyzer, chars: LINE_CHARS })
}

const HEADING_LINES = /^#{1,6} .*$/gm

/** Citation of every part of an answer. */
function placeOf(
  { sourceId, title, chunk }: GroupedHit,
  origins: Origins,
): Pick<Passage, 'sourceId' | 'source' | 'version' | 'title' | 'chunk'> {
  const source = origins.sourceOf(sourceId)
  const label = source === undefined ? sourceId : labelOf(source)
  return { sourceId, source: label, version: source?.version ?? null, title, chunk: `${label}/${chunk.id}` }
}

function keyOf({ pageKey }: GroupedHit): string {
  return pageKey
}

/** Whether two heading paths are the same, or one of them is a section of the other. */
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
