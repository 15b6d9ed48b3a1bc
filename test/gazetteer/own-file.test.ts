import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { importFile } from '../../src/gazetteer/own-file.ts'
import { writeExport } from '../../src/gazetteer/write-export.ts'
import type { Gazetteer } from '../../src/library/gazetteer.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { copyCountries } from './world.ts'

const root = mkdtempSync(join(tmpdir(), 'pharos-own-places-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let made = 0
async function withPlaces<T>(
  work: (gazetteer: Gazetteer) => Promise<T>,
  path = join(root, `${made++}.db`),
): Promise<T> {
  const store = await openSqliteStore(path)
  try {
    return await work(store.gazetteer)
  } finally {
    await store.close()
  }
}

function fileWith(name: string, text: string): { path: string; now: number } {
  const path = join(root, name)
  writeFileSync(path, text)
  return { path, now: 1 }
}

async function exportText(gazetteer: Gazetteer): Promise<string> {
  let text = ''
  for await (const line of writeExport(gazetteer)) text += line
  return text
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

test('lines that are no place are left out with their numbers, and never end an import', async () => {
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
      'line 2: it is not valid JSON',
      'line 3: expected a place as JSON, got "[1]"',
      'line 5: names: expected a list of objects, got [1]',
      'line 6: name: expected a text, got 5',
      `line 7: names: expected one of endonym, exonym, alias, abbrev, official, common, demonym, got "nick"`,
      'line 8: bbox: expected west, south, east and north, got [1]',
      'line 9: parents: one has not a ref',
      'line 10: it has no name',
    ])
    expect(second).toMatchObject({ places: 2, refused: 8 })
  })
})

test.each([
  ['empty.csv', '', 'it is empty'],
  ['strange.csv', 'name,colour\nA,red\n', 'there is no column "colour"; there are ref, name'],
  ['headless.csv', 'Paris,FR\n', 'its first line names no column "name", got "Paris,FR"'],
])('%s is refused as a whole, with what it should be', async (name, text, problem) => {
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
  const from = join(root, 'from.db')
  await copyCountries(from)
  const text = await withPlaces(async (gazetteer) => {
    await importFile(gazetteer, fileWith('more.csv', 'name,country,lat,lng\nPharos,EG,31.2,29.9\n'))
    return exportText(gazetteer)
  }, from)
  const [head = '', ...places] = text.trimEnd().split('\n')
  expect(JSON.parse(head)).toMatchObject({ sources: [{ license: 'unknown' }, { license: 'ODbL-1.0' }] })
  expect(places).toHaveLength(282)
  const file = { ...fileWith('export.ndjson', text), now: 5 }
  await withPlaces(async (gazetteer) => {
    expect(await importFile(gazetteer, file)).toMatchObject({ places: 282, added: 282, refused: 0 })
    const again = (await exportText(gazetteer)).trimEnd().split('\n')
    expect(again.slice(1)).toEqual(places)
    const credits = (line = '') => (JSON.parse(line) as { sources: { name: string }[] }).sources
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    expect(credits(again[0]).sort(byName)).toEqual(credits(head).sort(byName))
  })
})
