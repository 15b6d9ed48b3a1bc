import { createHash } from 'node:crypto'
import { constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { copyFile, link, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { importWorld } from '../../src/gazetteer/import-world.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/pharos-gazetteer')

/** Where the files of data are kept, fetched once for a checkout. */
export const DATA_FOLDER: string = join(CACHE, 'data')

/** What decides what is in the tables, and what is in the index of names. */
const IMPORT_CODE =
  /^src\/(?:gazetteer\/(?:.*names|populations|packages|read-.*|import-world)|analysis\/place|store\/sqlite\/(?:schema|script-of|gazetteer-(?:import|hierarchy)))\.ts$/
const INDEX_CODE =
  /^src\/(?:analysis\/(?:name-index|match-(?:han|hash|stems|tokens))|store\/sqlite\/gazetteer-index)\.ts$/

/** Path of a library with the whole gazetteer, made once for a checkout. Only to be read. */
export async function worldGazetteer(): Promise<string> {
  const [imported, indexed] = [hashCode(IMPORT_CODE), hashCode(INDEX_CODE)]
  const world = `world-${imported}-${indexed}`
  if (existsSync(placeOf(world))) return placeOf(world)
  let isNew = false
  const base = await madeOnce(`base-${imported}`, async (path) => {
    await importInto(path, false)
    isNew = true
  })
  return madeOnce(world, async (path) => {
    // Its index was made by the code as it is now.
    if (isNew) return link(base, path)
    await copyFile(base, path, constants.COPYFILE_FICLONE)
    await indexAnew(path)
  })
}

/** The same with countries alone, and the parts of the world that they lie in. */
export async function countriesGazetteer(): Promise<string> {
  const key = `countries-${hashCode(IMPORT_CODE)}-${hashCode(INDEX_CODE)}`
  return madeOnce(key, (path) => importInto(path, true))
}

/** Copies the library with countries alone. */
export async function copyCountries(target: string): Promise<void> {
  await copyTo(await countriesGazetteer(), target)
}

async function copyTo(path: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await copyFile(path, target, constants.COPYFILE_FICLONE)
}

async function importInto(path: string, countriesOnly: boolean): Promise<void> {
  const store = await openSqliteStore(path)
  try {
    await importWorld(store.gazetteer, { folder: DATA_FOLDER, countriesOnly, now: Date.UTC(2026, 0, 1) })
  } finally {
    await store.close()
  }
}

/** Makes the index of names with the code as it is now. */
async function indexAnew(path: string): Promise<void> {
  const { default: Sqlite } = await import('better-sqlite3')
  const db = new Sqlite(path)
  db.prepare(`UPDATE gazetteer_state SET revision = '', name_index = NULL`).run()
  db.close()
  const store = await openSqliteStore(path)
  try {
    await store.gazetteer.importPlaces(NOTHING, [], 0)
  } finally {
    await store.close()
  }
}

const NOTHING = { name: 'nothing', version: '1', license: '', attribution: '', url: null }

/** Longest time that somebody else may take. */
const PATIENCE_MS = 300_000
/** What nobody has used for so long is removed. */
const STALE_MS = 86_400_000

function placeOf(key: string): string {
  return join(CACHE, `${key}.db`)
}

/** The path of a file that is made where it is not there yet; others who want it meanwhile wait for it. */
async function madeOnce(key: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = placeOf(key)
  if (existsSync(path)) return path
  await mkdir(CACHE, { recursive: true })
  const lock = join(CACHE, `${key}.lock`)
  for (const began = Date.now(); !(await takeLock(lock)); await sleep(100)) {
    if (existsSync(path)) return path
    if (Date.now() - began > PATIENCE_MS) throw new Error(`${lock} is held for too long`)
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

/** Whether it is ours now. One whose owner is gone is taken from it. */
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
  // Not written yet.
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

function hashCode(which: RegExp): string {
  const hash = createHash('sha256')
  for (const path of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).sort()) {
    const file = `src/${path.replaceAll('\\', '/')}`
    if (which.test(file) && !file.includes('.test.')) hash.update(file).update(readFileSync(join(ROOT, file)))
  }
  return hash.digest('hex').slice(0, 12)
}
