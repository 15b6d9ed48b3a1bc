import type { Kind } from '../core/model.ts'
import type { Relevance } from '../core/retrieval/relevance.ts'
import type { Explanation } from '../core/search/explain.ts'
import type { ChunkFilter } from './ports/store.ts'
import type { Citation } from './search/display-text.ts'
import type { Source } from './source.ts'
import type { Shortfall } from './sources/shortfall.ts'

/** Default token budget of an answer. */
export const DEFAULT_TOKENS = 2000

/** Methods of combining scores by words and by meaning. */
export const FUSIONS = ['convex', 'words'] as const

/** One of {@link FUSIONS}: weighted sum, or words alone. */
export type Fusion = (typeof FUSIONS)[number]

/** Engines of an answer: always words, vectors if there are any, and a reranker if configured. */
export type Engine = 'words' | 'vectors' | 'reranker'

/** Names of engines, to follow `by`. */
export const ENGINE_WORDS: Readonly<Record<Engine, string>> = {
  words: 'words',
  vectors: 'meaning',
  reranker: 'a reranker',
}

/** Handling of near-duplicate pages: show one of them, or each. */
export const DUPLICATES = ['group', 'show'] as const

/** One of {@link DUPLICATES}. */
export type Duplicates = (typeof DUPLICATES)[number]

/** Values of `language` that are not tags; see {@link SearchInput.language}. */
export const LANGUAGE_CHOICES = ['auto', 'any'] as const

/** A search in a library. */
export interface SearchInput extends Omit<ChunkFilter, 'sourceIds' | 'language'> {
  readonly query: string
  /** Ids, names, name@version or start addresses; by default all sources. A name alone selects its newest complete version. */
  readonly sources?: readonly string[]
  /** Exact version, range, `latest`, or `*` for all versions of the sources. */
  readonly version?: string
  /** Maximum number of pages in the answer, including mentions. @default 10 */
  readonly limit?: number
  /** Approximate token budget of the whole answer as text, with citations and mentions. @default 2000 */
  readonly tokens?: number
  /** Minimum share of the best score, from 0 to 1; lower hits are left out. @default 0 */
  readonly minScore?: number
  /**
   * `auto` shows the translation in the language of the question, `any` shows all translations. A BCP 47 tag filters by language; `en` also
   * matches `en-GB`. @default 'auto'
   */
  readonly language?: string
  /** Whether near-identical pages, such as other versions, are grouped or shown individually. @default 'group' */
  readonly duplicates?: Duplicates
  /** Continues after an earlier answer, given its `cursor`. */
  readonly cursor?: string
  /** With `words`, the reranker is skipped too. @default 'convex' */
  readonly fusion?: Fusion
  /** Explains the score of each passage. @default false */
  readonly explain?: boolean
}

/** A readable part of a page that answers the question. Its text equals the lines of the stored page. */
export interface Passage extends Citation {
  readonly sourceId: string
  /** The given version, otherwise that of the package that was read. */
  readonly version: string | null
  /** Web page of the package version, for a page that has no web address. */
  readonly packagePage?: string
  /** Address of the page with the anchor of the section. */
  readonly url: string
  /** Kind of the text: Markdown, or the language of its file. */
  readonly kind: Kind
  /** Lines of the stored page that the text covers, from 1, inclusive. */
  readonly startLine: number
  readonly text: string
  /** About how many model tokens the text takes. */
  readonly tokens: number
  /**
   * Whether a single block exceeded the budget, so that the text is the part of it from the match on; a fence keeps its opening and closing
   * lines, a table its header. Only then the text differs from the lines.
   */
  readonly isCut: boolean
  /** Name of the best matching chunk, `<source>/<id>`, as `get_chunk` accepts it. */
  readonly chunk: string
  /** Ids of all matching chunks in the passage, best first. */
  readonly chunkIds: readonly string[]
  /** Score of the best chunk, for sorting; not comparable between questions. */
  readonly score: number
  /** Words of the passage that matched. */
  readonly terms: readonly string[]
  readonly checkedAt: number
  readonly changedAt: number
  readonly explain?: HitExplanation
}

