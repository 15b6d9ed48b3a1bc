import { PharosError } from '../../core/errors.ts'
import type { Database, Sql } from './database.ts'
import { type Compared, compareAll, type KeptVector } from './vectors-by-signs.ts'

/*
 * pgvector has no vectors of one byte a dimension. So nothing is kept twice: its index is over an expression that makes of a vector, as it is
 * kept, one that pgvector knows; how long a vector is does not matter to the cosine. Whoever writes or removes vectors need not know of it.
 */

/** An index of pgvector over the vectors of a library. */
export interface NearIndex {
  /** The schema that the extension is in, quoted where it has to be. */
  readonly schema: string
}

/** What is asked of it. */
interface NearQuestion {
  readonly query: Float32Array
  /** About so many are wanted. */
  readonly count: number
  /** The numbers of the sources that may be found. */
  readonly sources: readonly number[]
  /** Whether others are left out. */
  readonly isPart: boolean
}

/** pgvector as it is found in a database. */
interface Extension extends NearIndex {
  /** Whether it can do what is needed, for vectors of this library. */
  readonly isFit: boolean
  readonly dimensions: number
  /** Whether the role may make an index. */
  readonly mayCreate: boolean
  /** Whether the index can be asked; null where there is none. */
  readonly isReady: boolean | null
  /** Whether somebody makes it just now. */
  readonly isBeingMade: boolean
}

/** Vectors may have so many dimensions: more do not fit into a page of an index. */
const MOST_DIMENSIONS = 4000
/** Sources with so few vectors are compared as they are: an index over all would pass over nearly everything it finds. */
const FEW_VECTORS = 20_000
/** So many candidates are kept in sight while the index is walked, at least and at most. */
const SIGHT = [200, 1000] as const
/** Bytes before the numbers of a vector, as they are kept. */
const SCALE_BYTES = 4

const NAME = `'vectors_nearest_' || v.dimensions`

/** The index for the vectors of a `vector_space` v that can be asked, as JSON; null where there is none. */
export const NEAR_INDEX: string = `(SELECT json_build_object('schema', quote_ident(n.nspname))
  FROM pg_index i, pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
  WHERE i.indexrelid = to_regclass(${NAME}) AND i.indisvalid AND e.extname = 'vector')`

/** The nearest by the index: not always all of them, which is what makes it fast. */
export async function askNearIndex(
  db: Database,
  index: NearIndex & { readonly dimensions: number },
  { query, count, sources, isPart }: NearQuestion,
): Promise<Compared[]> {
  if (isPart && (await hasFew(db, sources))) {
    const all = await db.all<KeptVector>('SELECT chunk, vector FROM vectors WHERE source = ANY ($1::bigint[])', [
      sources,
    ])
    return compareAll(query, all)
  }
  const [least, most] = SIGHT
  const sight = Math.min(most, Math.max(least, 2 * count))
  const found = await db.snapshot(async (sql) => {
    // Where too many of what it finds are of other sources, it goes on.
    await sql.run(
      `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true)`,
      [String(sight)],
    )
    return sql.all<KeptVector>(writeQuestion(index, Math.max(count, sight)), [`[${query.join()}]`, sources])
  })
  return compareAll(query, found)
}

async function hasFew(sql: Sql, sources: readonly number[]): Promise<boolean> {
  const found = await sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM vectors WHERE source = ANY ($1::bigint[]) LIMIT $2) AS few',
    [sources, FEW_VECTORS + 1],
  )
  return (found?.count ?? 0) <= FEW_VECTORS
}

/**
 * The nearest in their order, as many as are wanted of those that may be found. Sources are looked at behind the order: the server would
 * otherwise sort all that they have. The limit is written out, because a plan for any limit is one for many.
 */
function writeQuestion({ schema, dimensions }: NearIndex & { readonly dimensions: number }, limit: number): string {
  return `SELECT chunk, vector FROM (
      SELECT chunk, source, vector FROM vectors WHERE ${writeCondition(dimensions)}
      ORDER BY ${writePoint(schema, dimensions)} OPERATOR(${schema}.<=>) $1::${schema}.halfvec OFFSET 0) AS near
    WHERE source = ANY ($2::bigint[]) LIMIT ${limit}`
}

/** Makes the index for the vectors of a space before there are any, which takes no time. Where pgvector is not there, nothing is made. */
export async function createNearIndex(sql: Sql): Promise<void> {
  const extension = await readExtension(sql)
  if (extension === undefined || !isWanted(extension) || extension.isReady !== null) return
  await createPoints(sql, extension)
  await sql.run(writeIndex(extension, ''))
  await sql.run(writeNoStatistics(extension))
}

/**
 * Makes the index where there are vectors and none over them yet: pgvector may have been added since. That may take minutes, in which
 * everybody else goes on; where it was given up in the middle, it is made anew.
 */
