import type { Clock } from '../crawl/ports.ts'
import { CircuitBreaker } from '../library/circuit-breaker.ts'
import type { HttpClient } from '../library/ports/http-client.ts'
import type { Reranker } from '../library/ports/reranker.ts'
import { type ServiceCall, ServiceFailure } from '../library/service-call.ts'

/** Options of every reranking service. Opening a service sends no request. */
export interface RerankServiceOptions {
  /** URL of the service. */
  readonly endpoint: string
  /** API key, sent as a bearer token. */
  readonly key?: string
  /** Limit of texts per question. */
  readonly candidates: number
  /** Timeout of a response, in milliseconds. */
  readonly budgetMs: number
  readonly client: HttpClient
  readonly clock: Clock
}

/** Failures in a row that open the circuit breaker, so that a service that hangs costs at most two timeouts. */
const FAILURE_THRESHOLD = 2
/** How long the circuit breaker stays open. */
const COOLDOWN_MS = 30_000

/** Scores texts, one number each. */
export type TextScorer = (query: string, texts: readonly string[], signal?: AbortSignal) => Promise<number[]>

/** Creates a reranker from a service call, with a circuit breaker. */
export function createReranker(
  name: string,
  { candidates, budgetMs, clock, key }: RerankServiceOptions,
  scoreTexts: TextScorer,
): Reranker {
  const breaker = new CircuitBreaker({ threshold: FAILURE_THRESHOLD, resetMs: COOLDOWN_MS, now: () => clock.now() })
  return {
    name,
    candidates,
    budgetMs,
    rerank: async (query, texts, signal) => {
      if (texts.length === 0) return []
      try {
        return await breaker.run(
          () => scoreTexts(query, texts, signal),
          () => !isAbortedByCaller(signal),
        )
      } catch (error) {
        throw explainFailure(error, key)
      }
    },
  }
}

/** Names a missing key as the cause of a 401, because the service does not know the setting. */
function explainFailure(error: unknown, key: string | undefined): unknown {
  if (!(error instanceof ServiceFailure) || error.status !== 401 || key !== undefined) return error
  return new ServiceFailure(error.type, 'no key was sent; set PHAROS_RERANK_KEY', { status: error.status })
}

/** Whether the caller aborted. A timeout does not count, because it is a failure of the service. */
function isAbortedByCaller(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError')
}

/** The parts of a call that are the same for every service. The call has no retries, because the budget leaves no time for them. */
export function createRerankCall(
  service: string,
  { key, budgetMs }: RerankServiceOptions,
  url: string,
  json: unknown,
  signal: AbortSignal | undefined,
): ServiceCall {
  return {
    service,
    method: 'POST',
    url,
    json,
    timeoutMs: budgetMs,
    signal,
    ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
  }
}

/** Reads a list of scores and returns them in the order of the texts. Every text must have exactly one finite score. */
export function readScores(service: string, results: unknown, count: number, scoreField: string): number[] {
  const refuse = (problem: string): ServiceFailure => new ServiceFailure('bad-answer', `${service} answered ${problem}`)
  if (!Array.isArray(results)) throw refuse('without a list of scores')
  const scores = new Map<number, number>()
  for (const result of results as readonly unknown[]) {
    const { index, [scoreField]: score } = (result ?? {}) as Readonly<Record<string, unknown>>
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw refuse(`with a score for text ${String(index)}, which it was not given`)
    }
    if (scores.has(index)) throw refuse(`with two scores for text ${index}`)
    if (typeof score !== 'number' || !Number.isFinite(score)) throw refuse(`with a ${scoreField} that is not finite`)
    scores.set(index, score)
  }
  if (scores.size < count) throw refuse(`with ${scores.size} scores for ${count} texts`)
  return Array.from({ length: count }, (_, i) => scores.get(i) as number)
}

/** The URL of a path below an endpoint, which may end with a slash or already contain the path. */
export function resolveEndpoint(endpoint: string, path: string): string {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (!base.endsWith(path)) url.pathname = `${base}${path}`
  return url.href
}
