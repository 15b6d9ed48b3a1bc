import { availableParallelism } from 'node:os'
import { MAX_TOKENS, MODEL_DIMENSIONS, MODEL_FILES, MODEL_NAME } from '../core/embedding/model.ts'
import { sha256 } from '../core/hash.ts'
import { TEXT_RECIPE } from '../library/embedded-text.ts'
import type { Embedder, VectorSpace } from '../library/vectors.ts'
import { EmbedThreads } from './embed-threads.ts'

/** How the built-in model is run. */
export interface BuiltInEmbedderOptions {
  /** Threads that embed batches; questions have one more. @default one for each processor */
  readonly threads?: number
  /** The folder with the model and its kernel. @default where the build puts them */
  readonly folder?: URL
}

/** The space of the vectors of the built-in model. Everything that decides what a text becomes is in its fingerprint. */
export const BUILT_IN_SPACE: VectorSpace = {
  model: MODEL_NAME,
  fingerprint: sha256([...Object.values(MODEL_FILES), `mean of at most ${MAX_TOKENS} tokens`, TEXT_RECIPE].join('\n')),
  dimensions: MODEL_DIMENSIONS,
}

/** Where the build puts the model. The sources have nothing beside them. */
const MODEL_FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../dist/model/' : '../model/', import.meta.url)

/** The space of all-MiniLM-L6-v2, which earlier versions of Pharos installed and ran. */
const EARLIER_SPACES = ['ae19371163d6c652dc176d04ae33c0d76f36ebb7b103cc73333800e6280ffee6']

/** Texts of one question to a thread: enough to fill passes with short texts, and few enough to share a batch out evenly. */
const JOB_TEXTS = 8
/** Texts of one batch for each thread. */
const BATCH_JOBS = 4
/** A thread that embeds batches ends when it had nothing to do for this long. */
const IDLE_MS = 30_000
/** A question should not wait for the model to be loaded again, so its thread stays longer. */
const QUERY_IDLE_MS = 1_800_000

/** Opens the model that comes with the program. Nothing is read and no thread is started before the first text. */
export function openBuiltInEmbedder({
  threads = availableParallelism(),
  folder = MODEL_FOLDER,
}: BuiltInEmbedderOptions = {}): Embedder {
  const count = Math.max(1, Math.floor(threads))
  const batches = new EmbedThreads({ folder, count, isBackground: true, idleMs: IDLE_MS })
  const questions = new EmbedThreads({ folder, count: 1, isBackground: false, idleMs: QUERY_IDLE_MS })
  return {
    space: BUILT_IN_SPACE,
    earlierSpaces: EARLIER_SPACES,
    language: 'en',
    batchSize: count * BATCH_JOBS * JOB_TEXTS,
    async embed(texts, signal, use) {
      signal?.throwIfAborted()
      if (use === 'query') return questions.embed(texts, signal)
      // Texts of like length fill passes, and the longest first leave no thread with a long job at the end.
      const order = [...texts.keys()].sort((a, b) => (texts[b]?.length ?? 0) - (texts[a]?.length ?? 0))
      const parts: number[][] = []
      for (let i = 0; i < order.length; i += JOB_TEXTS) parts.push(order.slice(i, i + JOB_TEXTS))
      const vectors = new Array<Float32Array>(texts.length)
      await Promise.all(
        parts.map(async (part) => {
          const found = await batches.embed(
            part.map((i) => texts[i] ?? ''),
            signal,
          )
          for (const [at, i] of part.entries()) vectors[i] = found[at] ?? new Float32Array()
        }),
      )
      return vectors
    },
    async close() {
      await Promise.all([batches.close(), questions.close()])
    },
  }
}
