import type { PlaceKind } from './place.ts'

/** A place as matching knows it. */
export interface KnownPlace {
  readonly id: number
  readonly kind: PlaceKind
  readonly name: string
  readonly countryCode: string | null
  readonly adm1Code: string | null
  readonly population: number
}

/** A country with the words that addresses may have for it, the likeliest first. */
export interface KnownCountry extends KnownPlace {
  readonly slugs: readonly string[]
}

/** What is known about where a text stands; each tips the scales between places of one name. */
export interface MatchContext {
  readonly url?: string
  readonly title?: string
  readonly section?: string
  /** BCP 47, of the text. */
  readonly language?: string
  /** Country of the host, where somebody has said so. */
  readonly hostCountry?: string
}

/** A place that was found. */
export interface PlaceMatch {
  readonly place: KnownPlace
  /** As it stands in the text or address. */
  readonly text: string
  /** Where it begins and ends, in UTF-16 units of the text that was looked through. */
  readonly start: number
  readonly end: number
  /** How well it fits; comparable among candidates of one match only. */
  readonly score: number
  /** From 0 to 1: how clearly this place was meant, and not another of the name or none at all. */
  readonly confidence: number
}

/** Finds places by the names of a gazetteer. Without one it finds nothing. */
export interface PlaceMatcher {
  /** Changes whenever the gazetteer does: what was found by another one may be different now. */
  readonly revision: string
  /** In the order of the text, none overlapping another. */
  inText(text: string, context?: MatchContext): readonly PlaceMatch[]
  /** Places that the path of an address names, in its order. */
  inUrl(url: string, context?: MatchContext): readonly PlaceMatch[]
  /** Places with this slug, the likeliest first; of a country also its ISO codes and aliases. */
  bySlug(slug: string): readonly KnownPlace[]
  /** In the order of their codes. */
  countries(): readonly KnownCountry[]
  /** The regions of the country with this code of two capital letters, the most populous first. */
  regionsOf(countryCode: string): readonly KnownPlace[]
}

/** What finds nothing, where there is no gazetteer. */
export const NO_PLACES: PlaceMatcher = {
  revision: '',
  inText: () => [],
  inUrl: () => [],
  bySlug: () => [],
  countries: () => [],
  regionsOf: () => [],
}
