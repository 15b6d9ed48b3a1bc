import { CRAWL_TYPE_SEEDS, FORMER_DESCRIPTIONS } from '../../../library/crawl/crawl-types.ts'
import type { Database } from './database.ts'

/** Adds missing crawl types and replaces outdated default descriptions. Descriptions that the owner has changed stay. */
export function seedTypes(db: Database): void {
  const select = db.prepare<[], { readonly name: string; readonly description: string }>(
    'SELECT name, description FROM crawl_types',
  )
  const found = new Map(select.all().map(({ name, description }) => [name, description]))
  const missing = CRAWL_TYPE_SEEDS.filter(({ name }) => !found.has(name))
  const outdated = CRAWL_TYPE_SEEDS.filter(({ name }) => FORMER_DESCRIPTIONS[name]?.includes(found.get(name) ?? ''))
  // Without changes there is no write, so that opening a library does not wait for other writers.
  if (missing.length === 0 && outdated.length === 0) return
  // Another process may insert the same type first.
  const insert = db.prepare<[string, string, string]>(
    'INSERT INTO crawl_types (name, description, declaration) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
  )
  const update = db.prepare<[string, string]>('UPDATE crawl_types SET description = ? WHERE name = ?')
  db.transaction(() => {
    for (const { name, description, declaration } of missing) insert.run(name, description, JSON.stringify(declaration))
    for (const { name, description } of outdated) update.run(description, name)
  }).immediate()
}
