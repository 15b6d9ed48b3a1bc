import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { LoadedModel } from '../core/embedding/engine.ts'
import { MAX_TOKENS, MODEL_DIMENSIONS } from '../core/embedding/model.ts'
import { CHARS_PER_TOKEN } from '../core/embedding/word-piece.ts'
import { messageOf, PharosError } from '../core/errors.ts'
import type { EmbedAnswer, EmbedQuestion, EmbedWorkerData } from './embed-worker.ts'

/** How texts are shared out to threads. */
export interface EmbedThreadsOptions {
  /** Gives the model, loaded for all threads and for one more engine, which is the first. */
  readonly load: () => Promise<LoadedModel>
  /** Threads at most. */
  readonly count: number
  /** A thread ends when it had nothing to do for this long. */
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
  /** It gets no further jobs; its engine is free when it has ended. */
  isEnding: boolean
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

/** Beside this file, built or not. */
const WORKER = new URL(import.meta.url.replace(/embed-threads(\.\w+)$/, 'embed-worker$1'))

/** Left to itself, the nursery of each thread grows to more than the model takes. */
const RESOURCES: ResourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1 }

/** Threads with an engine each. A thread starts when there is more to do than the others can take, and keeps no process running. */
export class EmbedThreads {
  readonly #options: EmbedThreadsOptions
  readonly #threads = new Set<Thread>()
  readonly #jobs: Job[] = []
  #model: LoadedModel | undefined
  #isClosed = false

  constructor(options: EmbedThreadsOptions) {
    this.#options = options
  }

  /** Embeds texts one after the other in one thread. Texts that no thread has begun with are given up when the signal says so. */
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
      // Texts are cut before they are copied to the thread: the model drops the rest anyway.
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
    // A thread that is ending already is waited for all the same.
    const ended = threads.map((thread) => this.#end(thread))
    for (const { reject } of jobs) reject(unusable('it was closed'))
    await Promise.all(ended)
  }

  /** Gives jobs to threads that have none. */
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

  /** A thread that broke takes its job with it. One that never came to work would do so with every job, so all of them are given up. */
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
      // A thread that cannot be started gives up what waits for it.
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
