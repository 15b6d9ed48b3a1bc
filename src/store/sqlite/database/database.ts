import { existsSync, realpathSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { messageOf, PharosError } from '../../../core/errors.ts'
import { createDamageError } from '../../common/damage.ts'
import { copyToTemp, createFile, findObstacle, isDenied, type Obstacle, obstacleOf } from './create-file.ts'
import { compileLazily } from './lazy-statements.ts'
import { checkVersion, isCurrent, isOwned, migrate } from './schema.ts'
import { seedTypes } from './seed-types.ts'

/** A connection to a library file. */
export type Database = Sqlite.Database

/** Runs a write as one transaction, see {@link writeTo}. */
export type Write = <T>(work: () => T) => Promise<T>

/** Lock timeout while opening a library. */
const OPENING_TIMEOUT_MS = 10_000
/** How long a write blocks its process while waiting for a lock, and how long it waits in total. */
const BUSY_TIMEOUT_MS = 250
export const LOCK_TIMEOUT_MS = 30_000
/** Checkpoint threshold in pages (16 MB), so that frequently changed pages are copied into the file once for many writes. */
export const WAL_AUTOCHECKPOINT = 4000

/** Receives notices for the user who opens a library. */
export type Notice = (text: string) => void

/**
 * Opens the library at a path, or a temporary one (`:memory:`), and migrates its tables. A library that cannot be written is opened
 * read-only, unless its tables are old; later writes then fail. If SQLite cannot read the library without creating files beside it, each
 * connection reads its own copy, which does not show later changes.
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

/** Opens an SQLite file. Waits for no pipe or device, which would never answer. */
function connect(path: string, options: Sqlite.Options = {}): Database {
  const found = path === ':memory:' ? undefined : statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === false) throw new Error(`${path} is ${found.isDirectory() ? 'a folder' : 'not a file'}`)
  return new Sqlite(path, { timeout: OPENING_TIMEOUT_MS, ...options })
}

/** Opens any SQLite file for inspection; never writes to it. */
function openForInspection(path: string, timeout: number = OPENING_TIMEOUT_MS): Database {
  // A writable connection would move a log into the file on closing, a read-only one would leave an empty log behind.
  const hasLog = existsSync(`${existsSync(path) ? realpathSync(path) : path}-wal`)
  return connect(path, { readonly: hasLog, fileMustExist: true, timeout })
}

/** Looks into any SQLite file, which is not changed. */
export function inspect<T>(path: string, look: (db: Database) => T, timeout?: number): T {
  const db = openForInspection(path, timeout)
  try {
    return look(db)
  } finally {
    db.close()
  }
}

/** The journal mode of an SQLite file; null if it cannot be read now. */
export function readJournalMode(path: string): string | null {
  try {
    return inspect(path, (db) => String(db.pragma('journal_mode', { simple: true })), 0)
  } catch {
    return null
  }
}

/** The schema version of a library file, 0 if it is empty. Throws for the database of another program. */
export function readSchemaVersion(path: string): number {
  try {
    return inspect(path, (db) => db.transaction(() => checkVersion(db, path))())
  } catch (error) {
    throw explainFailure(error, path)
  }
}

/** The first problem that SQLite finds in a library file, which is not changed; undefined when it is sound. */
export function checkFile(path: string): string | undefined {
  try {
    const found = inspect(path, (db) => String(db.pragma('quick_check(1)', { simple: true })))
    return found === 'ok' ? undefined : found
  } catch (error) {
    if (findDamage(error, path) === undefined) throw error
    return messageOf(error)
  }
}

/** Whether a file is a library of any version, even a damaged one whose header is sound. */
export function isLibrary(path: string): boolean {
  try {
    return inspect(path, isOwned)
  } catch (error) {
    if (isDamage(error)) return false
    throw asLibraryError(error, path)
  }
}

/** Whether a process has the library open, even if it does nothing at the moment. Writes nothing. */
export function isLibraryOpen(path: string): boolean {
  if (!existsSync(path)) return false
  let db: Database | undefined
  try {
    db = connect(path, { fileMustExist: true, timeout: 0 })
    // In this mode the first access needs a lock that no other connection allows.
    db.pragma('locking_mode = EXCLUSIVE')
    db.prepare('SELECT count(*) FROM sqlite_master').get()
    return false
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_BUSY')) return true
    // A damaged library is not in use.
    if (isDamage(error)) return false
    throw asLibraryError(error, path)
  } finally {
    db?.close()
  }
}

