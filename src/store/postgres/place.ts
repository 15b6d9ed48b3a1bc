import { PharosError } from '../../core/errors.ts'
import { hidePassword, parsePostgres } from '../../core/url/postgres-address.ts'

/** Where a library in PostgreSQL is. */
export interface Place {
  /** What the driver is given. */
  readonly address: string
  /** The schema that its tables are in. */
  readonly schema: string
  /** How long a connection may take to be made, in milliseconds. */
  readonly connectMs: number
  /** Shown to people: the address without its password. */
  readonly location: string
}

const SCHEMA = 'pharos'
const CONNECT_MS = 10_000
/** As long as a name may be, and nothing that has to be quoted. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** Takes an address apart: `schema` names the schema, `connect_timeout` is in seconds as everywhere, all else is the driver's. */
export function parsePlace(address: string): Place {
  const url = parsePostgres(address)
  if (url === null) {
    const problem = 'expected an address such as postgres://user@host:5432/database'
    throw new PharosError('LIBRARY_UNUSABLE', { library: hidePassword(address), problem })
  }
  const schema = url.searchParams.get('schema') ?? SCHEMA
  if (!SCHEMA_NAME.test(schema)) {
    const problem = `expected a schema of small letters, digits and _, got ${JSON.stringify(schema)}`
    throw new PharosError('LIBRARY_UNUSABLE', { library: hidePassword(address), problem })
  }
  const seconds = Number(url.searchParams.get('connect_timeout') ?? 0)
  const connectMs = seconds > 0 ? seconds * 1000 : CONNECT_MS
  return { address: withoutSchema(address), schema, connectMs, location: hidePassword(address) }
}

function withoutSchema(address: string): string {
  return address.replace(/([?&])schema=[^&]*(&|$)/, (_, before: string, after: string) => (after === '' ? '' : before))
}
