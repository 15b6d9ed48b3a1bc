import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** A line of the log: a file that could not be read, or that is readable again. */
export interface FailureLine {
  readonly file_path: string
  readonly file_name: string
  readonly timestamp: string
  /** Why the file was read: `startup`, `catch-up`, `created`, `modified`, `retry`; `resolved` and `deleted` end an earlier failure. */
  readonly event_type: string
  readonly error_type: string | null
  readonly error_message: string | null
  readonly retry_count: number
}

/** Size from which the log is rotated, replacing the previous rotated file. */
const MAX_LOG_BYTES = 2 ** 20

/** Appends a line to a log of failures, which takes at most two files of `maxBytes` each. */
export function appendFailure(file: string, line: FailureLine, maxBytes: number = MAX_LOG_BYTES): void {
  const text = `${JSON.stringify(line)}\n`
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > 0 && size + Buffer.byteLength(text) > maxBytes) renameSync(file, `${file}.1`)
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, text)
}
