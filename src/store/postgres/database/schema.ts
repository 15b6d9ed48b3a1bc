import { PharosError } from '../../../core/errors.ts'
import { renameRows } from '../copy/rename-rows.ts'
import type { ConnectionAddress } from './connection-address.ts'
import type { Database, Sql } from './database.ts'
import { writeGrants } from './failures.ts'
import { lock } from './locks.ts'
import { seedTypes } from './seed-types.ts'
import { TABLES } from './tables.ts'
import { UNDERSTANDING_TABLES } from './understanding-tables.ts'

/** Each migration runs once, in order; a released one never changes. */
const MIGRATIONS: readonly (string | ((sql: Sql) => Promise<void>))[] = [
  TABLES + UNDERSTANDING_TABLES,
  `
-- Signatures that relate similar pages. Pages stored before this version get theirs later (page-signatures.ts).
CREATE TABLE likenesses (
  page bigint PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  fingerprint text,
  language text,
  family text
);
`,
  renameRows,
  `
-- Pages that helpers found to be gone. They count as failures only if the crawl does not remove them.
ALTER TABLE crawl_helpers ADD COLUMN proven_gone bigint NOT NULL DEFAULT 0;
`,
  `
-- When a source is crawled again by itself, as JSON; null for never.
ALTER TABLE sources ADD COLUMN refresh text;
`,
  `
-- Texts of pages before the last crawl of their source changed or removed them, deflated, by the id of their row.
CREATE TABLE earlier_pages (
  id bigint PRIMARY KEY REFERENCES ledger (id) ON DELETE CASCADE,
  source bigint NOT NULL,
  size integer NOT NULL,
  url text NOT NULL,
  markdown bytea NOT NULL
);
CREATE INDEX earlier_pages_by_source ON earlier_pages (source, size);
`,
  `
-- Whether \`earlier_pages\` lists every page that the crawl changed or removed. Copied crawls and those of earlier versions do not.
ALTER TABLE crawls ADD COLUMN keeps_earlier boolean NOT NULL DEFAULT false;
`,
  `
-- A page has one class, so the votes of single signals are not kept beside it.
DROP INDEX page_analyses_by_hint;
DROP INDEX page_analyses_by_kind;
ALTER TABLE page_analyses DROP COLUMN hint, DROP COLUMN hint_confidence;
UPDATE page_analyses SET classification = classification::jsonb - 'combined';
CREATE INDEX page_analyses_by_kind ON page_analyses (source, kind, page, confidence);

-- How the last process of a job ended.
ALTER TABLE crawl_jobs ADD COLUMN code integer, ADD COLUMN signal text;
`,
]

/** The schema version of this program. */
export const SCHEMA_VERSION: number = MIGRATIONS.length

/** The oldest supported PostgreSQL version. */
const MIN_SERVER_VERSION = 14

/**
 * Migrates a library to the current schema; several processes may try at once. Refuses a library of a newer program, a server that is too
 * old, and a database whose encoding cannot hold every text.
 */
export async function migrate(db: Database, address: ConnectionAddress): Promise<void> {
  if ((await readVersion(db, address)) === SCHEMA_VERSION) return
  await checkServer(db, address)
  await db.transaction(async (sql) => {
    await lock(sql, 'migration')
    await createSchema(sql, address)
    // Another process may have migrated the library meanwhile.
    const currentVersion = await readVersion(sql, address)
    if (currentVersion === 0) await refuseForeignTables(sql, address)
    for (const migration of MIGRATIONS.slice(currentVersion)) {
      await (typeof migration === 'string' ? runAll(sql, migration) : migration(sql))
    }
    await sql.run('DELETE FROM schema_version')
    await sql.run('INSERT INTO schema_version (version) VALUES ($1)', [SCHEMA_VERSION])
    await seedTypes(sql)
  })
}

