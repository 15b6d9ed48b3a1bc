import { hasCredentials } from '../core/url/credentials.ts'
import type { FailureType } from '../library/service-call.ts'

/** A log record of a reader, without bodies, tokens or passwords. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  readonly event:
    | 'batch-started'
    | 'batch-ended'
    | 'page-read'
    | 'page-failed'
    | 'call-retried'
    | 'circuit-opened'
    | 'circuit-closed'
  readonly url?: string
  /** Kind of failure. */
  readonly failure?: FailureType | 'address-refused' | 'has-credentials' | 'no-content' | 'circuit-open'
  /** HTTP status of the service. */
  readonly status?: number
  /** Number of earlier attempts. */
  readonly attempt?: number
  readonly delayMs?: number
  /** Counts of the batch's pages: all, successful and failed. */
  readonly total?: number
  readonly loaded?: number
  readonly failed?: number
  /** Characters of the text. */
  readonly length?: number
}

/** Receives log records. */
export type Log = (record: LogRecord) => void

/** A log whose failures, also late ones, end nothing else. */
export function neverFailing(log: Log): Log {
  return (record) => {
    // An async function turns an exception into a rejection, too.
    void (async () => log(record))().catch(() => undefined)
  }
}

/** A URL without user name and password. */
export function withoutCredentials(text: string): string {
  if (!hasCredentials(text)) return text
  const url = new URL(text)
  url.username = url.password = ''
  return url.href
}
