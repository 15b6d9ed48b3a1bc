import { getOrAdd } from '../../core/get-or-add.ts'
import {
  type ComparableText,
  createComparable,
  isEquivalentText,
  isNearDuplicate,
} from '../../core/retrieval/near-duplicates.ts'
import type { GrownPassage, GrowResult, PassageBudget } from '../../core/retrieval/passages.ts'
import { overlaps } from '../../core/retrieval/passages.ts'
import { citationTokensOf } from './answer-parts.ts'
import type { GroupedHit } from './group-hits.ts'
import type { HitSources } from './hit-sources.ts'
import { growHit, joinPassages, type OpenHit } from './open-hits.ts'
import { ownScoreOf } from './weigh-pages.ts'

/** Limits of an answer. */
export interface AnswerLimits {
  /** Maximum number of pages. */
  readonly limit: number
  /** Maximum number of model tokens for the whole text: passages, citations and mentions. */
  readonly tokens: number
}

/** Maximum number of passages from one page; more would crowd out other pages. */
const MAX_PASSAGES_PER_PAGE = 3

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

/** A passage of the answer under construction. */
export interface Draft extends OpenHit {
  grown: GrownPassage
  /** Best first. */
  readonly hits: GroupedHit[]
  comparable: ComparableText
}

/** A passage already shown. */
export interface ShownPassage {
  readonly sourceId: string
  readonly comparable: ComparableText
}

/**
 * An answer under construction. Passages leave room to mention the other pages, but the first passage takes that room if it would be cut
 * otherwise.
 */
export class DraftAnswer {
  readonly drafts: Draft[] = []
  /** Hits on other pages that nearly repeat a shown text, except another version of the same page with exactly that text. */
  readonly repeats: GroupedHit[] = []
  readonly #limit: number
  readonly #budget: number
  readonly #origins: HitSources
  readonly #earlier: readonly ShownPassage[] | undefined
  readonly #maxPassages: number
  /** Passages by page; a page with no passage is mentioned. */
  readonly #pages = new Map<string, { readonly first: GroupedHit; readonly drafts: Draft[] }>()
  /** Tokens that are left for passages. */
  #left: number
  #bestScore = 0
  #bestOwnScore = 0
  /** Set once a page gets only a mention: lower-ranked pages then get no passage, so that pages keep their order. */
  #isClosed = false

  /** `earlier` holds texts already shown; if it is undefined, repeats are not left out. `pages` is the number of matching pages. */
  constructor(
    { limit, tokens: budget, pages }: AnswerLimits & { readonly pages: number },
    origins: HitSources,
    earlier: readonly ShownPassage[] | undefined,
  ) {
    const mentionTokens = Math.min(budget * MENTION_SHARE, (Math.min(limit, pages) - 1) * MENTION_TOKENS)
    this.#limit = limit
    this.#budget = budget
    this.#origins = origins
    this.#earlier = earlier
    this.#maxPassages = Math.max(MIN_PASSAGE_LIMIT, Math.round(budget / PASSAGE_TOKENS))
    this.#left = budget - (mentionTokens < MENTION_TOKENS ? 0 : Math.ceil(mentionTokens))
  }

  /** Whether the hit is on a page that no longer fits the answer. */
  isFull({ pageKey }: GroupedHit): boolean {
    return this.#pages.size >= this.#limit && !this.#pages.has(pageKey)
  }

  /** Mentions the page of a hit, unless a passage shows it. */
  mention(hit: GroupedHit): void {
    this.#pageOf(hit)
  }

