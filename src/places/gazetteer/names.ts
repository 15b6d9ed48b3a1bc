import type { NameKind, PlaceFacts, PlaceName } from '../analysis/place.ts'

/** A name that is not preferred. It is official only if its kind is `official`. */
export function createName(name: string, lang: string | null, kind: NameKind): PlaceName {
  return { name, lang, kind, isPreferred: false, isOfficial: kind === 'official' }
}

/** The display name of a place. */
export function createDisplayName(name: string, lang: string | null): PlaceName {
  return { name, lang, kind: 'common', isPreferred: true, isOfficial: false }
}

/** The facts of a place whose data has only names. */
export const UNKNOWN_FACTS: Omit<PlaceFacts, 'kind'> = {
  countryCode: null,
  adm1Code: null,
  adm2Code: null,
  population: null,
  timezone: null,
  lat: null,
  lng: null,
  bbox: null,
  status: 'current',
  validFrom: null,
  validTo: null,
  extra: null,
}
