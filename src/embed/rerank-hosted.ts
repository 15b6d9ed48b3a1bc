import type { Reranker } from '../library/reranker.ts'
import { callService } from '../library/service-call.ts'
import { addressBelow, createReranker, type RerankServiceOptions, readScores, rerankCall } from './rerank-call.ts'

/** How a hosted reranker is opened. */
export interface HostedRerankerOptions extends RerankServiceOptions {
  readonly model: string
}

/**
 * A reranker with the shape that Cohere (v2), Jina, Voyage, vLLM and others share: `POST …/rerank`. Nothing is sent but what all of
 * them take: how many are wanted is `top_n` to some and refused by others who call it `top_k`, and without it all give all.
 */
export function openHostedReranker(options: HostedRerankerOptions): Reranker {
  const { model, client, clock } = options
  const url = addressBelow(options.endpoint, '/rerank')
  const { host } = new URL(url)
  return createReranker(`${model} at ${host}`, options, async (query, texts, signal) => {
    const json = { model, query, documents: texts }
    const answer = await callService(client, clock, rerankCall(host, options, url, json, signal))
    return readScores(host, judgementsOf(answer), texts.length, 'relevance_score')
  })
}

/** `results`, or `data` as Voyage calls them. */
function judgementsOf(answer: unknown): unknown {
  const { results, data } = (answer ?? {}) as Readonly<Record<string, unknown>>
  return results ?? data
}
