import { type ResourceLimits, Worker } from 'node:worker_threads'
import { type ErrorCode, messageOf, PharosError } from '../core/errors.ts'
import { Semaphore } from '../crawl/semaphore.ts'
import { type ChangeList, type ChangesInput, compareVersions } from '../library/changes/compare-versions.ts'
import type { Library } from '../library/library.ts'
import { type DuplicateList, type DuplicatesInput, listDuplicates } from '../library/search/list-duplicates.ts'
import { searchLibrary } from '../library/search/search-library.ts'
import type { SearchAnswer, SearchInput } from '../library/search.ts'

/** A request to a search thread. */
export type SearchRequest = { readonly number: number } & ThreadTask

/** A task of a thread. */
type ThreadTask =
  | { readonly task: 'search'; readonly input: SearchInput }
  | { readonly task: 'duplicates'; readonly input: DuplicatesInput }
  | { readonly task: 'changes'; readonly input: SentChangesInput }

type ThreadResult = SearchAnswer | DuplicateList | ChangeList

/** Functions cannot be sent between threads. */
type SentChangesInput = Omit<ChangesInput, 'readUses'>

/** A message from a thread: ready, an answer, or a failure. */
export type SearchReply =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly number: number; readonly answer: ThreadResult }
  | { readonly type: 'failure'; readonly number: number; readonly failure: SearchFailure }

/** An error in a form that can be sent between threads. */
export interface SearchFailure {
  /** Null for errors that are not in the table of errors. */
  readonly code: ErrorCode | null
  readonly details: PharosError['details']
  readonly message: string
}

/** The configuration of a pool. */
export interface SearchPoolOptions {
  /** Opens the library in this thread. */
  readonly open: () => Promise<Library>
  /** The script of a search thread, and its data. */
  readonly program: URL
  readonly data: unknown
  /** Number of threads. */
  readonly size: number
  /** Called once when threads cannot be used, and again only if they worked in between. */
  readonly warn?: (message: string) => void
}

/** A pool of search threads, which must be closed. */
export interface SearchPool {
  /** The number of threads that have the library open. */
  readonly readyCount: number
  search(input: SearchInput, signal?: AbortSignal): Promise<SearchAnswer>
  /** Compares all pages, which takes seconds in a large library, so it waits for a thread even if it must be started first. */
  listDuplicates(input: DuplicatesInput, signal?: AbortSignal): Promise<DuplicateList>
  /**
   * Compares two versions of a source, one comparison at a time, because each reads all pages of both.
   * @throws {PharosError} `COMPARISONS_FULL` if too many wait already
   */
  compareVersions(input: SentChangesInput, signal?: AbortSignal): Promise<ChangeList>
  close(): Promise<void>
}

/** Maximum number of comparisons that run or wait. */
const MAX_COMPARISONS = 8

/**
 * Idle threads end after this time. That returns most of their memory: of 220 MB that two threads used, 50 MB stayed allocated to the
 * process.
 */
const IDLE_TIMEOUT_MS = 60_000
/** Cool-down before threads that could not open the library are started again. */
const RESTART_COOLDOWN_MS = 30_000
/** Heap limits. By default the young generation grows as large as everything else: two threads used 490 MB instead of 200 MB. */
const RESOURCES: ResourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/**
 * Searches a library in threads that each have it open, because a search blocks its thread for some milliseconds. The first search starts
 * the threads and runs in this thread, as do all searches while no thread is ready. Semantic searches always run in this thread, because
 * every other thread would have to load the model again.
 */
