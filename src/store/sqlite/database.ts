import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { messageOf, PharosError } from '../../core/errors.ts'
import { createDamageError } from '../common/damage.ts'
import { copyAside, createFile, findObstacle, isDenied, type Obstacle, obstacleOf } from './create-file.ts'
import { compileLate } from './late-statements.ts'
import { isCurrent, migrate } from './schema.ts'
import { seedTypes } from './seed-types.ts'

/** A connection to a library file. */
export type Database = Sqlite.Database

/** Runs a write as one transaction, as {@link writeTo} does. */
export type Write = <T>(work: () => T) => Promise<T>

/** How long a library that is being opened waits for the writers of other processes. */
const OPENING_TIMEOUT_MS = 10_000
/** How long a writer waits for them before it lets its own process go on meanwhile, and how long altogether. */
const BUSY_TIMEOUT_MS = 250
export const PATIENCE_MS = 30_000
/** Pages, 16 MB: those that every settlement touches are then copied into the file once for many. */
export const WAL_AUTOCHECKPOINT = 4000

/** Told of what whoever opens a library has to know of it. */
export type Notice = (text: string) => void

/**
 * Opens the library at a path, or a private one that is gone when it is closed (`:memory:`), and brings its tables up to date. One
 * that cannot be written is opened for reading, unless its tables are old: whatever is written to it then fails. Where SQLite cannot
 * even read it without writing beside it, every connection reads a copy of its own: it shows the library as it was then, and does not
 * follow what others write later.
 */
export function openDatabase(path: string, notice: Notice = () => {}, busyMs: number = BUSY_TIMEOUT_MS): Database {
  try {
    return openWritable(path, notice, busyMs)
  } catch (error) {
    const db = isReadOnly(error) ? openReadable(path, notice) : undefined
    if (db === undefined) throw error
    return db
  }
}

/** Opens a library to look at it, of whatever version it is: nothing is written to its file. */
export function openForLook(path: string): Database {
  return new Sqlite(path, { readonly: true, fileMustExist: true, timeout: OPENING_TIMEOUT_MS })
}

/** The first problem that SQLite finds in the pages of a library file, which is only read; undefined where it finds none. */
export function checkFile(path: string): string | undefined {
  const db = openForLook(path)
  try {
    const found = String(db.pragma('quick_check(1)', { simple: true }))
    return found === 'ok' ? undefined : found
  } catch (error) {
    const damage = findDamage(error, path)
    if (damage === undefined) throw error
    return messageOf(error)
  } finally {
    db.close()
  }
}

function openWritable(path: string, notice: Notice, busyMs: number): Database {
  const isFile = path !== ':memory:'
  let db: Database | undefined
  try {
    if (isFile) createFile(path)
    db = new Sqlite(path, { timeout: OPENING_TIMEOUT_MS })
    if (isFile) useWriteAheadLog(db)
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    limitMemory(db)
    if (isFile) {
      db.pragma(`wal_autocheckpoint = ${WAL_AUTOCHECKPOINT}`)
      // A log that grew in a long transaction is cut back to this when it has been copied into the file.
      db.pragma('journal_size_limit = 67108864')
    }
    migrate(db, path, notice)
    seedTypes(db)
    db.pragma(`busy_timeout = ${busyMs}`)
    compileLate(db, (error) => findDamage(error, path))
    return db
  } catch (cause) {
    db?.close()
    const error = explainFailure(cause, path)
    if (error instanceof PharosError) throw error
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new PharosError('LIBRARY_UNUSABLE', { library: path, problem }, { cause })
  }
}

function limitMemory(db: Database): void {
  // 4 MB: more is no faster, because the system keeps the pages of the file as well, and counts as memory of every server.
  db.pragma('cache_size = -4000')
  db.pragma('temp_store = MEMORY')
  // Mapped pages would count as memory of every process that searches, up to the size of the file.
  db.pragma('mmap_size = 0')
}

/** Whether a library could not be opened because its place lets nobody write, or not this user. */
function isReadOnly(error: unknown): boolean {
  if (!(error instanceof PharosError)) return false
  return error.code === 'LIBRARY_READ_ONLY' || (error.cause instanceof Error && isDenied(error.cause.cause))
}

/** Opens a library that is there for reading; undefined where that cannot be done either, or its tables are not those of this program. */
function openReadable(path: string, notice: Notice): Database | undefined {
  const db = openAsItIs(path) ?? openCopy(path)
  try {
    if (db !== undefined && isCurrent(db, path)) {
      limitMemory(db)
      if (originals.has(db)) notice(describeCopy(path))
      compileLate(db, (error) => findDamage(error, path))
      return db
    }
  } catch (error) {
    db?.close()
    throw error
  }
  db?.close()
  return undefined
}

/** Opens a file that can only be read. SQLite needs its log and a file for the locks beside it, or a place where it can make them. */
function openAsItIs(path: string): Database | undefined {
  let db: Database | undefined
  try {
    db = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    return db
  } catch {
    db?.close()
    return undefined
  }
}

