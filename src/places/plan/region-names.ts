import { getOrAdd } from '../../core/get-or-add.ts'
import { slugOf } from '../analysis/place.ts'
import type { NamedPlace, PlaceNames, PlannerGazetteer } from './place-names.ts'

const MAX_CACHED_WORDS = 20_000
/** Limit of regions per word. A word such as `central` is a region of many countries, and says little about each. */
const MAX_MEANINGS = 4
const MIN_WORD_LENGTH = 3

const NONE: readonly NamedPlace[] = []

/** The regions of a gazetteer, found by the words that addresses use for them. */
export class RegionNames {
  readonly #places: PlannerGazetteer
  readonly #meanings = new Map<string, readonly NamedPlace[]>()
  readonly #countries = new Map<string, PlaceNames>()

  constructor(places: PlannerGazetteer) {
    this.#places = places
  }

  /** The regions that a word may mean, at most one per country. */
  bySlug(word: string): readonly NamedPlace[] {
    if (word.length < MIN_WORD_LENGTH) return NONE
    const known = this.#meanings.get(word)
    if (known !== undefined) return known
    if (this.#meanings.size >= MAX_CACHED_WORDS) this.#meanings.clear()
    const found = this.#findRegions(word)
    this.#meanings.set(word, found)
    return found
  }

  /** The regions of one country. */
  ofCountry(countryCode: string): PlaceNames {
    return getOrAdd(this.#countries, countryCode, () => {
      const all = this.#places.regionsOf(countryCode).map((place) => ({ ...place, slugs: [slugOf(place.name)] }))
      return { all, spellings: [{ name: 'name', write: ({ slugs: [slug] }: NamedPlace) => slug }] }
    })
  }

  #findRegions(word: string): readonly NamedPlace[] {
    const found = new Map<string, NamedPlace>()
    for (const { kind, countryCode, id } of this.#places.bySlug(word)) {
      if (kind !== 'region' || countryCode === null || found.has(countryCode)) continue
      const place = this.ofCountry(countryCode).all.find((region) => region.id === id)
      if (place !== undefined) found.set(countryCode, place)
    }
    return found.size === 0 || found.size > MAX_MEANINGS ? NONE : [...found.values()]
  }
}
