import type { Source } from '../../library/source.ts'
import { inspect } from './database/database.ts'

/** The names and versions of the sources of a library file. Only reads the file, which is far quicker than opening the library. */
export function listSourceNames(path: string): Pick<Source, 'name' | 'version'>[] {
  const select = 'SELECT name, version FROM sources WHERE is_removed = 0 ORDER BY created_at, id'
  return inspect(path, (db) => db.prepare<[], Pick<Source, 'name' | 'version'>>(select).all())
}
