import type { NameKind, PlaceName } from '../analysis/place.ts'

/** A name that is neither preferred nor official. */
export function nameOf(name: string, lang: string | null, kind: NameKind): PlaceName {
  return { name, lang, kind, isPreferred: false, isOfficial: kind === 'official' }
}

/** The name a place is shown by. */
export function commonName(name: string, lang: string | null): PlaceName {
  return { name, lang, kind: 'common', isPreferred: true, isOfficial: false }
}
