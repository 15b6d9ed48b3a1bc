/* A worker thread that embeds a few texts at a time. It runs its own engine; the model is shared with the other threads. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine, type LoadedModel } from '../core/embedding/engine.ts'
import { messageOf } from '../core/errors.ts'

/** Data that a thread starts with. */
export interface EmbedWorkerData {
  readonly model: LoadedModel
  /** Index of the engine that the thread runs. */
  readonly engine: number
}

/** A request to the thread. */
export interface EmbedRequest {
  readonly texts: readonly string[]
}

/** A response of the thread: one when it is ready, and one to each request. */
export type EmbedResponse =
  | { readonly type: 'ready' }
  /** The vectors of all texts, concatenated. */
  | { readonly type: 'vectors'; readonly vectors: Float32Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly problem: string }

/** Lowers the priority below the rest of the program. On Linux this affects the thread; elsewhere it would affect the whole process. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Setting the priority fails when it is already lower, or not permitted; the thread then keeps its priority.
  }
}

function concatVectors(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const size = vectors[0]?.length ?? 0
  const joined = new Float32Array(vectors.length * size)
  for (const [i, vector] of vectors.entries()) joined.set(vector, i * size)
  return joined
}

function postResponse(message: EmbedResponse): void {
  parentPort?.postMessage(message, message.type === 'vectors' ? [message.vectors.buffer] : [])
}

lowerPriority()
const { model, engine: index } = workerData as EmbedWorkerData
const engine = createEngine(model, index)
parentPort?.on('message', ({ texts }: EmbedRequest) => {
  try {
    postResponse({ type: 'vectors', vectors: concatVectors(engine.embed(texts)) })
  } catch (error) {
    postResponse({ type: 'failed', problem: messageOf(error) })
  }
})
postResponse({ type: 'ready' })
