import { redactSecrets } from '../../core/secrets.ts'
import type { Log } from '../../http/ports.ts'
import { type Output, printableLine } from '../terminal.ts'

/** The format and verbosity of the log of a server. */
export interface ServeLogOptions {
  /** Whether each line is a JSON object instead of text. */
  readonly isJson: boolean
  /** Whether only warnings are written. */
  readonly isQuiet: boolean
  /** Whether requests are logged. At a terminal they would drown the lines about crawls. */
  readonly hasRequests: boolean
}

/** Structured data of a message, such as the job it is about. */
type Fields = Readonly<Record<string, unknown>>

/** The prefix of a request line in the log format. */
const REQUEST = /^\[req\] /

/** Creates a log that writes one line per message. */
export function createServeLog(output: Output, { isJson, isQuiet, hasRequests }: ServeLogOptions): Log {
  const writeLine = (level: 'info' | 'warn', message: string, fields: Fields = {}): void => {
    if (level === 'info' && (isQuiet || (!hasRequests && REQUEST.test(message)))) return
    const safe = printableLine(redactSecrets(message))
    output.write(`${isJson ? writeJson(level, safe, fields) : writeText(level, safe, fields)}\n`)
  }
  return {
    info: (message, fields) => writeLine('info', message, fields),
    warn: (message, fields) => writeLine('warn', message, fields),
  }
}

function writeJson(level: string, message: string, fields: Fields): string {
  const safeFields = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? redactSecrets(value) : value,
  ])
  return JSON.stringify({ ts: new Date().toISOString(), level, message, ...Object.fromEntries(safeFields) })
}

/** Text lines show the job and, for a warning, the fields that lead to its cause. */
function writeText(level: string, message: string, fields: Fields): string {
  const { jobId, id, code, problem } = fields
  const job = typeof jobId === 'string' && !message.includes(jobId) ? ` job=${printableLine(jobId)}` : ''
  if (level === 'info') return `${message}${job}`
  const parts = Object.entries({ id, code }).map(([name, value]) =>
    typeof value === 'string' ? ` ${name}=${printableLine(value)}` : '',
  )
  return `warning: ${message}${job}${parts.join('')}${typeof problem === 'string' ? ` problem=${writeIndented(problem)}` : ''}`
}

/** Indents the lines after the first, for example of a stack trace. */
function writeIndented(text: string): string {
  return redactSecrets(text).split('\n').map(printableLine).join('\n    ')
}
