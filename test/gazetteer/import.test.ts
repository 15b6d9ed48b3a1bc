import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlaceMatcher } from '../../src/places/analysis/open-matcher.ts'
import type { PlaceQuery } from '../../src/places/ports/gazetteer.ts'
import { createGazetteer } from '../../src/places/store/sqlite/gazetteer.ts'
import { writeTo } from '../../src/store/sqlite/database/database.ts'
import { openSqlAccess } from '../contracts/sqlite-access.ts'
import { openSqliteWithPlaces } from '../place-store.ts'
import { describeImport, expectEmptyGazetteer, OWN_SOURCE, placeWith } from './import.contract.ts'
import { copyCountries, indexOfWorld, worldGazetteer, worldNames } from './world.ts'

const isLong = process.env['TEST_LONG'] !== undefined
const root = mkdtempSync(join(tmpdir(), 'pharos-gazetteer-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let libraryCount = 0
const newLibrary = async (): Promise<string> => join(root, `library-${libraryCount++}.db`)

describe('the gazetteer of the world', () => {
  let store: Awaited<ReturnType<typeof openSqliteWithPlaces>>
  beforeAll(async () => {
    store = await openSqliteWithPlaces(await worldGazetteer())
  })
  afterAll(() => store.close())

  const list = (query: Partial<PlaceQuery>) => store.gazetteer.listPlaces({ offset: 0, limit: 10, ...query })

  test('has 250 countries, the regions and the cities of more than 1,000 people, with their credits', async () => {
    const { countries, regions, cities, names, sources, revision } = await store.gazetteer.summary()
    expect(countries).toBe(250)
    expect(regions).toBe(3865)
    expect(cities).toBeGreaterThan(isLong ? 130_000 : 6000)
    expect(names).toBeGreaterThan(isLong ? 600_000 : 60_000)
    expect(sources.map(({ license }) => license)).toEqual(['ODbL-1.0', 'CC-BY-4.0', 'CC-BY-3.0'])
    expect(sources.every(({ attribution }) => attribution.length > 20)).toBe(true)
    expect(revision).toMatch(/^[\da-f]{16}$/)
  })

  test('is read completely: 130,000 cities and 600,000 names', async () => {
    const { cities, names } = await worldNames()
    expect(cities).toBeGreaterThan(130_000)
    expect(names).toBeGreaterThan(600_000)
  })

  test('lists places of one name: cities first, then regions, then countries', async () => {
    const found = await store.gazetteer.resolve('Paris', 20)
    expect(found[0]).toMatchObject({ name: 'Paris', kind: 'city', countryCode: 'FR', adm1Code: '11' })
    expect(found.filter(({ countryCode, adm1Code }) => countryCode === 'US' && adm1Code === 'TX')).toHaveLength(1)
    const georgia = await store.gazetteer.resolve('georgia', 5)
    expect(georgia.map(({ kind, countryCode }) => `${kind} ${countryCode}`)).toEqual(['region US', 'country GE'])
  })

  test.each(['Wien', 'Vienna', 'Вена', 'Βιέννη', 'فيينا'])('knows Vienna as %s', async (name) => {
    const [first] = await store.gazetteer.resolve(name, 1)
    expect(first).toMatchObject({ name: 'Vienna', countryCode: 'AT', kind: 'city' })
  })

  test.each([
    ['UK', 'GB'],
    ['Britain', 'GB'],
    ['USA', 'US'],
    ['Holland', 'NL'],
    ['Burma', 'MM'],
    ['Ivory Coast', 'CI'],
    ['Swaziland', 'SZ'],
    ['Macedonia', 'MK'],
    ['Czech Republic', 'CZ'],
    ['Turkey', 'TR'],
    ['Cape Verde', 'CV'],
    ['Vatican', 'VA'],
    ['East Timor', 'TL'],
    ['DR Congo', 'CD'],
    ['Deutschland', 'DE'],
    ['日本', 'JP'],
    ['مصر', 'EG'],
    ['Россия', 'RU'],
    ['भारत', 'IN'],
    ['대한민국', 'KR'],
  ])('knows the country %s', async (name, code) => {
    const found = await store.gazetteer.resolve(name, 20)
    expect(found.filter(({ kind }) => kind === 'country').map(({ countryCode }) => countryCode)).toEqual([code])
  })

  test('shows no country under its official name', async () => {
    const { items, total } = await list({ kind: 'country', limit: 250 })
    expect(total).toBe(250)
    expect(items.filter(({ name }) => /republic of (?!the congo)|kingdom of/i.test(name))).toEqual([])
    expect(items[0]).toMatchObject({ name: 'India' })
  })

  test('knows the ancestors and the children of a place', async () => {
    const [paris] = await store.gazetteer.resolve('Paris', 1)
    const details = await store.gazetteer.findPlace(paris?.id ?? 0)
    expect(details?.parents.map(({ name }) => name)).toEqual(['Île-de-France', 'France'])
    const france = await store.gazetteer.findPlace(details?.parents[1]?.id ?? 0)
    expect(france?.parents.map(({ name }) => name)).toEqual(['Western Europe', 'European Union', 'Europe'])
    expect(france?.childCount).toBe(13)
    expect(france?.names.filter(({ kind }) => kind === 'demonym').map(({ name }) => name)).toContain('French')
    expect(france?.externalIds).toContainEqual({ source: 'iso3166-alpha3', id: 'FRA' })
    expect(await store.gazetteer.findPlace(999_999_999)).toBeUndefined()
  })

  test('leaves out airport codes and machine-made spellings', async () => {
    const [vienna] = await store.gazetteer.resolve('Wien', 1)
    const names = (await store.gazetteer.findPlace(vienna?.id ?? 0))?.names.map(({ name }) => name)
    expect(names).toContain('Vindobona')
    expect(names).not.toContain('VIE')
    expect(names).not.toContain('fyyna')
  })

  test('lists by the beginning of names and by their words, filtered and in order', async () => {
    const york = (await list({ text: 'york', kind: 'city', limit: 50 })).items.map(({ name }) => name)
    expect(york[0]).toBe('York')
    expect(york).toContain('New York City')
    const texan = await list({ text: 'paris', countryCode: 'us', adm1Code: 'TX' })
    expect(texan.items[0]?.name).toBe('Paris')
    const large = await list({ kind: 'city', minPopulation: 10_000_000 })
    expect(large.total).toBeLessThan(30)
    expect(large.items.every(({ population }) => (population ?? 0) >= 10_000_000)).toBe(true)
    const [first, second] = await Promise.all([
      list({ kind: 'country', sort: 'name', limit: 5 }),
      list({ kind: 'country', sort: 'name', limit: 5, offset: 5 }),
    ])
    expect(first.items[0]?.name).toBe('Afghanistan')
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(10)
    const last = await list({ kind: 'country', sort: 'name', order: 'descending', limit: 1 })
    expect(last.items[0]?.name).toBe('Zimbabwe')
    expect(await list({ text: 'no place is called so' })).toEqual({ total: 0, items: [] })
  })

  test('uses an index for every list', () => {
    const db = new Sqlite(store.location, { readonly: true })
    const plan = (sql: string) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String((row as { detail: string }).detail))
    for (const order of [
      'population DESC, id',
      'sort_name, id',
      'country_code, kind, population DESC, id',
      'kind, population DESC, id',
    ]) {
      const steps = plan(`SELECT id FROM places ORDER BY ${order} LIMIT 50`)
      expect(steps.join(), order).toMatch(/USING (?:COVERING )?INDEX/)
      expect(steps.join(), order).not.toContain('TEMP B-TREE')
    }
    expect(plan(`SELECT place_id FROM place_names WHERE normalized >= 'a' AND normalized < 'b'`).join()).toContain(
      'USING COVERING INDEX place_names_by_name',
    )
    db.close()
  })

  test('is valid, and suspicious data is reported', async () => {
    // Validation takes seconds here; another test validates the countries.
    if (isLong) expect(await store.gazetteer.validate()).toEqual([])
    const findings = await store.gazetteer.inspect()
    expect(findings.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['no-population', 'no-city', 'duplicate']))
    expect(
      findings.every(({ severity, examples, count }) => severity === 'warning' && examples.length <= 10 && count > 0),
    ).toBe(true)
  })

  test('has its names in the index format of the matcher', async () => {
    const index = await store.gazetteer.readIndex()
    const matcher = openPlaceMatcher(index ?? new Uint8Array())
    expect(matcher.revision).toBe(await store.gazetteer.revision())
    expect(matcher.countries()).toHaveLength(250)
    const expected = await indexOfWorld(matcher.revision)
    expect(Buffer.compare(index ?? new Uint8Array(), expected), 'difference from the index of the records').toBe(0)
  })
})

describeImport({
  newLibrary,
  newCountryLibrary: async () => {
    const path = await newLibrary()
    await copyCountries(path)
    return path
  },
  open: (path) => openSqliteWithPlaces(path),
  openSql: async (path) => openSqlAccess(path),
})

test('every query of a gazetteer returns nothing when even the tables are missing', async () => {
  const db = new Sqlite(':memory:')
  const gazetteer = createGazetteer(db, (work) => writeTo(db, work))
  await expectEmptyGazetteer(gazetteer)
  await expect(gazetteer.importPlaces(OWN_SOURCE, [placeWith({})], 1)).rejects.toMatchObject({
    code: 'LIBRARY_UNUSABLE',
  })
  db.close()
})