function openWritable(path: string, notice: Notice, busyMs: number): Database {
  const isFile = path !== ':memory:'
  let db: Database | undefined
  try {
    if (isFile) createFile(path)
    db = isFile ? openForInspection(path) : connect(path)
    // Refuses the database of another program before anything is written.
    isCurrent(db, path)
    if (db.readonly) {
      db.close()
      db = connect(path)
    }
    if (isFile) useWriteAheadLog(db)
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    limitMemory(db)
    if (isFile) {
      db.pragma(`wal_autocheckpoint = ${WAL_AUTOCHECKPOINT}`)
      // Truncates a write-ahead log that grew in a long transaction to this size after its checkpoint.
      db.pragma('journal_size_limit = 67108864')
    }
    migrate(db, path, notice)
    seedTypes(db)
    db.pragma(`busy_timeout = ${busyMs}`)
    compileLazily(db, (error) => findDamage(error, path))
    return db
  } catch (cause) {
    db?.close()
    throw asLibraryError(cause, path)
  }
}

/** The error to report if a library cannot be opened. */
function asLibraryError(cause: unknown, path: string): PharosError {
  const error = explainFailure(cause, path)
  if (error instanceof PharosError) return error
  return new PharosError('LIBRARY_UNUSABLE', { library: path, problem: messageOf(cause) }, { cause })
}

function limitMemory(db: Database): void {
  // 4 MB: a larger cache is no faster, because the system caches the file too, and would add to the memory of every server.
  db.pragma('cache_size = -4000')
  db.pragma('temp_store = MEMORY')
  // Mapped pages would count as memory of every searching process, up to the size of the file.
  db.pragma('mmap_size = 0')
}

/** Whether opening failed because the location, or this user, does not allow writing. */
function isReadOnly(error: unknown): boolean {
  if (!(error instanceof PharosError)) return false
  return error.code === 'LIBRARY_READ_ONLY' || (error.cause instanceof Error && isDenied(error.cause.cause))
}

/** Opens an existing library read-only; undefined when that fails too, or when its tables have another version. */
function openReadable(path: string, notice: Notice): Database | undefined {
  const db = openInPlace(path) ?? openCopy(path)
  try {
    if (db !== undefined && isCurrent(db, path)) {
      limitMemory(db)
      if (originals.has(db)) notice(describeCopy(path))
      compileLazily(db, (error) => findDamage(error, path))
      return db
    }
  } catch (error) {
    db?.close()
    throw error
  }
  db?.close()
  return undefined
}

/** Opens a read-only file. SQLite needs its log and lock files beside it, or a place to create them. */
function openInPlace(path: string): Database | undefined {
  let db: Database | undefined
  try {
    db = connect(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
    return db
  } catch {
    db?.close()
    return undefined
  }
}

/** Opens a temporary copy of a file, which shows the library as it is now. */
function openCopy(path: string): Database | undefined {
  const copy = copyToTemp(path, ['', '-wal'])
  if (copy.type === 'no-room') throw new PharosError('LIBRARY_FULL', { library: path, problem: copy.problem })
  if (copy.type === 'changing') throw new PharosError('LIBRARY_LOCKED', { library: path })
  if (copy.type !== 'made') return undefined
  // Without a log no process is writing. With one, a write within the same clock tick may have gone unnoticed, so the copy is checked.
  const needsCheck = existsSync(`${copy.path}-wal`)
  try {
    const db = openInPlace(copy.path)
    if (db === undefined) return undefined
    if (needsCheck && db.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      db.close()
      throw new PharosError('LIBRARY_LOCKED', { library: path })
    }
    originals.set(db, path)
    return db
  } finally {
    // Open files stay readable until they are closed.
    copy.remove()
  }
}

function describeCopy(path: string): string {
  return `the folder of the library ${path} is not writable: Pharos reads a copy, which does not show later changes until the library is opened again`
}

/** Connections to copies, with the paths of their originals. */
const originals = new WeakMap<Database, string>()

/**
 * Runs a write as one transaction, which takes the write lock at its start, because a read transaction could not wait for the lock. While
 * another process holds the lock, this process stays responsive. A full disk, a lock beyond `timeoutMs` or a read-only location throws an
 * error that says so, and nothing is written.
 */
export async function writeTo<T>(db: Database, work: () => T, timeoutMs: number = LOCK_TIMEOUT_MS): Promise<T> {
  const transaction = db.transaction(work)
  for (const since = performance.now(); ; ) {
    try {
      return transaction.immediate()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > timeoutMs)
        throw explainFailure(error, originals.get(db) ?? db.name)
    }
    await sleep(WRITE_RETRY_DELAY_MS)
  }
}

