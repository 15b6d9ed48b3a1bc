import { openForInspection } from './database.ts'

/** Name and version of a source. */
export interface SourceLabel {
  readonly name: string
  readonly version: string | null
}

/** The names and versions of the sources in a library file. The file is only read; a missing or unreadable one gives an empty list. */
export function listSourceNames(path: string): SourceLabel[] {
  try {
    const db = openForInspection(path)
    try {
      return db
        .prepare<[], SourceLabel>('SELECT name, version FROM sources WHERE is_removed = 0 ORDER BY name, version')
        .all()
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}
