import { Worker } from 'node:worker_threads'
import { type ErrorCode, PharosError } from '../core/errors.ts'
import type { Library } from '../library/library.ts'
import { searchLibrary } from '../library/operations/search-library.ts'
import type { SearchAnswer, SearchInput } from '../library/search.ts'

/** What a search thread is asked. */
export interface SearchQuestion {
  readonly number: number
  readonly input: SearchInput
}

/** What it says: that it is ready, an answer, or why there is none. */
export type SearchReply =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly number: number; readonly answer: SearchAnswer }
  | { readonly type: 'failure'; readonly number: number; readonly failure: SearchFailure }

/** An error as it goes from one thread to another. */
export interface SearchFailure {
  /** Null for one that is not in the table of errors. */
  readonly code: ErrorCode | null
  readonly details: PharosError['details']
  readonly message: string
}

/** How a library is searched in threads. */
export interface SearchPoolOptions {
  /** The library as this thread has it. */
  readonly open: () => Promise<Library>
  /** The program of a search thread, and what it is given. */
  readonly program: URL
  readonly data: unknown
  /** So many threads. */
  readonly size: number
}

/** Searches in threads, which must be closed. */
export interface SearchPool {
  /** Threads that have the library open. */
  readonly ready: number
  search(input: SearchInput, signal?: AbortSignal): Promise<SearchAnswer>
  close(): Promise<void>
}

/** Threads that nobody asked for so long are ended, and with them the memory they hold. */
const IDLE_MS = 60_000

/**
 * Searches a library in threads of their own, each with the library open: a search keeps a processor busy for some milliseconds, in
 * which this thread could answer nobody else. They are started by the first search, which is answered here, as all are while no
 * thread is ready and where meanings take part: the model is in a process of its own, and one of them is enough.
 */
export function openSearchPool({ open, program, data, size }: SearchPoolOptions): SearchPool {
  let threads: SearchThread[] = []
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const endAll = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = threads
    threads = []
    await Promise.all(ended.map((thread) => thread.end()))
  }
  const findThread = (): SearchThread | undefined => {
    threads = threads.filter(({ isGone }) => !isGone)
    while (!isClosed && threads.length < size) threads.push(new SearchThread(program, data))
    clearTimeout(idle)
    idle = setTimeout(() => void endAll(), IDLE_MS).unref()
    const ready = threads.filter(({ isReady }) => isReady)
    return ready.toSorted((a, b) => a.waiting - b.waiting)[0]
  }
  return {
    get ready() {
      return threads.filter(({ isReady }) => isReady).length
    },
    async search(input, signal) {
      const library = await open()
      const hasMeanings = (await library.vectors?.readSpace()) !== undefined
      const thread = hasMeanings || isClosed ? undefined : findThread()
      if (thread === undefined) return searchLibrary(library, input, signal)
      const answer = await thread.ask(input)
      signal?.throwIfAborted()
      // A thread that broke has taken the question with it, and none of what it was to do.
      return answer ?? searchLibrary(library, input, signal)
    },
    async close() {
      isClosed = true
      await endAll()
    },
  }
}

/** One thread with the library open. */
class SearchThread {
  isReady = false
  isGone = false
  readonly #worker: Worker
  readonly #asked = new Map<number, { resolve(answer: SearchAnswer | undefined): void; reject(error: Error): void }>()
  #last = 0

  constructor(program: URL, data: unknown) {
    this.#worker = new Worker(program, { workerData: data })
    this.#worker.unref()
    this.#worker.on('message', (reply: SearchReply) => this.#hear(reply))
    this.#worker.on('error', () => this.#leave())
    this.#worker.on('exit', () => this.#leave())
  }

  /** Questions that it has not answered. */
  get waiting(): number {
    return this.#asked.size
  }

  /** Undefined when the thread breaks before it answers. */
  ask(input: SearchInput): Promise<SearchAnswer | undefined> {
    const number = ++this.#last
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject })
      this.#worker.postMessage({ number, input } satisfies SearchQuestion)
    })
  }

  async end(): Promise<void> {
    this.#leave()
    await this.#worker.terminate()
  }

  #hear(reply: SearchReply): void {
    if (reply.type === 'ready') {
      this.isReady = true
      return
    }
    const asked = this.#asked.get(reply.number)
    this.#asked.delete(reply.number)
    if (reply.type === 'answer') asked?.resolve(reply.answer)
    else asked?.reject(toError(reply.failure))
  }

  #leave(): void {
    this.isGone = true
    this.isReady = false
    for (const { resolve } of this.#asked.values()) resolve(undefined)
    this.#asked.clear()
  }
}

function toError({ code, details, message }: SearchFailure): Error {
  return code === null ? new Error(message) : new PharosError(code, details)
}
