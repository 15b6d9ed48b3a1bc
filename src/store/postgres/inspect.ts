import { connectDatabase } from './database/database.ts'
import { createNoAccessError, SCHEMA_VERSION } from './database/schema.ts'
import { writeVersionCheck } from './index/vectors-by-index.ts'

/** Facts about the database of a library. */
export interface Inspection {
  /** `15.8` */
  readonly version: string
  readonly encoding: string
  /** The schema version of the library; 0 when there is none yet. */
  readonly schemaVersion: number
  /** Locations of libraries whose copy into this one is active or was interrupted. */
  readonly incompleteCopies: readonly string[]
  /** Size of the library in bytes, without other contents of the database. */
  readonly bytes: number
  /** Whether the role may create a new library. */
  readonly mayCreate: boolean
  /** Whether the role may write to an existing library. */
  readonly mayWrite: boolean
  /** Whether the role may use the job queue, or create it. */
  readonly mayQueue: boolean
  /** The role and the database, quoted for SQL. */
  readonly role: string
  readonly database: string
  /** The version of pgvector in this database; null when it is not installed. */
  readonly pgvector: string | null
  /** Whether pgvector is new enough to be used. */
  readonly isPgvectorFit: boolean
}

/** Inspects the database of a library without changing it, because the library may be in use, or of another version. */
export interface Inspector {
  /** The address without the password, for display. */
  readonly location: string
  inspect(): Promise<Inspection>
  close(): Promise<void>
}

interface Facts extends Omit<Inspection, 'schemaVersion' | 'incompleteCopies'> {
  readonly hasTables: boolean
  /** Whether a library exists that the role may not read. */
  readonly isShut: boolean
}

/** Opens an inspector. It connects on first use. */
export async function openInspector(address: string): Promise<Inspector> {
  const db = await connectDatabase(address, { connections: 1 })
  return {
    location: db.location,
    async inspect() {
      await db.checkConnection()
      return db.snapshot(async (sql) => {
        const facts = await sql.get<Facts>(FACTS)
        if (facts === undefined) throw new Error('expected facts about the server, got none')
        const { hasTables, isShut, ...rest } = facts
        if (isShut) throw createNoAccessError(db.location)
        const found = hasTables ? await sql.get<{ version: number }>('SELECT version FROM schema_version') : undefined
        const schemaVersion = found?.version ?? 0
        // A library of a newer program may have other tables.
        const isKnown = schemaVersion > 0 && schemaVersion <= SCHEMA_VERSION
        const copies = isKnown ? await sql.all<{ place: string }>(UNFINISHED_COPIES) : []
        return { ...rest, schemaVersion, incompleteCopies: copies.map(({ place }) => place) }
      })
    },
    close: () => db.close(),
  }
}

const UNFINISHED_COPIES = `SELECT plan::json ->> 'place' AS place FROM arrivals WHERE ended_at IS NULL ORDER BY began_at`

/** SQL for the name of the schema of the job queue. */
const JOBS = `trim(BOTH '"' FROM current_setting('search_path')) || '_jobs'`

const FACTS = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    current_setting('server_encoding') AS encoding,
    to_regclass('schema_version') IS NOT NULL AS "hasTables",
    EXISTS (SELECT 1 FROM pg_tables WHERE tablename = 'schema_version'
      AND schemaname = trim(BOTH '"' FROM current_setting('search_path')))
      AND NOT coalesce(has_schema_privilege(to_regnamespace(current_setting('search_path'))::oid, 'USAGE'), false) AS "isShut",
    coalesce(has_table_privilege(to_regclass('sources')::oid, 'INSERT'), false) AS "mayWrite",
    CASE WHEN to_regnamespace(${JOBS}) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(to_regnamespace(${JOBS})::oid, 'USAGE')
        AND coalesce(has_table_privilege(to_regclass(${JOBS} || '.job')::oid, 'INSERT'),
          has_schema_privilege(to_regnamespace(${JOBS})::oid, 'CREATE')) END AS "mayQueue",
    quote_ident(current_user) AS role, quote_ident(current_database()) AS database,
    coalesce(has_schema_privilege(to_regnamespace(current_setting('search_path'))::oid, 'CREATE'),
      has_database_privilege(current_database(), 'CREATE')) AS "mayCreate",
    (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
    EXISTS (SELECT 1 FROM pg_extension e WHERE extname = 'vector' AND ${writeVersionCheck('e.extversion')}) AS "isPgvectorFit",
    (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(current_setting('search_path')) AND c.relkind = 'r') AS bytes`
