import type { KnownCountry, KnownPlace } from '../../src/places/analysis/matcher.ts'
import { slugOf } from '../../src/places/analysis/place.ts'
import type { PlannerGazetteer } from '../../src/places/plan/place-names.ts'

const NAMES: readonly (readonly [code: string, name: string, slugs?: readonly string[]])[] = [
  ['CN', 'China'],
  ['IN', 'India'],
  ['US', 'United States', ['united-states', 'usa']],
  ['FR', 'France'],
  ['DE', 'Germany'],
  ['GB', 'United Kingdom', ['united-kingdom', 'uk']],
  ['CI', 'Ivory Coast', ['ivory-coast', 'cote-divoire', 'ci']],
  ['ZA', 'South Africa'],
  ['JP', 'Japan'],
  ['MX', 'Mexico'],
  ['AT', 'Austria'],
  ['VC', 'Saint Vincent and the Grenadines'],
  ['GE', 'Georgia'],
]

/** Some countries, the most populous first. */
export const COUNTRIES: readonly KnownCountry[] = NAMES.map(([countryCode, name, slugs = [slugOf(name)]], i) => ({
  ...{ id: i + 1, kind: 'country', name, countryCode, adm1Code: null, slugs },
  population: 1_000_000 * (NAMES.length - i),
}))

/** Slugs of some cities. */
export const CITIES: readonly string[] = ['london', 'paris', 'tokyo', 'lagos', 'berlin', 'madrid']

const STATES: readonly KnownPlace[] = ['Texas', 'Florida', 'Ohio', 'Georgia', 'New Mexico', 'Utah'].map((name, i) => ({
  ...{ id: 200 + i, kind: 'region', name, countryCode: 'US', adm1Code: name.slice(0, 2).toUpperCase() },
  population: 1_000_000 * (10 - i),
}))

/** A small gazetteer. */
export const PLACES: PlannerGazetteer = {
  countries: () => COUNTRIES,
  regionsOf: (code) => (code === 'US' ? STATES : []),
  bySlug: (slug) => {
    const index = CITIES.indexOf(slug)
    const id = 100 + index
    const city = { id, kind: 'city', name: slug, countryCode: null, adm1Code: null, population: 5e6 } as const
    return index === -1 ? STATES.filter(({ name }) => slugOf(name) === slug) : [city]
  },
}
