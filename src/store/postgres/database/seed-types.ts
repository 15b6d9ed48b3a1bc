import { CRAWL_TYPE_SEEDS, FORMER_DESCRIPTIONS } from '../../../library/crawl/crawl-types.ts'
import type { Sql } from './database.ts'

/** Adds missing crawl types and replaces outdated default descriptions. Descriptions that the owner has changed stay. */
export async function seedTypes(sql: Sql): Promise<void> {
  const found = await sql.all<{ name: string; description: string | null }>('SELECT name, description FROM crawl_types')
  const descriptions = new Map(found.map(({ name, description }) => [name, description]))
  for (const { name, description, declaration } of CRAWL_TYPE_SEEDS) {
    if (!descriptions.has(name)) {
      // Another process may insert the same type first.
      await sql.run(
        'INSERT INTO crawl_types (name, description, declaration) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
        [name, description, JSON.stringify(declaration)],
      )
    } else if (FORMER_DESCRIPTIONS[name]?.includes(descriptions.get(name) ?? '') === true) {
      await sql.run('UPDATE crawl_types SET description = $1 WHERE name = $2', [description, name])
    }
  }
}
