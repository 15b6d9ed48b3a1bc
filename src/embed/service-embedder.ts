import type { Embedder } from '../library/vectors.ts'
import { doSomeAtOnce, splitBatches } from './service-batches.ts'
import { type EmbeddingProtocol, EmbeddingSession, type SessionOptions } from './service-session.ts'

/** Endpoint of an embedding service, and how to call it. */
export interface ServiceEmbedderOptions extends SessionOptions {
  /** Most texts at once. */
  readonly batch: number
  /** Most bytes of texts at once. */
  readonly batchBytes: number
  /** Put before every question. */
  readonly queryPrefix: string
  /** Ends the opening. */
  readonly signal?: AbortSignal
}

/** Batches that are under way at once: while one is answered the next is there already. */
const BATCHES_AT_ONCE = 2

/**
 * Opens an embedder over a service: asks which model it has, and for one vector. Rejects with `SERVICE_UNUSABLE`. The embedder rejects
 * with the same where the service fails, and with `EMBED_REFUSED` where it makes no vectors of the texts.
 */
export async function openServiceEmbedder(
  options: ServiceEmbedderOptions,
  protocol: EmbeddingProtocol,
): Promise<Embedder> {
  const { batch, batchBytes, textPrefix, queryPrefix } = options
  const session = new EmbeddingSession(options, protocol)
  const space = await session.open(options.signal)
  const count = Math.min(batch, session.mostTexts)
  return {
    space,
    batchSize: count * BATCHES_AT_ONCE,
    async embed(texts, signal, use = 'text') {
      const prefix = use === 'query' ? queryPrefix : textPrefix
      const batches = splitBatches(
        texts.map((text) => prefix + text),
        { count, bytes: batchBytes },
      )
      const ask = (some: readonly string[], both: AbortSignal): Promise<Float32Array[]> =>
        use === 'query' ? session.answer(some, both) : session.embed(some, both)
      return (await doSomeAtOnce(batches, BATCHES_AT_ONCE, signal, ask)).flat()
    },
    // The caller that opened the client closes it.
    close: async () => undefined,
  }
}
