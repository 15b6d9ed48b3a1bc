import { CRAWL_TYPE_SEEDS } from '../../library/crawl-types.ts'
import type { Database } from './database.ts'

/** Writes the ways to crawl that a library lacks; what its owner made of the others stays as it is. */
export function seedTypes(db: Database): void {
  const selectNames = db.prepare<[], string>('SELECT name FROM crawl_types').pluck()
  const names = new Set(selectNames.all())
  const missing = CRAWL_TYPE_SEEDS.filter(({ name }) => !names.has(name))
  // Whoever only reads does not wait for others who write.
  if (missing.length === 0) return
  // Somebody else may be faster.
  const insert = db.prepare<[string, string, string]>(
    'INSERT INTO crawl_types (name, description, declaration) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
  )
  db.transaction(() => {
    for (const { name, description, declaration } of missing) insert.run(name, description, JSON.stringify(declaration))
  }).immediate()
}
