import type { PlaceName, PlaceRecord } from '../analysis/place.ts'
import { createDisplayName } from './names.ts'

/** Minimum population of a city section; smaller ones mostly share their name with many places. */
const MIN_SECTION_POPULATION = 10_000

/** Places that no longer exist: historical, abandoned or destroyed. */
const HISTORICAL_FEATURES: ReadonlySet<string> = new Set(['PPLH', 'PPLQ', 'PPLW', 'PPLCH'])

/** Feature codes that are stored with a place: capitals (PPLC) and city sections (PPLX). */
const STORED_FEATURES: ReadonlySet<string> = new Set(['PPLC', 'PPLX'])

/** Airport codes and similar, which GeoNames lists among the names. */
const CODE = /^[A-Z\d]{2,5}$/
/** Abbreviations that look like codes, but are used in texts. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['NYC'])
/** Letter-by-letter transcriptions from other scripts that texts do not use: `ba li`, `fyyna`. */
const TRANSCRIPTION = /^(?!.*\p{Lu})[\P{L}\p{Script=Latin}]*$/u

/** The columns of a GeoNames line that are used. */
interface CityColumns {
  readonly id: string
  readonly name: string
  readonly alternateNames: string
  readonly lat: number
  readonly lng: number
  readonly feature: string
  readonly country: string
  readonly adm1: string
  readonly adm2: string
  readonly population: number
  readonly timezone: string
}

/**
 * Reads cities from the GeoNames table (tab-separated, nineteen columns). `regions` has the references of existing regions: a city lies in
 * its region, otherwise in its country.
 */
export function* readCities(text: string, regions: ReadonlySet<string>): Generator<PlaceRecord> {
  for (const city of readRows(text)) yield toRecord(city, regions)
}

/** Population of all cities of each region, by region reference. */
export function sumPopulations(text: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { country, adm1, feature, population } of readRows(text)) {
    // The population of a section is part of its city's.
    if (feature === 'PPLX') continue
    const region = regionRef(country, adm1)
    sums.set(region, (sums.get(region) ?? 0) + population)
  }
  return sums
}

/** `geonames-admin1:FR.11` */
export function regionRef(country: string, adm1: string): string {
  return `geonames-admin1:${country}.${adm1}`
}

function* readRows(text: string): Generator<CityColumns> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end < 0 ? text.length : end)
    start = end < 0 ? text.length : end + 1
    const row = parseRow(line)
    if (row !== undefined) yield row
  }
}

/** Undefined for a line without a city, and for a small section of a city. */
function parseRow(line: string): CityColumns | undefined {
  const columns = line.split('\t')
  const [id = '', name = '', , alternateNames = '', lat = '', lng = '', , feature = '', country = ''] = columns
  const population = Number(columns[14] ?? 0)
  if (id === '' || name === '') return undefined
  if (feature === 'PPLX' && population < MIN_SECTION_POPULATION) return undefined
  return {
    id,
    name,
    alternateNames,
    feature,
    country,
    population,
    lat: Number(lat),
    lng: Number(lng),
    adm1: columns[10] ?? '',
    adm2: columns[11] ?? '',
    timezone: columns[17] ?? '',
  }
}

function toRecord(city: CityColumns, regions: ReadonlySet<string>): PlaceRecord {
  const { id, name, alternateNames, feature, country, adm1, adm2, population, timezone, lat, lng } = city
  const region = regionRef(country, adm1)
  return {
    ref: `geonames:${id}`,
    kind: 'city',
    countryCode: country,
    adm1Code: adm1 === '' ? null : adm1,
    // A few rows have a name instead of a code.
    adm2Code: /^[A-Z\d]+$/.test(adm2) ? adm2 : null,
    // A population of 0 means unknown.
    population: population === 0 ? null : population,
    timezone: timezone === '' ? null : timezone,
    lat,
    lng,
    bbox: null,
    status: HISTORICAL_FEATURES.has(feature) ? 'historical' : 'current',
    validFrom: null,
    validTo: null,
    extra: STORED_FEATURES.has(feature) ? { feature } : null,
    names: [createDisplayName(name, null), ...readAlternateNames(alternateNames)],
    parents: [{ ref: regions.has(region) ? region : `iso:${country}`, relation: 'admin_parent' }],
    externalIds: [],
  }
}

function readAlternateNames(alternateNames: string): PlaceName[] {
  if (alternateNames === '') return []
  return alternateNames.split(',').flatMap((name): PlaceName[] => {
    const isAbbreviation = ABBREVIATIONS.has(name)
    if (!isAbbreviation && (CODE.test(name) || TRANSCRIPTION.test(name) || name.includes('://'))) return []
    // A single letter is not a usable name, but a single Chinese character is.
    if (name.length === 1 && !/\p{Lo}/u.test(name)) return []
    return [{ name, lang: null, kind: isAbbreviation ? 'abbrev' : 'alias', isPreferred: false, isOfficial: false }]
  })
}
