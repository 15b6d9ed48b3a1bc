import { type ErrorCode, PharosError } from '../core/errors.ts'
import { redactSecrets } from '../core/secrets.ts'
import { adviceOf } from './advice.ts'
import { runHref } from './run-records.ts'

/** What whoever asked in vain is told. */
export interface FailureBody {
  readonly error: string
  readonly code: ErrorCode
  /** By which the log tells more. */
  readonly id: string
  /** What can be done next; only where whoever asked can do it. */
  readonly advice?: string
  /** What is wrong of what was given, by the name it was given under; the first where several are. */
  readonly field?: string
  /** The run that is in the way, and its page. */
  readonly runId?: string
  readonly detailUrl?: string
}

/** A failure as it is answered, and as it is logged. */
export interface Failure {
  readonly status: number
  readonly body: FailureBody
  /** For the log alone: it may name files of this machine. */
  readonly internal: string
}

/** A failure that this route answers with another status than the table of errors has. */
export class StatusError extends Error {
  readonly status: number
  override readonly cause: PharosError

  constructor(status: number, cause: PharosError) {
    super(cause.message, { cause })
    this.status = status
    this.cause = cause
  }
}

/**
 * Tells what went wrong without telling how the server is made: what whoever asked has done wrong is said in full, with the place of
 * the library left out; of everything else only the code and an id are told, and the log has the rest.
 */
export function describeFailure(error: unknown, id: string): Failure {
  const internal = redactSecrets(writeInternal(error))
  const known = knownOf(error)
  if (known === undefined) {
    return { status: 500, body: { error: 'unexpected failure', code: 'INTERNAL', id }, internal }
  }
  const { error: failure, status } = known
  const { code, details } = failure
  const isPlace = 'library' in details && code !== 'LIBRARY_UNUSABLE'
  const told = isPlace ? new PharosError(code, { ...details, library: 'the library' }) : failure
  const advice = adviceOf(told)
  const { field, run } = details
  const body = {
    ...{ error: told.message, code, id },
    ...(advice === undefined ? {} : { advice }),
    ...(typeof field === 'string' ? { field } : {}),
    ...(code === 'ANALYSIS_RUNNING' ? { runId: String(run), detailUrl: runHref(String(run)) } : {}),
  }
  return { status, body, internal }
}

/** Where it came from, of what nobody expects; of a library that is away only why: that is told with every request. */
function writeInternal(error: unknown): string {
  if (isStoreTrouble(error) && innermost(error) instanceof PharosError) return describeTrouble(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** Why the library cannot be used, for the log. */
export function describeTrouble(error: unknown): string {
  const { message, cause } = innermost(error)
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}

/** What was wrapped in order to say that it is about the library. */
function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const isWrapped = error instanceof PharosError && error.code === 'STORE_UNAVAILABLE' && error.cause instanceof Error
  return isWrapped ? innermost(error.cause) : error
}

/** Why the library cannot be used, as far as it is the business of whoever asked: where it is kept is not. */
const TOLD: Readonly<Partial<Record<ErrorCode, string>>> = {
  LIBRARY_UNREACHABLE: ': its database does not answer',
  LIBRARY_LOCKED: ': another process keeps it locked',
  LIBRARY_FULL: ': there is no room left for it',
  LIBRARY_READ_ONLY: ': it cannot be written',
  LIBRARY_MISSING: ': its file is missing',
}

function unavailable(error: unknown): PharosError {
  const found = innermost(error)
  if (found instanceof PharosError && found.code === 'LIBRARY_UNUSABLE') return unusable(found)
  const reason = (found instanceof PharosError && TOLD[found.code]) || ''
  return new PharosError('STORE_UNAVAILABLE', { reason })
}

/** Only messages about damage are shown: others may name a path of this machine. */
function unusable({ details: { state, problem = '', advice = '' } }: PharosError): PharosError {
  const library = 'of this server'
  const told = { problem: 'it cannot be opened', advice: 'the log of the server tells under this id what is wrong' }
  return new PharosError('LIBRARY_UNUSABLE', { library, ...(state === 'damaged' ? { problem, advice } : told) })
}

/** Whether there is no library at the place that was configured: the one trouble in which it holds nothing. */
export function isMissing(error: unknown): boolean {
  const found = innermost(error)
  return found instanceof PharosError && found.code === 'LIBRARY_MISSING'
}

/** Whether a failure is about the library as a whole: it cannot be opened, read or written at the moment. */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof PharosError) return error.code.startsWith('LIBRARY_') || error.code === 'STORE_UNAVAILABLE'
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // What the database itself says, wherever nobody put it into words.
  return typeof code === 'string' && code.startsWith('SQLITE')
}

function knownOf(error: unknown): { readonly error: PharosError; readonly status: number } | undefined {
  if (error instanceof StatusError) return { error: error.cause, status: error.status }
  if (isStoreTrouble(error)) return { error: unavailable(error), status: 503 }
  if (!(error instanceof PharosError) || error.code === 'INTERNAL') return undefined
  return { error, status: error.entry.httpStatus }
}
