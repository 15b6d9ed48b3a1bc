import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { PharosError } from '../core/errors.ts'
import type { Embedder } from '../library/vectors.ts'
import { hasRuntime, readManifest, spaceOf } from './model-files.ts'
import type { TextAnswer, TextQuestion } from './onnx-process.ts'

/** Where a model is, and how it is run. */
export interface OnnxEmbedderOptions {
  readonly folder: string
  /** Processors it may use at once. One does the most for what it takes: others wait for each other. @default 1 */
  readonly threads?: number
}

/** Opens the model that is installed in a folder; undefined when there is none. It is loaded with the first text. */
export async function openOnnxEmbedder({ folder, threads = 1 }: OnnxEmbedderOptions): Promise<Embedder | undefined> {
  const manifest = readManifest(folder)
  if (manifest === undefined || !hasRuntime(folder)) return undefined
  const model = new ModelProcess(folder, threads)
  return {
    space: spaceOf(manifest),
    embed: (texts, signal, use) => Promise.all(texts.map((text) => model.embed(text, use === 'query', signal))),
    close: () => model.close(),
  }
}

interface Job {
  readonly text: string
  readonly signal: AbortSignal | undefined
  readonly resolve: (vector: Float32Array) => void
  readonly reject: (error: Error) => void
}

/** A process without work is ended after this time: it holds as much memory as everything else together. */
const IDLE_MS = 60_000

/**
 * One process that runs the model, a text at a time: in batches a text costs no less, and its vector would depend on what stands
 * beside it. It starts with the first text, and anew after it was ended.
 */
class ModelProcess {
  readonly #folder: string
  readonly #threads: number
  readonly #jobs: Job[] = []
  #child: ChildProcess | undefined
  #isReady = false
  #current: Job | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(folder: string, threads: number) {
    this.#folder = folder
    this.#threads = threads
  }

  /** A text that somebody waits for comes before those that are worked off in the background. */
  embed(text: string, isUrgent: boolean, signal?: AbortSignal): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw this.#unusable('it was closed')
      signal?.throwIfAborted()
      const give = (): void => {
        const at = this.#jobs.indexOf(job)
        if (at >= 0) this.#jobs.splice(at, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', give, { once: true })
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          signal?.removeEventListener('abort', give)
          then(value)
        }
      const job: Job = { text, signal, resolve: settle(resolve), reject: settle(reject) }
      if (isUrgent) this.#jobs.unshift(job)
      else this.#jobs.push(job)
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const ended = this.#end()
    this.#failAll('it was closed')
    await ended
  }

  #next(): void {
    if (this.#current !== undefined) return
    clearTimeout(this.#timer)
    if (this.#jobs.length === 0) {
      this.#hold(false)
      this.#timer = setTimeout(() => void this.#end(), IDLE_MS).unref()
      return
    }
    const child = this.#child ?? this.#start()
    this.#hold(true)
    if (!this.#isReady) return
    this.#current = this.#jobs.shift()
    child.send({ text: this.#current?.text ?? '' } satisfies TextQuestion)
  }

  #start(): ChildProcess {
    // Beside this file, built or not.
    const file = fileURLToPath(import.meta.url.replace(/onnx-embedder(\.\w+)$/, 'onnx-process$1'))
    const child = fork(file, [this.#folder, String(this.#threads)], {
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.on('spawn', () => lowerPriority(child))
    child.on('message', (answer: TextAnswer) => this.#take(child, answer))
    child.on('error', (error) => this.#fail(child, error.message))
    child.on('exit', (code, signal) => this.#fail(child, `its process ended (${signal ?? code})`))
    this.#child = child
    this.#isReady = false
    return child
  }

  #take(child: ChildProcess, answer: TextAnswer): void {
    if (child !== this.#child) return
    const job = this.#current
    this.#current = undefined
    if (answer.type === 'failed' && !this.#isReady) {
      this.#fail(child, answer.problem)
      return
    }
    this.#isReady = true
    if (answer.type === 'vector') job?.resolve(answer.vector)
    if (answer.type === 'failed') job?.reject(this.#unusable(answer.problem))
    this.#next()
  }

  /** Gives up everything that was asked: what brought a process down would bring down the next. */
  #fail(child: ChildProcess, problem: string): void {
    if (child !== this.#child) return
    void this.#end()
    this.#failAll(problem)
  }

  #failAll(problem: string): void {
    const jobs = [...(this.#current === undefined ? [] : [this.#current]), ...this.#jobs.splice(0)]
    this.#current = undefined
    for (const { reject } of jobs) reject(this.#unusable(problem))
  }

  #unusable(said: string): PharosError {
    // The runtime says a lot; what comes first counts.
    const [problem = said] = said.split('\n', 1)
    return new PharosError('EMBEDDER_UNUSABLE', { folder: this.#folder, problem })
  }

  /** Keeps the program running as long as somebody waits for an answer, and no longer. */
  #hold(isBusy: boolean): void {
    const child = this.#child
    if (isBusy) {
      child?.ref()
      child?.channel?.ref()
    } else {
      child?.unref()
      child?.channel?.unref()
    }
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer)
    const child = this.#child
    this.#child = undefined
    // One that never began has no end to wait for.
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.ref()
    child.kill('SIGKILL')
    await ended
  }
}

/** Whatever else runs on the machine comes first. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Where that is not allowed it runs like any other.
  }
}
