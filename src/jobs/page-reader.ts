import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Extraction, Sha256, Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { DocumentReader, DocumentReading, PageReader, PageReading } from '../crawl/ports.ts'
import { formatOfAnswer } from '../documents/answers.ts'
import type { PageEnd } from './page-process.ts'
import type { PageAnswer, PageQuestion } from './page-worker.ts'

/** How pages are read. */
export interface PageReaderOptions {
  readonly sha256: Sha256
  /**
   * Pages of more bytes are read in another process, and smaller ones that have very many elements: they would hold up every other
   * answer for longer than handing them over costs, and the worst of them take 500 times their size. @default 524_288
   */
  readonly threadAboveBytes?: number
  /** What the thread that reads them there may have for its objects; a page that needs more is a defective one. @default 320 */
  readonly threadMb?: number
  /**
   * How long its process may compute for a small page, in milliseconds; up to four times that for a large one. Time in which the machine
   * is busy with something else does not count. @default 30_000
   */
  readonly pageMs?: number
}

/** A page reader that may have a process, which must be closed. */
export interface OpenPageReader {
  readonly readPage: PageReader
  readonly readDocument: DocumentReader
  /** Reads a page or document without cutting it into chunks, within the same limits. */
  extract(snapshot: Snapshot, name: string, debug: boolean): Promise<Extraction>
  /** Ends the process, and with it the memory it holds, if it has nothing to do. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A process without work is ended after this time. */
const IDLE_MS = 10_000
/** Time for a process to start. */
const START_MS = 60_000

/** Opens a page reader. Its process starts with the first large page or document. */
export function openPageReader(options: PageReaderOptions): OpenPageReader {
  const { sha256, threadAboveBytes = 524_288, threadMb = 320, pageMs = 30_000 } = options
  const apart = new PageProcess(threadMb)
  const limitOf = ({ body }: Snapshot): number =>
    pageMs * Math.min(MOST_TIMES, 1 + Math.floor(body.length / BYTES_A_TIME))
  // The size of a document does not tell what it costs.
  const isCostly = (snapshot: Snapshot): boolean =>
    snapshot.body.length > threadAboveBytes || isDense(snapshot.body) || formatOfAnswer(snapshot) !== undefined
  return {
    async readPage(snapshot, key, options = {}) {
      if (isCostly(snapshot)) {
        const question = { type: 'page', snapshot, key, profile: options.chunks, computeMs: limitOf(snapshot) } as const
        return (await apart.read(question, options.keepsBody)) as PageReading
      }
      // Loaded with the first page: whoever only searches has no use for what reads HTML.
      const { readPage } = await import('../crawl/read-page.ts')
      return readPage(snapshot, key, sha256, options.chunks)
    },
    async readDocument(snapshot, key, options = {}) {
      const question = {
        type: 'document',
        snapshot,
        key,
        profile: options.chunks,
        computeMs: limitOf(snapshot),
      } as const
      return (await apart.read(question, options.keepsBody)) as DocumentReading
    },
    async extract(snapshot, name, debug) {
      if (isCostly(snapshot)) {
        const question = { type: 'extraction', snapshot, key: name, debug, computeMs: limitOf(snapshot) } as const
        return ((await apart.read(question)) as PageReading).extraction
      }
      const { extractPage } = await import('../core/extract/extract-page.ts')
      return extractPage(snapshot, { debug, sha256 })
    },
    rest: () => apart.rest(),
    close: () => apart.close(),
  }
}

/** A page may compute once more as long for each of so many bytes, up to so many times in all. */
const BYTES_A_TIME = 3_000_000
const MOST_TIMES = 4
/**
 * Whoever has not answered after so many times of what it may compute is given up, however busy the machine is: it waits for something
 * that never comes. The run that asks must not take itself for one that stands still.
 */
const PATIENCE = 10
const MOST_PATIENCE_MS = 480_000

/** Most marks of one kind in a page that is read in this process. */
const MOST_MARKS = 20_000
/** Marks that make a page costly in large numbers: elements, links and cells. */
const MARKS = ['<', '[', '|']

/** Whether a page has more elements, links or cells than can be read quickly. */
function isDense(body: Snapshot['body']): boolean {
  return body.length > MOST_MARKS && MARKS.some((mark) => isAbove(body, mark, MOST_MARKS))
}

function isAbove(body: Snapshot['body'], mark: string, most: number): boolean {
  const code = mark.charCodeAt(0)
  const find = (from: number): number =>
    typeof body === 'string' ? body.indexOf(mark, from) : body.indexOf(code, from)
  let count = 0
  for (let at = find(0); at >= 0; at = find(at + 1)) {
    if (++count > most) return true
  }
  return false
}

interface Job {
  readonly question: PageQuestion
  /** Memory that is handed over with it. */
  readonly given: ArrayBuffer[]
  readonly resolve: (reading: PageReading | DocumentReading) => void
  readonly reject: (error: Error) => void
}

/**
 * One process that reads pages, one after the other, so that one that brings it down takes no other along. A new one is started when
 * there is something to read again. A thread of this process would not do: whoever needs very much memory at once ends both.
 */
class PageProcess {
  readonly #threadMb: number
  readonly #jobs: Job[] = []
  #child: ChildProcess | undefined
  #isReady = false
  #current: Job | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(threadMb: number) {
    this.#threadMb = threadMb
  }

