import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Extraction, Sha256, Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { DocumentReader, DocumentReading, PageReader, PageReading, ReadOptions } from '../crawl/ports.ts'
import { formatOfResponse } from '../documents/response-format.ts'
import type { WorkerEnd } from './page-process.ts'
import type { PageReply, PageRequest } from './page-worker.ts'

/** The limits of a page reader. */
export interface PageReaderOptions {
  readonly sha256: Sha256
  /**
   * Larger pages are read in another process, and so are smaller ones with very many elements: they would delay all other work for longer
   * than the transfer takes, and the worst of them need 500 times their size in memory. @default 524_288
   */
  readonly threadAboveBytes?: number
  /** The heap limit of the reading thread in that process, in MB; a page that needs more counts as defective. @default 320 */
  readonly maxHeapMb?: number
  /** The memory of that process outside the heap, in MB, besides copies of the page itself: mostly unpacked parts of documents. @default 800 */
  readonly maxBufferMb?: number
  /**
   * The CPU time for a small page in milliseconds; a large page gets up to four times as much. Time in which the machine is busy with other
   * work does not count. @default 30_000
   */
  readonly maxCpuMs?: number
}

/** A page reader that may own a process, and must be closed. */
export interface OpenPageReader {
  readonly readPage: PageReader
  readonly readDocument: DocumentReader
  /** Reads a page or document without chunking it, within the same limits. */
  extract(snapshot: Snapshot, name: string, debug: boolean): Promise<Extraction>
  /** Ends the process to free its memory, if it is idle. */
  endIdleProcess(): Promise<void>
  close(): Promise<void>
}

/** An idle process ends after this time. */
const IDLE_TIMEOUT_MS = 10_000
/** Timeout for the start of a process. */
const START_TIMEOUT_MS = 60_000

/** Opens a page reader. Its process starts with the first large page or document. */
export function openPageReader(options: PageReaderOptions): OpenPageReader {
  const { sha256, threadAboveBytes = 524_288, maxHeapMb = 320, maxBufferMb = 800, maxCpuMs = 30_000 } = options
  const pageProcess = new PageProcess(maxHeapMb, maxBufferMb)
  const cpuLimitOf = ({ body }: Snapshot): number =>
    maxCpuMs * Math.min(MAX_CPU_SHARES, 1 + Math.floor(body.length / BYTES_PER_CPU_SHARE))
  // Every document counts as costly, because its size does not indicate its cost.
  const isCostly = (snapshot: Snapshot): boolean =>
    snapshot.body.length > threadAboveBytes || isDense(snapshot.body) || formatOfResponse(snapshot) !== undefined
  const readApart = (type: 'page' | 'document', snapshot: Snapshot, key: string, options: ReadOptions) => {
    const request = { type, snapshot, key, profile: options.chunks, maxCpuMs: cpuLimitOf(snapshot) }
    return pageProcess.read(request, options.keepsBody)
  }
  return {
    async readPage(snapshot, key, options = {}) {
      if (isCostly(snapshot)) {
        return (await readApart('page', snapshot, key, options)) as PageReading
      }
      // Loaded with the first page, because searches do not need the HTML parser.
      const { readPage } = await import('../crawl/read-page.ts')
      return readPage(snapshot, key, sha256, options.chunks)
    },
    async readDocument(snapshot, key, options = {}) {
      return (await readApart('document', snapshot, key, options)) as DocumentReading
    },
    async extract(snapshot, name, debug) {
      if (isCostly(snapshot)) {
        const request = { type: 'extraction', snapshot, key: name, debug, maxCpuMs: cpuLimitOf(snapshot) } as const
        return ((await pageProcess.read(request)) as PageReading).extraction
      }
      const { extractPage } = await import('../core/extract/extract-page.ts')
      return extractPage(snapshot, { debug, sha256 })
    },
    endIdleProcess: () => pageProcess.endIfIdle(),
    close: () => pageProcess.close(),
  }
}

/** A page gets one share of CPU time, and one more for every `BYTES_PER_CPU_SHARE` bytes, up to `MAX_CPU_SHARES`. */
const BYTES_PER_CPU_SHARE = 3_000_000
const MAX_CPU_SHARES = 4
/**
 * Wall-clock limit, as a multiple of the CPU time: a process that exceeds it waits for something that never happens, however busy the
 * machine is. It stays below the time after which a crawl without progress ends itself.
 */
const WALL_CLOCK_FACTOR = 10
const MAX_WALL_CLOCK_MS = 480_000

/** Maximum number of marks of one kind in a page that is read in this process. */
const MAX_MARKS = 20_000

/** Whether a page has too many elements, links or cells to be read quickly, by the marks `<`, `[` and `|`. */
function isDense(body: Snapshot['body']): boolean {
  const { length } = body
  if (length <= MAX_MARKS) return false
  let elements = 0
  let links = 0
  let cells = 0
  for (let i = 0; i < length; i++) {
    const unit = typeof body === 'string' ? body.charCodeAt(i) : body[i]
    if (unit === 0x3c) elements++
    else if (unit === 0x5b) links++
    else if (unit === 0x7c) cells++
  }
  return Math.max(elements, links, cells) > MAX_MARKS
}

