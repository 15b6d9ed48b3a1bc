import type { KnownCountry, PlaceMatcher } from '../analysis/matcher.ts'

/** What a plan asks of a gazetteer. */
export type PlanPlaces = Pick<PlaceMatcher, 'countries' | 'bySlug' | 'regionsOf'>

/** A place with the words that addresses may have for it, the likeliest first. */
export type NamedPlace = KnownCountry

/** One way in which a site can write places in its addresses. */
export interface Spelling {
  /** `code`, `slug 0`, `de`, … */
  readonly name: string
  /** The slug of a place; undefined where it has none of this kind. */
  readonly write: (place: NamedPlace) => string | undefined
}

/** Places of one kind, all of which could stand in the same slot. */
export interface PlaceNames {
  /** The most populous first. */
  readonly all: readonly NamedPlace[]
  /** The ways to write them, the likeliest first. */
  readonly spellings: readonly Spelling[]
}
