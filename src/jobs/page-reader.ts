import { Worker } from 'node:worker_threads'
import type { Sha256, Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { PageReader, PageReading } from '../crawl/ports.ts'
import type { PageAnswer, PageQuestion } from './page-worker.ts'

/** How pages are read. */
export interface PageReaderOptions {
  readonly sha256: Sha256
  /**
   * Pages of more bytes are read in another thread, and smaller ones that have very many elements: they would hold up every other
   * answer for longer than handing them over costs, and the worst of them take 500 times their size. @default 524_288
   */
  readonly threadAboveBytes?: number
  /** What the thread may have for its objects; a page that needs more is a defective one. @default 320 */
  readonly threadMb?: number
  /** How long the thread may take for one page. @default 30_000 */
  readonly pageMs?: number
}

/** A page reader that may have a thread, which must be closed. */
export interface OpenPageReader {
  readonly readPage: PageReader
  /** Ends the thread, and with it the memory it holds, if it has nothing to do. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A thread without work is ended after this time. */
const IDLE_MS = 10_000

/** Opens a page reader. Its thread starts with the first large page. */
export function openPageReader(options: PageReaderOptions): OpenPageReader {
  const { sha256, threadAboveBytes = 524_288, threadMb = 320, pageMs = 30_000 } = options
  const thread = new PageThread(threadMb, pageMs)
  return {
    async readPage(snapshot, key, options = {}) {
      const isLarge = snapshot.body.length > threadAboveBytes || isDense(snapshot.body)
      if (isLarge) return thread.read({ snapshot, key, profile: options.chunks }, options.keepsBody)
      // Loaded with the first page: whoever only searches has no use for what reads HTML.
      const { readPage } = await import('../crawl/read-page.ts')
      return readPage(snapshot, key, sha256, options.chunks)
    },
    rest: () => thread.rest(),
    close: () => thread.close(),
  }
}

/** The most elements, begun and ended, of a page that is read beside everything else. */
const MOST_TAGS = 20_000
const LESS_THAN = 0x3c

/** Whether a page has more elements than can be read in no time. */
function isDense(body: Snapshot['body']): boolean {
  if (body.length <= MOST_TAGS) return false
  const findTag = (from: number): number =>
    typeof body === 'string' ? body.indexOf('<', from) : body.indexOf(LESS_THAN, from)
  let tags = 0
  for (let at = findTag(0); at >= 0; at = findTag(at + 1)) {
    if (++tags > MOST_TAGS) return true
  }
  return false
}

interface Job {
  readonly question: PageQuestion
  /** Memory that is handed over with it. */
  readonly given: ArrayBuffer[]
  readonly resolve: (reading: PageReading) => void
  readonly reject: (error: Error) => void
}

/**
 * One thread that reads pages, one after the other, so that one that brings it down takes no other along. A new thread is started
 * when there is something to read again.
 */
class PageThread {
  readonly #threadMb: number
  readonly #pageMs: number
  readonly #jobs: Job[] = []
  #worker: Worker | undefined
  #current: Job | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(threadMb: number, pageMs: number) {
    this.#threadMb = threadMb
    this.#pageMs = pageMs
  }

  read(question: PageQuestion, keepsBody = false): Promise<PageReading> {
    return new Promise((resolve, reject) => {
      const given = keepsBody ? [] : ownedMemory(question.snapshot)
      this.#jobs.push({ question, given, resolve, reject })
      this.#next()
    })
  }

  async rest(): Promise<void> {
    if (this.#current === undefined) await this.#endWorker()
  }

  async close(): Promise<void> {
    const jobs = [...(this.#current === undefined ? [] : [this.#current]), ...this.#jobs.splice(0)]
    this.#current = undefined
    await this.#endWorker()
    for (const { reject } of jobs) reject(new Error('the page reader was closed'))
  }

  #next(): void {
    if (this.#current !== undefined) return
    clearTimeout(this.#timer)
    const job = this.#jobs.shift()
    if (job === undefined) {
      this.#worker?.unref()
      this.#timer = setTimeout(() => void this.#endWorker(), IDLE_MS).unref()
      return
    }
    const worker = this.#worker ?? this.#start()
    this.#current = job
    this.#timer = setTimeout(
      () => this.#fail(worker, `takes longer than ${this.#pageMs / 1000} s to read`),
      this.#pageMs,
    )
    worker.ref()
    worker.postMessage(job.question, job.given)
  }

  #start(): Worker {
    // Beside this file, built or not.
    const worker = new Worker(new URL(import.meta.url.replace(/page-reader(\.\w+)$/, 'page-worker$1')), {
      resourceLimits: { maxOldGenerationSizeMb: this.#threadMb },
    })
    worker.on('message', (answer: PageAnswer) => {
      const job = this.#current
      if (job === undefined || worker !== this.#worker) return
      this.#current = undefined
      if (answer.type === 'read') job.resolve(answer.reading)
      else job.reject(answer.type === 'defect' ? new PageDefect(answer.problem) : new Error(answer.problem))
      this.#next()
    })
    worker.on('error', (error) => this.#fail(worker, describeDeath(error)))
    worker.on('exit', () => this.#fail(worker, 'ends the thread that reads it'))
    this.#worker = worker
    return worker
  }

  /** Gives the page up that a thread is reading, and the thread. */
  #fail(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return
    const job = this.#current
    this.#current = undefined
    // The next page waits until the memory of this one is free.
    void this.#endWorker().then(() => this.#next())
    job?.reject(new PageDefect(problem))
  }

  async #endWorker(): Promise<void> {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }
}

/** What a page can be handed over with instead of being copied: memory that holds its body and nothing else. */
function ownedMemory({ body }: Snapshot): ArrayBuffer[] {
  if (typeof body === 'string') return []
  const { buffer, byteLength } = body
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

function describeDeath(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'needs more memory than it may have' : 'ends the thread that reads it'
}
