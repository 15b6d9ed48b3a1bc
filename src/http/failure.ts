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
  const internal = redactSecrets(error instanceof Error ? (error.stack ?? error.message) : String(error))
  const known = knownOf(error)
  if (known === undefined) {
    return { status: 500, body: { error: 'unexpected failure', code: 'INTERNAL', id }, internal }
  }
  const { error: failure, status } = known
  const { code, details } = failure
  const told = new PharosError(code, 'library' in details ? { ...details, library: 'the library' } : details)
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

/** Whether a failure is about the library as a whole: it cannot be opened, read or written at the moment. */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof PharosError) return error.code.startsWith('LIBRARY_') || error.code === 'STORE_UNAVAILABLE'
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // What the database itself says, wherever nobody put it into words.
  return typeof code === 'string' && code.startsWith('SQLITE')
}

function knownOf(error: unknown): { readonly error: PharosError; readonly status: number } | undefined {
  if (error instanceof StatusError) return { error: error.cause, status: error.status }
  if (isStoreTrouble(error)) return { error: new PharosError('STORE_UNAVAILABLE'), status: 503 }
  if (!(error instanceof PharosError) || error.code === 'INTERNAL') return undefined
  return { error, status: error.entry.httpStatus }
}
