import { messageOf, PharosError } from '../../core/errors.ts'
import { writeNumber } from '../../core/text/count.ts'
import { describeForeignQuestion } from '../../core/text/query-language.ts'
import { CircuitBreaker } from '../circuit-breaker.ts'
import type { Library } from '../library.ts'
import type { ChunkFilter } from '../ports/store.ts'
import type { VectorIndex, VectorSpace } from '../ports/vectors.ts'
import { withTimeout } from '../with-timeout.ts'

/** The vector of a question, and the vectors to compare it with. */
export interface QueryEmbedding {
  readonly vectors: VectorIndex
  readonly vector: Float32Array
}

/** Outcome of embedding a question. */
export interface QueryEmbeddingResult {
  readonly meaning?: QueryEmbedding
  readonly notices: readonly string[]
}

/** Timeout for the vector of a question from a service: an answer by words is better than none. */
const SERVICE_TIMEOUT_MS = 2000

/**
 * Timeout for the built-in model, opening included. It is slow only on a busy machine, where words alone would answer worse, not sooner.
 */
const BUILT_IN_TIMEOUT_MS = 10_000

/** Failures faster than this share of the timeout do not trip the circuit breaker. */
const QUICK_SHARE = 1 / 8

/** After this many slow failures the circuit breaker opens, so that not every question waits for the timeout. */
const SLOW_FAILURES = 2
const COOLDOWN_MS = 15_000

/** Circuit breakers by vector index. */
const breakers = new WeakMap<VectorIndex, CircuitBreaker>()

/** Embeds a question; undefined if there are no vectors to compare it with. */
export async function findQueryEmbedding(
  library: Pick<Library, 'clock' | 'hasEmbeddingService' | 'openEmbedder' | 'vectors'>,
  query: string,
  filter: ChunkFilter,
  signal?: AbortSignal,
  waitMs: number = library.hasEmbeddingService === true ? SERVICE_TIMEOUT_MS : BUILT_IN_TIMEOUT_MS,
): Promise<QueryEmbeddingResult | undefined> {
  const { vectors } = library
  const space = await vectors?.readSpace()
  if (vectors === undefined) return undefined
  const { embedded, chunks, refused } = await vectors.count(filter.sourceIds)
  // Without vectors to compare with, the question is not embedded.
  if (space === undefined || embedded === 0) {
    return (space !== undefined || library.hasEmbeddingService === true) && chunks > 0 ? NOTHING_EMBEDDED : undefined
  }
  const breaker = breakers.get(vectors) ?? createBreaker(library)
  breakers.set(vectors, breaker)
  const began = performance.now()
  let vector: Float32Array | string
  try {
    vector = await breaker.run(
      () => withTimeout(waitMs, signal, (limitedSignal) => embedQuery(library, space, query, limitedSignal)),
      () => signal?.aborted !== true && performance.now() - began >= waitMs * QUICK_SHARE,
    )
  } catch (error) {
    signal?.throwIfAborted()
    return { notices: [describeUnusable('the model', error)] }
  }
  if (typeof vector === 'string') return { notices: [`${vector}; answered by words alone`] }
  const refusedNote = refused > 0 ? `; the model cannot embed ${writeNumber(refused)} of the others` : ''
  const coverage = `${writeNumber(embedded)} of ${writeNumber(chunks)} passages can be found by meaning, the others by words${refusedNote}`
  return { meaning: { vectors, vector }, notices: embedded + refused < chunks ? [coverage] : [] }
}

/** Result while vectors are wanted but no chunk has one yet. */
const NOTHING_EMBEDDED: QueryEmbeddingResult = {
  notices: ['no chunk has a vector yet (make them with pharos embed run); answered by words alone'],
}

function createBreaker({ clock }: Pick<Library, 'clock'>): CircuitBreaker {
  return new CircuitBreaker({ threshold: SLOW_FAILURES, resetMs: COOLDOWN_MS, now: () => clock.now() })
}

/** Returns the vector of a question, or a message why none fits. */
async function embedQuery(
  { openEmbedder, hasEmbeddingService: isService = false }: Pick<Library, 'hasEmbeddingService' | 'openEmbedder'>,
  space: VectorSpace,
  query: string,
  signal: AbortSignal,
): Promise<Float32Array | string> {
  const embedder = await openEmbedder?.()
  if (embedder === undefined) return `the library has vectors of ${space.model}, which is not configured here`
  if (embedder.space.fingerprint !== space.fingerprint) {
    // The service may have its old model again; this request detects that, and the next question reopens the embedder.
    if (isService) await embedder.embed([query], signal, 'query')
    const which = isService ? 'configured' : 'built-in'
    return `the library has vectors of another model (${space.model}) than the ${which} one (${embedder.space.model})`
  }
  const foreign = describeForeignQuestion(query, embedder.language)
  if (foreign !== undefined) return foreign
  const [vector] = await embedder.embed([query], signal, 'query')
  if (vector === undefined) throw new TypeError('it gave no vector')
  return vector
}

/** Writes the notice that something cannot be used and the answer uses words alone. */
export function describeUnusable(what: string, error: unknown): string {
  return `${what} cannot be used: ${problemOf(error)}; answered by words alone`
}

/** Describes an error, to follow a statement that something cannot be used. */
function problemOf(error: unknown): string {
  if (!(error instanceof PharosError && error.code === 'SERVICE_UNUSABLE')) {
    return messageOf(error)
  }
  const { service, url, problem } = error.details
  return `${service} at ${url}: ${problem}`
}
