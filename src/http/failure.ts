import { codeOf, type ErrorCode, PharosError } from '../core/errors.ts'
import { redactSecrets } from '../core/secrets.ts'
import { adviceOf, runHref } from './advice.ts'

/** The body of an error response. */
export interface FailureBody {
  readonly error: string
  readonly code: ErrorCode
  /** The id under which the server log has the details. */
  readonly id: string
  /** The next step for the client; absent when there is none. */
  readonly advice?: string
  /** The name of the first invalid field. */
  readonly field?: string
  /** The run that blocks this request, and its page. */
  readonly runId?: string
  readonly detailUrl?: string
}

/** A failure as a response and as a log entry. */
export interface Failure {
  readonly status: number
  readonly body: FailureBody
  /** For the log only: the message may contain paths of this machine. */
  readonly internal: string
}

/** The status in log and metrics of a request whose client disconnected before the response, as in other servers. */
export const CLIENT_CLOSED_REQUEST = 499

/**
 * Describes a failure without exposing the internals of the server. A known error is described in full, without the path of the library.
 * An unavailable library gives only a general reason, and an unexpected error only an id; the log has the rest.
 */
export function describeFailure(error: unknown, id: string): Failure {
  const internal = redactSecrets(writeInternal(error))
  const known = toKnownError(error)
  if (known === undefined) {
    return { status: 500, body: { error: 'unexpected failure', code: 'INTERNAL', id }, internal }
  }
  const { error: failure, status } = known
  const { code, details } = failure
  const hasLibraryPath = 'library' in details && code !== 'LIBRARY_UNUSABLE'
  const publicError = hasLibraryPath ? new PharosError(code, { ...details, library: 'the library' }) : failure
  const advice = adviceOf(publicError)
  const { field, run } = details
  const body = {
    ...{ error: publicError.message, code, id },
    ...(advice === undefined ? {} : { advice }),
    ...(typeof field === 'string' ? { field } : {}),
    ...(code === 'ANALYSIS_RUNNING' ? { runId: String(run), detailUrl: runHref(String(run)) } : {}),
  }
  return { status, body, internal }
}

/** The stack trace of an unexpected error. An unavailable library fails every request, so the log gets only its cause. */
function writeInternal(error: unknown): string {
  if (isStoreFailure(error) && findRootCause(error) instanceof PharosError) return describeStoreFailure(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Why the library cannot be used, for the log. */
export function describeStoreFailure(error: unknown): string {
  const { message, cause } = findRootCause(error)
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}

/** Unwraps STORE_UNAVAILABLE errors down to the original cause. */
function findRootCause(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const isWrapped = error instanceof PharosError && error.code === 'STORE_UNAVAILABLE' && error.cause instanceof Error
  return isWrapped ? findRootCause(error.cause) : error
}

const LOG_ADVICE = 'the server log has the details under this id'

/** Why the library is unavailable, and what helps, in words that are safe for clients: they never reveal where it is stored. */
const PUBLIC_REASONS: Readonly<Partial<Record<ErrorCode, { readonly reason: string; readonly advice?: string }>>> = {
  LIBRARY_UNREACHABLE: { reason: ': its database does not answer' },
  LIBRARY_LOCKED: { reason: ': another process keeps it locked' },
  LIBRARY_FULL: { reason: ': there is no room left for it', advice: `free some space on its disk; ${LOG_ADVICE}` },
  LIBRARY_READ_ONLY: {
    reason: ': it cannot be written',
    advice: `give the server write access to it; ${LOG_ADVICE}`,
  },
  LIBRARY_MISSING: { reason: ': its file is missing' },
}

function unavailableError(error: unknown): PharosError {
  const found = findRootCause(error)
  if (found instanceof PharosError && found.code === 'LIBRARY_UNUSABLE') return unusableError(found)
  const known = found instanceof PharosError ? PUBLIC_REASONS[found.code] : undefined
  return new PharosError('STORE_UNAVAILABLE', { ...known })
}

/** Clients see only messages about damage, because other messages may contain a path of this machine. */
function unusableError({ details: { state, problem = '', advice = '' } }: PharosError): PharosError {
  const library = 'of this server'
  const general = { problem: 'it cannot be opened', advice: LOG_ADVICE }
  return new PharosError('LIBRARY_UNUSABLE', { library, ...(state === 'damaged' ? { problem, advice } : general) })
}

/** Whether the configured library does not exist. This is the only store failure that means an empty library. */
export function isLibraryMissing(error: unknown): boolean {
  const found = findRootCause(error)
  return found instanceof PharosError && found.code === 'LIBRARY_MISSING'
}

/** Whether a failure is about the library as a whole: it cannot be opened, read or written at the moment. */
export function isStoreFailure(error: unknown): boolean {
  if (error instanceof PharosError) return error.code.startsWith('LIBRARY_') || error.code === 'STORE_UNAVAILABLE'
  // A raw SQLite error that no layer has wrapped.
  return codeOf(error).startsWith('SQLITE')
}

function toKnownError(error: unknown): { readonly error: PharosError; readonly status: number } | undefined {
  if (isStoreFailure(error)) return { error: unavailableError(error), status: 503 }
  if (!(error instanceof PharosError) || error.code === 'INTERNAL') return undefined
  return { error, status: error.entry.httpStatus }
}
