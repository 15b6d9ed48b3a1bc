/** A place in match results. */
import type { PlaceKind } from '../../library/ports/findings.ts'
export interface KnownPlace {
  readonly id: number
  readonly kind: PlaceKind
  readonly name: string
  readonly countryCode: string | null
  readonly adm1Code: string | null
  readonly population: number
}

/** A country with the words that addresses may use for it, likeliest first. */
export interface KnownCountry extends KnownPlace {
  readonly slugs: readonly string[]
}

/** Context of a text; each field helps to decide between places of the same name. */
export interface MatchContext {
  readonly url?: string
  readonly title?: string
  readonly section?: string
  /** BCP 47 language of the text. */
  readonly language?: string
  /** Country of the host, if configured. */
  readonly hostCountry?: string
}

/** A place that was found. */
export interface PlaceMatch {
  readonly place: KnownPlace
  /** As written in the text or address. */
  readonly text: string
  /** Start and end offsets in UTF-16 units of the searched text. */
  readonly start: number
  readonly end: number
  /** Score; comparable only among candidates of one match. */
  readonly score: number
  /** From 0 to 1: how clearly this place is meant, and not another of the same name or none at all. */
  readonly confidence: number
}

/** Finds places by the names of a gazetteer. Without one it finds nothing. */
export interface PlaceMatcher {
  /** Changes with the gazetteer; earlier results may then be outdated. */
  readonly revision: string
  /** Places in a text, in order, without overlaps. */
  inText(text: string, context?: MatchContext): readonly PlaceMatch[]
  /** Places that the path of an address names, in order. */
  inUrl(url: string, context?: MatchContext): readonly PlaceMatch[]
  /** Places with this slug, likeliest first; countries also match by ISO code and alias. */
  bySlug(slug: string): readonly KnownPlace[]
  /** All countries, ordered by code. */
  countries(): readonly KnownCountry[]
  /** The regions of the country with this code of two capital letters, the most populous first. */
  regionsOf(countryCode: string): readonly KnownPlace[]
}

/** A matcher that finds nothing, for use without a gazetteer. */
export const EMPTY_MATCHER: PlaceMatcher = {
  revision: '',
  inText: () => [],
  inUrl: () => [],
  bySlug: () => [],
  countries: () => [],
  regionsOf: () => [],
}
