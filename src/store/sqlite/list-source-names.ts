import type { Source } from '../../library/source.ts'
import { openForInspection } from './database/database.ts'

/** The names and versions of the sources of a library file. Opens the file read-only, which is far quicker than opening the library. */
export function listSourceNames(path: string): Pick<Source, 'name' | 'version'>[] {
  const db = openForInspection(path)
  try {
    const select = db.prepare<[], Pick<Source, 'name' | 'version'>>(
      'SELECT name, version FROM sources WHERE is_removed = 0 ORDER BY created_at, id',
    )
    return select.all()
  } finally {
    db.close()
  }
}
