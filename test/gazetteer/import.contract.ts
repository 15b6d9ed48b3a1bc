import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import type { PlaceRecord } from '../../src/places/analysis/place.ts'
import { importWorld } from '../../src/places/gazetteer/import-world.ts'
import { installData } from '../../src/places/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'
import type { Gazetteer, GazetteerSource } from '../../src/places/ports/gazetteer.ts'
import type { PlaceTables } from '../../src/places/ports/places-library.ts'
import type { SqlAccess } from '../contracts/page-analyses.contract.ts'
import { addSourceTo, recordOf } from '../embed/filled-store.ts'
import { chooseRepetitions } from '../library-location.ts'
import { DATA_FOLDER } from './world.ts'

/** Creates libraries for imports of places. */
export interface PlaceLibraries {
  /** Path of an empty library. */
  newLibrary(): Promise<string>
  /** Path of a library with all countries. */
  newCountryLibrary(): Promise<string>
  open(path: string): Promise<LibraryStore & PlaceTables>
  openSql(path: string): Promise<SqlAccess>
}

/** All places, as exported. */
export async function exportOf(gazetteer: Gazetteer): Promise<unknown[]> {
  const places: unknown[] = []
  for await (const place of gazetteer.exportPlaces()) places.push(place)
  return places
}

export const OWN_SOURCE: GazetteerSource = {
  name: 'own',
  version: '1',
  license: 'CC0-1.0',
  attribution: 'nobody',
  url: null,
}

const NAME = { name: 'Lighthouse Town', lang: 'en', kind: 'common', isPreferred: true, isOfficial: false } as const

/** A user-defined city, with the given fields replaced. */
export function placeWith(overrides: Partial<PlaceRecord>): PlaceRecord {
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
    ...overrides,
  }
}

const EMPTY_SUMMARY = { countries: 0, regions: 0, cities: 0, others: 0, names: 0, sources: [], revision: '' }