export async function tendNearIndex(db: Database): Promise<void> {
  await takeUpExtension(db)
  const extension = await readExtension(db)
  if (extension === undefined || !isWanted(extension) || extension.isReady === true || extension.isBeingMade) return
  try {
    await db.run(`DROP INDEX CONCURRENTLY IF EXISTS ${writeName(extension)}`)
    await createPoints(db, extension)
    await db.run(writeIndex(extension, 'CONCURRENTLY'))
    await db.run(writeNoStatistics(extension))
  } catch (error) {
    // Somebody else is in the way: nothing is missing meanwhile, and whoever embeds next tries again.
    if (!(error instanceof PharosError && error.code === 'LIBRARY_LOCKED')) throw error
  }
}

/**
 * Makes pgvector part of the database where the server has it, the role may do so, and there are vectors: where everybody looks for it, or
 * in the schema of the library.
 */
async function takeUpExtension(db: Database): Promise<void> {
  const offered = await db.get<{ schema: string }>(
    `SELECT CASE WHEN has_schema_privilege(to_regnamespace('public')::oid, 'CREATE') THEN 'public'
       ELSE quote_ident(current_schema()) END AS schema
     FROM pg_available_extensions a JOIN pg_available_extension_versions e ON e.name = a.name AND e.version = a.default_version
     WHERE a.name = 'vector' AND a.installed_version IS NULL AND ${fitSql('e.version')}
       AND (current_setting('is_superuser') = 'on' OR e.trusted AND has_database_privilege(current_database(), 'CREATE'))
       AND has_schema_privilege(current_schema(), 'CREATE') AND EXISTS (SELECT 1 FROM vector_space)`,
  )
  if (offered === undefined) return
  // Whoever runs the server may have rules of their own, and somebody else may have been faster: nothing is missing without it.
  await db.run(`CREATE EXTENSION IF NOT EXISTS vector SCHEMA ${offered.schema}`).catch(() => undefined)
}

/** Removes the indexes for vectors of other dimensions. */
export async function dropOtherNearIndexes(sql: Sql): Promise<void> {
  const others = await sql.all<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid, vector_space v
     WHERE i.indrelid = to_regclass('vectors') AND c.relname ~ '^vectors_nearest_[0-9]+$' AND c.relname <> ${NAME}`,
  )
  for (const { name } of others) await sql.run(`DROP INDEX ${name}`)
}

function isWanted({ isFit, mayCreate }: Extension): boolean {
  return isFit && mayCreate
}

/** pgvector for the vectors that are there; undefined where one of the two is not. */
function readExtension(sql: Sql): Promise<Extension | undefined> {
  return sql.get<Extension>(
    `SELECT quote_ident(n.nspname) AS schema, v.dimensions,
       ${fitSql('e.extversion')} AND v.dimensions <= ${MOST_DIMENSIONS} AS "isFit",
       has_schema_privilege(current_schema(), 'CREATE') AND pg_has_role(t.relowner, 'USAGE') AS "mayCreate",
       (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(${NAME})) AS "isReady",
       EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE relid = t.oid) AS "isBeingMade"
     FROM vector_space v, pg_class t, pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'vector' AND t.oid = to_regclass('vectors')`,
  )
}

/** Whether a version of pgvector goes on with a search that has found too few: it does from 0.8 on. */
export function fitSql(version: string): string {
  return `string_to_array(substring(${version} FROM '^\\d+\\.\\d+'), '.')::integer[] >= ARRAY[0, 8]`
}

async function createPoints(sql: Sql, { schema }: Extension): Promise<void> {
  await sql.run(
    `CREATE OR REPLACE FUNCTION vector_point(kept bytea) RETURNS ${schema}.halfvec
       LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
     RETURN (SELECT array_agg(get_byte(kept, i) - CASE WHEN get_byte(kept, i) > 127 THEN 256 ELSE 0 END ORDER BY i)
       FROM generate_series(${SCALE_BYTES}, length(kept) - 1) i)::${schema}.halfvec`,
  )
}

function writeIndex({ schema, dimensions }: Extension, how: 'CONCURRENTLY' | ''): string {
  const point = `(${writePoint(schema, dimensions)}) ${schema}.halfvec_cosine_ops`
  const name = writeName({ dimensions })
  return `CREATE INDEX ${how} ${name} ON vectors USING hnsw (${point}) WHERE ${writeCondition(dimensions)}`
}

/** The server would make points of many vectors only to find out what values they have. */
function writeNoStatistics(extension: Extension): string {
  return `ALTER INDEX ${writeName(extension)} ALTER COLUMN 1 SET STATISTICS 0`
}

function writeName({ dimensions }: Pick<Extension, 'dimensions'>): string {
  return `vectors_nearest_${dimensions}`
}

function writePoint(schema: string, dimensions: number): string {
  return `vector_point(vector)::${schema}.halfvec(${dimensions})`
}

/** Rows of another model that nobody sees any more may still be there. */
function writeCondition(dimensions: number): string {
  return `length(vector) = ${dimensions + SCALE_BYTES}`
}
