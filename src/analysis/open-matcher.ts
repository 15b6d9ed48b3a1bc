import { openIndex, regionPlaces } from './match-index.ts'
import { matchText } from './match-text.ts'
import { matchUrl, placesBySlug } from './match-url.ts'
import { type KnownCountry, NO_PLACES, type PlaceMatcher } from './matcher.ts'

/** Opens an index that `writeNameIndex` wrote; for other bytes the matcher finds nothing. */
export function openPlaceMatcher(bytes: Uint8Array): PlaceMatcher {
  const index = openIndex(bytes)
  if (index === undefined) return NO_PLACES
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
