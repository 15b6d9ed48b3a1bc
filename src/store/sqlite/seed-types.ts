import { CRAWL_TYPE_SEEDS } from '../../library/crawl-types.ts'
import type { Database } from './database.ts'

/** Writes the ways to crawl into a library that has none; what its owner made of them stays as it is. */
export function seedTypes(db: Database): void {
  const isEmpty = (): boolean => db.prepare('SELECT 1 FROM crawl_types LIMIT 1').get() === undefined
  if (!isEmpty()) return
  const insert = db.prepare<[string, string, string]>(
    'INSERT INTO crawl_types (name, description, declaration) VALUES (?, ?, ?)',
  )
  db.transaction(() => {
    // Somebody else may have been faster.
    if (!isEmpty()) return
    for (const { name, description, declaration } of CRAWL_TYPE_SEEDS) {
      insert.run(name, description, JSON.stringify(declaration))
    }
  }).immediate()
}
