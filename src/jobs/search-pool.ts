import { type ResourceLimits, Worker } from 'node:worker_threads'
import { type ErrorCode, messageOf, PharosError } from '../core/errors.ts'
import type { Library } from '../library/library.ts'
import { type DuplicateList, type DuplicatesInput, listDuplicates } from '../library/operations/list-duplicates.ts'
import { searchLibrary } from '../library/operations/search-library.ts'
import type { SearchAnswer, SearchInput } from '../library/search.ts'

/** A request to a search thread. */
export type SearchQuestion = { readonly number: number } & ThreadTask

/** A task of a thread. */
type ThreadTask =
  | { readonly task: 'search'; readonly input: SearchInput }
  | { readonly task: 'duplicates'; readonly input: DuplicatesInput }

type ThreadAnswer = SearchAnswer | DuplicateList

/** A message of a thread: ready, an answer, or a failure. */
export type SearchReply =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly number: number; readonly answer: ThreadAnswer }
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
  /** Number of threads. */
  readonly size: number
  /** Told when threads cannot be used, once until they can. */
  readonly warn?: (message: string) => void
}

/** Searches in threads, which must be closed. */
export interface SearchPool {
  /** Threads that have the library open. */
  readonly ready: number
  search(input: SearchInput, signal?: AbortSignal): Promise<SearchAnswer>
  /** Compares all pages, which takes seconds where there are very many: that is left to a thread, even if it has to be started first. */
  listDuplicates(input: DuplicatesInput, signal?: AbortSignal): Promise<DuplicateList>
  close(): Promise<void>
}

/**
 * Threads that nobody asked for so long are ended. The system has most of their memory back then, but not all: of 220 MB that two of
 * them took, 50 MB stayed with the process, for whatever it needs next.
 */
const IDLE_MS = 60_000
/** Threads that could not open the library are not started again before this. */
const BROKEN_MS = 30_000
/** Left to itself, the nursery of each grows until it is as large as all the rest: two of them took 490 MB then, and 200 MB so. */
const RESOURCES: ResourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/**
 * Searches a library in threads of their own, each with the library open: a search keeps a processor busy for some milliseconds, in
 * which this thread could answer nobody else. They are started by the first search, which is answered here, as all are while no
 * thread is ready and where meanings take part: the model is in a process of its own, and one of them is enough.
 */
export function openSearchPool({ open, program, data, size, warn }: SearchPoolOptions): SearchPool {
  let threads: SearchThread[] = []
  /** Tells the library that the threads were started for from one that was put in its place: each has vectors of its own. */
  let openFor: Library['vectors']
  let brokenAt: number | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const endAll = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = threads
    threads = []
    await Promise.all(ended.map((thread) => thread.end()))
  }
  const noteBroken = (problem: string): void => {
    if (brokenAt === undefined) warn?.(`searches are answered without threads of their own: ${problem}`)
    brokenAt = performance.now()
  }
  const startThread = (): SearchThread =>
    new SearchThread(program, data, {
      onReady: () => {
        brokenAt = undefined
      },
      onBroken: noteBroken,
    })
  const findThread = ({ vectors }: Library): SearchThread | undefined => {
    // The library was opened again; these threads have the earlier one open.
    if (vectors !== openFor) void endAll()
    openFor = vectors
    threads = threads.filter(({ isGone }) => !isGone)
    const isResting = brokenAt !== undefined && performance.now() - brokenAt < BROKEN_MS
    while (!isClosed && !isResting && threads.length < size) threads.push(startThread())
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
      const thread = hasMeanings || isClosed ? undefined : findThread(library)
      if (thread === undefined) return searchLibrary(library, input, signal)
      const answer = await thread.ask({ task: 'search', input })
      signal?.throwIfAborted()
      // A thread that broke has taken the question with it, and none of what it was to do.
      return (answer as SearchAnswer | undefined) ?? searchLibrary(library, input, signal)
    },
    async listDuplicates(input, signal) {
      const library = await open()
      const thread = isClosed ? undefined : (findThread(library) ?? threads[0])
      const answer = await thread?.ask({ task: 'duplicates', input })
      signal?.throwIfAborted()
      return (answer as DuplicateList | undefined) ?? listDuplicates(library, input, signal)
    },
    async close() {
      isClosed = true
      await endAll()
    },
  }
}

/** Told how a thread fares. */
interface ThreadHearer {
  readonly onReady: () => void
  /** It has never been ready. */
  readonly onBroken: (problem: string) => void
}

/** One thread with the library open. */
class SearchThread {
  isReady = false
  isGone = false
  readonly #worker: Worker
  readonly #asked = new Map<number, { resolve(answer: ThreadAnswer | undefined): void; reject(error: Error): void }>()
  #last = 0

  readonly #hearer: ThreadHearer

  constructor(program: URL, data: unknown, hearer: ThreadHearer) {
    this.#hearer = hearer
    this.#worker = new Worker(program, { workerData: data, resourceLimits: RESOURCES })
    this.#worker.unref()
    this.#worker.on('message', (reply: SearchReply) => this.#hear(reply))
    this.#worker.on('error', (error) => this.#break(messageOf(error)))
    this.#worker.on('exit', () => this.#break('a thread ended by itself'))
  }

  /** Questions that it has not answered. */
  get waiting(): number {
    return this.#asked.size
  }

  /** Undefined when the thread breaks before it answers. One that is not ready yet answers when it is. */
  ask(task: ThreadTask): Promise<ThreadAnswer | undefined> {
    const number = ++this.#last
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject })
      this.#worker.postMessage({ number, ...task } satisfies SearchQuestion)
    })
  }

  async end(): Promise<void> {
    this.#leave()
    await this.#worker.terminate()
  }

  #hear(reply: SearchReply): void {
    if (reply.type === 'ready') {
      this.isReady = true
      this.#hearer.onReady()
      return
    }
    const asked = this.#asked.get(reply.number)
    this.#asked.delete(reply.number)
    if (reply.type === 'answer') asked?.resolve(reply.answer)
    else asked?.reject(toError(reply.failure))
  }

  /** One that was ready will be again; one that never was would end the same way at once. */
  #break(problem: string): void {
    const isNews = !this.isReady && !this.isGone
    this.#leave()
    if (isNews) this.#hearer.onBroken(problem)
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
