import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { LoadedModel } from '../core/embedding/engine.ts'
import { MAX_TOKENS, MODEL_DIMENSIONS } from '../core/embedding/model.ts'
import { CHARS_PER_TOKEN } from '../core/embedding/word-piece.ts'
import { messageOf, PharosError } from '../core/errors.ts'
import type { EmbedAnswer, EmbedQuestion, EmbedWorkerData } from './embed-worker.ts'

/** How texts are distributed to threads. */
export interface EmbedThreadsOptions {
  /** Loads the model for all threads and one more engine, which is the first. */
  readonly load: () => Promise<LoadedModel>
  /** Maximum number of threads. */
  readonly count: number
  /** Idle time after which a thread exits. */
  readonly idleMs: number
  /** The script of a thread. @default embed-worker.ts */
  readonly program?: URL
}

interface Job {
  readonly texts: readonly string[]
  readonly resolve: (vectors: Float32Array[]) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly engine: number
  isReady: boolean
  /** Whether it is exiting: it gets no further jobs, and its engine is free when it has exited. */
  isEnding: boolean
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

/** The file next to this one, built or not. */
const WORKER = new URL(import.meta.url.replace(/embed-threads(\.\w+)$/, 'embed-worker$1'))

/** Without a limit, the young generation of each thread grows larger than the model. */
const RESOURCES: ResourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1 }

/** Threads with one engine each. A thread starts when the others have no capacity, and does not keep the process running. */
export class EmbedThreads {
  readonly #options: EmbedThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #jobs: Job[] = []
  #model: LoadedModel | undefined
  #isClosed = false

  constructor(options: EmbedThreadsOptions) {
    this.#options = options
  }

  /** Embeds texts one after the other in one thread. When the signal is aborted, texts that no thread has started are dropped. */
  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    if (this.#isClosed) throw unusable('it was closed')
    const model = await this.#options.load()
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw unusable('it was closed')
      signal?.throwIfAborted()
      const giveUp = (): void => {
        const at = this.#jobs.indexOf(job)
        if (at >= 0) this.#jobs.splice(at, 1)
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
      const job: Job = {
        texts: texts.map((text) => text.slice(0, MAX_TOKENS * CHARS_PER_TOKEN)),
        resolve: settle(resolve),
        reject: settle(reject),
      }
      this.#model = model
      this.#jobs.push(job)
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const threads = [...this.#threads]
    const jobs = [...threads.flatMap(({ job }) => job ?? []), ...this.#jobs.splice(0)]
    // Also waits for a thread that is already exiting.
    const ended = threads.map((thread) => this.#end(thread))
    for (const { reject } of jobs) reject(unusable('it was closed'))
    await Promise.all(ended)
  }

  /** Assigns jobs to idle threads. */
  #next(): void {
    for (const thread of this.#threads) {
      if (thread.isEnding || thread.job !== undefined || this.#jobs.length === 0) continue
      this.#give(thread)
    }
    while (this.#jobs.length > 0 && this.#threads.size < this.#options.count) this.#give(this.#start())
  }

  #give(thread: Thread): void {
    thread.job = this.#jobs.shift()
    clearTimeout(thread.timer)
    thread.worker.ref()
    if (thread.isReady) this.#ask(thread)
  }

  #ask({ worker, job }: Thread): void {
    worker.postMessage({ texts: job?.texts ?? [] } satisfies EmbedQuestion)
  }

  #start(): Thread {
    const { program = WORKER } = this.#options
    const model = this.#model
    if (model === undefined) throw unusable('it was not loaded')
    const taken = new Set([...this.#threads].map(({ engine }) => engine))
    let engine = 1
    while (taken.has(engine)) engine++
    const workerData: EmbedWorkerData = { model, engine }
    const worker = new Worker(program, { workerData, execArgv: [], resourceLimits: RESOURCES })
    const thread: Thread = { worker, engine, isReady: false, isEnding: false, job: undefined, timer: undefined }
    this.#threads.add(thread)
    worker.on('message', (answer: EmbedAnswer) => this.#take(thread, answer))
    worker.on('error', (error) => this.#fail(thread, messageOf(error)))
    worker.on('exit', (code) => this.#fail(thread, `its thread ended (exit code ${code})`))
    return thread
  }

  #take(thread: Thread, answer: EmbedAnswer): void {
    if (thread.isEnding) return
    if (answer.type === 'failed' && !thread.isReady) {
      this.#fail(thread, answer.problem)
      return
    }
    if (answer.type === 'ready') {
      thread.isReady = true
      this.#ask(thread)
      return
    }
    const { job } = thread
    thread.job = undefined
    if (answer.type === 'failed') job?.reject(unusable(answer.problem))
    else job?.resolve(split(answer.vectors))
    this.#next()
    if (thread.job === undefined) this.#rest(thread)
  }

  #rest(thread: Thread): void {
    thread.worker.unref()
    thread.timer = setTimeout(() => void this.#end(thread), this.#options.idleMs).unref()
  }

  /** Rejects the job of a broken thread. A thread that never became ready would fail for every job, so all jobs are rejected then. */
  #fail(thread: Thread, problem: string): void {
    if (thread.isEnding) return
    const jobs = [...(thread.job === undefined ? [] : [thread.job]), ...(thread.isReady ? [] : this.#jobs.splice(0))]
    void this.#end(thread)
    for (const { reject } of jobs) reject(unusable(problem))
  }

  async #end(thread: Thread): Promise<void> {
    clearTimeout(thread.timer)
    thread.isEnding = true
    await thread.worker.terminate()
    this.#threads.delete(thread)
    try {
      this.#next()
    } catch (error) {
      // When a thread cannot be started, the waiting jobs are rejected.
      for (const { reject } of this.#jobs.splice(0)) reject(unusable(messageOf(error)))
    }
  }
}

function unusable(problem: string): PharosError {
  return new PharosError('MODEL_UNUSABLE', { problem })
}

function split(vectors: Float32Array): Float32Array[] {
  const count = vectors.length / MODEL_DIMENSIONS
  return Array.from({ length: count }, (_, i) => vectors.slice(i * MODEL_DIMENSIONS, (i + 1) * MODEL_DIMENSIONS))
}
