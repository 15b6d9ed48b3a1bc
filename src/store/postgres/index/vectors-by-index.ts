import { PharosError } from '../../../core/errors.ts'
import type { Database, Sql } from '../database/database.ts'
import { type ComparedVector, compareAll, type StoredVector } from './vectors-by-signs.ts'

/*
 * pgvector has no type with one byte per dimension. Instead of storing vectors twice, its index covers an expression that converts a stored
 * vector; cosine distance ignores the scale. Code that writes or removes vectors does not need to know about the index.
 */

/** A pgvector index over the vectors of a library. */
export interface NearIndex {
  /** The quoted schema of the extension. */
  readonly schema: string
}

/** A query of the vector index. */
interface NearQuery {
  readonly query: Float32Array
  /** Approximate number of wanted results. */
  readonly count: number
  /** The numbers of the sources to search. */
  readonly sources: readonly number[]
  /** Whether the search is limited to some sources. */
  readonly hasSourceFilter: boolean
}

/** The pgvector extension of a database. */
interface Extension extends NearIndex {
  /** Whether the extension supports the vectors of this library. */
  readonly isFit: boolean
  readonly dimensions: number
  /** Whether the role may create an index. */
  readonly mayCreate: boolean
  /** Whether the index is usable; null when there is none. */
  readonly isReady: boolean | null
  /** Whether another session is building the index. */
  readonly isBeingMade: boolean
}

/** Maximum number of dimensions, because larger vectors do not fit into an index page. */
const MAX_DIMENSIONS = 4000
/** Up to this number of vectors in the requested sources, all are compared, because the index would mostly find those of other sources. */
const FEW_VECTORS = 20_000
/** Minimum and maximum size of the candidate list during an index scan (`ef_search`). */
const EF_SEARCH_RANGE = [200, 1000] as const
/** Size of the scale in front of the components of a stored vector. */
const SCALE_BYTES = 4

const NAME = `'vectors_nearest_' || v.dimensions`

/** SQL for the usable index of a `vector_space` v, as JSON; null when there is none. */
export const NEAR_INDEX: string = `(SELECT json_build_object('schema', quote_ident(n.nspname))
  FROM pg_index i, pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
  WHERE i.indexrelid = to_regclass(${NAME}) AND i.indisvalid AND e.extname = 'vector')`

