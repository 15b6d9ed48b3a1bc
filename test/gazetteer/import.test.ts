import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlaceMatcher } from '../../src/analysis/open-matcher.ts'
import type { PlaceRecord } from '../../src/analysis/place.ts'
import { importWorld } from '../../src/gazetteer/import-world.ts'
import { installData } from '../../src/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/gazetteer/packages.ts'
import type { Gazetteer, PlaceQuery } from '../../src/library/gazetteer.ts'
import { writeTo } from '../../src/store/sqlite/database.ts'
import { createGazetteer } from '../../src/store/sqlite/gazetteer.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { copyCountries, DATA_FOLDER, indexOfWorld, worldGazetteer, worldNames } from './world.ts'

const isLong = process.env['TEST_LONG'] !== undefined
const root = mkdtempSync(join(tmpdir(), 'pharos-gazetteer-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Store = Awaited<ReturnType<typeof openSqliteStore>>

let made = 0
function newPath(): string {
  return join(root, `library-${made++}.db`)
}

async function withGazetteer<T>(path: string, work: (gazetteer: Gazetteer) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(path)
  try {
    return await work(store.gazetteer)
  } finally {
    await store.close()
  }
}

async function exportOf(gazetteer: Gazetteer): Promise<unknown[]> {
  const places: unknown[] = []
  for await (const place of gazetteer.exportPlaces()) places.push(place)
  return places
}

const OWN = { name: 'own', version: '1', license: 'CC0-1.0', attribution: 'nobody', url: null }

const NAME = { name: 'Lighthouse Town', lang: 'en', kind: 'common', isPreferred: true, isOfficial: false } as const

function placeWith(change: Partial<PlaceRecord>): PlaceRecord {
  return {
    ref: 'own:1',
    kind: 'city',
    countryCode: 'FR',
    adm1Code: null,
    adm2Code: null,
    population: 5,
    timezone: null,
    lat: 1,
    lng: 2,
    bbox: [1, 2, 3, 4],
    status: 'current',
    validFrom: null,
    validTo: null,
    extra: { a: 1 },
    names: [NAME],
    parents: [{ ref: 'iso:FR', relation: 'admin_parent' }],
    externalIds: [{ source: 'own', id: '1' }],
    ...change,
  }
}

describe('the world', () => {
  let store: Store
  beforeAll(async () => {
    store = await openSqliteStore(await worldGazetteer())
  }, 300_000)
  afterAll(() => store.close())

  const list = (query: Partial<PlaceQuery>) => store.gazetteer.listPlaces({ offset: 0, limit: 10, ...query })

  test('has 250 countries, the regions and the cities over 1,000, with their credits', async () => {
    const { countries, regions, cities, names, sources, revision } = await store.gazetteer.summary()
    expect(countries).toBe(250)
    expect(regions).toBe(3865)
    expect(cities).toBeGreaterThan(isLong ? 130_000 : 6000)
    expect(names).toBeGreaterThan(isLong ? 600_000 : 60_000)
    expect(sources.map(({ license }) => license)).toEqual(['ODbL-1.0', 'CC-BY-4.0', 'CC-BY-3.0'])
    expect(sources.every(({ attribution }) => attribution.length > 20)).toBe(true)
    expect(revision).toMatch(/^[\da-f]{16}$/)
  })

  test('is read as a whole: 130,000 cities and 600,000 names', async () => {
    const { cities, names } = await worldNames()
    expect(cities).toBeGreaterThan(130_000)
    expect(names).toBeGreaterThan(600_000)
  })

  test('knows places of one name, the largest city first', async () => {
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

  test('shows no country by its official name', async () => {
    const { items, total } = await list({ kind: 'country', limit: 250 })
    expect(total).toBe(250)
    expect(items.filter(({ name }) => /republic of (?!the congo)|kingdom of/i.test(name))).toEqual([])
    expect(items[0]).toMatchObject({ name: 'India' })
  })

  test('tells what a place lies in, and what lies in it', async () => {
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

  test('leaves out codes of airports and spellings of machines', async () => {
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

  test('lists by indexes alone', () => {
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

  test('is within its own rules, and what looks wrong is told', async () => {
    // Which takes seconds: of countries alone it is asked elsewhere.
    if (isLong) expect(await store.gazetteer.validate()).toEqual([])
    const doubts = await store.gazetteer.inspect()
    expect(doubts.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['no-population', 'no-city', 'duplicate']))
    expect(
      doubts.every(({ severity, examples, count }) => severity === 'warning' && examples.length <= 10 && count > 0),
    ).toBe(true)
  })

  test('has its names in the form that matching reads', async () => {
    const index = await store.gazetteer.readIndex()
    const matcher = openPlaceMatcher(index ?? new Uint8Array())
    expect(matcher.revision).toBe(await store.gazetteer.revision())
    expect(matcher.countries()).toHaveLength(250)
    const expected = await indexOfWorld(matcher.revision)
    expect(Buffer.compare(index ?? new Uint8Array(), expected), 'it is that of the records').toBe(0)
  })
})

describe('an import', () => {
  test('that brings nothing new changes nothing', async () => {
    const path = newPath()
    await copyCountries(path)
    await withGazetteer(path, async (gazetteer) => {
      const before = await gazetteer.summary()
      const result = await importWorld(gazetteer, { folder: DATA_FOLDER, countriesOnly: true, now: Date.now() })
      expect(result).toMatchObject({ places: 281, added: 0, changed: 0, refused: 0 })
      expect(await gazetteer.summary()).toEqual(before)
    })
  })

  test('changes the place that it names again, and the revision with it', async () => {
    await withGazetteer(newPath(), async (gazetteer) => {
      const revisions = [await gazetteer.revision()]
      const now = Date.UTC(2026, 5, 1)
      const take = async (change: Partial<PlaceRecord>) => {
        const result = await gazetteer.importPlaces(OWN, [placeWith(change)], now)
        revisions.push(await gazetteer.revision())
        return result
      }
      expect(await take({})).toMatchObject({ places: 1, added: 1, changed: 0 })
      expect(await take({})).toMatchObject({ places: 1, added: 0, changed: 0 })
      const names = [{ name: 'Faro', lang: null, kind: 'alias', isPreferred: false, isOfficial: false } as const]
      expect(await take({ names, population: 6 })).toMatchObject({ places: 1, added: 0, changed: 1 })
      expect(new Set(revisions).size).toBe(3)
      expect(await gazetteer.resolve('lighthouse town', 5)).toEqual([])
      const [place] = await gazetteer.resolve('FARO', 5)
      expect(place).toMatchObject({ name: 'Faro', population: 6, bbox: [1, 2, 3, 4], extra: { a: 1 }, source: 'own' })
      expect((await gazetteer.summary()).sources.at(-1)).toMatchObject({ name: 'own', importedAt: now, places: 1 })
    })
  })

  test('leaves out what the tables refuse, says why, and goes on', async () => {
    const noName = {
      names: [{ name: ' - ', lang: null, kind: 'alias', isPreferred: true, isOfficial: false } as const],
    }
    const bad: readonly [string, Partial<PlaceRecord>, string][] = [
      ['lat', { lat: 91 }, 'a latitude is between -90 and 90'],
      ['lng', { lng: -181 }, 'a longitude is between -180 and 180'],
      ['people', { population: -1 }, 'a population is not negative'],
      ['code', { countryCode: 'fr' }, 'codes are written in capitals'],
      ['kind', { kind: 'town' as 'city' }, 'a place is a country, region, city, poi or supranational'],
      ['status', { status: 'maybe' as 'current' }, 'a place is current or historical'],
      ['nameless', noName, 'it has no name'],
      ['known', { externalIds: [{ source: 'own', id: '1' }] }, 'own 1 is another place'],
    ]
    const records = [
      placeWith({}),
      ...bad.map(([ref, change]) => placeWith({ ref, externalIds: [], ...change })),
      placeWith({ ref: 'last', externalIds: [] }),
    ]
    await withGazetteer(newPath(), async (gazetteer) => {
      const result = await gazetteer.importPlaces(OWN, records, 1)
      expect(result).toMatchObject({ places: 2, added: 2, refused: bad.length })
      expect(result.problems).toEqual(bad.map(([ref, , why]) => `${ref}: ${why}`))
      expect(await gazetteer.validate()).toEqual([])
      expect((await gazetteer.summary()).names).toBe(2)
    })
  })

  const PARENT = (ref: string) => ({ ref, relation: 'admin_parent' }) as const
  /** A place that lies in others, all by their references. */
  const within = (ref: string, ...parents: string[]) =>
    placeWith({ ref, externalIds: [], parents: parents.map(PARENT), names: [{ ...NAME, name: ref }] })
  const parentsOf = async (gazetteer: Gazetteer, name: string) => {
    const [found] = await gazetteer.resolve(name, 1)
    return (await gazetteer.findPlace(found?.id ?? 0))?.parents.map((parent) => parent.name)
  }

  test('finds parents that come later, and their parents, in whatever order', async () => {
    const records = [
      within('street', 'town'),
      within('town', 'region', 'country', 'town', 'nowhere'),
      within('region', 'country'),
      within('country'),
    ]
    for (const order of [records, records.toReversed(), [1, 3, 0, 2].map((i) => records[i] ?? within(''))]) {
      await withGazetteer(newPath(), async (gazetteer) => {
        expect(await gazetteer.importPlaces(OWN, order, 1)).toMatchObject({ added: 4, problems: [] })
        expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'country'])
        expect(await parentsOf(gazetteer, 'town')).toEqual(['region', 'country'])
        expect(await gazetteer.validate()).toEqual([])
        const before = await gazetteer.revision()
        expect(await gazetteer.importPlaces(OWN, order, 1)).toMatchObject({ added: 0, changed: 0 })
        expect(await gazetteer.revision()).toBe(before)
      })
    }
  })

  test('moves what lies in a place along with it', async () => {
    await withGazetteer(newPath(), async (gazetteer) => {
      const others = [within('old'), within('new'), within('town', 'region'), within('street', 'town')]
      await gazetteer.importPlaces(OWN, [...others, within('region', 'old')], 1)
      expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'old'])
      expect(await gazetteer.importPlaces(OWN, [within('region', 'new')], 2)).toMatchObject({ changed: 1 })
      expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'new'])
      expect(await gazetteer.importPlaces(OWN, others, 3)).toMatchObject({ changed: 0 })
    })
  })

  test('puts no place into what lies in it', async () => {
    await withGazetteer(newPath(), async (gazetteer) => {
      const round = [within('a', 'c'), within('b', 'a'), within('c', 'b')]
      const { problems } = await gazetteer.importPlaces(OWN, round, 1)
      expect(problems).toEqual(['a: it cannot lie in c, which lies in it'])
      expect(await parentsOf(gazetteer, 'c')).toEqual(['b', 'a'])
      expect(await parentsOf(gazetteer, 'a')).toEqual([])
      expect(await gazetteer.validate()).toEqual([])
    })
  })

  test('that was killed goes on, and ends as one that was not, during which others wrote', async () => {
    const file = await installData('cities', { folder: DATA_FOLDER })
    const lines = isLong ? 200_000 : 2700
    const [killed, whole] = [newPath(), newPath()]
    await runWriter(killed, file, lines, isLong ? 40_000 : 2500)
    const half = await withGazetteer(killed, (gazetteer) => gazetteer.summary())
    // Some of it is there, and none of it is looked for yet.
    expect(half.cities).toBeGreaterThan(0)
    expect(half.revision).toBe('')
    await runWriter(killed, file, lines)
    expect(await writeBeside(whole, runWriter(whole, file, lines))).toBeGreaterThan(3)
    const [after, expected] = await Promise.all(
      [killed, whole].map((path) =>
        withGazetteer(path, async (gazetteer) => ({
          summary: await gazetteer.summary(),
          places: await exportOf(gazetteer),
          index: await gazetteer.readIndex(),
        })),
      ),
    )
    expect(after).toEqual(expected)
    expect(half.cities).toBeLessThan(expected?.summary.cities ?? 0)
  }, 300_000)

  /** Writes to a library again and again until something is over; tells how often. */
  async function writeBeside(path: string, work: Promise<void>): Promise<number> {
    const store = await openSqliteStore(path)
    let writes = 0
    let isOver = false
    const over = work.finally(() => {
      isOver = true
    })
    for (; !isOver; await sleep(10)) {
      await store.changeClock('example.com', writes, (clock) => clock)
      writes++
    }
    await store.close()
    await over
    return writes
  }

  /** Imports in a process of its own, which is killed when it has read so much. */
  function runWriter(library: string, file: string, lines: number, killAt = Number.POSITIVE_INFINITY): Promise<void> {
    const script = fileURLToPath(new URL('import-writer.ts', import.meta.url))
    const child = spawn(process.execPath, [script, library, file, String(lines)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.stdout.on('data', (data) => {
      const read = Number(String(data).trim().split('\n').at(-1))
      if (read >= killAt) child.kill('SIGKILL')
    })
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) => {
        const isExpected = killAt === Number.POSITIVE_INFINITY ? code === 0 : signal === 'SIGKILL'
        if (isExpected) resolve()
        else reject(new Error(`the import ended with ${code ?? signal}`))
      })
    })
  }
})

test('tells on which pages a place was found, and which places on most', async () => {
  const path = newPath()
  await copyCountries(path)
  const [france, egypt] = await withGazetteer(path, async (gazetteer) =>
    [...(await gazetteer.resolve('france', 1)), ...(await gazetteer.resolve('egypt', 1))].map(({ id }) => id),
  )
  const db = new Sqlite(path)
  db.pragma('foreign_keys = OFF')
  const addPage = (id: number, host: string, found: readonly (number | undefined)[]) => {
    const url = `https://${host}/${id}`
    db.prepare(
      `INSERT INTO ledger (id, source, state, depth, key, url, host, discovery, first_seen_at)
       VALUES (?, 1, 'indexed', 0, ?, ?, ?, 'link', 1)`,
    ).run(id, url, url, host)
    db.prepare('INSERT INTO pages VALUES (?, 0, 0, ?, ?, ?)').run(id, `Page ${id}`, '{}', '')
    found.forEach((place, i) => {
      db.prepare(
        `INSERT INTO article_places (page, article_url, place_id, place, place_kind, method, source, offset_start, offset_end, first_seen_at)
         VALUES (?, ?, ?, '', 'country', 'gazetteer', 'text', ?, ?, ?)`,
      ).run(id, url, place, i, i + 1, 100 + id)
    })
  }
  addPage(1, 'a.example', [france, france, egypt])
  addPage(2, 'b.example', [egypt])
  db.prepare(
    `INSERT INTO place_hubs (host, url, place_id, first_seen_at, last_seen_at) VALUES ('b.example', 'https://b.example/france', ?, 1, 1)`,
  ).run(france)
  db.close()
  await withGazetteer(path, async (gazetteer) => {
    expect(await gazetteer.listArticles(france ?? 0, 10)).toEqual([
      { url: 'https://a.example/1', title: 'Page 1', source: 'text', mentions: 2, firstSeenAt: 101 },
    ])
    expect((await gazetteer.listArticles(egypt ?? 0, 10)).map(({ title }) => title)).toEqual(['Page 2', 'Page 1'])
    const told = async (host?: string) =>
      (await gazetteer.listMentions(10, host)).map(({ place, pages, hubs }) => `${place.name} ${pages} ${hubs}`)
    expect(await told()).toEqual(['Egypt 2 0', 'France 1 1'])
    expect(await told('a.example')).toEqual(['Egypt 1 0', 'France 1 0'])
    expect(await told('b.example')).toEqual(['Egypt 1 0', 'France 0 1'])
  })
})

describe('without any places', () => {
  const zeros = { countries: 0, regions: 0, cities: 0, others: 0, names: 0, sources: [], revision: '' }
  const expectNothing = async (gazetteer: Gazetteer) => {
    expect(await gazetteer.summary()).toEqual(zeros)
    expect(await gazetteer.revision()).toBe('')
    expect(await gazetteer.listPlaces({ text: 'paris', offset: 0, limit: 10 })).toEqual({ total: 0, items: [] })
    expect(await gazetteer.findPlace(1)).toBeUndefined()
    expect(await gazetteer.resolve('paris', 10)).toEqual([])
    expect(await gazetteer.listArticles(1, 10)).toEqual([])
    expect(await gazetteer.listMentions(10)).toEqual([])
    expect(await exportOf(gazetteer)).toEqual([])
    expect(await gazetteer.validate()).toEqual([])
    expect(await gazetteer.inspect()).toEqual([])
    expect(await gazetteer.readIndex()).toBeUndefined()
  }

  test('everything answers with nothing', () => withGazetteer(newPath(), expectNothing))

  test('everything answers with nothing where the tables are missing too', async () => {
    const db = new Sqlite(':memory:')
    const gazetteer = createGazetteer(db, (work) => writeTo(db, work))
    await expectNothing(gazetteer)
    await expect(gazetteer.importPlaces(OWN, [placeWith({})], 1)).rejects.toMatchObject({ code: 'LIBRARY_UNUSABLE' })
    db.close()
  })

  test('an import of nothing leaves nothing', () =>
    withGazetteer(newPath(), async (gazetteer) => {
      expect(await gazetteer.importPlaces(DATA_PACKAGES.cities.source, [], 1)).toMatchObject({ places: 0, added: 0 })
      await expectNothing(gazetteer)
    }))
})
