import type { PlaceKind } from '../../src/library/ports/findings.ts'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import type { Gazetteer } from '../../src/places/ports/gazetteer.ts'

/* A small piece of the world, enough for the news of `stored-news.ts`. */

const COUNTRIES: Readonly<Record<string, string>> = {
  FR: 'France',
  DE: 'Germany',
  KE: 'Kenya',
  JP: 'Japan',
  BR: 'Brazil',
  CA: 'Canada',
  IN: 'India',
  EG: 'Egypt',
  NG: 'Nigeria',
  GB: 'United Kingdom',
}

const CITIES: readonly (readonly [name: string, country: string, population: number])[] = [
  ['Paris', 'FR', 2_138_551],
  ['London', 'GB', 8_961_989],
  ['Berlin', 'DE', 3_426_354],
  ['Nairobi', 'KE', 2_750_547],
  ['Tokyo', 'JP', 8_336_599],
  ['Ottawa', 'CA', 1_010_899],
  ['Cairo', 'EG', 9_606_916],
  ['Lagos', 'NG', 9_000_000],
]

const SOURCE = { version: '1', license: 'CC0', attribution: 'the tests', url: null } as const

/** Imports the countries and cities above; with `further`, cities of these names instead. */
export async function importPlaces(gazetteer: Gazetteer, further: readonly string[] = []): Promise<void> {
  const records = [
    ...Object.entries(COUNTRIES).map(([code, name]) => recordOf('country', name, code, 50_000_000)),
    ...CITIES.map(([name, code, population]) => recordOf('city', name, code, population)),
  ]
  if (further.length === 0) await gazetteer.importPlaces({ ...SOURCE, name: 'some' }, records, 1)
  const more = further.map((name) => recordOf('city', name, 'GB', 100_000))
  if (more.length > 0) await gazetteer.importPlaces({ ...SOURCE, name: 'more' }, more, 2)
}

function recordOf(kind: PlaceKind, name: string, countryCode: string, population: number): PlaceRecord {
  return {
    ref: kind === 'country' ? `iso:${countryCode}` : `test:${name}`,
    ...{ kind, countryCode, population, adm1Code: null, adm2Code: null, timezone: null, lat: 10, lng: 10, bbox: null },
    ...{ status: 'current', validFrom: null, validTo: null, extra: null },
    names: [{ name, lang: 'en', kind: 'common', isPreferred: true, isOfficial: false }],
    parents: kind === 'country' ? [] : [{ ref: `iso:${countryCode}`, relation: 'admin_parent' }],
    externalIds: [],
  }
}
