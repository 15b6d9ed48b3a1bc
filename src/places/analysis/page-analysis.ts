import type { Classification, Page } from '../../core/model.ts'
import type { MatchContext, PlaceMatcher } from './matcher.ts'
import type { PlaceKind } from './place.ts'

/** Version of the page analysis; increases when its results would change. */
export const ANALYSIS_VERSION = 1

/** A place on a page, as it is stored. */
export interface FoundPlace {
  readonly place: string
  readonly place_kind: PlaceKind
  readonly method: 'gazetteer'
  readonly source: 'title' | 'text' | 'url'
  /** Offsets in UTF-16 units of the title, the Markdown or the address. */
  readonly offset_start: number
  readonly offset_end: number
  readonly country_code: string | null
  readonly place_id: number
  readonly confidence: number
}

/** Sentiment of a text from a word list: good for comparing many pages, not for judging one. */
export interface Sentiment {
  readonly label: 'positive' | 'neutral' | 'negative'
  /** From -1 to 1. */
  readonly score: number
  /** Number of positive and negative words. */
  readonly positive: number
  readonly negative: number
}

/** The complete analysis of one page, in the form that is stored and returned. */
export interface PageAnalysis {
  readonly analysis_version: number
  /** `minimal`: too little text for another kind. */
  readonly kind: 'article' | 'nav' | 'other' | 'minimal'
  readonly title: string
  readonly author: string | null
  readonly published_at: string | null
  readonly modified_at: string | null
  readonly section: string | null
  /** BCP 47; declared by the page, or detected from its words. */
  readonly language: string | null
  readonly language_source: 'page' | 'text' | null
  readonly findings: { readonly places: readonly FoundPlace[] }
  readonly notes: readonly string[]
  readonly meta: {
    readonly wordCount: number
    readonly method: string
    /** Best effort, for overviews of many pages. */
    readonly deepAnalysis: {
      readonly findings: {
        readonly keyPhrases: readonly { readonly phrase: string; readonly frequency: number; readonly score: number }[]
        /** Null for a language without a word list. */
        readonly sentiment: Sentiment | null
      }
      readonly notes: readonly string[]
      readonly meta: { readonly version: number; readonly length: number; readonly url: string }
    }
  }
}

/** A page that mainly links to pages about a place, and perhaps about one topic there. */
export interface PlaceHub {
  readonly url: string
  readonly host: string
  readonly placeId: number
  readonly placeSlug: string
  readonly placeKind: PlaceKind
  readonly topicSlug: string | null
  readonly topicLabel: string | null
  readonly topicKind: 'section' | 'path-segment' | null
  readonly title: string | null
  readonly navLinks: number
  readonly articleLinks: number
  readonly evidence: Readonly<Record<string, unknown>>
}

/** Result of analysing a page. */
export interface AnalysedPage {
  readonly classification: Classification
  readonly analysis: PageAnalysis
  /** The place hub, if the page is one. */
  readonly hub: PlaceHub | null
}

/** Context that a page does not contain itself. */
export type PageContext = Pick<MatchContext, 'hostCountry'>

/** Analyses a page; the same page, gazetteer and context always give the same result. */
export type AnalysePage = (page: Page, places: PlaceMatcher, context?: PageContext) => AnalysedPage
