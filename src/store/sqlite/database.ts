import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { PharosError } from '../../core/errors.ts'
import { createFile } from './create-file.ts'
import { migrate } from './schema.ts'

/** A connection to a library file. */
export type Database = Sqlite.Database

/** How long a library that is being opened waits for the writers of other processes. */
const OPENING_TIMEOUT_MS = 10_000
/** How long a writer waits for them before it lets its own process go on meanwhile, and how long altogether. */
const BUSY_TIMEOUT_MS = 250
const PATIENCE_MS = 30_000

/** Opens the library at a path, or a private one that is gone when it is closed (`:memory:`), and brings its tables up to date. */
export function openDatabase(path: string): Database {
  const isFile = path !== ':memory:'
  let db: Database | undefined
  try {
    if (isFile) createFile(path)
    db = new Sqlite(path, { timeout: OPENING_TIMEOUT_MS })
    if (isFile) useWriteAheadLog(db)
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    db.pragma('cache_size = -16000')
    db.pragma('temp_store = MEMORY')
    if (isFile) {
      db.pragma('mmap_size = 268435456')
      // 16 MB: pages that every settlement touches are then copied into the file once for many.
      db.pragma('wal_autocheckpoint = 4000')
      // A log that grew in a long transaction is cut back to this when it has been copied into the file.
      db.pragma('journal_size_limit = 67108864')
    }
    migrate(db, path)
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return db
  } catch (cause) {
    db?.close()
    if (cause instanceof PharosError) throw cause
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new PharosError('LIBRARY_UNUSABLE', { library: path, problem }, { cause })
  }
}

/**
 * Runs a write as one transaction, which takes its lock at the start: one that began by reading could not wait for others. While
 * another process writes for long, this one does not stand still.
 */
export async function writeTo<T>(db: Database, work: () => T): Promise<T> {
  const transaction = db.transaction(work)
  for (const since = performance.now(); ; ) {
    try {
      return transaction.immediate()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > PATIENCE_MS) throw error
    }
    await sleep(PAUSE_MS)
  }
}

/** Between two tries to write. */
const PAUSE_MS = 20

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
    if (waitedMs >= OPENING_TIMEOUT_MS) throw new Error('another process keeps it locked')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
