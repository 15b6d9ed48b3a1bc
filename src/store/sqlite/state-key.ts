import type { Database } from './database.ts'

/** Makes a key of what a library holds: another one whenever any process has written to it. */
export function createStateKey(db: Database): () => string {
  const selectVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  const selectChanges = db.prepare<[], number>('SELECT total_changes()').pluck()
  return () => `${selectVersion.get()} ${selectChanges.get()}`
}