/** Delay between two attempts to write. */
const WRITE_RETRY_DELAY_MS = 20

/**
 * Creates a {@link writeTo} that runs all writes of one turn of the event loop as one transaction, because a commit costs as much as storing
 * a small page. If a write fails, nothing of its group is written, and each of the group runs again in a transaction of its own.
 * Other writes of the same turn come first.
 */
export function createGroupedWrite(db: Database, timeoutMs: number): Write {
  let group: GroupedWrite[] = []
  const writeGroup = async (): Promise<void> => {
    const writes = group
    group = []
    let hasBegun = false
    try {
      const answers = await writeTo(
        db,
        () => {
          hasBegun = true
          return writes.map(({ run }) => run())
        },
        timeoutMs,
      )
      for (const answer of answers) answer()
    } catch (error) {
      const mayOthersSucceed = hasBegun && writes.length > 1
      for (const { runAlone, reject } of writes) mayOthersSucceed ? runAlone() : reject(error)
    }
  }
  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      if (group.length === 0) setImmediate(() => void writeGroup())
      const run = (): (() => void) => {
        const result = work()
        return () => resolve(result)
      }
      group.push({ run, runAlone: () => resolve(writeTo(db, work, timeoutMs)), reject })
    })
}

interface GroupedWrite {
  /** Runs the write, and returns the function that gives the result to its caller. */
  readonly run: () => () => void
  readonly runAlone: () => void
  readonly reject: (error: unknown) => void
}

/** Runs a write as one transaction, or returns `busy` at once when another process is writing. Throws the same errors as `writeTo`. */
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
 * Turns on the write-ahead log, so that readers never wait for a writer. The change needs exclusive access and ignores the busy timeout, so
 * processes that open a new library at the same time must retry.
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
 * Turns a failure that needs action outside the program into an error with its own code; returns any other failure unchanged. SQLite has
 * one code for many file problems, so this inspects the files.
 */
function explainFailure(error: unknown, library: string): unknown {
  if (error instanceof PharosError) return error
  if (isBusy(error)) return new PharosError('LIBRARY_LOCKED', { library }, { cause: error })
  const damage = findDamage(error, library)
  if (damage !== undefined) return damage
  const code = codeOf(error)
  const isVague = code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN')
  const obstacle = isVague ? findObstacle(library) : findReportedObstacle(error)
  if (obstacle === undefined) return error
  const { type, problem } = obstacle
  return new PharosError(type === 'full' ? 'LIBRARY_FULL' : 'LIBRARY_READ_ONLY', { library, problem }, { cause: error })
}

function isDamage(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_NOTADB' || codeOf(error).startsWith('SQLITE_CORRUPT')
}

/** The damage error when SQLite found unreadable pages; undefined for any other failure. */
function findDamage(error: unknown, library: string): PharosError | undefined {
  const code = codeOf(error)
  // A mistyped path to some other file fails like a damaged header.
  if (code === 'SQLITE_NOTADB')
    return createDamageError(library, 'its header is not that of a library; check the path', error)
  return code.startsWith('SQLITE_CORRUPT') ? createDamageError(library, messageOf(error), error) : undefined
}

/** The obstacle that SQLite reports, or that the file system reported when the file was created. */
function findReportedObstacle(error: unknown): Obstacle | undefined {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') return { type: 'full', problem: 'the disk is full' }
  if (code.startsWith('SQLITE_READONLY')) return { type: 'read-only', problem: 'it is read-only' }
  return error instanceof Error ? obstacleOf(error.cause) : undefined
}

function codeOf(error: unknown): string {
  return error instanceof Sqlite.SqliteError ? error.code : ''
}
