import { availableParallelism } from 'node:os'
import { createEngine, type EmbeddingEngine, type LoadedModel } from '../core/embedding/engine.ts'
import { MODEL_LANGUAGE } from '../core/embedding/model.ts'
import { BUILT_IN_SPACE } from '../core/embedding/space.ts'
import { PharosError } from '../core/errors.ts'
import type { Embedder } from '../library/vectors.ts'
import { EmbedThreads } from './embed-threads.ts'
import { loadBuiltInModel } from './load-built-in-model.ts'

/** How the built-in model is run. */
export interface BuiltInEmbedderOptions {
  /** Threads that embed batches. @default one for each processor */
  readonly threads?: number
  /** The folder with the model and its kernel. @default where the build puts them */
  readonly folder?: URL
}

/** Where the build puts the model. The sources have nothing beside them. */
const MODEL_FOLDER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/web/local/model/' : '../web/local/model/',
  import.meta.url,
)

/** The space of all-MiniLM-L6-v2, which earlier versions of Pharos installed and ran. */
const EARLIER_SPACES = ['ae19371163d6c652dc176d04ae33c0d76f36ebb7b103cc73333800e6280ffee6']

/** Texts of one job of a thread: enough to fill passes with short texts, and few enough to share a batch out evenly. */
const JOB_TEXTS = 8
/** Jobs of one batch for each thread. */
const BATCH_JOBS = 4
/** A thread ends when it had nothing to do for this long. */
const IDLE_MS = 30_000

/**
 * Opens the model that comes with the program. Nothing is read and no thread is started before the first text. Batches are embedded in
 * threads, questions at once on the thread that asks: that takes a few milliseconds, and no batch is ever before them. All use the same
 * memory.
 */
export function openBuiltInEmbedder({
  threads = availableParallelism(),
  folder = MODEL_FOLDER,
}: BuiltInEmbedderOptions = {}): Embedder {
  const count = Math.max(1, Math.floor(threads))
  let loading: Promise<LoadedModel> | undefined
  let questions: EmbeddingEngine | undefined
  const load = (): Promise<LoadedModel> => {
    loading ??= loadBuiltInModel(folder, count + 1).catch((error: unknown) => {
      // The next text tries again.
      loading = undefined
      throw error
    })
    return loading
  }
  const batches = new EmbedThreads({ load, count, idleMs: IDLE_MS })
  let isClosed = false
  return {
    space: BUILT_IN_SPACE,
    earlierSpaces: EARLIER_SPACES,
    language: MODEL_LANGUAGE,
    batchSize: count * BATCH_JOBS * JOB_TEXTS,
    async embed(texts, signal, use) {
      if (isClosed) throw new PharosError('MODEL_UNUSABLE', { problem: 'it was closed' })
      signal?.throwIfAborted()
      if (use === 'query') {
        questions ??= createEngine(await load())
        return questions.embed(texts)
      }
      // Texts of like length fill passes, and the longest first leave no thread with a long job at the end.
      const order = [...texts.keys()].sort((a, b) => (texts[b]?.length ?? 0) - (texts[a]?.length ?? 0))
      const parts: number[][] = []
      for (let i = 0; i < order.length; i += JOB_TEXTS) parts.push(order.slice(i, i + JOB_TEXTS))
      const vectors = new Array<Float32Array>(texts.length)
      await Promise.all(
        parts.map(async (part) => {
          const given = part.map((i) => texts[i] ?? '')
          const found = await batches.embed(given, signal)
          for (const [at, i] of part.entries()) vectors[i] = found[at] ?? new Float32Array()
        }),
      )
      return vectors
    },
    async close() {
      isClosed = true
      questions = undefined
      loading = undefined
      await batches.close()
    },
  }
}
