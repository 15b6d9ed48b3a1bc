import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { importWorld } from '../../src/gazetteer/import-world.ts'
import { installData } from '../../src/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/gazetteer/packages.ts'
import { readCities } from '../../src/gazetteer/read-cities.ts'
import type { Gazetteer } from '../../src/library/gazetteer.ts'
import { openDatabase } from '../../src/store/postgres/database.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { isLong } from '../faults/bounded.ts'
import { askAll, importStrange } from '../gazetteer/compared.ts'
import { describeImport } from '../gazetteer/import.contract.ts'
import { describeOwnFiles } from '../gazetteer/own-file.contract.ts'
import { DATA_FOLDER } from '../gazetteer/world.ts'
import { createFilled, createLibrary } from './databases.ts'

describe('the PostgreSQL store', () => {
  describeImport({
    newPlace: createLibrary,
    newCountries: createFilled(async (address) => {
      const store = await openPostgresStore(address)
      await importWorld(store.gazetteer, { folder: DATA_FOLDER, countriesOnly: true, now: Date.UTC(2026, 0, 1) })
      await store.close()
    }),
    open: (address) => openPostgresStore(address),
    look: (address) => openDatabase(address),
  })
  describeOwnFiles(async () => openPostgresStore(await createLibrary()))
})

describe('PostgreSQL and SQLite', () => {
  /** What both answer after the same was done to them. */
  async function compare(work: (gazetteer: Gazetteer) => Promise<unknown>): Promise<void> {
    const stores = [await openSqliteStore(':memory:'), await openPostgresStore(await createLibrary())]
    const answers: unknown[] = []
    for (const { gazetteer } of stores) answers.push([await work(gazetteer), await askAll(gazetteer)])
    for (const store of stores) await store.close()
    expect(answers[1]).toEqual(answers[0])
  }

  test('keep the same of all countries and the cities of one', async () => {
    const text = readFileSync(await installData('cities', { folder: DATA_FOLDER }), 'utf8')
    const cities = text.split('\n').filter((line) => line.includes('\tIE\t'))
    await compare(async (gazetteer) => {
      await importWorld(gazetteer, { folder: DATA_FOLDER, countriesOnly: true, now: 1 })
      return gazetteer.importPlaces(DATA_PACKAGES.cities.source, readCities(cities.join('\n'), new Set()), 2)
    })
  })

  test.each(isLong ? [1, 2, 3, 4, 5, 6] : [1, 2, 3])('keep and refuse the same of strange records (%i)', (seed) =>
    compare((gazetteer) => importStrange(gazetteer, seed)),
  )
})