interface PageTask {
  readonly request: PageRequest
  /** Memory that is released once the request was sent. */
  readonly ownedBuffers: ArrayBuffer[]
  readonly resolve: (reading: PageReading | DocumentReading) => void
  readonly reject: (error: Error) => void
}

/**
 * A process that reads pages one after another, so that a page that crashes it affects no other page. It is started again when the next
 * page arrives. A thread would not be sufficient: a page that needs too much memory at once would end this process too.
 */
class PageProcess {
  readonly #threadMb: number
  readonly #bufferMb: number
  readonly #tasks: PageTask[] = []
  #child: ChildProcess | undefined
  #isReady = false
  #current: PageTask | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(threadMb: number, bufferMb: number) {
    this.#threadMb = threadMb
    this.#bufferMb = bufferMb
  }

  read(request: PageRequest, keepsBody = false): Promise<PageReading | DocumentReading> {
    return new Promise((resolve, reject) => {
      const ownedBuffers = keepsBody ? [] : listOwnedBuffers(request.snapshot)
      this.#tasks.push({ request, ownedBuffers, resolve, reject })
      this.#next()
    })
  }

  async endIfIdle(): Promise<void> {
    if (this.#current === undefined) await this.#endChild()
  }

  async close(): Promise<void> {
    const unfinished = [...(this.#current === undefined ? [] : [this.#current]), ...this.#tasks.splice(0)]
    this.#current = undefined
    await this.#endChild()
    for (const { reject } of unfinished) reject(new Error('the page reader was closed'))
  }

  #next(): void {
    if (this.#current !== undefined) return
    clearTimeout(this.#timer)
    const task = this.#tasks.shift()
    if (task === undefined) {
      this.#child?.unref()
      this.#child?.channel?.unref()
      this.#timer = setTimeout(() => void this.#endChild(), IDLE_TIMEOUT_MS).unref()
      return
    }
    const child = this.#child ?? this.#start()
    this.#current = task
    this.#setLimit(child, task)
    child.ref()
    child.channel?.ref()
    child.send(task.request)
    // The data has been copied to the child, so the memory can be released.
    for (const buffer of task.ownedBuffers) buffer.transfer(0)
  }

  /** Sets the wall-clock limit. The time to start does not count towards the limit of the page. The process itself checks its CPU time. */
  #setLimit(child: ChildProcess, { request }: PageTask): void {
    clearTimeout(this.#timer)
    const [ms, problem] = this.#isReady
      ? [Math.min(WALL_CLOCK_FACTOR * request.maxCpuMs, MAX_WALL_CLOCK_MS), 'could not be read in time']
      : [START_TIMEOUT_MS, 'could not be read: the reader process did not start']
    this.#timer = setTimeout(() => this.#fail(child, problem), ms)
  }

  #start(): ChildProcess {
    // The script is beside this file, with the same extension.
    const file = fileURLToPath(import.meta.url).replace(/page-reader(\.\w+)$/, 'page-process$1')
    const child = fork(file, [String(this.#threadMb), String(this.#bufferMb)], {
      ...limitMemory(this.#threadMb + this.#bufferMb),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('message', (answer: (PageReply & { readonly isLarge: boolean }) | WorkerEnd) => {
      const task = this.#current
      if (task === undefined || child !== this.#child) return
      if (answer.type === 'ready') {
        this.#isReady = true
        this.#setLimit(child, task)
        return
      }
      if (answer.type === 'ended') {
        this.#fail(child, answer.problem)
        return
      }
      this.#current = undefined
      if (answer.type === 'read') task.resolve(answer.reading)
      else task.reject(answer.type === 'defect' ? new PageDefect(answer.problem) : new Error(answer.problem))
      if (answer.isLarge) void this.#endChild().then(() => this.#next())
      else this.#next()
    })
    child.on('error', () => this.#fail(child, 'crashes the process that reads it'))
    child.on('exit', (_, signal) => this.#fail(child, describeDeath(signal)))
    this.#child = child
    this.#isReady = false
    return child
  }

  /** Gives up the current page, and ends the process. */
  #fail(child: ChildProcess, problem: string): void {
    if (this.#child !== child) return
    const task = this.#current
    this.#current = undefined
    // The next page waits until the memory of this process is free.
    void this.#endChild().then(() => this.#next())
    task?.reject(new PageDefect(problem))
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

/** Memory that a process of Node may reserve without using it, with a margin, in MB. */
const RESERVED_MB = 4096

/**
 * How Node is started with a limit of the system for its memory. The process watches what it really uses, so this limit only ends growth
 * between two looks at it. Only Linux counts all private memory.
 */
function limitMemory(usedMb: number): ForkOptions {
  if (process.platform !== 'linux' || !existsSync('/bin/sh')) return { execArgv: [] }
  const script = `ulimit -d ${(usedMb + RESERVED_MB) * 1024}; exec "$0" "$@"`
  return { execPath: '/bin/sh', execArgv: ['-c', script, process.execPath] }
}

/** The memory that can be released after the body was sent: its buffer, if that contains only the body. */
function listOwnedBuffers({ body }: Snapshot): ArrayBuffer[] {
  if (typeof body === 'string') return []
  const { buffer, byteLength } = body
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

/** A process that runs out of memory aborts itself. */
function describeDeath(signal: NodeJS.Signals | null): string {
  return signal === 'SIGABRT' ? 'needs more memory than allowed' : 'crashes the process that reads it'
}
