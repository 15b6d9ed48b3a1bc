import { readFile } from 'node:fs/promises'
import type { PlaceRecord } from '../analysis/place.ts'
import type { Gazetteer, GazetteerImportResult, SourcedPlace } from '../ports/gazetteer.ts'
import { type DataOptions, installData } from './install-data.ts'
import { DATA_PACKAGES, type DataName } from './packages.ts'
import { readCities, sumPopulations } from './read-cities.ts'
import { readCountries } from './read-countries.ts'
import { readRegions } from './read-regions.ts'

/** Which data is imported, and from where. */
export interface WorldOptions extends DataOptions {
  readonly countriesOnly?: boolean
  readonly now: number
  /** Called for every record that is read. */
  readonly onRecord?: (name: DataName) => void
}

/** Imports the countries of the world with their regions and cities into a gazetteer. */
export async function importWorld(gazetteer: Gazetteer, options: WorldOptions): Promise<GazetteerImportResult> {
  return gazetteer.importMixed(await readWorld(options), options.now, options.signal)
}

/** Reads the countries of the world with their regions and cities, without importing them. */
export async function readWorld(options: Omit<WorldOptions, 'now'>): Promise<Iterable<SourcedPlace>> {
  const names: readonly DataName[] = options.countriesOnly === true ? ['countries'] : ['countries', 'regions', 'cities']
  // Installs all files first, because the import needs every one of them.
  const files = new Map<DataName, string>()
  for (const name of names) files.set(name, await readFile(await installData(name, options), 'utf8'))
  return readFiles(names, files, options)
}

function* readFiles(
  names: readonly DataName[],
  files: ReadonlyMap<DataName, string>,
  { onRecord = () => undefined, onStep = () => undefined }: Omit<WorldOptions, 'now'>,
): Generator<SourcedPlace> {
  const cities = files.get('cities') ?? ''
  const regions = new Set<string>()
  const readers: Readonly<Record<DataName, () => Iterable<PlaceRecord>>> = {
    countries: () => readCountries(files.get('countries') ?? '[]'),
    regions: () => readRegions(files.get('regions') ?? '[]', sumPopulations(cities)),
    cities: () => readCities(cities, regions),
  }
  for (const name of names) {
    onStep(`importing ${name}`)
    const { source } = DATA_PACKAGES[name]
    for (const record of readers[name]()) {
      if (name === 'regions') regions.add(record.ref)
      onRecord(name)
      yield { record, source }
    }
  }
}
