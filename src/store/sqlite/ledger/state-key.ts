import type { Database } from '../database/database.ts'

/** Creates a function that returns a key of the library's state, which changes whenever any process writes. */
export function createStateKey(db: Database): () => string {
  const selectVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const selectChanges = db.prepare<[], number>('SELECT total_changes()').pluck()
  return () => `${selectVersion.get()} ${selectChanges.get()}`
}
