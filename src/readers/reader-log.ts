import { hasCredentials } from '../core/url/credentials.ts'
import type { FailureType } from '../library/service-call.ts'

/** Something that a reader did, for machines: no bodies, no tokens, no passwords. */
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
  /** What kind of failure it was. */
  readonly failure?: FailureType | 'address-refused' | 'has-credentials' | 'no-content' | 'circuit-open'
  /** Status that the service answered with. */
  readonly status?: number
  /** Calls that were made before. */
  readonly attempt?: number
  readonly delayMs?: number
  /** Pages of the batch: all, and what became of them. */
  readonly total?: number
  readonly loaded?: number
  readonly failed?: number
  /** Characters of the text. */
  readonly length?: number
}

/** Takes what is logged. */
export type Log = (record: LogRecord) => void

/** An address without user name and password. */
export function withoutCredentials(text: string): string {
  if (!hasCredentials(text)) return text
  const url = new URL(text)
  url.username = url.password = ''
  return url.href
}
