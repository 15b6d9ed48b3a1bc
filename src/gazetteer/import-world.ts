import { readFile } from 'node:fs/promises'
import type { PlaceRecord } from '../analysis/place.ts'
import type { Gazetteer, ImportResult } from '../library/gazetteer.ts'
import { type DataOptions, installData } from './install-data.ts'
import { DATA_PACKAGES, type DataName } from './packages.ts'
import { readCities, sumPopulations } from './read-cities.ts'
import { readCountries } from './read-countries.ts'
import { readRegions } from './read-regions.ts'

/** What is imported, from where. */
export interface WorldOptions extends DataOptions {
  readonly countriesOnly?: boolean
  readonly now: number
  /** Is told of every record that is read. */
  readonly onRecord?: (name: DataName) => void
}

/** What became of one part of the world. */
export interface ImportedPart extends ImportResult {
  readonly name: DataName
}

/** Takes the countries of the world into a gazetteer, and their regions and cities. */
export async function importWorld(gazetteer: Gazetteer, options: WorldOptions): Promise<ImportedPart[]> {
  const { now, signal, onRecord = () => undefined, onStep = () => undefined } = options
  const names: readonly DataName[] = options.countriesOnly === true ? ['countries'] : ['countries', 'regions', 'cities']
  // All of them first: without one there is nothing to begin with.
  const files = new Map<DataName, string>()
  for (const name of names) files.set(name, await readFile(await installData(name, options), 'utf8'))
  const cities = files.get('cities') ?? ''
  const regions = new Set<string>()
  const readers: Readonly<Record<DataName, () => Iterable<PlaceRecord>>> = {
    countries: () => readCountries(files.get('countries') ?? '[]'),
    regions: () => readRegions(files.get('regions') ?? '[]', sumPopulations(cities)),
    cities: () => readCities(cities, regions),
  }
  const parts: ImportedPart[] = []
  for (const name of names) {
    onStep(`importing ${name}`)
    const records = watch(readers[name](), ({ ref }) => {
      if (name === 'regions') regions.add(ref)
      onRecord(name)
    })
    parts.push({ name, ...(await gazetteer.importPlaces(DATA_PACKAGES[name].source, records, now, signal)) })
  }
  return parts
}

function* watch(records: Iterable<PlaceRecord>, see: (record: PlaceRecord) => void): Generator<PlaceRecord> {
  for (const record of records) {
    see(record)
    yield record
  }
}
