import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { PharosError } from '../core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../crawl/events.ts'
import { type Frame, writeFinalStats, writeFrame } from '../library/dispatch/frames.ts'
import type { Library } from '../library/library.ts'
import { type CrawlInput, crawlSource } from '../library/operations/crawl-source.ts'
import { beginEmbedding, embedArrivals } from '../library/operations/embed-arrivals.ts'
import { type Joining, joinCrawl } from '../library/operations/join-crawl.ts'
import type { Source } from '../library/source.ts'
import { createSwitches } from './crawl-switches.ts'
import { createFrameWriter } from './frame-writer.ts'

/** Options of a crawl process. */
export interface CrawlProcessOptions {
  readonly library: Library
  /** Determines what to crawl. Called after the process has started to read commands of its parent. */
  readonly takeUp: () => Promise<TakenCrawl>
  /** Receives every event. */
  readonly note: (event: CrawlEvent) => void
  /** Input with commands; its end means that the parent has died. */
  readonly stdin: Readable
  /** Output for frames. */
  readonly stdout: Writable
  /** Stops the crawl. */
  readonly signal: AbortSignal
}

/** A crawl that this process runs, or one that it joins. */
export type TakenCrawl = { readonly source: Source; readonly input: CrawlInput } | Joining

/** The result of the crawl. */
export interface CrawlProcessResult {
  readonly source: Source
  readonly summary: CrawlSummary
  /** Aborted when the crawl was stopped, by a command or because the parent has died. */
  readonly signal: AbortSignal
}

/**
 * Runs the crawl of a job: prints frames, obeys commands, and stops when the parent has died. Unread output does not block the crawl:
 * frames about single addresses are then dropped and counted.
 */
export async function runCrawlProcess(options: CrawlProcessOptions): Promise<CrawlProcessResult> {
  const { library, takeUp, note, stdin, stdout, signal } = options
  const gone = new AbortController()
  const leave = () => gone.abort(new PharosError('INTERRUPTED'))
  const switches = createSwitches()
  const output = openOutput(stdout, leave)
  const closeInput = readCommands(stdin, switches.obey, leave)
  const either = AbortSignal.any([signal, gone.signal])
  try {
    const taken = await whenFree(library, either, takeUp)
    const { source } = taken
    const writer = createFrameWriter({
      sourceId: source.id,
      startUrl: source.url,
      now: () => library.clock.now(),
      write: output.write,
      say: output.say,
    })
    let summary: CrawlSummary | undefined
    const { control } = switches
    const { first, events } = await whenFree(library, either, async () => {
      const begun =
        'joined' in taken
          ? joinCrawl(library, taken, either, control)
          : crawlSource(library, source, { ...taken.input, control }, either)
      return { first: await begun.next(), events: begun }
    })
    // The process that began a crawl embeds the pages of all processes that joined it.
    const arrivals = 'joined' in taken ? undefined : embedArrivals(library, source)
    try {
      for (let next = first; next.done !== true; next = await events.next()) {
        const event = next.value
        writer.tell(event)
        note(event)
        arrivals?.note(event)
        if (event.type === 'ended') summary = event.summary
      }
    } finally {
      await arrivals?.stop()
    }
    if (summary === undefined) throw new Error('the crawl ended without saying so')
    // The server or a worker embeds the rest. Every search reports a model that fails.
    if (arrivals !== undefined) await beginEmbedding(library, source, either).catch(() => undefined)
    output.print(writeFinalStats(writer.progress))
    return { source, summary, signal: either }
  } finally {
    closeInput()
    await output.close()
  }
}

/** Poll interval for the source to become free. */
const LOOK_MS = 250
/** Added to the time after which a silent process counts as dead, while waiting for that process. */
const MORE_MS = 10_000

/**
 * Retries until no other process crawls the source and the library is reachable. A process that was killed, or has lost its server, needs a
 * moment to end, after which this process continues its job.
 */
async function whenFree<T>({ clock, limits }: Library, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const patienceMs = limits.aliveMs + MORE_MS
  let until = clock.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const code = error instanceof PharosError ? error.code : undefined
      // While the library is unreachable, no process can renew its liveness or lose it.
      if (code === 'LIBRARY_UNREACHABLE') until = clock.now() + patienceMs
      else if (code !== 'CRAWL_RUNNING' || clock.now() > until) throw error
    }
    await clock.sleep(LOOK_MS, signal)
  }
}

/** Longer lines are not commands. */
const MOST_COMMAND = 1000

/** Reads commands, one per line. Returns a function that stops reading. */
function readCommands(stdin: Readable, obey: (line: string) => void, leave: () => void): () => void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  const read = (data: Buffer) => {
    const parts = (line + decoder.write(data)).split('\n')
    line = parts.pop() ?? ''
    if (line.length > MOST_COMMAND) line = ''
    for (const part of parts) obey(part.trim())
  }
  stdin.on('data', read)
  stdin.on('end', leave)
  stdin.on('error', leave)
  return () => {
    stdin.off('data', read)
    stdin.off('end', leave)
    // Pending input must not keep the process alive.
    stdin.destroy()
  }
}

/** The output of frames and lines. */
interface Output {
  readonly write: (frame: Frame) => void
  /** Prints a line for users, unless too much output is unread. */
  readonly say: (line: string) => void
  /** Prints a line for users after all pending frames. */
  readonly print: (line: string) => void
  /** Waits briefly until the output has been read. */
  readonly close: () => Promise<void>
}

/** Backlog of unread output in bytes above which frames are dropped. */
const MOST_UNREAD = 2 ** 19
/** Maximum number of problems and milestones kept while the output is not read. */
const MOST_KEPT = 1000
/** Maximum time to wait for the output to be read at the end. */
const LAST_WAIT_MS = 1000

function openOutput(stdout: Writable, leave: () => void): Output {
  let isGone = false
  let kept: Frame[] = []
  let latest: Frame | undefined
  let dropped = 0
  const put = (line: string) => {
    if (!isGone) stdout.write(`${line}\n`)
  }
  const catchUp = () => {
    if (dropped > 0) put(`${dropped} frames were dropped because the output was not read`)
    for (const frame of latest === undefined ? kept : [...kept, latest]) put(writeFrame(frame))
    kept = []
    latest = undefined
    dropped = 0
  }
  const lose = () => {
    isGone = true
    leave()
  }
  stdout.on('drain', catchUp)
  stdout.on('error', lose)
  return {
    say(line) {
      if (stdout.writableLength < MOST_UNREAD) put(line)
      else dropped++
    },
    print(line) {
      catchUp()
      put(line)
    },
    write(frame) {
      if (stdout.writableLength < MOST_UNREAD) put(writeFrame(frame))
      else if (frame.type === 'PROGRESS') latest = frame
      else if ((frame.type === 'PROBLEM' || frame.type === 'MILESTONE') && kept.length < MOST_KEPT) kept.push(frame)
      else dropped++
    },
    async close() {
      const until = Date.now() + LAST_WAIT_MS
      while (!isGone && stdout.writableLength > 0 && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      stdout.off('drain', catchUp)
    },
  }
}
