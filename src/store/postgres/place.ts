import { PharosError } from '../../core/errors.ts'
import { hidePassword, parsePostgres } from '../../core/url/postgres-address.ts'

/** Where a library in PostgreSQL is. */
export interface Place {
  /** What the driver is given. */
  readonly address: string
  /** The schema that its tables are in. */
  readonly schema: string
  /** The same as it is written in a statement: some names mean something else without quotes. */
  readonly quotedSchema: string
  /** The channel by which processes that share the library wake each other. */
  readonly channel: string
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectMs: number
  /** Shown to people: the address without its password. */
  readonly location: string
}

const SCHEMA = 'pharos'
const CONNECT_MS = 10_000
/** As long as a name may be to which `_work` or `_jobs` is added; those that begin with `pg_` are the server's. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,57}$/

/** Takes an address apart: `schema` names the schema, `connect_timeout` is in seconds as everywhere, all else is the driver's. */
export function parsePlace(address: string): Place {
  const url = parsePostgres(address)
  if (url === null) {
    const problem = 'expected an address such as postgres://user@host:5432/database'
    throw new PharosError('LIBRARY_UNUSABLE', { library: hidePassword(address), problem })
  }
  const schema = url.searchParams.get('schema') ?? SCHEMA
  if (!SCHEMA_NAME.test(schema)) {
    const problem = `expected a schema of at most 58 small letters, digits and _ that does not begin with pg_, got ${JSON.stringify(schema)}`
    throw new PharosError('LIBRARY_UNUSABLE', { library: hidePassword(address), problem })
  }
  const seconds = Number(url.searchParams.get('connect_timeout') ?? 0)
  const connectMs = seconds > 0 ? seconds * 1000 : CONNECT_MS
  return {
    address: withoutSchema(address),
    schema,
    quotedSchema: `"${schema}"`,
    channel: `${schema}_work`,
    connectMs,
    location: hidePassword(address),
  }
}

function withoutSchema(address: string): string {
  return address.replace(/([?&])schema=[^&]*(&|$)/, (_, before: string, after: string) => (after === '' ? '' : before))
}
