import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { installData } from '../../src/places/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'
import { readCities } from '../../src/places/gazetteer/read-cities.ts'
import type { Gazetteer } from '../../src/places/ports/gazetteer.ts'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { isLong } from '../faults/bounded.ts'
import { importOddRecords, queryAll } from '../gazetteer/compare-gazetteers.ts'
import { describeImport } from '../gazetteer/import.contract.ts'
import { describeOwnFiles } from '../gazetteer/own-file.contract.ts'
import { copyCountries, DATA_FOLDER } from '../gazetteer/world.ts'
import { openPostgresWithPlaces, openSqliteWithPlaces } from '../place-store.ts'
import { createFilled, createLibrary } from './databases.ts'

/** Makes libraries with all countries. */
const createCountries = createFilled(copyCountries)

describe('the gazetteer in PostgreSQL', () => {
  describeImport({
    newLibrary: createLibrary,
    newCountryLibrary: createCountries,
    open: (address) => openPostgresWithPlaces(address),
    openSql: (address) => openDatabase(address),
  })
  // Parsing files does not depend on the store, and the comparison below covers what the store keeps and returns.
  if (isLong) describeOwnFiles(async () => openPostgresWithPlaces(await createLibrary()))
})

describe('the gazetteers in PostgreSQL and SQLite', () => {
  /** Runs the same work on both stores and compares the results. */
  async function compare(
    [file, address]: readonly [file: string, address: string],
    work: (gazetteer: Gazetteer) => Promise<unknown>,
  ): Promise<void> {
    const stores = [await openSqliteWithPlaces(file), await openPostgresWithPlaces(address)]
    const answers: unknown[] = []
    for (const { gazetteer } of stores) answers.push([await work(gazetteer), await queryAll(gazetteer)])
    for (const store of stores) await store.close()
    expect(answers[1]).toEqual(answers[0])
  }

  test('store the same places for all countries and the cities of Ireland', async () => {
    const text = readFileSync(await installData('cities', { folder: DATA_FOLDER }), 'utf8')
    const minimum = isLong ? 0 : 5000
    const cities = text.split('\n').filter((line) => line.includes('\tIE\t') && Number(line.split('\t')[14]) >= minimum)
    const folder = mkdtempSync(join(tmpdir(), 'pharos-gazetteer-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'library.db')
    await copyCountries(file)
    await compare([file, await createCountries()], (gazetteer) =>
      gazetteer.importPlaces(DATA_PACKAGES.cities.source, readCities(cities.join('\n'), new Set()), 2),
    )
  })

  test.each(isLong ? [1, 2, 3, 4, 5, 6] : [1])('store and refuse the same strange records (seed %i)', async (seed) =>
    compare([':memory:', await createLibrary()], (gazetteer) => importOddRecords(gazetteer, seed)),
  )
})