export function openSearchPool({ open, program, data, size, warn }: SearchPoolOptions): SearchPool {
  let threads: SearchThread[] = []
  /** Identifies the library that the threads were started for: a reopened library has a new `vectors` object. */
  let openFor: Library['vectors']
  let brokenAt: number | undefined
  let idleTimer: NodeJS.Timeout | undefined
  let isClosed = false
  const compareNext = createComparisonQueue()

  const endAll = async (): Promise<void> => {
    clearTimeout(idleTimer)
    const ended = threads
    threads = []
    await Promise.all(ended.map((thread) => thread.end()))
  }
  const watchIdleTime = (): void => {
    clearTimeout(idleTimer)
    // A comparison of large versions may take longer than this time.
    const end = () => (threads.some(({ waiting }) => waiting > 0) ? watchIdleTime() : void endAll())
    idleTimer = setTimeout(end, IDLE_TIMEOUT_MS).unref()
  }
  const noteBroken = (problem: string): void => {
    if (brokenAt === undefined) warn?.(`searches run on the main thread: ${problem}`)
    brokenAt = performance.now()
  }
  const startThread = (): SearchThread =>
    new SearchThread(program, data, {
      onReady: () => {
        brokenAt = undefined
      },
      onBroken: noteBroken,
    })
  const findThread = ({ vectors }: Pick<Library, 'vectors'>): SearchThread | undefined => {
    // The library was opened again, and these threads have the previous one open.
    if (vectors !== openFor) void endAll()
    openFor = vectors
    threads = threads.filter(({ isGone }) => !isGone)
    const isCoolingDown = brokenAt !== undefined && performance.now() - brokenAt < RESTART_COOLDOWN_MS
    while (!isClosed && !isCoolingDown && threads.length < size) threads.push(startThread())
    watchIdleTime()
    const ready = threads.filter(({ isReady }) => isReady)
    return ready.toSorted((a, b) => a.waiting - b.waiting)[0]
  }
  return {
    get readyCount() {
      return threads.filter(({ isReady }) => isReady).length
    },
    async search(input, signal) {
      const library = await open()
      const hasVectors = (await library.vectors?.readSpace()) !== undefined
      const thread = hasVectors || isClosed ? undefined : findThread(library)
      if (thread === undefined) return searchLibrary(library, input, signal)
      const answer = await thread.ask({ task: 'search', input })
      signal?.throwIfAborted()
      // If the thread broke, the search is repeated in this thread; it had no side effects.
      return (answer as SearchAnswer | undefined) ?? searchLibrary(library, input, signal)
    },
    async listDuplicates(input, signal) {
      const library = await open()
      const thread = isClosed ? undefined : (findThread(library) ?? threads[0])
      const answer = await thread?.ask({ task: 'duplicates', input })
      signal?.throwIfAborted()
      return (answer as DuplicateList | undefined) ?? listDuplicates(library, input, signal)
    },
    compareVersions: (input, signal) =>
      compareNext(async () => {
        signal?.throwIfAborted()
        const library = await open()
        const thread = isClosed ? undefined : (findThread(library) ?? threads[0])
        const answer = await thread?.ask({ task: 'changes', input })
        signal?.throwIfAborted()
        return (answer as ChangeList | undefined) ?? compareVersions(library, input, signal)
      }),
    async close() {
      isClosed = true
      await endAll()
    },
  }
}

/** Creates a function that runs comparisons one at a time, in the order of the calls. */
function createComparisonQueue(): (compare: () => Promise<ChangeList>) => Promise<ChangeList> {
  const places = new Semaphore<symbol>(1)
  let count = 0
  return async (compare) => {
    if (count >= MAX_COMPARISONS) throw new PharosError('COMPARISONS_FULL', { count })
    const holder = Symbol('comparison')
    count++
    try {
      await places.acquire(holder)
      return await compare()
    } finally {
      count--
      places.release(holder)
    }
  }
}

/** Receives the state of a thread. */
interface ThreadListener {
  readonly onReady: () => void
  /** Called if the thread ends before it was ready. */
  readonly onBroken: (problem: string) => void
}

/** One thread with the library open. */
class SearchThread {
  isReady = false
  isGone = false
  readonly #worker: Worker
  readonly #pending = new Map<number, { resolve(answer: ThreadResult | undefined): void; reject(error: Error): void }>()
  #lastNumber = 0

  readonly #listener: ThreadListener

  constructor(program: URL, data: unknown, listener: ThreadListener) {
    this.#listener = listener
    this.#worker = new Worker(program, { workerData: data, resourceLimits: RESOURCES })
    this.#worker.unref()
    this.#worker.on('message', (reply: SearchReply) => this.#handleReply(reply))
    this.#worker.on('error', (error) => this.#break(messageOf(error)))
    this.#worker.on('exit', () => this.#break('a search thread ended unexpectedly'))
  }

  /** The number of unanswered requests. */
  get waiting(): number {
    return this.#pending.size
  }

  /** Resolves to undefined if the thread breaks first. A thread that is not ready yet answers later. */
  ask(task: ThreadTask): Promise<ThreadResult | undefined> {
    const number = ++this.#lastNumber
    return new Promise((resolve, reject) => {
      this.#pending.set(number, { resolve, reject })
      this.#worker.postMessage({ number, ...task } satisfies SearchRequest)
    })
  }

  async end(): Promise<void> {
    this.#leave()
    await this.#worker.terminate()
  }

  #handleReply(reply: SearchReply): void {
    if (reply.type === 'ready') {
      this.isReady = true
      this.#listener.onReady()
      return
    }
    const pending = this.#pending.get(reply.number)
    this.#pending.delete(reply.number)
    if (reply.type === 'answer') pending?.resolve(reply.answer)
    else pending?.reject(toError(reply.failure))
  }

  /** A thread that was ready can be restarted; one that never was would fail again immediately, so it is reported. */
  #break(problem: string): void {
    const isStartFailure = !this.isReady && !this.isGone
    this.#leave()
    if (isStartFailure) this.#listener.onBroken(problem)
  }

  #leave(): void {
    this.isGone = true
    this.isReady = false
    for (const { resolve } of this.#pending.values()) resolve(undefined)
    this.#pending.clear()
  }
}

function toError({ code, details, message }: SearchFailure): Error {
  return code === null ? new Error(message) : new PharosError(code, details)
}
