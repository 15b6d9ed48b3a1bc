import type { KnownCountry, PlaceMatcher } from '../analysis/matcher.ts'

/** The part of a gazetteer that the planner uses. */
export type PlannerGazetteer = Pick<PlaceMatcher, 'countries' | 'bySlug' | 'regionsOf'>

/** A place with the words that addresses may use for it, likeliest first. */
export type NamedPlace = KnownCountry

/** One way in which a site can write places in its addresses. */
export interface Spelling {
  /** `code`, `slug 0`, `de`, … */
  readonly name: string
  /** The slug of a place; undefined when it has none of this kind. */
  readonly write: (place: NamedPlace) => string | undefined
}

/** Places of one kind, all of which fit into the same slot. */
export interface PlaceNames {
  /** All places, most populous first. */
  readonly all: readonly NamedPlace[]
  /** The spellings, likeliest first. */
  readonly spellings: readonly Spelling[]
}