  /** The best hit of each page without a passage. */
  listMentions(): readonly GroupedHit[] {
    const mentioned = [...this.#pages.values()].filter((page) => page.drafts.length === 0).map(({ first }) => first)
    // A chunk without an id was removed during the search.
    return mentioned.filter(({ chunk }) => chunk.id !== '').sort((a, b) => b.score - a.score)
  }

  /** Adds a hit to the answer; returns false if it must wait for the next answer. */
  async take(hit: GroupedHit, open: () => Promise<OpenHit | null>): Promise<boolean> {
    const pageDrafts = this.#pages.get(hit.pageKey)?.drafts ?? []
    if (!this.#hasRoom(hit, pageDrafts)) {
      this.#isClosed ||= pageDrafts.length === 0
      return false
    }
    const opened = await open()
    if (opened === null) return true
    const citationTokens = citationTokensOf(hit, opened.part.excerpt, this.#origins)
    const grown = this.#grow(hit, opened, citationTokens)
    if (grown === 'shown') {
      pageDrafts.find((draft) => overlaps(draft.grown, hit.chunk))?.hits.push(hit)
      return true
    }
    if (grown === 'too-large') {
      this.#pageOf(hit)
      // A passage too large for an empty answer is only mentioned; the next answer continues after it.
      if (this.drafts.length === 0) return true
      this.#isClosed ||= pageDrafts.length === 0
      return false
    }
    if (this.#joinNeighbor(hit, grown, opened, pageDrafts)) return true
    const comparable = createComparable(grown.text)
    if (this.#handleDuplicate(hit, grown, opened, comparable)) return true
    this.#left -= grown.tokens + citationTokens
    this.#bestScore = Math.max(this.#bestScore, hit.score)
    this.#bestOwnScore = Math.max(this.#bestOwnScore, ownScoreOf(hit))
    this.#addDraft({ ...opened, grown, hits: [hit], comparable }, hit)
    return true
  }

  /** Whether a hit may get a passage or be added to one. */
  #hasRoom(hit: GroupedHit, pageDrafts: readonly Draft[]): boolean {
    const isExhausted =
      this.#left < this.#budget * MIN_BUDGET_SHARE ||
      this.drafts.length >= this.#maxPassages ||
      (hit.score < this.#bestScore * MIN_SCORE_SHARE && ownScoreOf(hit) < this.#bestOwnScore * MIN_SCORE_SHARE)
    return !isExhausted && pageDrafts.length < MAX_PASSAGES_PER_PAGE && !(this.#isClosed && pageDrafts.length === 0)
  }

  /** Grows a hit. A first passage that would be cut only because of the room for mentions takes that room. */
  #grow(hit: GroupedHit, opened: OpenHit, citationTokens: number): GrowResult {
    const isBest = this.drafts.length === 0
    const left = this.#left
    const textTokens = Math.max(left - citationTokens, isBest ? Math.min(left, MIN_TEXT_TOKENS) : 0)
    const fitting = growHit(opened, hit, sizesFor(this.drafts.length, this.#budget, textTokens))
    if (!isBest || isWhole(fitting)) return fitting
    const whole = growHit(opened, hit, sizesFor(0, this.#budget, this.#budget - citationTokens))
    return isWhole(whole) ? whole : fitting
  }

  #pageOf(hit: GroupedHit): { readonly first: GroupedHit; readonly drafts: Draft[] } {
    return getOrAdd(this.#pages, hit.pageKey, () => ({ first: hit, drafts: [] }))
  }

  #addDraft(draft: Draft, hit: GroupedHit): void {
    this.drafts.push(draft)
    this.#pageOf(hit).drafts.push(draft)
    draft.page.taken.push(draft.grown)
  }

  /** Merges a passage with an adjacent one if the result fits the size limit. */
  #joinNeighbor(hit: GroupedHit, grown: GrownPassage, { page, part }: OpenHit, pageDrafts: readonly Draft[]): boolean {
    for (const draft of pageDrafts) {
      if (draft.part !== part || !areNested(draft.hits[0]?.chunk.headingPath ?? [], hit.chunk.headingPath)) continue
      const { max } = sizesFor(this.drafts.indexOf(draft), this.#budget, this.#left)
      const joined = joinPassages(part, draft.grown, grown, max)
      const added = (joined?.tokens ?? 0) - draft.grown.tokens
      if (joined === undefined || added > this.#left) continue
      this.#left -= added
      draft.grown = joined
      draft.hits.push(hit)
      draft.comparable = createComparable(joined.text)
      page.taken.push(grown)
      return true
    }
    return false
  }

  /** Whether a passage repeats another. Different pages must have the same text; versions of one page may differ in details. */
  #isRepeat(hit: GroupedHit, comparable: ComparableText, other: ShownPassage): boolean {
    if (!isNearDuplicate(other.comparable, comparable)) return false
    return this.#origins.areVersions(hit.sourceId, other.sourceId) || isEquivalentText(other.comparable, comparable)
  }

  /** Queues a hit for a mention, unless its page is another version with the same text. */
  #keepRepeat(hit: GroupedHit, comparable: ComparableText, other: ShownPassage): void {
    if (!this.#origins.areVersions(hit.sourceId, other.sourceId) || !isEquivalentText(other.comparable, comparable)) {
      this.repeats.push(hit)
    }
  }

  /** Replaces a passage by the same text of a preferred version. Returns true if a passage with the same text exists. */
  #handleDuplicate(hit: GroupedHit, grown: GrownPassage, open: OpenHit, comparable: ComparableText): boolean {
    if (this.#earlier === undefined) return false
    const before = this.#earlier.find((other) => this.#isRepeat(hit, comparable, other))
    if (before !== undefined) {
      this.#keepRepeat(hit, comparable, before)
      return true
    }
    const twin = this.drafts.find(({ hits, comparable: other }) => {
      return this.#isRepeat(hit, comparable, { sourceId: hits[0]?.sourceId ?? '', comparable: other })
    })
    const best = twin?.hits[0]
    if (twin === undefined || best === undefined) return false
    const { sourceId } = best
    const added = grown.tokens - twin.grown.tokens
    if (!this.#origins.isPreferred(hit.sourceId, sourceId) || added > this.#left) {
      this.#keepRepeat(hit, comparable, { sourceId, comparable: twin.comparable })
      return true
    }
    this.#left -= added
    this.drafts.splice(this.drafts.indexOf(twin), 1)
    const old = this.#pages.get(best.pageKey)
    old?.drafts.splice(old.drafts.indexOf(twin), 1)
    if (old?.drafts.length === 0) this.#pages.delete(best.pageKey)
    this.#keepRepeat(best, twin.comparable, { sourceId: hit.sourceId, comparable })
    this.#addDraft({ ...open, grown, hits: [hit], comparable }, hit)
    return true
  }
}

/** Whether the result is a passage that is not cut, or says that the lines are already shown. */
function isWhole(grown: GrowResult): boolean {
  return grown === 'shown' || (grown !== 'too-large' && !grown.isCut)
}

/** Size limits of the next passage; the first one may be larger. */
function sizesFor(passages: number, budget: number, left: number): PassageBudget {
  const { share, min, max, stretch } = passages === 0 ? FIRST_PASSAGE_SIZE : FURTHER_PASSAGE_SIZE
  const target = Math.min(max, Math.max(min, Math.round(budget * share)))
  return { target, max: Math.round(target * stretch), remaining: left, budget: passages === 0 ? left : budget }
}

/** Whether two heading paths are equal or one contains the other. */
function areNested(a: readonly string[], b: readonly string[]): boolean {
  const [outer, inner] = a.length <= b.length ? [a, b] : [b, a]
  return outer.every((heading, i) => heading === inner[i])
}
