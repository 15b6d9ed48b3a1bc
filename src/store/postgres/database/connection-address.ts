import { PharosError } from '../../../core/errors.ts'
import { findNearest, suggest } from '../../../core/text/nearest.ts'
import { EXAMPLE_ADDRESS, hidePassword, parsePostgres } from '../../../core/url/postgres-address.ts'

/** The location of a library in PostgreSQL. */
export interface ConnectionAddress {
  /** The connection string for the driver. */
  readonly address: string
  /** The schema that contains the tables. */
  readonly schema: string
  /** The schema quoted for SQL, because some names are keywords. */
  readonly quotedSchema: string
  /** The channel on which processes that share the library notify each other. */
  readonly channel: string
  /** Connect timeout in milliseconds. */
  readonly connectMs: number
  /** The address without its password, for display. */
  readonly location: string
}

const SCHEMA = 'pharos'
const CONNECT_TIMEOUT_MS = 10_000
/** Schema names leave room for the suffixes `_work` and `_jobs`; the prefix `pg_` is reserved by the server. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,57}$/

/** The valid values of a parameter. */
interface Parameter {
  readonly expected: string
  readonly isValid: (value: string) => boolean
}

const ANY: Parameter = { expected: 'a text', isValid: () => true }
const SECONDS: Parameter = { expected: 'a whole number of seconds', isValid: (value) => /^\d{1,6}$/.test(value) }
const PORT: Parameter = { expected: 'a number', isValid: (value) => /^\d{1,5}$/.test(value) }
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const SSL_MODE: Parameter = {
  expected: `one of ${SSL_MODES.join(', ')}`,
  isValid: (value) => SSL_MODES.includes(value),
}
const SCHEMA_PARAMETER: Parameter = {
  expected: 'at most 58 lowercase letters, digits and _, not beginning with pg_',
  isValid: (value) => SCHEMA_NAME.test(value),
}

/** Supported URL parameters: our own, and those of the driver. */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  schema: SCHEMA_PARAMETER,
  connect_timeout: SECONDS,
  host: ANY,
  port: PORT,
  user: ANY,
  password: ANY,
  sslmode: SSL_MODE,
  sslrootcert: ANY,
  sslcert: ANY,
  sslkey: ANY,
  application_name: ANY,
  options: ANY,
  sslnegotiation: { expected: 'postgres or direct', isValid: (value) => /^(?:postgres|direct)$/.test(value) },
}

/** Parameters in addresses of hosted databases. Their values are not checked. */
const UNCHECKED_PARAMETERS: ReadonlySet<string> = new Set([
  'channel_binding',
  'client_encoding',
  'fallback_application_name',
  'gssencmode',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'pgbouncer',
  'target_session_attrs',
  'tcp_user_timeout',
])

/** Parses an address: `schema` names the schema, `connect_timeout` is in seconds, and all other parameters go to the driver. */
export function parseConnectionAddress(address: string): ConnectionAddress {
  const url = parsePostgres(address)
  const problem = url === null ? `expected an address such as ${EXAMPLE_ADDRESS}` : findBadParameter(url.searchParams)
  if (url === null || problem !== undefined) {
    throw new PharosError('LIBRARY_UNUSABLE', {
      ...{ library: hidePassword(address), problem: problem ?? '' },
      advice: 'correct the address, then run the same command again',
    })
  }
  const schema = url.searchParams.get('schema') ?? SCHEMA
  const seconds = Number(url.searchParams.get('connect_timeout') ?? 0)
  const connectMs = seconds > 0 ? seconds * 1000 : CONNECT_TIMEOUT_MS
  return {
    address: writeSslMode(withoutSchema(address)),
    schema,
    quotedSchema: `"${schema}"`,
    channel: `${schema}_work`,
    connectMs,
    location: hidePassword(address),
  }
}

/** Describes the first invalid URL parameter; undefined when all are valid. */
function findBadParameter(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    if (UNCHECKED_PARAMETERS.has(name)) continue
    const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    if (parameter === undefined) {
      const names = Object.keys(PARAMETERS)
      return `unknown parameter ${JSON.stringify(name)}${suggest(findNearest(name, names))}; known parameters are ${names.join(', ')}`
    }
    if (parameters.getAll(name).length > 1) return `its parameter ${name} is given twice`
    if (!parameter.isValid(value)) return `${name}: expected ${parameter.expected}, got ${JSON.stringify(value)}`
  }
  return undefined
}

/** Replaces weaker SSL modes by `verify-full`. The driver already treats them as `verify-full`, but warns each time. */
function writeSslMode(address: string): string {
  return address.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

function withoutSchema(address: string): string {
  return address.replace(/([?&])schema=[^&]*(&|$)/, (_, before: string, after: string) => (after === '' ? '' : before))
}
