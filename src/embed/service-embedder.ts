import type { Embedder } from '../library/ports/vectors.ts'
import { mapConcurrently, splitBatches } from './service-batches.ts'
import { type EmbeddingProtocol, EmbeddingSession, type SessionOptions } from './service-session.ts'

/** Endpoint of an embedding service, and how to call it. */
export interface ServiceEmbedderOptions extends SessionOptions {
  /** Limit of texts per request. */
  readonly batch: number
  /** Limit of text bytes per request. */
  readonly batchBytes: number
  /** Prefix of every question. */
  readonly queryPrefix: string
  /** Aborts the opening. */
  readonly signal?: AbortSignal
}

/** Number of concurrent requests: two, so that the service already has the next batch when it finishes one. */
const CONCURRENT_BATCHES = 2

/**
 * Opens an embedder over a service: reads its model and requests one vector. Rejects with `SERVICE_UNUSABLE` if that fails. The embedder
 * rejects with the same when the service fails, and with `EMBED_REFUSED` when it cannot embed the texts.
 */
export async function openServiceEmbedder(
  options: ServiceEmbedderOptions,
  protocol: EmbeddingProtocol,
): Promise<Embedder> {
  const { batch, batchBytes, textPrefix, queryPrefix } = options
  const session = new EmbeddingSession(options, protocol)
  const space = await session.open(options.signal)
  const count = Math.min(batch, session.maxTexts)
  return {
    space,
    batchSize: count * CONCURRENT_BATCHES,
    async embed(texts, signal, use = 'text') {
      const prefix = use === 'query' ? queryPrefix : textPrefix
      const batches = splitBatches(
        texts.map((text) => prefix + text),
        { count, bytes: batchBytes },
      )
      const embedBatch = (part: readonly string[], combined: AbortSignal): Promise<Float32Array[]> =>
        use === 'query' ? session.embedQuery(part, combined) : session.embed(part, combined)
      return (await mapConcurrently(batches, CONCURRENT_BATCHES, signal, embedBatch)).flat()
    },
    // The caller that opened the client closes it.
    close: async () => undefined,
  }
}
