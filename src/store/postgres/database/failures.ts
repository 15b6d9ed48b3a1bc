import { codeOf, PharosError } from '../../../core/errors.ts'
import { describeLogin } from '../../../core/url/postgres-login.ts'

/**
 * Error codes after which a transaction may be retried: a serialization failure, a deadlock, or a transaction that stayed idle too long.
 */
const RETRYABLE_CODES: ReadonlySet<string> = new Set(['40001', '40P01', '25P03'])

/**
 * Error codes for a lost server: it is unreachable, shutting down or starting, has no free connection, or ended an idle
 * connection. Poolers use these codes too.
 */
const CONNECTION_LOST_CODES: ReadonlySet<string> = new Set([
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '08P01',
  '25P03',
  '25P04',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ECONNABORTED',
  'EAI_AGAIN',
])

/** Error codes for a read-only server or role. */
const READ_ONLY: ReadonlySet<string> = new Set(['25006', '42501'])

/** Connection errors of the driver that have no code. */
const CONNECTION_LOST_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/

/** All connections of this process stayed in use until the timeout. */
export class PoolExhaustedError extends Error {
  override readonly name = 'PoolExhaustedError'
}

/** Whether work may be retried after a conflict. */
export function isRetryable(error: unknown): boolean {
  return error instanceof PoolExhaustedError || RETRYABLE_CODES.has(codeOf(error))
}

/** Whether no pooled connection became free in time. */
export function isQueueTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** Whether the server itself sent this error. */
export function isServerError(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error)) && !/^E/.test(codeOf(error))
}

/** Whether the server does not know the transaction id. */
export function isUnknownTransaction(error: unknown): boolean {
  return codeOf(error) === '22023'
}

/** Whether the connection to the server was lost. */
export function isConnectionLost(error: unknown): boolean {
  // An error that is already explained may quote the same words.
  if (error instanceof PharosError) return false
  return (
    CONNECTION_LOST_CODES.has(codeOf(error)) || (error instanceof Error && CONNECTION_LOST_MESSAGES.test(error.message))
  )
}

/** Whether a new connection timed out. */
export function isConnectTimeout(error: unknown): boolean {
  return (
    error instanceof Error && /timeout exceeded when trying to connect|due to connection timeout/.test(error.message)
  )
}

/** Turns a failure that needs action outside the program into an error with its own code; returns any other failure unchanged. */
export function explainFailure(error: unknown, library: string): unknown {
  if (error instanceof PharosError || !(error instanceof Error)) return error
  const code = codeOf(error)
  // 57014: another session cancelled the query.
  if (isConnectionLost(error) || code === '57014') {
    const advice = code === '53300' ? { advice: CONNECTION_LIMIT_ADVICE } : {}
    const details = { library, problem: error.message || code, ...advice }
    return new PharosError('LIBRARY_UNREACHABLE', details, { cause: error })
  }
  const problem = explainRefusal(error, code, library)
  if (problem !== undefined) {
    return new PharosError('LIBRARY_UNUSABLE', { library, problem, advice: RETRY_ADVICE }, { cause: error })
  }
  // 55P03: another session holds the lock beyond the timeout.
  if (code === '55P03' || isRetryable(error)) return new PharosError('LIBRARY_LOCKED', { library }, { cause: error })
  if (code === '53100') return new PharosError('LIBRARY_FULL', { library, problem: error.message }, { cause: error })
  if (READ_ONLY.has(code)) {
    const advice = code === '42501' ? { advice: writeGrants(library) } : {}
    return new PharosError('LIBRARY_READ_ONLY', { library, problem: error.message, ...advice }, { cause: error })
  }
  return error
}

/** Advice for refusals, whose problem text already says what to do. */
const RETRY_ADVICE = 'then run the same command again'

/** Advice when the server has no free connections; every process uses a few. */
const CONNECTION_LIMIT_ADVICE =
  'stop processes that use it, raise max_connections of the server or the connection limit of the role, or use a pooler; then run the same command again'

/** The grants that a role needs to use a library of another role. */
export function writeGrants(library: string): string {
  const { role, schema } = describeLogin(library)
  const grants = [
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    `GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
  ]
  return `ask its owner to run: ${grants.join('; ')}`
}

/** Why the server refuses this address, and what to do; undefined for other failures. */
function explainRefusal({ message }: Error, code: string, library: string): string | undefined {
  if (code === '3D000') return `${message}; create it with: ${describeLogin(library).createdb}`
  if (code === '42501' && message.startsWith('permission denied for database')) {
    const { role, database } = describeLogin(library)
    return `${message}; ask an administrator to run: GRANT CONNECT ON DATABASE ${database} TO ${role}`
  }
  if (code === '28P01' || code === '28000')
    return `${message}; correct the user and password in the address, or PGPASSWORD`
  if (code === '26000' || code === '42P05') {
    return `${message}: its pooler mixes up prepared statements; set it to session mode, or connect without it`
  }
  // The driver has no codes for these errors.
  if (/password must be a (?:non-empty )?string/.test(message)) {
    return 'the server requires a password; give it in the address in PHAROS_LIBRARY, or in PGPASSWORD'
  }
  if (/does not support SSL|self.signed certificate|certificate/i.test(message)) {
    return `${message}; give the certificate of its authority with sslrootcert=<file> in the address; sslmode=no-verify skips this check, sslmode=disable turns off encryption`
  }
  return undefined
}
