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
  const told = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? redactSecrets(value) : value,
  ])
  return JSON.stringify({ ts: new Date().toISOString(), level, message, ...Object.fromEntries(told) })
}

/** The job is what a reader looks for, and of a warning all that leads to its cause; the message says the rest. */
function writeText(level: string, message: string, fields: Fields): string {
  const { jobId, id, code, problem } = fields
  const job = typeof jobId === 'string' && !message.includes(jobId) ? ` job=${printableLine(jobId)}` : ''
  if (level === 'info') return `${message}${job}`
  const named = Object.entries({ id, code }).map(([name, value]) =>
    typeof value === 'string' ? ` ${name}=${printableLine(value)}` : '',
  )
  return `warning: ${message}${job}${named.join('')}${typeof problem === 'string' ? ` problem=${writeIndented(problem)}` : ''}`
}

/** What may have several lines, such as the stack of a failure: those after the first stand further in. */
function writeIndented(text: string): string {
  return redactSecrets(text).split('\n').map(printableLine).join('\n    ')
}
