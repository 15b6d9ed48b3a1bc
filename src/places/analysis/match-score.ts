import { PLACE_KINDS } from '../../library/ports/findings.ts'
import type { NameIndex } from './match-index.ts'
import { NAME_DERIVED, NAME_MAIN, packCountry } from './name-index.ts'
import { NAME_KINDS } from './place.ts'

/** The numbers that stand for kinds of places and kinds of names in a name index. */
export const KIND_COUNTRY: number = PLACE_KINDS.indexOf('country')
export const KIND_REGION: number = PLACE_KINDS.indexOf('region')
export const KIND_CITY: number = PLACE_KINDS.indexOf('city')
export const KIND_AREA: number = PLACE_KINDS.indexOf('supranational')
export const NAME_ABBREV: number = NAME_KINDS.indexOf('abbrev')
export const NAME_DEMONYM: number = NAME_KINDS.indexOf('demonym')

/**
 * Prior score of a place for a name with these flags, before any context: half the decimal logarithm of the population, plus bonuses for
 * the kind of place, for a capital and for a main name, minus a penalty for a shortened name.
 */
export function priorOf(index: NameIndex, place: number, flags: number): number {
  const { columns } = index
  const kind = columns.kinds[place]
  let score = 0.5 * Math.log10((columns.populations[place] ?? 0) + 1)
  if (kind === KIND_COUNTRY) score += 2
  else if (kind === KIND_REGION) score += 0.2
  else if (kind === KIND_AREA) score += 4
  if (columns.capitals[place] === 1) score += 1
  if ((flags & NAME_MAIN) !== 0) score += 0.5
  // A shortened name seldom means the place it was derived from: `Frankfurt` seldom means `Frankfurt (Oder)`. Capitals are an exception:
  // `Washington` nearly always means `Washington, D.C.`
  const isShortened = (flags & NAME_DERIVED) !== 0
  if (isShortened) score -= (flags & NAME_MAIN) !== 0 && columns.capitals[place] === 1 ? 0.2 : 0.5
  return score
}

/** How strongly the kind of a place, its population and its being a capital suggest that it is meant. */
export function sizeSupport(index: NameIndex, place: number): number {
  const kind = index.columns.kinds[place]
  if (kind === KIND_COUNTRY || kind === KIND_AREA) return 4
  const population = index.columns.populations[place] ?? 0
  if (kind === KIND_REGION) return population >= 3_000_000 ? 3 : population >= 500_000 ? 2.5 : 1.7
  if (population >= 1_000_000) return 3
  if (population >= 500_000 || index.columns.capitals[place] === 1) return 2.5
  return population >= 100_000 ? 2 : population >= 15_000 ? 1 : 0
}

const UNITED_STATES = packCountry('US')
const CANADA = packCountry('CA')

/** Whether a place lies in the United States or Canada. */
export function isNorthAmerican(index: NameIndex, place: number): boolean {
  const country = index.columns.countries[place]
  return country === UNITED_STATES || country === CANADA
}

/**
 * If the best candidate is a region, returns the index of the largest candidate city in it with 100,000 inhabitants or more, because the
 * name alone rarely means the region. Returns `best` if there is none. A city whose main name is another must also be large compared with
 * the region.
 */
export function preferCity(
  index: NameIndex,
  places: readonly number[],
  nameFlags: readonly number[],
  best: number,
): number {
  const { columns } = index
  const region = places[best]
  if (region === undefined || columns.kinds[region] !== KIND_REGION) return best
  let city = best
  let largest = 99_999
  for (const [i, place] of places.entries()) {
    if (columns.kinds[place] !== KIND_CITY || columns.countries[place] !== columns.countries[region]) continue
    const population = columns.populations[place] ?? 0
    if (columns.divisions[place] !== columns.divisions[region] || population <= largest) continue
    const isMain = ((nameFlags[i] ?? 0) & NAME_MAIN) !== 0
    if (!isMain && population < Math.min(3_000_000, 0.4 * (columns.populations[region] ?? 0))) continue
    city = i
    largest = population
  }
  return city
}