/** The nearest vectors by the index. The search is approximate, which makes it fast. */
export async function searchNearIndex(
  db: Database,
  index: NearIndex & { readonly dimensions: number },
  { query, count, sources, hasSourceFilter }: NearQuery,
): Promise<ComparedVector[]> {
  if (hasSourceFilter && (await hasFew(db, sources))) {
    const all = await db.all<StoredVector>('SELECT chunk, vector FROM vectors WHERE source = ANY ($1::bigint[])', [
      sources,
    ])
    return compareAll(query, all)
  }
  const [min, max] = EF_SEARCH_RANGE
  const candidateCount = Math.min(max, Math.max(min, 2 * count))
  const found = await db.snapshot(async (sql) => {
    // An iterative scan continues when too many results belong to other sources.
    await sql.run(
      `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1, true)`,
      [String(candidateCount)],
    )
    return sql.all<StoredVector>(writeNearQuery(index, Math.max(count, candidateCount)), [`[${query.join()}]`, sources])
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
 * SQL for the nearest vectors of the wanted sources, in order. Sources are filtered after sorting, because the server would otherwise sort
 * all their vectors. The limit is a literal, because a generic plan would assume a large one.
 */
function writeNearQuery({ schema, dimensions }: NearIndex & { readonly dimensions: number }, limit: number): string {
  return `SELECT chunk, vector FROM (
      SELECT chunk, source, vector FROM vectors WHERE ${writeCondition(dimensions)}
      ORDER BY ${writePoint(schema, dimensions)} OPERATOR(${schema}.<=>) $1::${schema}.halfvec OFFSET 0) AS near
    WHERE source = ANY ($2::bigint[]) LIMIT ${limit}`
}

/** Creates the index before there are vectors, when that is instant. Does nothing without pgvector. */
export async function createNearIndex(sql: Sql): Promise<void> {
  const extension = await readExtension(sql)
  if (extension === undefined || !canBuild(extension) || extension.isReady !== null) return
  await createPointFunction(sql, extension)
  await sql.run(writeIndex(extension, ''))
  await sql.run(writeNoStatistics(extension))
}

/**
 * Creates a missing index over existing vectors, because pgvector may have been added later. The build may take minutes without blocking
 * others; an aborted build is repeated.
 */
export async function ensureNearIndex(db: Database): Promise<void> {
  await installExtension(db)
  const extension = await readExtension(db)
  if (extension === undefined || !canBuild(extension) || extension.isReady === true || extension.isBeingMade) return
  try {
    await db.run(`DROP INDEX CONCURRENTLY IF EXISTS ${writeName(extension)}`)
    await createPointFunction(db, extension)
    await db.run(writeIndex(extension, 'CONCURRENTLY'))
    await db.run(writeNoStatistics(extension))
  } catch (error) {
    // Another session holds a lock. Searches work without the index, and the next embedding run tries again.
    if (!(error instanceof PharosError && error.code === 'LIBRARY_LOCKED')) throw error
  }
}

/**
 * Installs pgvector when the server offers it, the role may install it, and there are vectors: in the schema `public`, or in that of the
 * library.
 */
async function installExtension(db: Database): Promise<void> {
  const offered = await db.get<{ schema: string }>(
    `SELECT CASE WHEN has_schema_privilege(to_regnamespace('public')::oid, 'CREATE') THEN 'public'
       ELSE quote_ident(current_schema()) END AS schema
     FROM pg_available_extensions a JOIN pg_available_extension_versions e ON e.name = a.name AND e.version = a.default_version
     WHERE a.name = 'vector' AND a.installed_version IS NULL AND ${writeVersionCheck('e.version')}
       AND (current_setting('is_superuser') = 'on' OR e.trusted AND has_database_privilege(current_database(), 'CREATE'))
       AND has_schema_privilege(current_schema(), 'CREATE') AND EXISTS (SELECT 1 FROM vector_space)`,
  )
  if (offered === undefined) return
  // The server may forbid the installation, or another process may have been faster; the library works without pgvector.
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

function canBuild({ isFit, mayCreate }: Extension): boolean {
  return isFit && mayCreate
}

/** The pgvector extension for the stored vectors; undefined when either is missing. */
function readExtension(sql: Sql): Promise<Extension | undefined> {
  return sql.get<Extension>(
    `SELECT quote_ident(n.nspname) AS schema, v.dimensions,
       ${writeVersionCheck('e.extversion')} AND v.dimensions <= ${MAX_DIMENSIONS} AS "isFit",
       has_schema_privilege(current_schema(), 'CREATE') AND pg_has_role(t.relowner, 'USAGE') AS "mayCreate",
       (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(${NAME})) AS "isReady",
       EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE relid = t.oid) AS "isBeingMade"
     FROM vector_space v, pg_class t, pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'vector' AND t.oid = to_regclass('vectors')`,
  )
}

/** SQL for whether a pgvector version supports iterative scans (0.8 or newer). */
export function writeVersionCheck(version: string): string {
  return `string_to_array(substring(${version} FROM '^\\d+\\.\\d+'), '.')::integer[] >= ARRAY[0, 8]`
}

async function createPointFunction(sql: Sql, { schema }: Extension): Promise<void> {
  await sql.run(
    `CREATE OR REPLACE FUNCTION vector_point(kept bytea) RETURNS ${schema}.halfvec
       LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
     RETURN (SELECT array_agg(get_byte(kept, i) - CASE WHEN get_byte(kept, i) > 127 THEN 256 ELSE 0 END ORDER BY i)
       FROM generate_series(${SCALE_BYTES}, length(kept) - 1) i)::${schema}.halfvec`,
  )
}

function writeIndex({ schema, dimensions }: Extension, mode: 'CONCURRENTLY' | ''): string {
  const point = `(${writePoint(schema, dimensions)}) ${schema}.halfvec_cosine_ops`
  const name = writeName({ dimensions })
  return `CREATE INDEX ${mode} ${name} ON vectors USING hnsw (${point}) WHERE ${writeCondition(dimensions)}`
}

/** SQL that turns off statistics, because the server would convert many vectors only to sample their values. */
function writeNoStatistics(extension: Extension): string {
  return `ALTER INDEX ${writeName(extension)} ALTER COLUMN 1 SET STATISTICS 0`
}

function writeName({ dimensions }: Pick<Extension, 'dimensions'>): string {
  return `vectors_nearest_${dimensions}`
}

function writePoint(schema: string, dimensions: number): string {
  return `vector_point(vector)::${schema}.halfvec(${dimensions})`
}

/** SQL condition on the vector length, because leftover rows of another model may exist. */
function writeCondition(dimensions: number): string {
  return `length(vector) = ${dimensions + SCALE_BYTES}`
}
