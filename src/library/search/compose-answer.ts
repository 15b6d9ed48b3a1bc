import type { Store } from '../ports/store.ts'
import { type AnswerParts, createPassage, fitMentions, tokensOf } from './answer-parts.ts'
import { writeCitation } from './display-text.ts'
import { type AnswerLimits, DraftAnswer, type ShownPassage } from './draft-answer.ts'
import type { GroupedHit } from './group-hits.ts'
import type { HitSources } from './hit-sources.ts'
import { createHitOpener } from './open-hits.ts'

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

/** A hit with this share of links or more is a list of links. It gets a passage only if all hits are lists of links. */
const LINK_LIST_SHARE = 0.75

/**
 * Creates a composer over the pages of a store; `origins` are the sources that hits can come from. With `showsRepeats`, equal texts are
 * shown every time.
 */
export function createComposer(store: Store, origins: HitSources, showsRepeats = false): AnswerComposer {
  const openHit = createHitOpener(store, origins)
  /** Texts shown in earlier answers. */
  const earlier: ShownPassage[] = []
  let queue: readonly GroupedHit[] = []
  /** Hits on other pages with a text already shown: their pages are mentioned if there is room. */
  let repeats: readonly GroupedHit[] = []
  /** Pages that answers have shown or mentioned. */
  const citedPages = new Set<string>()
  const shownTexts = new Map<number | string, GroupedHit>()

  return {
    get hasHits() {
      return queue.length > 0
    },
    countPages: () => new Set(queue.map(({ pageKey }) => pageKey)).size,
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
      queue = queue.filter((hit) => hit.pageKey !== page)
      repeats = repeats.filter((hit) => hit.pageKey !== page)
      for (const [text, hit] of shownTexts) if (hit.pageKey === page) shownTexts.delete(text)
      return true
    },
    async compose({ limit, tokens }) {
      const room = { limit, tokens, pages: new Set([...queue, ...repeats].map(({ pageKey }) => pageKey)).size }
      const answer = new DraftAnswer(room, origins, showsRepeats ? undefined : earlier)
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
      repeats = [...repeats, ...answer.repeats].filter((hit) => !citedPages.has(hit.pageKey))
      for (const hit of repeats) if (!answer.isFull(hit)) answer.mention(hit)
      const { drafts } = answer
      const passages = drafts.map((draft) => createPassage(draft, origins)).sort((a, b) => b.score - a.score)
      const spent = passages.reduce((sum, passage) => sum + passage.tokens + tokensOf(writeCitation(passage)), 0)
      const mentioned = answer.listMentions()
      const mentions = fitMentions(mentioned, tokens - spent, drafts.length === 0, origins)
      for (const hit of [...drafts.flatMap(({ hits }) => hits), ...mentioned]) citedPages.add(hit.pageKey)
      repeats = repeats.filter((hit) => !citedPages.has(hit.pageKey))
      for (const { hits, comparable } of drafts) earlier.push({ sourceId: hits[0]?.sourceId ?? '', comparable })
      return { passages, ...mentions, tokens: spent + mentions.tokens }
    },
  }
}

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
