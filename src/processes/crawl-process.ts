import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { PharosError } from '../core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../crawl/events.ts'
import { type CrawlInput, crawlSource } from '../library/crawl/crawl-source.ts'
import { type JoinableCrawl, joinCrawl } from '../library/crawl/join-crawl.ts'
import { beginEmbedding, embedDuringCrawl } from '../library/embed/embed-during-crawl.ts'
import { type Frame, writeFinalStats, writeFrame } from '../library/jobs/events/frames.ts'
import type { Library } from '../library/library.ts'
import type { Source } from '../library/source.ts'
import { createCrawlCommands } from './crawl-commands.ts'
import { FrameWriter } from './frame-writer.ts'

/** Options of a crawl process. */
export interface CrawlProcessOptions {
  readonly library: Library
  /** Determines what to crawl. Called after the process has started to read commands of its parent. */
  readonly resolveCrawl: () => Promise<CrawlAssignment>
  /** Receives every event. */
  readonly onEvent: (event: CrawlEvent) => void
  /** Input with commands; its end means that the parent has died. */
  readonly stdin: Readable
  /** Output for frames. */
  readonly stdout: Writable
  /** Stops the crawl. */
  readonly signal: AbortSignal
}

/** A crawl that this process runs, or one that it joins. */
export type CrawlAssignment = { readonly source: Source; readonly input: CrawlInput } | JoinableCrawl

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
  const { library, resolveCrawl, onEvent, stdin, stdout, signal } = options
  const orphaned = new AbortController()
  const abort = () => orphaned.abort(new PharosError('INTERRUPTED'))
  const commands = createCrawlCommands()
  const output = openOutput(stdout, abort)
  const closeInput = readCommands(stdin, commands.execute, abort)
  const stopSignal = AbortSignal.any([signal, orphaned.signal])
  try {
    const assignment = await retryUntilFree(library, stopSignal, resolveCrawl)
    const { source } = assignment
    const writer = new FrameWriter({
      sourceId: source.id,
      startUrl: source.url,
      now: () => library.clock.now(),
      write: output.write,
      say: output.say,
    })
    let summary: CrawlSummary | undefined
    const { control } = commands
    const { first, events } = await retryUntilFree(library, stopSignal, async () => {
      const crawl =
        'joined' in assignment
          ? joinCrawl(library, assignment, stopSignal, control)
          : crawlSource(library, source, { ...assignment.input, control }, stopSignal)
      return { first: await crawl.next(), events: crawl }
    })
    // The process that began a crawl embeds the pages of all processes that joined it.
    const embedding = 'joined' in assignment ? undefined : embedDuringCrawl(library, source)
    try {
      for (let next = first; next.done !== true; next = await events.next()) {
        const event = next.value
        writer.tell(event)
        onEvent(event)
        embedding?.note(event)
        if (event.type === 'ended') summary = event.summary
      }
    } finally {
      await embedding?.stop()
    }
    if (summary === undefined) throw new Error('the crawl ended without a result')
    // A failure is ignored: the server or a worker embeds the rest, and every search reports a model that fails.
    if (embedding !== undefined) await beginEmbedding(library, source, stopSignal).catch(() => undefined)
    output.print(writeFinalStats(writer.progress))
    return { source, summary, signal: stopSignal }
  } finally {
    closeInput()
    await output.close()
  }
}

/** Poll interval for the source to become free. */
const POLL_INTERVAL_MS = 250
/** Margin added to the liveness timeout of the process that still crawls the source. */
const TAKEOVER_MARGIN_MS = 10_000

/**
 * Retries until no other process crawls the source and the library is reachable. A process that was killed, or has lost its server, needs a
 * moment to end, after which this process continues its job.
 */
async function retryUntilFree<T>(
  { clock, limits }: Pick<Library, 'clock' | 'limits'>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const timeoutMs = limits.aliveMs + TAKEOVER_MARGIN_MS
  let until = clock.now() + timeoutMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const code = error instanceof PharosError ? error.code : undefined
      // The timeout starts again, because no process can renew its liveness while the library is unreachable.
      if (code === 'LIBRARY_UNREACHABLE') until = clock.now() + timeoutMs
      else if (code !== 'CRAWL_RUNNING' || clock.now() > until) throw error
    }
    await clock.sleep(POLL_INTERVAL_MS, signal)
  }
}

/** Longer lines are not commands. */
const MAX_COMMAND_LENGTH = 1000

/** Reads commands, one per line. Returns a function that stops reading. */
function readCommands(stdin: Readable, execute: (line: string) => void, onEnd: () => void): () => void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  const read = (data: Buffer) => {
    const parts = (line + decoder.write(data)).split('\n')
    line = parts.pop() ?? ''
    if (line.length > MAX_COMMAND_LENGTH) line = ''
    for (const part of parts) execute(part.trim())
  }
  stdin.on('data', read)
  stdin.on('end', onEnd)
  stdin.on('error', onEnd)
  return () => {
    stdin.off('data', read)
    stdin.off('end', onEnd)
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
const MAX_UNREAD_BYTES = 2 ** 19
/** Maximum number of problems and milestones kept while the output is not read. */
const MAX_KEPT_FRAMES = 1000
/** Maximum time to wait for the output to be read at the end. */
const FLUSH_TIMEOUT_MS = 1000

function openOutput(stdout: Writable, onError: () => void): Output {
  let isBroken = false
  let keptFrames: Frame[] = []
  let latestProgress: Frame | undefined
  let dropped = 0
  const writeLine = (line: string) => {
    if (!isBroken) stdout.write(`${line}\n`)
  }
  const writeBacklog = () => {
    if (dropped > 0) writeLine(`${dropped} frames were dropped because the output was not read`)
    const backlog = latestProgress === undefined ? keptFrames : [...keptFrames, latestProgress]
    for (const frame of backlog) writeLine(writeFrame(frame))
    keptFrames = []
    latestProgress = undefined
    dropped = 0
  }
  const markBroken = () => {
    isBroken = true
    onError()
  }
  stdout.on('drain', writeBacklog)
  stdout.on('error', markBroken)
  return {
    say(line) {
      if (stdout.writableLength < MAX_UNREAD_BYTES) writeLine(line)
      else dropped++
    },
    print(line) {
      writeBacklog()
      writeLine(line)
    },
    write(frame) {
      if (stdout.writableLength < MAX_UNREAD_BYTES) writeLine(writeFrame(frame))
      else if (frame.type === 'PROGRESS') latestProgress = frame
      else if ((frame.type === 'PROBLEM' || frame.type === 'MILESTONE') && keptFrames.length < MAX_KEPT_FRAMES)
        keptFrames.push(frame)
      else dropped++
    },
    async close() {
      const until = Date.now() + FLUSH_TIMEOUT_MS
      while (!isBroken && stdout.writableLength > 0 && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      stdout.off('drain', writeBacklog)
    },
  }
}
