import { connectDatabase } from './database.ts'
import { refusalOfShut, SCHEMA_VERSION } from './schema.ts'
import { fitSql } from './vectors-by-index.ts'

/** What is known of the database of a library. */
export interface Inspection {
  /** `15.8` */
  readonly version: string
  readonly encoding: string
  /** The schema of the library; 0 where there is none yet. */
  readonly schemaVersion: number
  /** Where libraries are that were being copied into this one when that was broken off, or still is. */
  readonly arriving: readonly string[]
  /** Bytes of the library; of what else the database holds nothing is counted. */
  readonly bytes: number
  /** Whether the role may make what a new library needs. */
  readonly mayCreate: boolean
  /** Whether the role may change a library that is there. */
  readonly mayWrite: boolean
  /** Whether it may use the queue of jobs, or make it. */
  readonly mayQueue: boolean
  /** The role and the database, as statements have them. */
  readonly role: string
  readonly database: string
  /** The version of pgvector in this database; null where it is not there. */
  readonly pgvector: string | null
  /** Whether it is used: an old one is not. */
  readonly isPgvectorFit: boolean
}

/** Looks at the database of a library, which is left as it is: it may be in use, or of another version. */
export interface Inspector {
  /** Shown to people: without the password. */
  readonly location: string
  inspect(): Promise<Inspection>
  close(): Promise<void>
}

interface Facts extends Omit<Inspection, 'schemaVersion' | 'arriving'> {
  readonly hasTables: boolean
  /** Whether there is a library that the role may not look into. */
  readonly isShut: boolean
}

/** Connects when it is first asked. */
export async function openInspector(address: string): Promise<Inspector> {
  const db = await connectDatabase(address, { connections: 1 })
  return {
    location: db.location,
    async inspect() {
      await db.look()
      return db.snapshot(async (sql) => {
        const facts = await sql.get<Facts>(FACTS)
        if (facts === undefined) throw new Error('the server says nothing about itself')
        const { hasTables, isShut, ...rest } = facts
        if (isShut) throw refusalOfShut(db.location)
        const found = hasTables ? await sql.get<{ version: number }>('SELECT version FROM schema_version') : undefined
        const schemaVersion = found?.version ?? 0
        // One of a newer program may have been made otherwise.
        const isKnown = schemaVersion > 0 && schemaVersion <= SCHEMA_VERSION
        const arriving = isKnown ? await sql.all<{ place: string }>(ARRIVING) : []
        return { ...rest, schemaVersion, arriving: arriving.map(({ place }) => place) }
      })
    },
    close: () => db.close(),
  }
}

const ARRIVING = `SELECT plan::json ->> 'place' AS place FROM arrivals WHERE ended_at IS NULL ORDER BY began_at`

/** The schema of the queue beside that of the library. */
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
    EXISTS (SELECT 1 FROM pg_extension e WHERE extname = 'vector' AND ${fitSql('e.extversion')}) AS "isPgvectorFit",
    (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(current_setting('search_path')) AND c.relkind = 'r') AS bytes`
