import type { Reranker } from '../library/reranker.ts'
import { callService, ServiceFailure } from '../library/service-call.ts'
import {
  createRerankCall,
  createReranker,
  type RerankServiceOptions,
  readScores,
  resolveEndpoint,
} from './rerank-call.ts'

const SERVICE = 'TEI'

/** Texts per request, unless the server sets another `--max-client-batch-size`. */
const BATCH_SIZE = 32

/**
 * A reranker served by Text Embeddings Inference: `POST /rerank`. Texts are scored independently, so they can be split into concurrent
 * requests. When a server accepts fewer per request, the size is reduced from then on.
 */
export function openTeiReranker(options: RerankServiceOptions): Reranker {
  const { client, clock } = options
  const url = resolveEndpoint(options.endpoint, '/rerank')
  let batch = BATCH_SIZE

  const judge = async (query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]> => {
    const json = { query, texts, raw_scores: false, truncate: true }
    try {
      const answer = await callService(client, clock, createRerankCall(SERVICE, options, url, json, signal))
      return readScores(SERVICE, answer, texts.length, 'score')
    } catch (error) {
      rejectOtherServers(url, error)
      if (!isTooLarge(error) || texts.length === 1) throw error
      batch = Math.min(batch, texts.length >> 1)
      return judgeAll(query, texts, signal)
    }
  }
  const judgeAll = async (query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]> => {
    const parts: (readonly string[])[] = []
    for (let i = 0; i < texts.length; i += batch) parts.push(texts.slice(i, i + batch))
    const judged = await Promise.all(parts.map((part) => judge(query, part, signal)))
    return judged.flat()
  }
  return createReranker(`TEI at ${new URL(url).host}`, options, judgeAll)
}

/** TEI has the route for every model, so a missing route means that the server is not TEI. */
function rejectOtherServers(url: string, error: unknown): void {
  const status = error instanceof ServiceFailure ? error.status : null
  if (status !== 404 && status !== 405) return
  const problem = `${url} answered ${status}: this is no reranker; check the setting rerankEndpoint`
  throw new ServiceFailure('refused', problem, { status })
}

/** 413: too many texts or bytes in one request. */
function isTooLarge(error: unknown): boolean {
  return error instanceof ServiceFailure && error.status === 413
}
