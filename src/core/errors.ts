import { INPUT_ERRORS } from './input-errors.ts'
import { LIBRARY_ERRORS } from './library-errors.ts'
import { SERVER_ERRORS } from './server-errors.ts'

/** The exit codes of the program, with what each means for a script. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed, or a check failed; the message says why',
  2: 'wrong usage or configuration; nothing was done',
  3: 'something that is needed does not exist, or cannot be read or reached',
  4: 'a crawl would have removed too much, and removed nothing',
  5: 'a crawl gave up on a host, or failed to read most pages; `retry` reads the rest later',
  130: 'interrupted, such as by Ctrl-C; what was stored stays',
} as const

/** The meaning of one code on every surface. */
export interface ErrorEntry {
  /** States what happened, with placeholders in braces for the received values. */
  readonly message: string
  /** Tells the reader what to do next. `{advice}` is replaced by advice that depends on the cause. */
  readonly advice: string
  readonly httpStatus: number
  readonly exitCode: keyof typeof EXIT_CODES
}

/** The stable name of a failure, which programs catch and documentation uses. */
export type ErrorCode = keyof typeof INPUT_ERRORS | keyof typeof LIBRARY_ERRORS | keyof typeof SERVER_ERRORS

/** All errors of the program, defined once. Every surface renders this table; codes are never reused. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = { ...INPUT_ERRORS, ...LIBRARY_ERRORS, ...SERVER_ERRORS }

/** A failure with a code from {@link ERRORS}. Catch by `code`, never by message. */
export class PharosError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, string | number>>

  constructor(code: ErrorCode, details: Readonly<Record<string, string | number>> = {}, options?: ErrorOptions) {
    super(fillTemplate(ERRORS[code].message, details), options)
    this.name = 'PharosError'
    this.code = code
    this.details = details
  }

  /** Message, advice, HTTP status and exit code of this failure. A failure may have more specific advice than the table. */
  get entry(): ErrorEntry {
    const entry = ERRORS[this.code]
    return { ...entry, advice: String(this.details['advice'] ?? fillTemplate(entry.advice, this.details)) }
  }
}

/** The error of a wrong argument or input, with what was received and what is expected. */
export function usageError(problem: string): PharosError {
  return new PharosError('USAGE', { problem })
}

/** The code of an error of Node or of a driver, such as `ENOENT`; empty if the error has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The message of an error, without its name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function fillTemplate(template: string, details: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''))
}
