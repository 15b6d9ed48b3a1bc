import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { describeLibraryCopy } from './library-copy.contract.ts'
import { openSqlAccess } from './sqlite-access.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-library-copy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** Names in the copy tables, by the SQLite columns that have another name or are in another table there. */
const COPY_NAMES: Readonly<Record<string, string>> = {
  'url_aliases.exists': 'url_aliases.is_there',
  'analysis_runs.verbose': 'analysis_runs.is_verbose',
  'places.canonical_name_id': 'canonical_names.canonical_name_id',
  'layouts.id': 'pages.id',
  'layouts.layout': 'pages.layout',
}
/** Columns of the copy tables that are row ids in SQLite. */
const ROW_IDS = ['crawl_jobs.number', 'analysis_runs.number', 'place_sources.number']

describe('copies of a library in SQLite', () => {
  describeLibraryCopy(async () => {
    const path = join(folder, `${files++}.db`)
    const store = await openSqliteStore(path)
    const sql = openSqlAccess(path)
    return {
      store,
      sql,
      listColumns: async () => {
        const found = (await sql.all(
          `SELECT t.name || '.' || c.name AS name FROM sqlite_schema t, pragma_table_xinfo(t.name) c
           WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
        )) as { name: string }[]
        return [...found.map(({ name }) => COPY_NAMES[name] ?? name), ...ROW_IDS]
      },
    }
  })
})
