import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { LoadedModel } from '../core/embedding/engine.ts'
import { MAX_TOKENS, MODEL_DIMENSIONS } from '../core/embedding/model.ts'
import { MAX_CHARS_PER_TOKEN } from '../core/embedding/word-piece.ts'
import { messageOf, PharosError } from '../core/errors.ts'
import type { EmbedRequest, EmbedResponse, EmbedWorkerData } from './embed-worker.ts'

/** How texts are distributed to threads. */
export interface EmbedThreadsOptions {
  /** Loads the model with one engine for each thread, and one more, the first, for the calling thread. */
  readonly load: () => Promise<LoadedModel>
  /** Maximum number of threads. */
  readonly count: number
  /** Idle time after which a thread exits. */
  readonly idleMs: number
  /** The script of a thread. @default embed-worker.ts */
  readonly program?: URL
}

interface EmbedTask {
  readonly texts: readonly string[]
  readonly resolve: (vectors: Float32Array[]) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly engine: number
  isReady: boolean
  /** Whether the thread is exiting: it gets no further tasks, and its engine is free once it has exited. */
  isEnding: boolean
  task: EmbedTask | undefined
  timer: NodeJS.Timeout | undefined
}

/** `embed-worker` next to this file, which is TypeScript in the source tree and JavaScript in the build. */
const WORKER_URL = new URL(import.meta.url.replace(/embed-threads(\.\w+)$/, 'embed-worker$1'))

/** Without a limit, the young generation of each thread grows larger than the model. */
const RESOURCE_LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1 }

/** Threads with one engine each. A thread starts when all others are busy. An idle thread does not keep the process running. */
export class EmbedThreads {
  readonly #options: EmbedThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #tasks: EmbedTask[] = []
  #model: LoadedModel | undefined
  #isClosed = false

  constructor(options: EmbedThreadsOptions) {
    this.#options = options
  }

  /** Embeds texts as one task of one thread. Rejects when the signal is aborted, and drops the task if no thread has started it. */
  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    if (this.#isClosed) throw createUnusableError('it was closed')
    const model = await this.#options.load()
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw createUnusableError('it was closed')
      signal?.throwIfAborted()
      const giveUp = (): void => {
        const at = this.#tasks.indexOf(task)
        if (at >= 0) this.#tasks.splice(at, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', giveUp)
          then(value)
        }
      // Truncates texts before they are copied to the thread, because the model ignores the rest.
      const task: EmbedTask = {
        texts: texts.map((text) => text.slice(0, MAX_TOKENS * MAX_CHARS_PER_TOKEN)),
        resolve: settle(resolve),
        reject: settle(reject),
      }
      this.#model = model
      this.#tasks.push(task)
      this.#assignTasks()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const threads = [...this.#threads]
    const unfinished = [...threads.flatMap(({ task }) => task ?? []), ...this.#tasks.splice(0)]
    // Also waits for a thread that is already exiting.
    const ended = threads.map((thread) => this.#end(thread))
    for (const { reject } of unfinished) reject(createUnusableError('it was closed'))
    await Promise.all(ended)
  }

  /** Assigns tasks to idle threads, and starts further threads if needed. */
  #assignTasks(): void {
    for (const thread of this.#threads) {
      if (thread.isEnding || thread.task !== undefined || this.#tasks.length === 0) continue
      this.#assignNextTask(thread)
    }
    while (this.#tasks.length > 0 && this.#threads.size < this.#options.count) this.#assignNextTask(this.#start())
  }

  #assignNextTask(thread: Thread): void {
    thread.task = this.#tasks.shift()
    clearTimeout(thread.timer)
    thread.worker.ref()
    if (thread.isReady) this.#postTask(thread)
  }

  #postTask({ worker, task }: Thread): void {
    worker.postMessage({ texts: task?.texts ?? [] } satisfies EmbedRequest)
  }

  #start(): Thread {
    const { program = WORKER_URL } = this.#options
    const model = this.#model
    if (model === undefined) throw createUnusableError('it was not loaded')
    const taken = new Set([...this.#threads].map(({ engine }) => engine))
    let engine = 1
    while (taken.has(engine)) engine++
    const workerData: EmbedWorkerData = { model, engine }
    const worker = new Worker(program, { workerData, execArgv: [], resourceLimits: RESOURCE_LIMITS })
    const thread: Thread = { worker, engine, isReady: false, isEnding: false, task: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (answer: EmbedResponse) => this.#handleResponse(thread, answer))
    worker.on('error', (error) => this.#fail(thread, messageOf(error)))
    worker.on('exit', (code) => this.#fail(thread, `its thread ended (exit code ${code})`))
    return thread
  }

  #handleResponse(thread: Thread, answer: EmbedResponse): void {
    if (thread.isEnding) return
    if (answer.type === 'failed' && !thread.isReady) {
      this.#fail(thread, answer.problem)
      return
    }
    if (answer.type === 'ready') {
      thread.isReady = true
      this.#postTask(thread)
      return
    }
    const { task } = thread
    thread.task = undefined
    if (answer.type === 'failed') task?.reject(createUnusableError(answer.problem))
    else task?.resolve(splitVectors(answer.vectors))
    this.#assignTasks()
    if (thread.task === undefined) this.#startIdleTimer(thread)
  }

  #startIdleTimer(thread: Thread): void {
    thread.worker.unref()
    thread.timer = setTimeout(() => void this.#end(thread), this.#options.idleMs).unref()
  }

  /** Rejects the task of a broken thread. If the thread never became ready, the next would fail too, so all waiting tasks are rejected. */
  #fail(thread: Thread, problem: string): void {
    if (thread.isEnding) return
    const waiting = thread.isReady ? [] : this.#tasks.splice(0)
    const rejected = [...(thread.task === undefined ? [] : [thread.task]), ...waiting]
    void this.#end(thread)
    for (const { reject } of rejected) reject(createUnusableError(problem))
  }

  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.timer)
    thread.isEnding = true
    await thread.worker.terminate()
    this.#threads.delete(thread)
    try {
      this.#assignTasks()
    } catch (error) {
      // When a thread cannot be started, the waiting tasks are rejected.
      for (const { reject } of this.#tasks.splice(0)) reject(createUnusableError(messageOf(error)))
    }
  }
}

function createUnusableError(problem: string): PharosError {
  return new PharosError('MODEL_UNUSABLE', { problem })
}

function splitVectors(vectors: Float32Array): Float32Array[] {
  const count = vectors.length / MODEL_DIMENSIONS
  return Array.from({ length: count }, (_, i) => vectors.slice(i * MODEL_DIMENSIONS, (i + 1) * MODEL_DIMENSIONS))
}
