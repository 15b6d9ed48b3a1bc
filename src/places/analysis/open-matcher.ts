import { openNameIndex, regionPlaces } from './match-index.ts'
import { matchText } from './match-text.ts'
import { matchUrl, placesBySlug } from './match-url.ts'
import { EMPTY_MATCHER, type KnownCountry, type PlaceMatcher } from './matcher.ts'

/** Opens an index that `writeNameIndex` wrote; for other bytes the matcher finds nothing. */
export function openPlaceMatcher(bytes: Uint8Array): PlaceMatcher {
  const index = openNameIndex(bytes)
  if (index === undefined) return EMPTY_MATCHER
  let countries: readonly KnownCountry[] | undefined
  return {
    revision: index.head.revision,
    inText: (text, context = {}) => matchText(index, text, context),
    inUrl: (url, context = {}) => matchUrl(index, url, context),
    bySlug: (slug) => placesBySlug(index, slug),
    countries() {
      countries ??= index.head.countries.map(({ place, slugs }) => ({ ...index.placeAt(place), slugs }))
      return countries
    },
    regionsOf(countryCode) {
      const regions = regionPlaces(index).get(countryCode) ?? []
      return regions.map((place) => index.placeAt(place)).sort((a, b) => b.population - a.population)
    },
  }
}
