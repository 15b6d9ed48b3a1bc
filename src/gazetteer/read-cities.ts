import type { PlaceName, PlaceRecord } from '../analysis/place.ts'
import { commonName } from './names.ts'

/** Sections of cities that are as well known as cities are larger than this; most others have a name that many places have. */
const LEAST_SECTION = 10_000

/** Places that are no more: historical, abandoned or destroyed. */
const GONE: ReadonlySet<string> = new Set(['PPLH', 'PPLQ', 'PPLW', 'PPLCH'])

/** Features that are told with a place, as it makes a difference. */
const TOLD: ReadonlySet<string> = new Set(['PPLC', 'PPLX'])

/** Codes of airports and the like, which GeoNames has among the names. */
const CODE = /^[A-Z\d]{2,5}$/
/** Abbreviations that look like codes, and that people write. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['NYC'])
/** Transcriptions from other scripts, letter by letter, that nobody writes: `ba li`, `fyyna`. */
const TRANSCRIPTION = /^(?!.*\p{Lu})[\P{L}\p{Script=Latin}]*$/u

/** A line of GeoNames as it is here. */
interface CityColumns {
  readonly id: string
  readonly name: string
  readonly others: string
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
 * Reads cities from the table of GeoNames (tab-separated, nineteen columns). `regions` are the references of those that are there:
 * a city lies in its region, or else in its country.
 */
export function* readCities(text: string, regions: ReadonlySet<string>): Generator<PlaceRecord> {
  for (const city of readRows(text)) yield toRecord(city, regions)
}

/** How many people live in the cities of each region and country, by their references. */
export function sumPopulations(text: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { country, adm1, feature, population } of readRows(text)) {
    // Those of a section are counted with its city.
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

/** Undefined for what is no city here. */
function parseRow(line: string): CityColumns | undefined {
  const columns = line.split('\t')
  const [id = '', name = '', , others = '', lat = '', lng = '', , feature = '', country = ''] = columns
  const population = Number(columns[14] ?? 0)
  if (id === '' || name === '') return undefined
  if (feature === 'PPLX' && population < LEAST_SECTION) return undefined
  return {
    id,
    name,
    others,
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
  const { id, name, others, feature, country, adm1, adm2, population, timezone, lat, lng } = city
  const region = regionRef(country, adm1)
  return {
    ref: `geonames:${id}`,
    kind: 'city',
    countryCode: country,
    adm1Code: adm1 === '' ? null : adm1,
    // A few have a name there instead.
    adm2Code: /^[A-Z\d]+$/.test(adm2) ? adm2 : null,
    // Seats of districts are there whose people nobody has counted.
    population: population === 0 ? null : population,
    timezone: timezone === '' ? null : timezone,
    lat,
    lng,
    bbox: null,
    status: GONE.has(feature) ? 'historical' : 'current',
    validFrom: null,
    validTo: null,
    extra: TOLD.has(feature) ? { feature } : null,
    names: [commonName(name, null), ...readOthers(others)],
    parents: [{ ref: regions.has(region) ? region : `iso:${country}`, relation: 'admin_parent' }],
    externalIds: [],
  }
}

function readOthers(others: string): PlaceName[] {
  if (others === '') return []
  return others.split(',').flatMap((name): PlaceName[] => {
    const isAbbreviation = ABBREVIATIONS.has(name)
    if (!isAbbreviation && (CODE.test(name) || TRANSCRIPTION.test(name) || name.includes('://'))) return []
    // A single letter of an alphabet is no name that can be found; one of Chinese is.
    if (name.length === 1 && !/\p{Lo}/u.test(name)) return []
    return [{ name, lang: null, kind: isAbbreviation ? 'abbrev' : 'alias', isPreferred: false, isOfficial: false }]
  })
}
