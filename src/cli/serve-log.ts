import { redactSecrets } from '../core/secrets.ts'
import type { Log } from '../http/ports.ts'
import { type Output, printableLine } from './terminal.ts'

/** How a server says what it does. */
export interface ServeLogOptions {
  /** One JSON object a line instead of text. */
  readonly isJson: boolean
  /** Warnings only. */
  readonly isQuiet: boolean
  /** Whether each request is told, too: a person who watches sees crawls come and go, and would lose them among these. */
  readonly hasRequests: boolean
}

/** What else is known about a message, such as the job it is about. */
type Fields = Readonly<Record<string, unknown>>

/** How the contract has the line of a request begin. */
const REQUEST = /^\[req\] /

/** Says what the server does, one line per message. */
export function createServeLog(output: Output, { isJson, isQuiet, hasRequests }: ServeLogOptions): Log {
  const say = (level: 'info' | 'warn', message: string, fields: Fields = {}): void => {
    if (level === 'info' && (isQuiet || (!hasRequests && REQUEST.test(message)))) return
    const safe = printableLine(redactSecrets(message))
    output.write(`${isJson ? writeJson(level, safe, fields) : writeText(level, safe, fields)}\n`)
  }
  return {
    info: (message, fields) => say('info', message, fields),
    warn: (message, fields) => say('warn', message, fields),
  }
}

function writeJson(level: string, message: string, fields: Fields): string {
  return JSON.stringify({ ts: new Date().toISOString(), level, message, ...fields })
}

/** Of the fields, the job is what a reader looks for; the message says the rest. */
function writeText(level: string, message: string, { jobId }: Fields): string {
  const job = typeof jobId === 'string' && !message.includes(jobId) ? ` job=${printableLine(jobId)}` : ''
  return `${level === 'warn' ? 'warning: ' : ''}${message}${job}`
}
