import { createHash } from 'node:crypto'
import { constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { copyFile, link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import { isPostgres } from '../../src/core/url/postgres-address.ts'
import type { IndexedPlace } from '../../src/places/analysis/name-forms.ts'
import { writeNameIndex } from '../../src/places/analysis/write-name-index.ts'
import { importWorld, readWorld, type WorldOptions } from '../../src/places/gazetteer/import-world.ts'
import { type DataOptions, installData } from '../../src/places/gazetteer/install-data.ts'
import { DATA_PACKAGES } from '../../src/places/gazetteer/packages.ts'
import type { SourcedPlace } from '../../src/places/ports/gazetteer.ts'
import { distinctNames } from '../../src/places/store/common/place-facts.ts'
import { openPostgresWithPlaces, openSqliteWithPlaces } from '../place-store.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/pharos-gazetteer')

/** Folder of the cached data files, which are fetched once for a checkout. */
export const DATA_FOLDER: string = join(CACHE, 'data')

/** The source files that determine the content of the tables. */
const IMPORT_CODE =
  /^src\/(?:gazetteer\/(?:.*names|populations|packages|read-.*|import-world)|analysis\/place|store\/common\/(?:ancestors|place-facts|script-of)|store\/sqlite\/(?:schema|gazetteer-(?:import|hierarchy)))\.ts$/
/** The source files that determine the content of the name index. */
const INDEX_CODE =
  /^src\/(?:analysis\/(?:name-index|match-(?:han|hash|stems|tokens))|store\/sqlite\/gazetteer-index)\.ts$/

/** A short run uses all cities of these areas, and elsewhere those with at least this population. */
const SHORT_FORM = { areas: ['AT', 'GB.ENG', 'US.TX'], minPopulation: 1_000_000 }
const SHORT_FORM_NAME = `part-${SHORT_FORM.areas.join('-')}-${SHORT_FORM.minPopulation}`

const isLong = process.env['TEST_LONG'] !== undefined

/**
 * Path of a library with the gazetteer of the world, made once for a checkout and read-only. In a short run it has all countries and
 * regions, but only the cities of {@link SHORT_FORM}, which takes a tenth of the time.
 */
export async function worldGazetteer(): Promise<string> {
  const [importHash, indexHash] = [hashCode(IMPORT_CODE), hashCode(INDEX_CODE)]
  const name = isLong ? 'world' : SHORT_FORM_NAME
  const world = `${name}-${importHash}-${indexHash}.db`
  if (existsSync(cachePath(world))) return cachePath(world)
  let isNew = false
  const base = await createCachedFile(`${name}-${importHash}.db`, async (path) => {
    await importInto(path, await findData())
    isNew = true
  })
  return createCachedFile(world, async (path) => {
    // The file was made just now, so its index is that of the current code.
    if (isNew) return link(base, path)
    await copyFile(base, path, constants.COPYFILE_FICLONE)
    await rebuildIndex(path)
  })
}

/** The name index of the places of the world, and the ids of the places. */
export interface WorldNames {
  readonly index: Uint8Array
  /** Keys are `FR`, `US.TX` and `area:europe`, or `FR/Paris` and `US.TX/Paris` for the largest city of a name in a country or region. */
  readonly ids: ReadonlyMap<string, number>
  readonly cities: number
  readonly names: number
}

/** The name index of the whole world, made once for a checkout without the slow import. */
export async function worldNames(): Promise<WorldNames> {
  const key = `names-${hashCode(IMPORT_CODE)}-${hashCode(INDEX_CODE)}.bin`
  const path = await createCachedFile(key, async (target) => {
    await writeFile(target, serialize(indexRecords(await readWorld({ folder: DATA_FOLDER }), '')))
  })
  return deserialize(readFileSync(path)) as WorldNames
}

/** The name index that an import of all places of {@link worldGazetteer} writes. */
export async function indexOfWorld(revision: string): Promise<Uint8Array> {
  return indexRecords(await readWorld(await findData()), revision).index
}

function indexRecords(places: Iterable<SourcedPlace>, revision: string): WorldNames {
  const ids = new Map<string, number>()
  const populations = new Map<string, number>()
  const counts = { cities: 0, names: 0 }
  let id = 0
  function* read(): Generator<IndexedPlace> {
    for (const { record } of places) {
      id++
      const names = distinctNames(record)
      const name = (names.find(({ isPreferred }) => isPreferred) ?? names[0])?.name ?? ''
      const { ref, kind, countryCode, adm1Code, population, extra, status } = record
      if (kind === 'city') counts.cities++
      counts.names += names.length
      const keys = kind === 'city' ? [`${countryCode}/${name}`, `${countryCode}.${adm1Code}/${name}`] : [ref]
      for (const key of keys) {
        if ((populations.get(key) ?? -1) >= (population ?? 0)) continue
        populations.set(key, population ?? 0)
        ids.set(key.replace(/^(?:iso|geonames-admin1):/, ''), id)
      }
      const isCapital = extra?.['feature'] === 'PPLC'
      if (status === 'current') yield { id, kind, name, countryCode, adm1Code, population, isCapital, names }
    }
  }
  const index = writeNameIndex(read(), revision)
  return { index, ids, ...counts }
}

/** The data of {@link worldGazetteer}; a short run has a smaller file of cities. */
async function findData(): Promise<DataOptions> {
  if (isLong) return { folder: DATA_FOLDER }
  const part = join('data', SHORT_FORM_NAME)
  await mkdir(cachePath(part), { recursive: true })
  for (const name of ['countries', 'regions', 'cities'] as const) {
    await createCachedFile(join(part, DATA_PACKAGES[name].file), async (path) => {
      const text = readFileSync(await installData(name, { folder: DATA_FOLDER }), 'utf8')
      await writeFile(path, name === 'cities' ? text.split('\n').filter(isInShortForm).join('\n') : text)
    })
  }
  return { folder: DATA_FOLDER, from: cachePath(part) }
}

/** Whether a short run uses this line of the city file. */
function isInShortForm(line: string): boolean {
  const { 8: country, 10: division, 14: population } = line.split('\t')
  if (Number(population) >= SHORT_FORM.minPopulation) return true
  return SHORT_FORM.areas.some((area) => area === country || area === `${country}.${division}`)
}

/** Like {@link worldGazetteer}, with only countries and continents. */
export async function countriesGazetteer(): Promise<string> {
  const key = `countries-${hashCode(IMPORT_CODE)}-${hashCode(INDEX_CODE)}.db`
  return createCachedFile(key, (path) => importInto(path, { folder: DATA_FOLDER, countriesOnly: true }))
}

/** Copies the library of countries to a file, or imports the countries into PostgreSQL. */
export async function copyCountries(target: string): Promise<void> {
  if (!isPostgres(target)) return copyTo(await countriesGazetteer(), target)
  const store = await openPostgresWithPlaces(target)
  await importWorld(store.gazetteer, { folder: DATA_FOLDER, countriesOnly: true, now: Date.UTC(2026, 0, 1) })
  await store.close()
}

async function copyTo(path: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await copyFile(path, target, constants.COPYFILE_FICLONE)
}

async function importInto(path: string, options: Omit<WorldOptions, 'now'>): Promise<void> {
  const store = await openSqliteWithPlaces(path)
  try {
    await importWorld(store.gazetteer, { ...options, now: Date.UTC(2026, 0, 1) })
  } finally {
    await store.close()
  }
}

/** Writes the name index with the current code. */
async function rebuildIndex(path: string): Promise<void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const db = new Sqlite(path)
  db.prepare(`UPDATE gazetteer_state SET revision = '', name_index = NULL`).run()
  db.close()
  const store = await openSqliteWithPlaces(path)
  try {
    await store.gazetteer.importPlaces(EMPTY_SOURCE, [], 0)
  } finally {
    await store.close()
  }
}