/** Opens a copy of a file that is gone when it is closed: it shows the library as it is now. */
function openCopy(path: string): Database | undefined {
  const copy = copyAside(path, ['', '-wal'])
  if (copy.type === 'no-room') throw new PharosError('LIBRARY_FULL', { library: path, problem: copy.problem })
  if (copy.type === 'restless') throw new PharosError('LIBRARY_LOCKED', { library: path })
  if (copy.type !== 'made') return undefined
  // Nobody writes without a log, and what is written within one tick of the clock shows in no stamp.
  const isDoubtful = existsSync(`${copy.path}-wal`)
  try {
    const db = openAsItIs(copy.path)
    if (db === undefined) return undefined
    if (isDoubtful && db.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      db.close()
      throw new PharosError('LIBRARY_LOCKED', { library: path })
    }
    originals.set(db, path)
    return db
  } finally {
    // What is open stays until it is closed.
    copy.remove()
  }
}

function describeCopy(path: string): string {
  return `nothing can be written beside the library ${path}: a copy of it is read, and what others write from now on is not seen until it is opened again`
}

/** Connections to copies, and the libraries they were made of. */
const originals = new WeakMap<Database, string>()

/**
 * Runs a write as one transaction, which takes its lock at the start: one that began by reading could not wait for others. While
 * another process writes for long, this one does not stand still. What cannot be written now, because the disk is full, because others
 * write for longer than `patienceMs` or because the place can only be read, is a failure that says so; nothing of it stays.
 */
export async function writeTo<T>(db: Database, work: () => T, patienceMs: number = PATIENCE_MS): Promise<T> {
  const transaction = db.transaction(work)
  for (const since = performance.now(); ; ) {
    try {
      return transaction.immediate()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > patienceMs)
        throw explainFailure(error, originals.get(db) ?? db.name)
    }
    await sleep(PAUSE_MS)
  }
}

/** Between two tries to write. */
const PAUSE_MS = 20

/** Runs a write as one transaction, or not at all while somebody else writes: it never waits. Fails as `writeTo` does. */
export function tryWriteTo<T>(db: Database, work: () => T): { readonly result: T } | 'busy' {
  const busyMs = db.pragma('busy_timeout', { simple: true })
  db.pragma('busy_timeout = 0')
  try {
    return { result: db.transaction(work).immediate() }
  } catch (error) {
    if (isBusy(error)) return 'busy'
    throw explainFailure(error, originals.get(db) ?? db.name)
  } finally {
    db.pragma(`busy_timeout = ${busyMs}`)
  }
}

/**
 * Readers then never wait for a writer. The change needs the file for itself and does not wait for it as other writes do, so
 * that of several processes which open a new library at once all but one have to ask again.
 */
function useWriteAheadLog(db: Database): void {
  for (let waitedMs = 0; ; waitedMs += 20) {
    try {
      if (db.pragma('journal_mode = WAL', { simple: true }) === 'wal') return
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    if (waitedMs >= OPENING_TIMEOUT_MS) throw new PharosError('LIBRARY_LOCKED', { library: db.name })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/**
 * The failure with a code of its own where something outside has to change before the library can be written; any other one as it
 * is. SQLite has one word for all the world does to its files, so that they have to be looked at.
 */
function explainFailure(error: unknown, library: string): unknown {
  if (error instanceof PharosError) return error
  if (isBusy(error)) return new PharosError('LIBRARY_LOCKED', { library }, { cause: error })
  const damage = findDamage(error, library)
  if (damage !== undefined) return damage
  const code = codeOf(error)
  const isVague = code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN')
  const obstacle = isVague ? findObstacle(library) : findReason(error)
  if (obstacle === undefined) return error
  const { type, problem } = obstacle
  return new PharosError(type === 'full' ? 'LIBRARY_FULL' : 'LIBRARY_READ_ONLY', { library, problem }, { cause: error })
}

/** The failure that tells of damage where SQLite found pages that it cannot read; undefined for any other failure. */
function findDamage(error: unknown, library: string): PharosError | undefined {
  const code = codeOf(error)
  // A mistyped path of some other file fails in the same way as a damaged header.
  if (code === 'SQLITE_NOTADB')
    return createDamageError(library, 'its header is not that of a library; check the path', error)
  return code.startsWith('SQLITE_CORRUPT') ? createDamageError(library, messageOf(error), error) : undefined
}

/** What SQLite itself says stands in the way of writing, or what the file system said when the file was made. */
function findReason(error: unknown): Obstacle | undefined {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') return { type: 'full', problem: 'the disk is full' }
  if (code.startsWith('SQLITE_READONLY')) return { type: 'read-only', problem: 'it can only be read' }
  return error instanceof Error ? obstacleOf(error.cause) : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Sqlite.SqliteError ? error.code : ''
}
