import { PharosError } from '../../core/errors.ts'
import type { Database, Sql } from './database.ts'
import { writeGrants } from './failures.ts'
import { lock } from './locks.ts'
import type { Place } from './place.ts'
import { renameRows } from './rename-rows.ts'
import { seedTypes } from './seed-types.ts'
import { TABLES } from './tables.ts'
import { UNDERSTANDING_TABLES } from './understanding-tables.ts'

/** Each is run once, in order; what was released is never changed. */
const MIGRATIONS: readonly (string | ((sql: Sql) => Promise<void>))[] = [
  TABLES + UNDERSTANDING_TABLES,
  `
-- How pages are related to others. Pages that were stored before have none until they are read again.
CREATE TABLE likenesses (
  page bigint PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  fingerprint text,
  language text,
  family text
);
`,
  renameRows,
  `
-- Pages that helpers proved gone: failures only where the crawl does not remove them.
ALTER TABLE crawl_helpers ADD COLUMN proven_gone bigint NOT NULL DEFAULT 0;
`,
]

/** The schema this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length

/** The oldest server that has all that is used here. */
const LEAST_SERVER = 14

/**
 * Brings a library to the schema of this program; ten processes may try at once. Refuses one that a newer program wrote, a server that is
 * too old, and a database that cannot hold every text.
 */
export async function migrate(db: Database, place: Place): Promise<void> {
  if ((await readVersion(db, place)) === SCHEMA_VERSION) return
  await checkServer(db, place)
  await db.transaction(async (sql) => {
    await lock(sql, 'migration')
    await createSchema(sql, place)
    // Somebody else may have been faster.
    const done = await readVersion(sql, place)
    if (done === 0) await refuseStrangers(sql, place)
    for (const migration of MIGRATIONS.slice(done)) {
      await (typeof migration === 'string' ? runAll(sql, migration) : migration(sql))
    }
    await sql.run('DELETE FROM schema_version')
    await sql.run('INSERT INTO schema_version (version) VALUES ($1)', [SCHEMA_VERSION])
    await seedTypes(sql)
  })
}

/** A role that has a schema of its own need not be allowed to make others. */
async function createSchema(sql: Sql, { schema, quotedSchema, location }: Place): Promise<void> {
  const found = await sql.get<{ isThere: boolean; mayUse: boolean; mayMake: boolean; role: string; database: string }>(
    `SELECT n.oid IS NOT NULL AS "isThere", coalesce(has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE'), false) AS "mayUse",
       has_database_privilege(current_database(), 'CREATE') AS "mayMake",
       quote_ident(current_user) AS role, quote_ident(current_database()) AS database
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace n ON n.nspname = $1`,
    [schema],
  )
  if (found === undefined) throw new Error('the server says nothing about its schemas')
  const { isThere, mayUse, mayMake, role, database } = found
  if (isThere && mayUse) return
  if (!isThere && mayMake) {
    await sql.run(`CREATE SCHEMA ${quotedSchema}`)
    return
  }
  const grant = isThere ? `USAGE, CREATE ON SCHEMA ${quotedSchema}` : `CREATE ON DATABASE ${database}`
  const problem = `its role may make no tables there; let somebody who may grant it run: GRANT ${grant} TO ${role}`
  throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}

/** Statements end where a line ends with a semicolon and nothing that is dollar-quoted is open. */
async function runAll(sql: Sql, migration: string): Promise<void> {
  for (const statement of splitStatements(migration)) await sql.run(statement)
}

function splitStatements(text: string): string[] {
  const statements: string[] = []
  let some = ''
  for (const line of text.split('\n')) {
    some += `${line}\n`
    const isOpen = some.split('$$').length % 2 === 0
    if (isOpen || !line.trimEnd().endsWith(';')) continue
    statements.push(some.trim())
    some = ''
  }
  return some.trim() === '' ? statements : [...statements, some.trim()]
}

/** The version a library has; 0 without any tables. */
async function readVersion(sql: Sql, { schema, quotedSchema, location }: Place): Promise<number> {
  // Also where the role may not look into the schema.
  const there = await sql.get<{ there: boolean; mayLook: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS there,
       coalesce(has_schema_privilege(to_regnamespace($2)::oid, 'USAGE'), false) AS "mayLook"`,
    [schema, quotedSchema],
  )
  if (there?.there !== true) return 0
  if (!there.mayLook) throw refusalOfShut(location)
  const found = (await sql.get<{ version: number }>('SELECT version FROM schema_version'))?.version ?? 0
  if (found > SCHEMA_VERSION) {
    throw new PharosError('LIBRARY_NEWER', { library: location, found, supported: SCHEMA_VERSION })
  }
  return found
}

/** What is said of a library whose schema a role may not look into. */
export function refusalOfShut(library: string): PharosError {
  const problem = 'its role may not use the schema of the library'
  return new PharosError('LIBRARY_UNUSABLE', { library, problem, advice: writeGrants(library) })
}

async function checkServer(sql: Sql, { location }: Place): Promise<void> {
  const found = await sql.get<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding`,
  )
  const problem = findServerProblem(found?.version ?? 0, found?.encoding ?? '')
  if (problem !== undefined) throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}

/** Why a library cannot be kept by a server of this version, in a database with this encoding; undefined where it can. */
export function findServerProblem(version: number, encoding: string): string | undefined {
  if (version < LEAST_SERVER) return `expected PostgreSQL ${LEAST_SERVER} or newer, got ${version}`
  if (encoding === 'UTF8') return undefined
  return `expected a database with the encoding UTF8, got ${encoding}; make one with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`
}

/** A schema with tables of another program is left alone. */
async function refuseStrangers(sql: Sql, { schema, location }: Place): Promise<void> {
  const found = await sql.get<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 LIMIT 1',
    [schema],
  )
  if (found === undefined) return
  const problem = `its schema ${schema} has tables of another program, such as ${found.name}; name another one with ?schema=`
  throw new PharosError('LIBRARY_UNUSABLE', { library: location, problem })
}
