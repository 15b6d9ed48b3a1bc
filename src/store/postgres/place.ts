import { PharosError } from '../../core/errors.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { EXAMPLE, hidePassword, parsePostgres } from '../../core/url/postgres-address.ts'

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

/** A kind of value that a parameter may have. */
interface Parameter {
  readonly expected: string
  readonly isGood: (value: string) => boolean
}

const ANY: Parameter = { expected: 'a text', isGood: () => true }
const SECONDS: Parameter = { expected: 'a whole number of seconds', isGood: (value) => /^\d{1,6}$/.test(value) }
const PORT: Parameter = { expected: 'a number', isGood: (value) => /^\d{1,5}$/.test(value) }
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const SSL_MODE: Parameter = { expected: `one of ${SSL_MODES.join(', ')}`, isGood: (value) => SSL_MODES.includes(value) }
const SCHEMA_PARAMETER: Parameter = {
  expected: 'at most 58 small letters, digits and _ that do not begin with pg_',
  isGood: (value) => SCHEMA_NAME.test(value),
}

/** What may stand behind the `?` of an address: ours, and what the driver heeds. */
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
  sslnegotiation: { expected: 'postgres or direct', isGood: (value) => /^(?:postgres|direct)$/.test(value) },
}

/** What addresses that hosts hand out have besides: it may stand there, and hardly makes a difference. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
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

/** Takes an address apart: `schema` names the schema, `connect_timeout` is in seconds as everywhere, all else is the driver's. */
export function parsePlace(address: string): Place {
  const url = parsePostgres(address)
  const problem = url === null ? `expected an address such as ${EXAMPLE}` : findBadParameter(url.searchParams)
  if (url === null || problem !== undefined) {
    throw new PharosError('LIBRARY_UNUSABLE', {
      ...{ library: hidePassword(address), problem: problem ?? '' },
      advice: 'mend the address, then run the same command again',
    })
  }
  const schema = url.searchParams.get('schema') ?? SCHEMA
  const seconds = Number(url.searchParams.get('connect_timeout') ?? 0)
  const connectMs = seconds > 0 ? seconds * 1000 : CONNECT_MS
  return {
    address: spellMode(withoutSchema(address)),
    schema,
    quotedSchema: `"${schema}"`,
    channel: `${schema}_work`,
    connectMs,
    location: hidePassword(address),
  }
}

/** What is wrong with what stands behind the `?`; undefined where nothing is. */
function findBadParameter(given: URLSearchParams): string | undefined {
  for (const [name, value] of given) {
    if (WITHOUT_EFFECT.has(name)) continue
    const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    if (parameter === undefined) {
      const names = Object.keys(PARAMETERS)
      return `it has no parameter ${JSON.stringify(name)}${suggest(findNearest(name, names))}; there are ${names.join(', ')}`
    }
    if (given.getAll(name).length > 1) return `its parameter ${name} is given twice`
    if (!parameter.isGood(value)) return `${name}: expected ${parameter.expected}, got ${JSON.stringify(value)}`
  }
  return undefined
}

/** The driver takes these for `verify-full`, the safest, and says so again and again unless it is named. */
function spellMode(address: string): string {
  return address.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
}

function withoutSchema(address: string): string {
  return address.replace(/([?&])schema=[^&]*(&|$)/, (_, before: string, after: string) => (after === '' ? '' : before))
}
