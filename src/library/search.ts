import type { Kind } from '../core/model.ts'
import type { Relevance } from '../core/retrieval/relevance.ts'
import type { Explanation } from '../core/search/explain.ts'
import type { Shortfall } from './shortfall.ts'
import type { Source } from './source.ts'
import type { ChunkFilter } from './store.ts'

/** How scores of words and of meanings become one. */
export const FUSIONS = ['convex', 'words'] as const

/** One of {@link FUSIONS}: weighted sum, or words alone. */
export type Fusion = (typeof FUSIONS)[number]

/** Engines of an answer: words always, vectors where there are some, and a reranker where one is configured. */
export type Engine = 'words' | 'vectors' | 'reranker'

/** Their names after `by`. */
export const ENGINE_WORDS: Readonly<Record<Engine, string>> = {
  words: 'words',
  vectors: 'meaning',
  reranker: 'a reranker',
}

/** Handling of near-duplicate pages: show one of them, or each. */
export const DUPLICATES = ['group', 'show'] as const

/** One of {@link DUPLICATES}. */
export type Duplicates = (typeof DUPLICATES)[number]

/** Languages of a question that are none: that of the question where there is a choice, or whichever. */
export const LANGUAGE_CHOICES = ['auto', 'any'] as const

/** A search in a library. */
export interface SearchInput extends Omit<ChunkFilter, 'sourceIds' | 'language'> {
  readonly query: string
  /** Ids, names, name@version or start URLs; all sources when there are none. A name alone means its newest complete version. */
  readonly sources?: readonly string[]
  /** Exact version, range, `latest`, or `*` for all versions of the sources. */
  readonly version?: string
  /** Most pages in the answer, those only mentioned included. @default 10 */
  readonly limit?: number
  /** About how many model tokens the whole answer may take as text, with citations and mentions. @default 2000 */
  readonly tokens?: number
  /** Hits below this share of the best score are left out, from 0 to 1. @default 0 */
  readonly minScore?: number
  /**
   * `auto` shows of translations the one in the language of the question, `any` all of them; a BCP 47 tag leaves out everything else, and
   * `en` holds for `en-GB` as well. @default 'auto'
   */
  readonly language?: string
  /** Whether pages that say nearly the same, such as those of other versions, are shown once or each. @default 'group' */
  readonly duplicates?: Duplicates
  /** Goes on where an answer ended: its `cursor`. */
  readonly cursor?: string
  /** With `words`, the reranker is skipped too. @default 'convex' */
  readonly fusion?: Fusion
  /** Adds to each passage where its score comes from. @default false */
  readonly explain?: boolean
}

/** A readable part of a page that answers the question. Its text is the lines of the stored page, exactly. */
export interface Passage {
  readonly sourceId: string
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly version: string | null
  readonly title: string
  /** Address of the page with the anchor of the section. */
  readonly url: string
  readonly headingPath: readonly string[]
  /** Kind of the text: Markdown, or the language of its file. */
  readonly kind: Kind
  /** Lines of the stored page that the text covers, from 1, inclusive. */
  readonly startLine: number
  readonly endLine: number
  readonly text: string
  /** About how many model tokens the text takes. */
  readonly tokens: number
  /**
   * Whether a single block was larger than the budget, so that this is a part of it from where it matched on: a fence with its
   * opening and closing lines, a table with its header. Only then the text is not the lines exactly.
   */
  readonly isCut: boolean
  /** The chunk that matched best, as `get_chunk` takes it: `<source>/<id>`. */
  readonly chunk: string
  /** All chunks the passage holds that matched, best first: their ids. */
  readonly chunkIds: readonly string[]
  /** Score of the best chunk: for sorting, not for comparing different questions. */
  readonly score: number
  /** Words of the passage that matched. */
  readonly terms: readonly string[]
  readonly checkedAt: number
  readonly changedAt: number
  /** The pages that this one stands for, where there are any. */
  readonly similar?: readonly SimilarPage[]
  readonly explain?: HitExplanation
}

/** A page that matched and is not shown, because one is that says nearly the same or is a translation of it. */
export interface SimilarPage {
  readonly url: string
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly version: string | null
  readonly language: string | null
  /** Whether that is another language than the one that is shown. @default false */
  readonly isTranslation?: boolean
}

