import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { messageOf } from '../core/errors.ts'
import type { CrawlProcess, CrawlRunner, ProcessEnd, ProcessMark } from '../library/dispatch/runner.ts'
import { isAlive } from './runner.ts'

/** How crawls are started. */
export interface SpawnOptions {
  /** The program, such as the one that runs Node. */
  readonly command: string
  /** What it is told before what is told of a crawl. */
  readonly args: readonly string[]
  /** Its environment. @default that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Characters of a line beyond which it is cut. @default 8192 */
  readonly maxLineChars?: number
}

const MAX_LINE_CHARS = 8192
/** Frames are never cut by people's measure: half of their JSON is worth nothing. */
const FRAME_FACTOR = 32

/** Starts crawls as processes of this machine, without a shell. */
export function createSpawnRunner(options: SpawnOptions): CrawlRunner {
  return {
    start(args, tell) {
      try {
        return startCrawl(options, args, tell)
      } catch (error) {
        // What it is told is longer than the system takes, or is nothing that can be told.
        return createFailed(Promise.resolve(messageOf(error)))
      }
    },
    isAlive: isSame,
    kill(mark, signal) {
      try {
        if (isSame(mark)) process.kill(mark.pid, signal)
      } catch {
        // It has just gone, or is somebody else's.
      }
    },
  }
}

function startCrawl(
  { command, args: first, env, maxLineChars = MAX_LINE_CHARS }: SpawnOptions,
  args: readonly string[],
  tell: (stream: 'stdout' | 'stderr', line: string) => void,
): CrawlProcess {
  const child = spawn(command, [...first, ...args], {
    stdio: 'pipe',
    windowsHide: true,
    ...(env === undefined ? {} : { env }),
  })
  // There is nothing left to make pipes of, for which the system gives its reason in a moment.
  if ((child.stdin as Writable | undefined) === undefined) {
    return createFailed(new Promise((resolve) => child.on('error', ({ message }) => resolve(message))))
  }
  let isOver = false
  // Whatever cannot be written any more is told by its end.
  child.stdin.on('error', () => undefined)
  const told = (['stdout', 'stderr'] as const).map((name) => {
    const stream = child[name]
    return readLines(stream, maxLineChars, (line) => tell(name, line))
  })
  const ended = new Promise<ProcessEnd>((resolve) => {
    const end = (result: ProcessEnd) => {
      if (isOver) return
      isOver = true
      resolve(result)
    }
    child.on('error', (error) => {
      // It may also be that a signal could not be sent, which ends nothing.
      if (child.pid === undefined) end({ code: null, signal: null, problem: `could not be started: ${error.message}` })
    })
    child.on('close', (code, signal) => end({ code, signal, problem: null }))
    // Something that the process has started may keep its pipes open when it is gone.
    child.on('exit', () => {
      setTimeout(() => {
        for (const stop of told) stop()
      }, LAST_WORDS_MS).unref()
    })
  })
  const { pid } = child
  const mark = pid === undefined ? null : { pid, began: readBegin(pid) }
  return {
    mark,
    ended,
    send(command) {
      if (isOver || pid === undefined || !child.stdin.writable || child.stdin.writableLength > MOST_UNREAD) return false
      return child.stdin.write(`${command}\n`) || child.stdin.writable
    },
    kill(signal) {
      // Its number may be given to another one once it is over.
      if (!isOver && pid !== undefined && child.exitCode === null && child.signalCode === null) child.kill(signal)
    },
  }
}

/** One that could not be started. */
function createFailed(reason: Promise<string>): CrawlProcess {
  const ended = reason.then((message) => ({ code: null, signal: null, problem: `could not be started: ${message}` }))
  return { mark: null, ended, send: () => false, kill: () => undefined }
}

/** How long what a process has printed is waited for after its end. */
const LAST_WORDS_MS = 1000
/** Bytes of commands that a process has not taken. */
const MOST_UNREAD = 65_536

/** Splits what a stream brings into lines, and tells each. One that is too long is cut, and says so. Gives what ends that. */
function readLines(stream: Readable, maxChars: number, tell: (line: string) => void): () => void {
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
    if (line !== '' || cut !== '') tell(line + cut)
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

/** When a process began, in the words of the system; null where it does not tell. */
function readBegin(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in brackets, and may hold spaces and brackets itself.
    const [state = '', ...facts] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = facts[18]
    // One that is over and was not collected yet is as good as gone.
    if (ticks === undefined || state === 'Z' || state === 'X') return null
    // They are counted since the machine was started.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}/${ticks}`
  } catch {
    return null
  }
}

/** Whether a process is still there: the same one, as far as the system tells. */
function isSame({ pid, began }: ProcessMark): boolean {
  const now = readBegin(pid)
  if (began !== null || now !== null) return began !== null && now === began && isAlive(pid)
  return isAlive(pid)
}
