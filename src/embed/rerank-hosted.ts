import type { Reranker } from '../library/ports/reranker.ts'
import { callService } from '../library/service-call.ts'
import {
  createRerankCall,
  createReranker,
  type RerankServiceOptions,
  readScores,
  resolveEndpoint,
} from './rerank-call.ts'

/** Options of a hosted reranker. */
export interface HostedRerankerOptions extends RerankServiceOptions {
  readonly model: string
}

/**
 * A reranker with the API that Cohere (v2), Jina, Voyage, vLLM and others share: `POST …/rerank`. Only common fields are sent. The result
 * limit is left out: some services call it `top_n` and others `top_k`, they refuse the other name, and all return every result without it.
 */
export function openHostedReranker(options: HostedRerankerOptions): Reranker {
  const { model, client, clock } = options
  const url = resolveEndpoint(options.endpoint, '/rerank')
  const { host } = new URL(url)
  return createReranker(`${model} at ${host}`, options, async (query, texts, signal) => {
    const json = { model, query, documents: texts }
    const answer = await callService(client, clock, createRerankCall(host, options, url, json, signal))
    return readScores(host, readResults(answer), texts.length, 'relevance_score')
  })
}

/** `results`, or `data` at Voyage. */
function readResults(answer: unknown): unknown {
  const { results, data } = (answer ?? {}) as Readonly<Record<string, unknown>>
  return results ?? data
}
