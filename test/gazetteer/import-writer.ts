import { readFileSync, writeSync } from 'node:fs'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'
import { readCities } from '../../src/places/gazetteer/read-cities.ts'
import { openPostgresWithPlaces, openSqliteWithPlaces } from '../place-store.ts'

/*
 * Imports the given number of lines of a city file into a library, and prints the number of records so far after every 500 records:
 * `import-writer <library> <file> <lines>`.
 */
const [library = '', file = '', lines = '0'] = process.argv.slice(2)
const text = readFileSync(file, 'utf8').split('\n').slice(0, Number(lines)).join('\n')

function* read() {
  let count = 0
  for (const record of readCities(text, new Set())) {
    yield record
    if (++count % 500 === 0) writeSync(1, `${count}\n`)
  }
}

const store = await (library.startsWith('postgres:') ? openPostgresWithPlaces(library) : openSqliteWithPlaces(library))
await store.gazetteer.importPlaces(DATA_PACKAGES.cities.source, read(), 1)
await store.close()