/** Expects a gazetteer to be empty. */
export async function expectEmptyGazetteer(gazetteer: Gazetteer): Promise<void> {
  expect(await gazetteer.summary()).toEqual(EMPTY_SUMMARY)
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

/** The contract of imports, for every store. */
export function describeImport(libraries: PlaceLibraries): void {
  const withGazetteer = async <T>(path: string, work: (gazetteer: Gazetteer) => Promise<T>): Promise<T> => {
    const store = await libraries.open(path)
    try {
      return await work(store.gazetteer)
    } finally {
      await store.close()
    }
  }

  describe('an import', () => {
    test('without new data changes nothing', async () => {
      await withGazetteer(await libraries.newCountryLibrary(), async (gazetteer) => {
        const before = await gazetteer.summary()
        const result = await importWorld(gazetteer, { folder: DATA_FOLDER, countriesOnly: true, now: Date.now() })
        expect(result).toMatchObject({ places: 281, added: 0, changed: 0, refused: 0 })
        expect(await gazetteer.summary()).toEqual(before)
      })
    })

    test('updates a place that was imported before, and changes the revision', async () => {
      await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        const revisions = [await gazetteer.revision()]
        const now = Date.UTC(2026, 5, 1)
        const importChanged = async (overrides: Partial<PlaceRecord>) => {
          const result = await gazetteer.importPlaces(OWN_SOURCE, [placeWith(overrides)], now)
          revisions.push(await gazetteer.revision())
          return result
        }
        expect(await importChanged({})).toMatchObject({ places: 1, added: 1, changed: 0 })
        expect(await importChanged({})).toMatchObject({ places: 1, added: 0, changed: 0 })
        const names = [{ name: 'Faro', lang: null, kind: 'alias', isPreferred: false, isOfficial: false } as const]
        expect(await importChanged({ names, population: 6 })).toMatchObject({ places: 1, added: 0, changed: 1 })
        expect(new Set(revisions).size).toBe(3)
        expect(await gazetteer.resolve('lighthouse town', 5)).toEqual([])
        const [place] = await gazetteer.resolve('FARO', 5)
        expect(place).toMatchObject({ name: 'Faro', population: 6, bbox: [1, 2, 3, 4], extra: { a: 1 }, source: 'own' })
        expect((await gazetteer.summary()).sources.at(-1)).toMatchObject({ name: 'own', importedAt: now, places: 1 })
      })
    })

    test('skips records that violate the constraints of the tables, reports why, and continues', async () => {
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
        ...bad.map(([ref, overrides]) => placeWith({ ref, externalIds: [], ...overrides })),
        placeWith({ ref: 'last', externalIds: [] }),
      ]
      await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        const result = await gazetteer.importPlaces(OWN_SOURCE, records, 1)
        expect(result).toMatchObject({ places: 2, added: 2, refused: bad.length })
        expect(result.problems).toEqual(bad.map(([ref, , why]) => `${ref}: ${why}`))
        expect(await gazetteer.validate()).toEqual([])
        expect((await gazetteer.summary()).names).toBe(2)
      })
    })

    const toParent = (ref: string) => ({ ref, relation: 'admin_parent' }) as const
    /** A place inside other places, given by their references. */
    const within = (ref: string, ...parents: string[]) =>
      placeWith({ ref, externalIds: [], parents: parents.map(toParent), names: [{ ...NAME, name: ref }] })
    const parentsOf = async (gazetteer: Gazetteer, name: string) => {
      const [found] = await gazetteer.resolve(name, 1)
      return (await gazetteer.findPlace(found?.id ?? 0))?.parents.map((parent) => parent.name)
    }

    test('finds parents that come later, and their parents, in any order', async () => {
      const records = [
        within('street', 'town'),
        within('town', 'region', 'country', 'town', 'nowhere'),
        within('region', 'country'),
        within('country'),
      ]
      for (const order of [records, records.toReversed(), [1, 3, 0, 2].map((i) => records[i] ?? within(''))]) {
        await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
          expect(await gazetteer.importPlaces(OWN_SOURCE, order, 1)).toMatchObject({ added: 4, problems: [] })
          expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'country'])
          expect(await parentsOf(gazetteer, 'town')).toEqual(['region', 'country'])
          expect(await gazetteer.validate()).toEqual([])
          const before = await gazetteer.revision()
          expect(await gazetteer.importPlaces(OWN_SOURCE, order, 1)).toMatchObject({ added: 0, changed: 0 })
          expect(await gazetteer.revision()).toBe(before)
        })
      }
    })

    test('moves the descendants of a place along with it', async () => {
      await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        const others = [within('old'), within('new'), within('town', 'region'), within('street', 'town')]
        await gazetteer.importPlaces(OWN_SOURCE, [...others, within('region', 'old')], 1)
        expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'old'])
        expect(await gazetteer.importPlaces(OWN_SOURCE, [within('region', 'new')], 2)).toMatchObject({ changed: 1 })
        expect(await parentsOf(gazetteer, 'street')).toEqual(['town', 'region', 'new'])
        expect(await gazetteer.importPlaces(OWN_SOURCE, others, 3)).toMatchObject({ changed: 0 })
      })
    })

    test('ends when a place appears twice, each time inside another that comes later', async () => {
      await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        const records = [within('a', 'b'), within('a', 'c'), within('b'), within('c')]
        expect(await gazetteer.importPlaces(OWN_SOURCE, records, 1)).toMatchObject({ added: 3, problems: [] })
        expect(await parentsOf(gazetteer, 'a')).toEqual(['c'])
      })
    })

    test('never puts a place into its own descendant', async () => {
      await withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        const cycle = [within('a', 'c'), within('b', 'a'), within('c', 'b')]
        const { problems } = await gazetteer.importPlaces(OWN_SOURCE, cycle, 1)
        expect(problems).toEqual(['a: it cannot lie in c, because c lies in a'])
        expect(await parentsOf(gazetteer, 'c')).toEqual(['b', 'a'])
        expect(await parentsOf(gazetteer, 'a')).toEqual([])
        expect(await gazetteer.validate()).toEqual([])
      })
    })

    test('gives the same result when it is killed and repeated, and while another process writes', async () => {
      const file = await installData('cities', { folder: DATA_FOLDER })
      const lines = chooseRepetitions(200_000, 2700, 1700)
      const [killed, whole] = [await libraries.newLibrary(), await libraries.newLibrary()]
      // Kills the process after the first batch, whose size depends on the store.
      await runWriter(killed, file, lines, chooseRepetitions(40_000, 2500, 1500))
      const half = await withGazetteer(killed, (gazetteer) => gazetteer.summary())
      // Some cities are stored, but the name index does not exist yet.
      expect(half.cities).toBeGreaterThan(0)
      expect(half.revision).toBe('')
      await runWriter(killed, file, lines)
      expect(await writeMeanwhile(whole, runWriter(whole, file, lines))).toBeGreaterThan(3)
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
    })

    /** Writes to a library repeatedly until a promise settles; returns the number of writes. */
    async function writeMeanwhile(path: string, work: Promise<void>): Promise<number> {
      const store = await libraries.open(path)
      let writes = 0
      let isOver = false
      const finished = work.finally(() => {
        isOver = true
      })
      for (; !isOver; await sleep(10)) {
        await store.changeClock('example.com', writes, (clock) => clock)
        writes++
      }
      await store.close()
      await finished
      return writes
    }

    /** Imports in a separate process, which is killed after it has read `killAt` records. */
    function runWriter(library: string, file: string, lines: number, killAt = Number.POSITIVE_INFINITY): Promise<void> {
      const script = fileURLToPath(new URL('import-writer.ts', import.meta.url))
      const child = spawn(process.execPath, [script, library, file, String(lines)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child.stdout.on('data', (data) => {
        const recordCount = Number(String(data).trim().split('\n').at(-1))
        if (recordCount >= killAt) child.kill('SIGKILL')
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

  test('a gazetteer lists the pages that name a place, and the places that most pages name', async () => {
    const path = await libraries.newCountryLibrary()
    const store = await libraries.open(path)
    const [france, egypt] = [
      ...(await store.gazetteer.resolve('france', 1)),
      ...(await store.gazetteer.resolve('egypt', 1)),
    ].map(({ id }) => id)
    await addSourceTo(store, 'docs')
    const sql = await libraries.openSql(path)
    const addPage = async (number: number, host: string, placeIds: readonly (number | undefined)[]) => {
      const url = `https://${host}/${number}`
      const find = { key: url, url, host, depth: 0, foundOn: null, discovery: 'link', refusal: null } as const
      const record = recordOf(url, `text ${number}`, { title: `Page ${number}` })
      await store.adopt({ sourceId: 'docs', crawlId: 'c', now: 1, find, record, finds: [] })
      for (const [i, id] of placeIds.entries()) {
        await sql.run(
          `INSERT INTO article_places (page, article_url, place_id, place, place_kind, method, source, offset_start, offset_end,
             first_seen_at)
           SELECT id, url, ${id}, '', 'country', 'gazetteer', 'text', ${i}, ${i + 1}, ${100 + number} FROM ledger
           WHERE url = '${url}'`,
        )
      }
    }
    await addPage(1, 'a.example', [france, france, egypt])
    await addPage(2, 'b.example', [egypt])
    await sql.run(
      `INSERT INTO place_hubs (host, url, place_id, first_seen_at, last_seen_at)
       VALUES ('b.example', 'https://b.example/france', ${france}, 1, 1)`,
    )
    await sql.close()
    const { gazetteer } = store
    expect(await gazetteer.listArticles(france ?? 0, 10)).toEqual([
      { url: 'https://a.example/1', title: 'Page 1', source: 'text', mentions: 2, firstSeenAt: 101 },
    ])
    expect((await gazetteer.listArticles(egypt ?? 0, 10)).map(({ title }) => title)).toEqual(['Page 2', 'Page 1'])
    const describeMentions = async (host?: string) =>
      (await gazetteer.listMentions(10, host)).map(({ place, pages, hubs }) => `${place.name} ${pages} ${hubs}`)
    expect(await describeMentions()).toEqual(['Egypt 2 0', 'France 1 1'])
    expect(await describeMentions('a.example')).toEqual(['Egypt 1 0', 'France 1 0'])
    expect(await describeMentions('b.example')).toEqual(['Egypt 1 0', 'France 0 1'])
    await store.close()
  })

  describe('an empty gazetteer', () => {
    test('every query returns nothing', async () => withGazetteer(await libraries.newLibrary(), expectEmptyGazetteer))

    test('an empty import changes nothing', async () =>
      withGazetteer(await libraries.newLibrary(), async (gazetteer) => {
        expect(await gazetteer.importPlaces(DATA_PACKAGES.cities.source, [], 1)).toMatchObject({ places: 0, added: 0 })
        await expectEmptyGazetteer(gazetteer)
      }))
  })
}