/** A matching page that is not shown because a near-identical page or a translation is. */
export interface SimilarPage {
  readonly url: string
  /** Name of the source, with its version if there is one. */
  readonly source: string
  readonly version: string | null
  readonly language: string | null
  /** Whether its language differs from that of the shown page. @default false */
  readonly isTranslation?: boolean
}

/** How a score was computed. */
export interface HitExplanation {
  readonly words: Explanation | null
  /** Score by words before any other factor. */
  readonly wordScore: number
  /** Share of the text inside links, from 0 to 1: lists of links count less. */
  readonly linkShare: number
  /** Bonus for a text that defines the name in the question. */
  readonly definition: number
  /** Factor for the kind of page and its source: changelogs, indexes, and sources other than those that the question names, count less. */
  readonly prior: number
  /** Bonus for the words of the whole page and its other hits, for the best hit of the page; 0 for the others. */
  readonly pageBonus: number
  /** Cosine similarity; null if meaning took no part. */
  readonly similarity: number | null
  /** Describes how the scores were combined. */
  readonly fusion: string
  /** Result of the reranker; null if it did not judge the hit. */
  readonly reranker: RerankerRank | null
}

/** Rank given by a reranker. The hit gets the score of the hit that had this rank before. */
export interface RerankerRank {
  /** Score by the reranker; its scale depends on the model. */
  readonly score: number
  /** Rank among all hits, from 1. */
  readonly place: number
  readonly placeBefore: number
}

/** A matching page without its text. */
export interface PageMention
  extends Pick<Passage, 'sourceId' | 'source' | 'version' | 'packagePage' | 'title' | 'url' | 'headingPath'> {
  /** A few words that show why it matches; empty if there was no room. */
  readonly line: string
  readonly chunk: string
  readonly score: number
  /** Similar pages that are not shown themselves: this page represents them. Omitted if there are none. */
  readonly similar?: readonly SimilarPage[]
}

/** The answer to a search. */
export interface SearchAnswer {
  readonly query: string
  readonly engines: readonly Engine[]
  /** How well the answer fits the question. */
  readonly relevance: Relevance
  /** Informative words of the question that no hit contains. */
  readonly uncovered: readonly string[]
  /** Unless the answer is strong: names of unsearched sources that contain some of the `uncovered` words. */
  readonly elsewhere: readonly string[]
  /** Notices about the answer: missing vectors, a model or service that cannot be used. */
  readonly notices: readonly string[]
  /** Sources that the input names and that lack pages. */
  readonly partial: readonly PartialSource[]
  /** Names of the searched sources, when the input chose them; the first ten. */
  readonly searched: readonly string[]
  /** Number of all searched sources. */
  readonly searchedCount: number
  /** Best first, within the budget. */
  readonly passages: readonly Passage[]
  /** Pages that rank below the passages, up to the limit. */
  readonly more: readonly PageMention[]
  /** Number of mentions that fit into the token budget; a text answer shows only these. */
  readonly moreShown: number
  /** Approximate tokens of the answer as text. */
  readonly tokens: number
  /** Cursor for the next answer; null at the end. */
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
  /** Versions of those names, newest first. */
  readonly versions: readonly AvailableVersions[]
  /** Number of further names. */
  readonly more: number
}

/** The versions of one name. */
export interface AvailableVersions {
  readonly name: string
  readonly versions: readonly string[]
  /** Number of further versions. */
  readonly more: number
}

/** A condition that excluded everything, and what would match without it. */
export interface Widening {
  /** The filter as named in {@link SearchInput}. */
  readonly filter: WideningFilter
  /** Value of the filter. */
  readonly value: string
  /** Number of pages that match without it, up to a limit. */
  readonly pages: number
  /** Values of the filter that would match instead. */
  readonly instead: readonly string[]
}

/** The conditions of a search that can be dropped. */
export type WideningFilter = Exclude<keyof ChunkFilter, 'sourceIds'> | 'sources' | 'version' | 'minScore' | 'query'
