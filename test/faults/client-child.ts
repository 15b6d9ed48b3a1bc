import Sqlite from 'better-sqlite3'
import type { ClientRequest } from './other-client.ts'

// Another program that uses a library, see `other-client.ts`. It does what each request says, and answers with the result.
process.on('message', ({ task, path }: ClientRequest) => {
  try {
    process.send?.({ result: TASKS[task](path) })
  } catch (error) {
    process.send?.({ error: String(error) })
  }
})
process.once('disconnect', () => process.exit())

const TASKS: Readonly<Record<ClientRequest['task'], (path: string) => string>> = {
  read: (path) => use(path, 5000, (db) => String(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())),
  check: (path) => use(path, 5000, (db) => String(db.pragma('integrity_check', { simple: true }))),
  // The first access in this mode needs a lock that no other connection allows.
  'find-lock': (path) =>
    use(path, 0, (db) => {
      db.pragma('locking_mode = EXCLUSIVE')
      try {
        db.prepare('SELECT count(*) FROM sqlite_schema').get()
        return 'free'
      } catch (error) {
        if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) return 'held'
        throw error
      }
    }),
}

function use(path: string, timeout: number, work: (db: Sqlite.Database) => string): string {
  const db = new Sqlite(path, { fileMustExist: true, timeout })
  try {
    return work(db)
  } finally {
    db.close()
  }
}
