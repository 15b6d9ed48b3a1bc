import { Worker } from 'node:worker_threads'
import type { Sha256 } from '../core/model.ts'
import type { PageReader, PageReading } from '../crawl/ports.ts'
import { readPage } from '../crawl/read-page.ts'
import type { PageQuestion } from './page-worker.ts'

/** How pages are read. */
export interface PageReaderOptions {
  readonly sha256: Sha256
  /**
   * Pages of more bytes are read in another thread: they would hold up every other answer for longer than handing them
   * over costs. @default 1048576
   */
  readonly threadAboveBytes?: number
}

/** A page reader that may have a thread, which must be closed. */
export interface OpenPageReader {
  readonly readPage: PageReader
  close(): Promise<void>
}

/** Opens a page reader. Its thread starts with the first large page. */
export function openPageReader({ sha256, threadAboveBytes = 1_048_576 }: PageReaderOptions): OpenPageReader {
  const thread = new PageThread()
  return {
    async readPage(snapshot, key) {
      if (snapshot.body.length <= threadAboveBytes) return readPage(snapshot, key, sha256)
      return thread.read({ snapshot, key })
    },
    close: () => thread.close(),
  }
}

type Answer = { readonly id: number; readonly reading?: PageReading; readonly problem?: string }

interface Waiting {
  readonly resolve: (reading: PageReading) => void
  readonly reject: (error: Error) => void
}

/** One thread that reads pages; a new one is started when it dies. */
class PageThread {
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  read(question: Omit<PageQuestion, 'id'>): Promise<PageReading> {
    const id = ++this.#lastId
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, ...question })
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  #start(): Worker {
    // Beside this file, built or not.
    const worker = new Worker(new URL(import.meta.url.replace(/page-reader(\.\w+)$/, 'page-worker$1')))
    worker.on('message', ({ id, reading, problem }: Answer) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) worker.unref()
      if (reading !== undefined) waiting?.resolve(reading)
      else waiting?.reject(new Error(problem))
    })
    worker.on('error', (error) => this.#fail(worker, error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', () => this.#fail(worker, new Error('the thread that reads pages has ended')))
    return worker
  }

  /** A thread that dies takes the pages it was given along, and nothing else. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
