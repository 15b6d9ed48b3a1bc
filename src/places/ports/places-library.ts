import type { Library } from '../../library/library.ts'
import type { PlaceMatcher } from '../analysis/matcher.ts'
import type { Analyses } from './analyses.ts'
import type { Gazetteer } from './gazetteer.ts'
import type { PlaceHubs } from './place-hubs.ts'
import type { PlanMemory } from './plan-memory.ts'

/** The tables of places, kept in the same database as the pages. */
export interface PlaceTables {
  /** Places of the world. */
  readonly gazetteer: Gazetteer
  /** Analyses of stored pages. */
  readonly analyses: Analyses
  readonly placeHubs: PlaceHubs
  /** Facts that crawl plans remember about sites. */
  readonly planMemory: PlanMemory
}

/** The tables of places, and what the library uses of them. */
export interface Places extends PlaceTables, Required<Pick<Library, 'plans' | 'findings'>> {
  /** Opens a matcher for the current gazetteer on first use. */
  readonly openPlaces: () => Promise<PlaceMatcher>
}

/** A library that may have places. */
export type PlacesLibrary = Library & Partial<Places>
