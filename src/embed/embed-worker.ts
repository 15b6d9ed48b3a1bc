/*
 * A thread that embeds: one engine, asked for a few texts at a time.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine, type EmbeddingEngine } from '../core/embedding/engine.ts'
import { messageOf, PharosError } from '../core/errors.ts'

/** What a thread is started with. */
export interface EmbedWorkerData {
  /** URL of the folder with the model and its kernel. */
  readonly folder: string
  /** Whether other threads come first. */
  readonly isBackground: boolean
}

/** What it is asked. */
export interface EmbedQuestion {
  readonly texts: readonly string[]
}

/** What it answers: once when it has begun, and once to each question. */
export type EmbedAnswer =
  | { readonly type: 'ready' }
  /** The vectors of all texts, one after the other. */
  | { readonly type: 'vectors'; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly problem: string }

const { folder, isBackground } = workerData as EmbedWorkerData

function load(): EmbeddingEngine {
  const read = (name: string): Uint8Array<ArrayBuffer> => readFileSync(new URL(name, folder))
  return createEngine(
    { 'weights.bin': read('weights.bin'), 'model.json': read('model.json'), 'vocab.txt': read('vocab.txt') },
    { relaxed: read('kernel-relaxed.wasm'), plain: read('kernel-plain.wasm') },
    { sha256: (data) => createHash('sha256').update(data).digest('hex') },
  )
}

/** On Linux this is the priority of the thread; elsewhere it would be that of the whole process. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
}

function join(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const size = vectors[0]?.length ?? 0
  const joined = new Float32Array(vectors.length * size)
  for (const [i, vector] of vectors.entries()) joined.set(vector, i * size)
  return joined
}

function answer(message: EmbedAnswer): void {
  parentPort?.postMessage(message, message.type === 'vectors' ? [message.vectors.buffer] : [])
}

function answerFailure(error: unknown): void {
  const problem = error instanceof PharosError ? String(error.details['problem']) : messageOf(error)
  answer({ type: 'failed', problem })
}

try {
  if (isBackground) lowerPriority()
  const engine = load()
  parentPort?.on('message', ({ texts }: EmbedQuestion) => {
    try {
      answer({ type: 'vectors', vectors: join(engine.embed(texts)) })
    } catch (error) {
      answerFailure(error)
    }
  })
  answer({ type: 'ready' })
} catch (error) {
  answerFailure(error)
}
