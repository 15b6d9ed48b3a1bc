import { hash } from 'node:crypto'
import { normalizeName, type PlaceName, type PlaceRecord } from '../../analysis/place.ts'

/** A name with its normalized form. */
export interface NormalizedName extends PlaceName {
  readonly normalized: string
}

/** The columns that a record fills, in the order of {@link toFactValues}. */
export const FACT_COLUMNS = [
  'kind',
  'country_code',
  'adm1_code',
  'adm2_code',
  'population',
  'timezone',
  'lat',
  'lng',
  'bbox',
  'extra',
  'status',
  'valid_from',
  'valid_to',
  'sort_name',
  'digest',
] as const

/** The values of {@link FACT_COLUMNS} from a record. */
export function toFactValues(record: PlaceRecord, sortName: string, digest: Buffer): readonly unknown[] {
  return [
    record.kind,
    record.countryCode,
    record.adm1Code,
    record.adm2Code,
    record.population,
    record.timezone,
    record.lat,
    record.lng,
    record.bbox === null ? null : JSON.stringify(record.bbox),
    record.extra === null ? null : JSON.stringify(record.extra),
    record.status,
    record.validFrom,
    record.validTo,
    sortName,
    digest,
  ]
}

/** The distinct names of a record, without names whose normalized form is empty. */
export function distinctNames({ names }: PlaceRecord): NormalizedName[] {
  const seen = new Set<string>()
  return names.flatMap((name) => {
    const normalized = normalizeName(name.name)
    const key = `${normalized}\n${name.lang ?? ''}\n${name.kind}`
    if (normalized === '' || seen.has(key)) return []
    seen.add(key)
    return [{ ...name, normalized }]
  })
}

/** A digest of the whole record, to detect changes. Twelve bytes are enough to make collisions among all imports negligible. */
export function digestOf(record: PlaceRecord, names: readonly NormalizedName[]): Buffer {
  const { ref, kind, countryCode, adm1Code, adm2Code, population, timezone, lat, lng, bbox, status } = record
  const { validFrom, validTo } = record
  const content = [
    [ref, kind, countryCode, adm1Code, adm2Code, population, timezone, lat, lng, bbox, status, validFrom, validTo],
    record.extra,
    names.map((one) => [one.name, one.lang, one.kind, one.isPreferred, one.isOfficial]),
    record.parents.map((parent) => `${parent.relation} ${parent.ref}`).sort(),
    record.externalIds.map(({ source, id }) => `${source} ${id}`).sort(),
  ]
  return hash('sha256', JSON.stringify(content), 'buffer').subarray(0, 12)
}
