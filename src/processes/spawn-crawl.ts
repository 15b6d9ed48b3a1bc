import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../core/errors.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd, ProcessIdentity } from '../library/jobs/runner.ts'
import { isAlive } from './runner.ts'

/** How crawl processes are started. */
export interface SpawnOptions {
  /** The program, such as Node. */
  readonly command: string
  /** Arguments before those of the crawl. */
  readonly args: readonly string[]
  /** The environment. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Maximum number of characters in a line; longer ones are cut. @default 8192 */
  readonly maxLineChars?: number
}

const MAX_LINE_CHARS = 8192
/** Frames get a much higher limit than other lines, because truncated JSON is useless. */
const FRAME_FACTOR = 32

/** Starts crawls as processes of this machine, without a shell. */
export function createSpawnRunner(options: SpawnOptions): CrawlRunner {
  return {
    start(args, onLine) {
      try {
        return startCrawl(options, args, onLine)
      } catch (error) {
        // Spawning throws if the arguments are invalid, or too long for the system.
        return createFailed(Promise.resolve(messageOf(error)))
      }
    },
    isAlive: isSameProcess,
    kill(identity, signal) {
      try {
        if (isSameProcess(identity)) process.kill(identity.pid, signal)
      } catch {
        // The process has just ended, or belongs to another user.
      }
    },
  }
}

function startCrawl(
  { command, args: baseArgs, env, maxLineChars = MAX_LINE_CHARS }: SpawnOptions,
  args: readonly string[],
  onLine: (stream: 'stdout' | 'stderr', line: string) => void,
): CrawlProcess {
  const child = spawn(command, [...baseArgs, ...args], {
    stdio: 'pipe',
    windowsHide: true,
    ...(env === undefined ? {} : { env }),
  })
  // There is no `stdin` if the system has no file descriptors left for pipes; it reports the reason asynchronously.
  if ((child.stdin as Writable | undefined) === undefined) {
    return createFailed(new Promise((resolve) => child.on('error', ({ message }) => resolve(message))))
  }
  let hasEnded = false
  // A failed write is ignored, because the end of the process is reported anyway.
  child.stdin.on('error', () => undefined)
  const readers = (['stdout', 'stderr'] as const).map((name) => {
    const stream = child[name]
    return readLines(stream, maxLineChars, (line) => onLine(name, line))
  })
  const ended = new Promise<ProcessEnd>((resolve) => {
    const end = (result: ProcessEnd) => {
      if (hasEnded) return
      hasEnded = true
      resolve(result)
    }
    child.on('error', (error) => {
      // The error may also be a signal that could not be sent, which does not end the process.
      if (child.pid === undefined) end({ code: null, signal: null, problem: `could not be started: ${error.message}` })
    })
    child.on('close', (code, signal) => end({ code, signal, problem: null }))
    // A descendant may keep the pipes of the process open after the process has ended.
    child.on('exit', () => {
      setTimeout(() => {
        for (const stopReading of readers) stopReading()
      }, OUTPUT_GRACE_MS).unref()
    })
  })
  const { pid } = child
  const identity = pid === undefined ? null : { pid, began: readStartTime(pid) }
  return {
    identity,
    ended,
    send(command) {
      if (hasEnded || pid === undefined || !child.stdin.writable || child.stdin.writableLength > MAX_UNREAD_BYTES)
        return false
      return child.stdin.write(`${command}\n`) || child.stdin.writable
    },
    kill(signal) {
      // The pid may be reused once the process has ended.
      if (!hasEnded && pid !== undefined && child.exitCode === null && child.signalCode === null) child.kill(signal)
    },
  }
}

/** A process that could not be started. */
function createFailed(reason: Promise<string>): CrawlProcess {
  const ended = reason.then((message) => ({ code: null, signal: null, problem: `could not be started: ${message}` }))
  return { identity: null, ended, send: () => false, kill: () => undefined }
}

/** Grace period for the output of a process after its end. */
const OUTPUT_GRACE_MS = 1000
/** Maximum number of command bytes that the process has not read. */
const MAX_UNREAD_BYTES = 65_536

/** Splits a stream into lines, and passes each on. A line that is too long is cut and marked. Returns a function that stops reading. */
function readLines(stream: Readable, maxChars: number, onLine: (line: string) => void): () => void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  let dropped = 0
  const take = (part: string): void => {
    const whole = line + part
    const limit = FRAME.test(whole) ? maxChars * FRAME_FACTOR : maxChars
    line = whole.slice(0, limit)
    dropped += whole.length - line.length
  }
  const end = (): void => {
    if (line.endsWith('\r')) line = line.slice(0, -1)
    const cut = dropped > 0 ? ` … (${dropped} more characters were cut off)` : ''
    if (line !== '' || cut !== '') onLine(line + cut)
    line = ''
    dropped = 0
  }
  stream.on('data', (data: Buffer) => {
    const parts = decoder.write(data).split('\n')
    parts.forEach((part, i) => {
      take(part)
      if (i < parts.length - 1) end()
    })
  })
  stream.on('end', () => {
    take(decoder.end())
    end()
  })
  stream.on('error', () => undefined)
  return () => stream.destroy()
}

const FRAME = /^[A-Z]{1,12} \{/

/** The start time of a process in the units of the system; null if it is unknown. */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program name is in parentheses, and may contain spaces and parentheses itself.
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields[18]
    // A zombie counts as ended.
    if (ticks === undefined || state === 'Z' || state === 'X') return null
    // The ticks count from the boot of the machine, so the boot id is part of the value.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}/${ticks}`
  } catch {
    return null
  }
}

/** Whether the same process is still running, as far as the system can tell. */
function isSameProcess({ pid, began }: ProcessIdentity): boolean {
  const startTime = readStartTime(pid)
  if (began !== null || startTime !== null) return began !== null && startTime === began && isAlive(pid)
  return isAlive(pid)
}
