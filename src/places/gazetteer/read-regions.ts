import { InstallError } from '../../install/install-error.ts'
import type { PlaceRecord } from '../analysis/place.ts'
import { REGION_NAMES } from './extra-names.ts'
import { createDisplayName, createName, UNKNOWN_FACTS } from './names.ts'
import { regionRef } from './read-cities.ts'

/** A GeoNames region: `{"code": "FR.11", "name": "Île-de-France"}`. */
interface RegionEntry {
  readonly code: string
  readonly name: string
}

/** Reads the first-level divisions of countries. `populations` has the population of the cities in each division. */
export function* readRegions(text: string, populations: ReadonlyMap<string, number>): Generator<PlaceRecord> {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries)) throw new InstallError('the regions file is not a list')
  for (const entry of entries) {
    if (!isEntry(entry)) throw new InstallError(`a region has no code and name: ${JSON.stringify(entry)}`)
    yield toRecord(entry, populations)
  }
}

function isEntry(value: unknown): value is RegionEntry {
  if (typeof value !== 'object' || value === null || !('code' in value) || !('name' in value)) return false
  return typeof value.code === 'string' && /^[A-Z]{2}\../.test(value.code) && typeof value.name === 'string'
}

function toRecord({ code, name }: RegionEntry, populations: ReadonlyMap<string, number>): PlaceRecord {
  const country = code.slice(0, 2)
  const adm1 = code.slice(3)
  const ref = regionRef(country, adm1)
  const population = populations.get(ref) ?? 0
  return {
    ref,
    kind: 'region',
    ...UNKNOWN_FACTS,
    countryCode: country,
    adm1Code: adm1,
    population: population === 0 ? null : population,
    extra: population === 0 ? null : { population: 'of its cities' },
    names: [
      createDisplayName(name, null),
      ...(REGION_NAMES[code] ?? []).map((other) =>
        createName(other, null, /^[A-Z.]+$/.test(other) ? 'abbrev' : 'alias'),
      ),
    ],
    parents: [{ ref: `iso:${country}`, relation: 'admin_parent' }],
    externalIds: [],
  }
}
