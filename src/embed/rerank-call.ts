import type { Clock } from '../crawl/ports.ts'
import { CircuitBreaker } from '../library/circuit-breaker.ts'
import type { HttpClient } from '../library/http-client.ts'
import type { Reranker } from '../library/reranker.ts'
import { type ServiceCall, ServiceFailure } from '../library/service-call.ts'

/** Options of every reranking service. Opening one sends no request. */
export interface RerankServiceOptions {
  /** Where it is. */
  readonly endpoint: string
  /** Key that it wants to see, sent as a bearer token. */
  readonly key?: string
  /** Most texts that it is given for one question. */
  readonly candidates: number
  /** How long its answer may be waited for, in milliseconds. */
  readonly budgetMs: number
  readonly client: HttpClient
  readonly clock: Clock
}

/** After so many failures in a row it is left alone, so that one which hangs costs its budget no more than twice. */
const FAILURES = 2
/** How long it is left alone. */
const REST_MS = 30_000

/** Scores of texts, a number for each. */
export type Judge = (query: string, texts: readonly string[], signal?: AbortSignal) => Promise<number[]>

/** Makes a reranker of what calls a service: one that fails again and again is not asked for a while. */
export function createReranker(
  name: string,
  { candidates, budgetMs, clock, key }: RerankServiceOptions,
  judge: Judge,
): Reranker {
  const breaker = new CircuitBreaker({ threshold: FAILURES, resetMs: REST_MS, now: () => clock.now() })
  return {
    name,
    candidates,
    budgetMs,
    rerank: async (query, texts, signal) => {
      if (texts.length === 0) return []
      try {
        return await breaker.run(
          () => judge(query, texts, signal),
          () => !isGivenUp(signal),
        )
      } catch (error) {
        throw explainFailure(error, key)
      }
    },
  }
}

/** Says what is at fault where the service cannot know it. */
function explainFailure(error: unknown, key: string | undefined): unknown {
  if (!(error instanceof ServiceFailure) || error.status !== 401 || key !== undefined) return error
  return new ServiceFailure(error.type, 'no key was sent; set PHAROS_RERANK_KEY', { status: error.status })
}

/** Whether the caller aborted. A timeout does not count: it says something about the service. */
function isGivenUp(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError')
}

/** The parts of a call that are the same for every service. It is made once: a second would not fit the budget. */
export function rerankCall(
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

/** Reads a list of judgements into the order of the texts. Each text has to be judged once, by a finite number. */
export function readScores(service: string, judged: unknown, count: number, member: string): number[] {
  const refuse = (problem: string): ServiceFailure => new ServiceFailure('bad-answer', `${service} answered ${problem}`)
  if (!Array.isArray(judged)) throw refuse('without a list of judgements')
  const scores = new Map<number, number>()
  for (const one of judged as readonly unknown[]) {
    const { index, [member]: score } = (one ?? {}) as Readonly<Record<string, unknown>>
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw refuse(`with a judgement of text ${String(index)}, of ${count}`)
    }
    if (scores.has(index)) throw refuse(`with two judgements of text ${index}`)
    if (typeof score !== 'number' || !Number.isFinite(score)) throw refuse(`with a ${member} that is no finite number`)
    scores.set(index, score)
  }
  if (scores.size < count) throw refuse(`with ${scores.size} judgements of ${count} texts`)
  return Array.from({ length: count }, (_, i) => scores.get(i) as number)
}

/** An address below an endpoint, which may end with a slash, or be that address already. */
export function addressBelow(endpoint: string, path: string): string {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/+$/, '')
  if (!base.endsWith(path)) url.pathname = `${base}${path}`
  return url.href
}
