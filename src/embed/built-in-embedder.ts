import { availableParallelism } from 'node:os'
import { createEngine, type EmbeddingEngine, type LoadedModel } from '../core/embedding/engine.ts'
import { MODEL_LANGUAGE } from '../core/embedding/model.ts'
import { BUILT_IN_SPACE } from '../core/embedding/space.ts'
import { PharosError } from '../core/errors.ts'
import type { Embedder } from '../library/ports/vectors.ts'
import { EmbedThreads } from './embed-threads.ts'
import { loadBuiltInModel } from './load-built-in-model.ts'

/** How the built-in model is run. */
export interface BuiltInEmbedderOptions {
  /** Number of threads that embed batches. @default one for each processor */
  readonly threads?: number
  /** The folder with the model and its kernel. @default the output folder of the build */
  readonly folder?: URL
}

/** Output folder of the build. The source tree has no model beside this file. */
const MODEL_FOLDER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/web/local/model/' : '../web/local/model/',
  import.meta.url,
)

/** The fingerprint of the vector space of all-MiniLM-L6-v2, the model of earlier versions of Pharos. */
const EARLIER_SPACES = ['ae19371163d6c652dc176d04ae33c0d76f36ebb7b103cc73333800e6280ffee6']

/** Texts per task: enough to fill a pass of the model with short texts, and few enough to share a batch evenly among threads. */
const TEXTS_PER_TASK = 8
/** Tasks per thread in one batch. */
const TASKS_PER_THREAD = 4
/** Idle time after which a thread exits. */
const IDLE_TIMEOUT_MS = 30_000

/**
 * Opens the model that comes with the program. It reads nothing and starts no thread before the first text. Batches are embedded in
 * threads. A question is embedded at once on the calling thread, takes a few milliseconds and never waits for a batch. All threads share
 * the memory of the model.
 */
export function openBuiltInEmbedder({
  threads = availableParallelism(),
  folder = MODEL_FOLDER,
}: BuiltInEmbedderOptions = {}): Embedder {
  const count = Math.max(1, Math.floor(threads))
  let loading: Promise<LoadedModel> | undefined
  let queryEngine: EmbeddingEngine | undefined
  const load = (): Promise<LoadedModel> => {
    loading ??= loadBuiltInModel(folder, count + 1).catch((error: unknown) => {
      // The next text tries to load the model again.
      loading = undefined
      throw error
    })
    return loading
  }
  const batchThreads = new EmbedThreads({ load, count, idleMs: IDLE_TIMEOUT_MS })
  let isClosed = false
  return {
    space: BUILT_IN_SPACE,
    earlierSpaces: EARLIER_SPACES,
    language: MODEL_LANGUAGE,
    batchSize: count * TASKS_PER_THREAD * TEXTS_PER_TASK,
    async embed(texts, signal, use) {
      if (isClosed) throw new PharosError('MODEL_UNUSABLE', { problem: 'it was closed' })
      signal?.throwIfAborted()
      if (use === 'query') {
        queryEngine ??= createEngine(await load())
        return queryEngine.embed(texts)
      }
      // Sorting puts texts of similar length into one pass; starting with the longest leaves no thread with a long task at the end.
      const order = [...texts.keys()].sort((a, b) => (texts[b]?.length ?? 0) - (texts[a]?.length ?? 0))
      const parts: number[][] = []
      for (let i = 0; i < order.length; i += TEXTS_PER_TASK) parts.push(order.slice(i, i + TEXTS_PER_TASK))
      const vectors = new Array<Float32Array>(texts.length)
      await Promise.all(
        parts.map(async (part) => {
          const partTexts = part.map((i) => texts[i] ?? '')
          const partVectors = await batchThreads.embed(partTexts, signal)
          for (const [at, i] of part.entries()) vectors[i] = partVectors[at] ?? new Float32Array()
        }),
      )
      return vectors
    },
    async close() {
      isClosed = true
      queryEngine = undefined
      loading = undefined
      await batchThreads.close()
    },
  }
}
