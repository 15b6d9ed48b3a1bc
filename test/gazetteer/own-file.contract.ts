import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { importFile } from '../../src/places/gazetteer/import-file.ts'
import { installData } from '../../src/places/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'
import { readCountries } from '../../src/places/gazetteer/read-countries.ts'
import { writeExport } from '../../src/places/gazetteer/write-export.ts'
import type { Gazetteer } from '../../src/places/ports/gazetteer.ts'
import type { PlaceTables } from '../../src/places/ports/places-library.ts'
import { DATA_FOLDER } from './world.ts'

const root = mkdtempSync(join(tmpdir(), 'pharos-own-places-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function fileWith(name: string, text: string | Buffer): { path: string; now: number } {
  const path = join(root, name)
  writeFileSync(path, text)
  return { path, now: 1 }
}

async function exportText(gazetteer: Gazetteer): Promise<string> {
  let text = ''
  for await (const line of writeExport(gazetteer)) text += line
  return text
}

/** The contract of users' own place files and of the export. */
export function describeOwnFiles(open: () => Promise<LibraryStore & PlaceTables>): void {
  const withPlaces = async <T>(work: (gazetteer: Gazetteer) => Promise<T>): Promise<T> => {
    const store = await open()
    try {
      return await work(store.gazetteer)
    } finally {
      await store.close()
    }
  }

  test('a table is read by the names of its columns, with quotes, line breaks and names in many scripts', async () => {
    const file = fileWith(
      'towns.csv',
      '\uFEFFName,kind,Country,adm1,lat,lng,population,names,lang\r\n' +
        'Pharos,city,eg,06,31.2,29.9,1200,Φάρος|Фарос,en\r\n' +
        '"Town ""of""\nTwo, Lines",,FR,,,,,,\r\n' +
        '\r\n' +
        'Old Light,poi,EG,,0,0,,,\r\n',
    )
    await withPlaces(async (gazetteer) => {
      expect(await importFile(gazetteer, file)).toEqual({
        places: 3,
        names: 5,
        added: 3,
        changed: 0,
        refused: 0,
        problems: [],
      })
      expect(await gazetteer.resolve('фарос', 5)).toMatchObject([
        { name: 'Pharos', kind: 'city', countryCode: 'EG', adm1Code: '06', lat: 31.2, lng: 29.9, population: 1200 },
      ])
      expect((await gazetteer.listPlaces({ countryCode: 'FR', offset: 0, limit: 5 })).items).toMatchObject([
        { name: 'Town "of"\nTwo, Lines', kind: 'city', population: null },
      ])
      expect((await gazetteer.summary()).sources).toMatchObject([
        { name: 'file:towns.csv', license: 'unknown', places: 3 },
      ])
      expect(await importFile(gazetteer, file)).toMatchObject({ places: 3, added: 0, changed: 0 })
    })
  })

  test('invalid lines are skipped with their numbers, and never end an import', async () => {
    const table = fileWith(
      'bad.csv',
      'name;kind;country;lat;lng;population\nGood;city;FR;1;2;3\n;city;FR;;;\nA;town;FR;;;\nB;city;FRA;;;\nC;city;FR;91;;\nD;city;FR;;x;\nE;city;FR;;;1.5\nF;city;FR;;;;;;\nG;"city;FR',
    )
    const lines = fileWith(
      'bad.ndjson',
      [
        '{"name":"Good"}',
        '{"name":"Cut',
        '[1]',
        '{"names":"x|y"}',
        '{"names":[1]}',
        '{"name":5}',
        '{"name":"A","names":[{"name":"B","kind":"nick"}]}',
        '{"name":"A","bbox":[1]}',
        '{"name":"A","parents":[{}]}',
        '{"name":"…"}',
      ].join('\n'),
    )
    await withPlaces(async (gazetteer) => {
      const first = await importFile(gazetteer, table)
      expect(first).toMatchObject({ places: 1, refused: 8 })
      expect(first.problems).toEqual([
        'line 3: it has no name',
        'line 4: kind: expected one of country, region, city, poi, supranational, got "town"',
        'line 5: country: expected two letters such as FR, got "FRA"',
        'line 6: lat: expected a number from -90 to 90, got "91"',
        'line 7: lng: expected a number from -180 to 180, got "x"',
        'line 8: population: expected a whole number from 0 up, got "1.5"',
        'line 9: 9 fields, more than the 6 columns',
        'line 10: a quotation mark is not closed',
      ])
      const second = await importFile(gazetteer, lines)
      expect(second.problems).toEqual([
        'line 2: not valid JSON',
        'line 3: expected a place as JSON, got "[1]"',
        'line 5: names: expected a list of objects, got [1]',
        'line 6: name: expected a text, got 5',
        `line 7: names: expected one of endonym, exonym, alias, abbrev, official, common, demonym, got "nick"`,
        'line 8: bbox: expected west, south, east and north, got [1]',
        'line 9: parents: an entry has no ref',
        'line 10: it has no name',
      ])
      expect(second).toMatchObject({ places: 2, refused: 8 })
    })
  })

  test('an unclosed quotation mark spoils one line, and not the rest of the file', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `Town ${i},FR`)
    rows[100] = '"Broken,FR'
    rows[290] = 'Town "290,FR'
    rows[295] = '"Two\nLines",FR'
    const file = fileWith('quotes.csv', `\n\nname,country\n${rows.join('\n')}\n`)
    await withPlaces(async (gazetteer) => {
      const result = await importFile(gazetteer, file)
      expect(result).toMatchObject({ places: 299, refused: 1 })
      expect(result.problems).toEqual([
        'line 104: a quotation mark is not closed; the 49 lines after it were read as separate rows',
      ])
      expect(await gazetteer.resolve('town 101', 1)).toHaveLength(1)
      expect(await gazetteer.resolve('town 299', 1)).toHaveLength(1)
    })
  })

  test('places of two alternating sources are imported together', async () => {
    const source = (name: string) => ({ name, version: '1', license: 'CC0-1.0', attribution: name, url: null })
    const lines = Array.from({ length: 40 }, (_, i) =>
      JSON.stringify({ name: `Place ${i}`, source: i % 2 === 0 ? 'a' : 'b' }),
    )
    const text = [JSON.stringify({ sources: [source('a'), source('b')] }), ...lines].join('\n')
    await withPlaces(async (gazetteer) => {
      let importCount = 0
      // The file is one import, so that the name index is written only once.
      const counted: Gazetteer = {
        ...gazetteer,
        importPlaces: async () => {
          throw new Error('the file was not imported with importMixed')
        },
        importMixed: (...args) => {
          importCount++
          return gazetteer.importMixed(...args)
        },
      }
      expect(await importFile(counted, fileWith('turns.ndjson', text))).toMatchObject({ places: 40, refused: 0 })
      expect(importCount).toBe(1)
      expect((await gazetteer.summary()).sources).toMatchObject([
        { name: 'a', places: 20 },
        { name: 'b', places: 20 },
      ])
    })
  })

  test("a user's own country or region is matched with the existing one by its codes", async () => {
    await withPlaces(async (gazetteer) => {
      const countries =
        '{"name":"Francia","kind":"country","country":"fr"}\n{"ref":"iso:FR","name":"France","kind":"country","country":"FR"}'
      await importFile(gazetteer, fileWith('countries.ndjson', countries))
      const regions =
        '{"name":"Paris and around","kind":"region","country":"FR","adm1":"11"}\n{"name":"Paris","country":"FR","adm1":"11"}'
      await importFile(gazetteer, fileWith('regions.ndjson', regions))
      expect(await gazetteer.summary()).toMatchObject({ countries: 1, regions: 1, cities: 1 })
      const [paris] = await gazetteer.resolve('Paris', 1)
      const parents = (await gazetteer.findPlace(paris?.id ?? 0))?.parents.map(({ name }) => name)
      expect(parents).toEqual(['Paris and around', 'France'])
    })
  })

  test('places whose names contain invalid characters are left out', async () => {
    const lines = [{ name: 'Bell\u0007' }, { name: 'Fine', names: [{ name: 'Caf\ufffd' }] }, { name: 'Good' }]
    await withPlaces(async (gazetteer) => {
      const file = fileWith('control.ndjson', lines.map((line) => JSON.stringify(line)).join('\n') + '\n'.repeat(200))
      const { places, problems } = await importFile(gazetteer, file)
      expect(places).toBe(1)
      expect(problems).toEqual([
        'line 1: names: expected text, got invalid characters in "Bell\\u0007"',
        'line 2: names: expected text, got invalid characters in "Caf\ufffd"',
      ])
    })
  })

  test.each([
    ['empty.csv', '', 'it is empty'],
    ['latin1.csv', Buffer.from('name,country\nOrléans,FR\nNîmes,FR\n', 'latin1'), 'it is not UTF-8 text: 2 of'],
    ['utf16.csv', Buffer.from('name,country\nParis,FR\n', 'utf16le'), 'it is not UTF-8 text'],
    ['strange.csv', 'name,colour\nA,red\n', 'unknown column "colour"; known columns are ref, name'],
    ['headless.csv', 'Paris,FR\n', 'the first line has no column "name", got "Paris,FR"'],
  ])('%s is refused as a whole, and the error says what is wrong', async (name, text, problem) => {
    await withPlaces(async (gazetteer) => {
      const importing = importFile(gazetteer, fileWith(name, text))
      await expect(importing).rejects.toMatchObject({
        code: 'INPUT_UNREADABLE',
        message: expect.stringContaining(problem),
      })
      expect((await gazetteer.summary()).revision).toBe('')
    })
  })

  test('an export that is imported into an empty library gives the same export, credits included', async () => {
    const countries = readFileSync(await installData('countries', { folder: DATA_FOLDER }), 'utf8')
    // The first 50 records are the continents and some countries.
    const some = [...readCountries(countries)].slice(0, 50)
    const text = await withPlaces(async (gazetteer) => {
      await gazetteer.importPlaces(DATA_PACKAGES.countries.source, some, 2)
      await importFile(gazetteer, fileWith('more.csv', 'name,country,lat,lng\nPharos,EG,31.2,29.9\n'))
      return exportText(gazetteer)
    })
    const [head = '', ...places] = text.trimEnd().split('\n')
    expect(JSON.parse(head)).toMatchObject({ sources: [{ license: 'unknown' }, { license: 'ODbL-1.0' }] })
    expect(places).toHaveLength(51)
    const file = { ...fileWith('export.ndjson', text), now: 5 }
    await withPlaces(async (gazetteer) => {
      expect(await importFile(gazetteer, file)).toMatchObject({ places: 51, added: 51, refused: 0 })
      const again = (await exportText(gazetteer)).trimEnd().split('\n')
      expect(again.slice(1)).toEqual(places)
      const credits = (line = '') => (JSON.parse(line) as { sources: { name: string }[] }).sources
      const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
      expect(credits(again[0]).sort(byName)).toEqual(credits(head).sort(byName))
    })
  })
}
