import type { Reranker } from '../library/ports/reranker.ts'
import { callService, ServiceFailure } from '../library/service-call.ts'
import {
  createRerankCall,
  createReranker,
  type RerankServiceOptions,
  readScores,
  resolveEndpoint,
} from './rerank-call.ts'

const SERVICE = 'TEI'

/** Initial number of texts per request: TEI's default for `--max-client-batch-size`. */
const BATCH_SIZE = 32

/**
 * A reranker served by Text Embeddings Inference: `POST /rerank`. Texts are scored independently, so they can be split into concurrent
 * requests. When a server refuses a request as too large, the batch size is reduced from then on.
 */
export function openTeiReranker(options: RerankServiceOptions): Reranker {
  const { client, clock } = options
  const url = resolveEndpoint(options.endpoint, '/rerank')
  let batchSize = BATCH_SIZE

  const scoreBatch = async (query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]> => {
    const json = { query, texts, raw_scores: false, truncate: true }
    try {
      const answer = await callService(client, clock, createRerankCall(SERVICE, options, url, json, signal))
      return readScores(SERVICE, answer, texts.length, 'score')
    } catch (error) {
      rejectOtherServers(url, error)
      if (!isTooLarge(error) || texts.length === 1) throw error
      batchSize = Math.min(batchSize, texts.length >> 1)
      return scoreAll(query, texts, signal)
    }
  }
  const scoreAll = async (query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]> => {
    const parts: (readonly string[])[] = []
    for (let i = 0; i < texts.length; i += batchSize) parts.push(texts.slice(i, i + batchSize))
    const scores = await Promise.all(parts.map((part) => scoreBatch(query, part, signal)))
    return scores.flat()
  }
  return createReranker(`TEI at ${new URL(url).host}`, options, scoreAll)
}

/** TEI has the route for every model, so a missing route means that the server is not TEI. */
function rejectOtherServers(url: string, error: unknown): void {
  const status = error instanceof ServiceFailure ? error.status : null
  if (status !== 404 && status !== 405) return
  const problem = `${url} answered ${status}: not a reranker; check the setting rerankEndpoint`
  throw new ServiceFailure('refused', problem, { status })
}

/** 413: too many texts or bytes in one request. */
function isTooLarge(error: unknown): boolean {
  return error instanceof ServiceFailure && error.status === 413
}