/** Where a score comes from. */
export interface HitExplanation {
  readonly words: Explanation | null
  /** Score of the words before anything else was added. */
  readonly wordScore: number
  /** Share of the text that stands in links, from 0 to 1: lists of links count less. */
  readonly linkShare: number
  /** Bonus for a text that defines the name in the question. */
  readonly definition: number
  /** Factor for the kind of page: changelogs, indexes and the like count less. */
  readonly prior: number
  /** Bonus from the next best hits of the same page, at most three. */
  readonly support: number
  /** Cosine of the meanings; null where it took no part. */
  readonly similarity: number | null
  /** In words: how the two became one. */
  readonly fusion: string
  /** Result of the reranker; null where none judged the hit. */
  readonly reranker: RerankedPlace | null
}

/** Where a reranker put a hit. It gets the score of the hit that had this place before. */
export interface RerankedPlace {
  /** Score by the reranker; its scale depends on the model. */
  readonly score: number
  /** Among all hits, from 1. */
  readonly place: number
  readonly placeBefore: number
}

/** A page that matched as well, without its text. */
export interface PageMention {
  readonly sourceId: string
  readonly source: string
  readonly version: string | null
  readonly title: string
  readonly url: string
  readonly headingPath: readonly string[]
  /** Some words of it that show why it is here; empty where there was no room for them. */
  readonly line: string
  readonly chunk: string
  readonly score: number
  /** The pages that this one stands for, where there are any. */
  readonly similar?: readonly SimilarPage[]
}

/** The answer of a library. */
export interface SearchAnswer {
  readonly query: string
  readonly engines: readonly Engine[]
  /** How well the answer fits the question. */
  readonly relevance: Relevance
  /** Informative words of the question that nothing found has. */
  readonly uncovered: readonly string[]
  /** Where the answer is weak: names of sources that were not searched and have those words. */
  readonly elsewhere: readonly string[]
  /** Notices about the answer: missing vectors, a model or service that cannot be used. */
  readonly notices: readonly string[]
  /** Named sources that lack pages. */
  readonly partial: readonly PartialSource[]
  /** Names of the searched sources, when the input chose them; the first ten. */
  readonly searched: readonly string[]
  /** How many sources were searched, named or not. */
  readonly searchedCount: number
  /** Best first, within the budget. */
  readonly passages: readonly Passage[]
  /** The pages that come after them, up to the limit. */
  readonly more: readonly PageMention[]
  /** How many of those fit into the budget: a text shows no others. */
  readonly moreShown: number
  /** About how many model tokens all of it takes as text. */
  readonly tokens: number
  /** Asks for what comes next; null at the end. */
  readonly cursor: string | null
  /** For an empty answer: how many pages match without each filter. Empty when there are passages. */
  readonly widen: readonly Widening[]
  /** The sources of the library, for an empty answer. */
  readonly available?: AvailableSources
}

/** A source that lacks pages. */
export interface PartialSource {
  readonly source: Source
  readonly shortfall: Shortfall
}

/** The first sources of a library. */
export interface AvailableSources {
  /** Their names, requested ones first. */
  readonly names: readonly string[]
  /** The versions of those names, the newest first. */
  readonly versions: readonly AvailableVersions[]
  /** How many names there are besides. */
  readonly more: number
}

/** The versions of one name. */
export interface AvailableVersions {
  readonly name: string
  readonly versions: readonly string[]
  /** How many versions there are besides. */
  readonly more: number
}

/** A condition that kept everything out, and what is there without it. */
export interface Widening {
  /** The filter, as {@link SearchInput} names it; `query` for words that nothing holds. */
  readonly filter: WideningFilter
  /** Value of the filter. */
  readonly value: string
  /** Pages that match without it, counted up to a limit. */
  readonly pages: number
  /** Alternatives: the nearest names of sources, or the versions that exist. */
  readonly instead: readonly string[]
}

/** The conditions of a search that can be dropped. */
export type WideningFilter = Exclude<keyof ChunkFilter, 'sourceIds'> | 'sources' | 'version' | 'minScore' | 'query'