/** Creates the schema if it is missing. If it exists, the role does not need the privilege to create schemas. */
async function createSchema(sql: Sql, { schema, quotedSchema, location }: ConnectionAddress): Promise<void> {
  const found = await sql.get<{ isThere: boolean; mayUse: boolean; mayMake: boolean; role: string; database: string }>(
    `SELECT n.oid IS NOT NULL AS "isThere", coalesce(has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE'), false) AS "mayUse",
       has_database_privilege(current_database(), 'CREATE') AS "mayMake",
       quote_ident(current_user) AS role, quote_ident(current_database()) AS database
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace n ON n.nspname = $1`,
    [schema],
  )
  if (found === undefined) throw new Error('expected facts about the schema, got none')
  const { isThere, mayUse, mayMake, role, database } = found
  if (isThere && mayUse) return
  if (!isThere && mayMake) {
    await sql.run(`CREATE SCHEMA ${quotedSchema}`)
    return
  }
  const grant = isThere ? `USAGE, CREATE ON SCHEMA ${quotedSchema}` : `CREATE ON DATABASE ${database}`
  const problem = `its role may not create tables there; ask an administrator to run: GRANT ${grant} TO ${role}`
  throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}

/** Runs all statements of a migration. A statement ends at a semicolon at the end of a line, outside dollar quotes. */
async function runAll(sql: Sql, migration: string): Promise<void> {
  for (const statement of splitStatements(migration)) await sql.run(statement)
}

function splitStatements(text: string): string[] {
  const statements: string[] = []
  let statement = ''
  for (const line of text.split('\n')) {
    statement += `${line}\n`
    const isOpen = statement.split('$$').length % 2 === 0
    if (isOpen || !line.trimEnd().endsWith(';')) continue
    statements.push(statement.trim())
    statement = ''
  }
  return statement.trim() === '' ? statements : [...statements, statement.trim()]
}

/** The schema version of a library; 0 without tables. */
async function readVersion(sql: Sql, { schema, quotedSchema, location }: ConnectionAddress): Promise<number> {
  // pg_tables also shows schemas that the role may not use.
  const access = await sql.get<{ there: boolean; mayLook: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS there,
       coalesce(has_schema_privilege(to_regnamespace($2)::oid, 'USAGE'), false) AS "mayLook"`,
    [schema, quotedSchema],
  )
  if (access?.there !== true) return 0
  if (!access.mayLook) throw createNoAccessError(location)
  const found = (await sql.get<{ version: number }>('SELECT version FROM schema_version'))?.version ?? 0
  if (found > SCHEMA_VERSION) {
    throw new PharosError('LIBRARY_NEWER', { library: location, found, supported: SCHEMA_VERSION })
  }
  return found
}

/** The error for a library whose schema the role may not use. */
export function createNoAccessError(library: string): PharosError {
  const problem = 'its role may not use the schema of the library'
  return new PharosError('LIBRARY_UNUSABLE', { library, problem, advice: writeGrants(library) })
}

async function checkServer(sql: Sql, { location }: ConnectionAddress): Promise<void> {
  const found = await sql.get<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding`,
  )
  const problem = findServerProblem(found?.version ?? 0, found?.encoding ?? '')
  if (problem !== undefined) throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}

/** Why a library cannot be stored on this server version with this encoding; undefined when it can. */
export function findServerProblem(version: number, encoding: string): string | undefined {
  if (version < MIN_SERVER_VERSION) return `expected PostgreSQL ${MIN_SERVER_VERSION} or newer, got ${version}`
  if (encoding === 'UTF8') return undefined
  return `expected a database with the encoding UTF8, got ${encoding}; create one with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`
}

/** Refuses a schema with tables of another program. */
async function refuseForeignTables(sql: Sql, { schema, location }: ConnectionAddress): Promise<void> {
  const found = await sql.get<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 LIMIT 1',
    [schema],
  )
  if (found === undefined) return
  const problem = `its schema ${schema} has tables of another program, such as ${found.name}; use another one with ?schema=`
  throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}
