import type { Classification, Page } from '../core/model.ts'
import type { MatchContext, PlaceMatcher } from './matcher.ts'
import type { PlaceKind } from './place.ts'

/** What the analyser of this program finds in a page; grows when it would find something else. */
export const ANALYSIS_VERSION = 1

/** A place on a page, as it is kept. */
export interface FoundPlace {
  readonly place: string
  readonly place_kind: PlaceKind
  readonly method: 'gazetteer'
  readonly source: 'title' | 'text' | 'url'
  /** In UTF-16 units of the title, of the Markdown, or of the address. */
  readonly offset_start: number
  readonly offset_end: number
  readonly country_code: string | null
  readonly place_id: number
  readonly confidence: number
}

/** How a text sounds, by a list of words: good for comparing many pages, not for judging one. */
export interface Sentiment {
  readonly label: 'positive' | 'neutral' | 'negative'
  /** From -1 to 1. */
  readonly score: number
  /** Words that counted. */
  readonly positive: number
  readonly negative: number
}

/** Everything that is found out about one page, in the one shape it is kept and answered in. */
export interface PageAnalysis {
  readonly analysis_version: number
  /** `minimal`: too little text for anything else. */
  readonly kind: 'article' | 'nav' | 'other' | 'minimal'
  readonly title: string
  readonly author: string | null
  readonly published_at: string | null
  readonly modified_at: string | null
  readonly section: string | null
  /** BCP 47; told by the page, or else by its words. */
  readonly language: string | null
  readonly language_source: 'page' | 'text' | null
  readonly findings: { readonly places: readonly FoundPlace[] }
  readonly notes: readonly string[]
  readonly meta: {
    readonly wordCount: number
    readonly method: string
    /** Best effort: for looking through many pages. */
    readonly deepAnalysis: {
      readonly findings: {
        readonly keyPhrases: readonly { readonly phrase: string; readonly frequency: number; readonly score: number }[]
        /** Null for a language that there is no list of words for. */
        readonly sentiment: Sentiment | null
      }
      readonly notes: readonly string[]
      readonly meta: { readonly version: number; readonly length: number; readonly url: string }
    }
  }
}

/** A page that mainly leads to what is about a place, and maybe to one topic there. */
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

/** What one analysis of a page gives. */
export interface AnalysedPage {
  readonly classification: Classification
  readonly analysis: PageAnalysis
  /** Where the page is one. */
  readonly hub: PlaceHub | null
}

/** What is known of a page that it does not say itself. */
export type PageContext = Pick<MatchContext, 'hostCountry'>

/** Analyses a page; the same page, gazetteer and context give the same answer. */
export type AnalysePage = (page: Page, places: PlaceMatcher, context?: PageContext) => AnalysedPage