const EMPTY_SOURCE = { name: 'nothing', version: '1', license: '', attribution: '', url: null }

/** Timeout for another process that makes the same file. */
const LOCK_TIMEOUT_MS = 300_000
/** Age after which an unused file is removed. */
const STALE_MS = 86_400_000

function cachePath(key: string): string {
  return join(CACHE, key)
}

/** The path of a cached file, which is made when it is missing; other processes wait for it. */
async function createCachedFile(key: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = cachePath(key)
  if (existsSync(path)) return path
  await mkdir(CACHE, { recursive: true })
  const lock = join(CACHE, `${key}.lock`)
  for (const began = Date.now(); !(await takeLock(lock)); await sleep(100)) {
    if (existsSync(path)) return path
    if (Date.now() - began > LOCK_TIMEOUT_MS) throw new Error(`${lock} is held for too long`)
  }
  const unfinished = join(CACHE, `${key}.${process.pid}.new`)
  try {
    if (existsSync(path)) return path
    await removeStale()
    await make(unfinished)
    await rename(unfinished, path)
    return path
  } finally {
    await rm(unfinished, { force: true })
    await rm(lock, { force: true })
  }
}

/** Tries to take the lock, and removes a lock whose owner is dead. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (existsSync(lock) && !isAlive(Number(readText(lock)))) await rm(lock, { force: true })
    return false
  }
}

function isAlive(pid: number): boolean {
  // A lock file without a process id is still being written, so its owner is alive.
  if (!(pid > 0)) return true
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

async function removeStale(): Promise<void> {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name)
    if (name !== 'data' && Date.now() - statSync(path).atimeMs > STALE_MS) await rm(path, { force: true })
  }
}

function hashCode(files: RegExp): string {
  const hash = createHash('sha256')
  for (const path of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).sort()) {
    const file = `src/${path.replaceAll('\\', '/')}`
    if (files.test(file) && !file.includes('.test.')) hash.update(file).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex').slice(0, 12)
}
