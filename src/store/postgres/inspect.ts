import { connectDatabase } from './database.ts'
import { fitSql } from './vectors-by-index.ts'

/** What is known of the database of a library. */
export interface Inspection {
  /** `15.8` */
  readonly version: string
  readonly encoding: string
  /** The schema of the library; 0 where there is none yet. */
  readonly schemaVersion: number
  /** Bytes of the library; of what else the database holds nothing is counted. */
  readonly bytes: number
  /** Whether the role may make what a new library needs. */
  readonly mayCreate: boolean
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

/** Connects when it is first asked. */
export async function openInspector(address: string): Promise<Inspector> {
  const db = await connectDatabase(address, { connections: 1 })
  return {
    location: db.location,
    async inspect() {
      const facts = await db.get<Omit<Inspection, 'schemaVersion'> & { hasTables: boolean }>(FACTS)
      if (facts === undefined) throw new Error('the server says nothing about itself')
      const { hasTables, ...rest } = facts
      const found = hasTables ? await db.get<{ version: number }>('SELECT version FROM schema_version') : undefined
      return { ...rest, schemaVersion: found?.version ?? 0 }
    },
    close: () => db.close(),
  }
}

const FACTS = `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    current_setting('server_encoding') AS encoding,
    to_regclass('schema_version') IS NOT NULL AS "hasTables",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
    (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
    EXISTS (SELECT 1 FROM pg_extension e WHERE extname = 'vector' AND ${fitSql('e.extversion')}) AS "isPgvectorFit",
    (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(current_setting('search_path')) AND c.relkind = 'r') AS bytes`