  read(question: PageQuestion, keepsBody = false): Promise<PageReading | DocumentReading> {
    return new Promise((resolve, reject) => {
      const given = keepsBody ? [] : ownedMemory(question.snapshot)
      this.#jobs.push({ question, given, resolve, reject })
      this.#next()
    })
  }

  async rest(): Promise<void> {
    if (this.#current === undefined) await this.#endChild()
  }

  async close(): Promise<void> {
    const jobs = [...(this.#current === undefined ? [] : [this.#current]), ...this.#jobs.splice(0)]
    this.#current = undefined
    await this.#endChild()
    for (const { reject } of jobs) reject(new Error('the page reader was closed'))
  }

  #next(): void {
    if (this.#current !== undefined) return
    clearTimeout(this.#timer)
    const job = this.#jobs.shift()
    if (job === undefined) {
      this.#child?.unref()
      this.#child?.channel?.unref()
      this.#timer = setTimeout(() => void this.#endChild(), IDLE_MS).unref()
      return
    }
    const child = this.#child ?? this.#start()
    this.#current = job
    this.#setLimit(child, job)
    child.ref()
    child.channel?.ref()
    child.send(job.question)
    // It has been copied.
    for (const memory of job.given) memory.transfer(0)
  }

  /** What it takes to start a process is no fault of the page. How long it computes, the process itself looks after. */
  #setLimit(child: ChildProcess, { question }: Job): void {
    clearTimeout(this.#timer)
    const [ms, problem] = this.#isReady
      ? [Math.min(PATIENCE * question.computeMs, MOST_PATIENCE_MS), 'is never read to its end']
      : [START_MS, 'waits for a process that does not start']
    this.#timer = setTimeout(() => this.#fail(child, problem), ms)
  }

  #start(): ChildProcess {
    // Beside this file, built or not.
    const file = fileURLToPath(import.meta.url).replace(/page-reader(\.\w+)$/, 'page-process$1')
    const child = fork(file, [String(this.#threadMb)], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('message', (answer: PageAnswer | PageEnd) => {
      const job = this.#current
      if (job === undefined || child !== this.#child) return
      if (answer.type === 'ready') {
        this.#isReady = true
        this.#setLimit(child, job)
        return
      }
      if (answer.type === 'ended') {
        this.#fail(child, answer.problem)
        return
      }
      this.#current = undefined
      if (answer.type === 'read') job.resolve(answer.reading)
      else job.reject(answer.type === 'defect' ? new PageDefect(answer.problem) : new Error(answer.problem))
      this.#next()
    })
    child.on('error', () => this.#fail(child, 'ends the process that reads it'))
    child.on('exit', (_, signal) => this.#fail(child, describeDeath(signal)))
    this.#child = child
    this.#isReady = false
    return child
  }

  /** Gives the page up that a process is reading, and the process. */
  #fail(child: ChildProcess, problem: string): void {
    if (this.#child !== child) return
    const job = this.#current
    this.#current = undefined
    // The next page waits until the memory of this one is free.
    void this.#endChild().then(() => this.#next())
    job?.reject(new PageDefect(problem))
  }

  async #endChild(): Promise<void> {
    clearTimeout(this.#timer)
    const child = this.#child
    this.#child = undefined
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.ref()
    child.kill('SIGKILL')
    await ended
  }
}

/** What a page can be handed over with instead of being copied: memory that holds its body and nothing else. */
function ownedMemory({ body }: Snapshot): ArrayBuffer[] {
  if (typeof body === 'string') return []
  const { buffer, byteLength } = body
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

/** A process that gets no more memory aborts itself. */
function describeDeath(signal: NodeJS.Signals | null): string {
  return signal === 'SIGABRT' ? 'needs more memory than it may have' : 'ends the process that reads it'
}
