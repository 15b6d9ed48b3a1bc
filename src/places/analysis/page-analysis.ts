import type { Classification, Page } from '../../core/model.ts'
import type { PageAnalysis, PlaceHub } from '../../library/ports/findings.ts'
import type { MatchContext, PlaceMatcher } from './matcher.ts'

/** Version of the page analysis; increases when its results would change. */
export const ANALYSIS_VERSION = 2

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
