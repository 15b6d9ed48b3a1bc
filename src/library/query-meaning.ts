import { messageOf, PharosError } from '../core/errors.ts'
import { writeNumber } from '../core/text/count.ts'
import { describeForeignQuestion } from '../core/text/query-language.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { Library } from './library.ts'
import type { ChunkFilter } from './store.ts'
import type { VectorIndex, VectorSpace } from './vectors.ts'
import { waitAtMost } from './wait-at-most.ts'

/** What a question means, and what that is compared with. */
export interface QueryMeaning {
  readonly vectors: VectorIndex
  readonly vector: Float32Array
}

/** What could be found out about what a question means. */
export interface FoundMeaning {
  readonly meaning?: QueryMeaning
  readonly notices: readonly string[]
}

/** How long a question may wait for its vector, the opening of the model included: words alone are better than no answer. */
const MOST_WAIT_MS = 2000

/** A failure that took less of that costs nobody anything, however often it happens. */
const QUICK_SHARE = 1 / 8

/** After so many that took longer, the model is left alone for a while: nobody should wait for it with every question. */
const SLOW_FAILURES = 2
const REST_MS = 15_000

/** What is known of the models of libraries, by where their vectors are. */
const breakers = new WeakMap<VectorIndex, CircuitBreaker>()

/** Finds out what a question means; undefined where there are no vectors to compare that with. */
export async function findMeaning(
  library: Library,
  query: string,
  filter: ChunkFilter,
  signal?: AbortSignal,
  waitMs: number = MOST_WAIT_MS,
): Promise<FoundMeaning | undefined> {
  const { vectors } = library
  const space = await vectors?.readSpace()
  if (vectors === undefined) return undefined
  const { embedded, chunks, refused } = await vectors.count(filter.sourceIds)
  // Nobody is asked what a question means that could be compared with nothing.
  if (space === undefined || embedded === 0) {
    return (space !== undefined || library.wantsVectors === true) && chunks > 0 ? NOTHING_EMBEDDED : undefined
  }
  const breaker = breakers.get(vectors) ?? createBreaker(library)
  breakers.set(vectors, breaker)
  const began = performance.now()
  let vector: Float32Array | string
  try {
    vector = await breaker.run(
      () => waitAtMost(waitMs, signal, (both) => embedQuery(library, space, query, both)),
      () => signal?.aborted !== true && performance.now() - began >= waitMs * QUICK_SHARE,
    )
  } catch (error) {
    signal?.throwIfAborted()
    return { notices: [cannotBeUsed('the model', error)] }
  }
  if (typeof vector === 'string') return { notices: [`${vector}; answered by words alone`] }
  const without = refused > 0 ? `; the model makes none of ${writeNumber(refused)}` : ''
  const missing = `${writeNumber(embedded)} of ${writeNumber(chunks)} chunks have vectors${without}`
  return { meaning: { vectors, vector }, notices: embedded + refused < chunks ? [missing] : [] }
}

/** What was wanted is not there yet, and there is something it could be made of. */
const NOTHING_EMBEDDED: FoundMeaning = { notices: ['no chunk has a vector yet; answered by words alone'] }

function createBreaker({ clock }: Library): CircuitBreaker {
  return new CircuitBreaker({ threshold: SLOW_FAILURES, resetMs: REST_MS, now: () => clock.now() })
}

/** The vector of a question, or in words why there can be none that fits. */
async function embedQuery(
  { openEmbedder, wantsVectors: isService = false }: Library,
  space: VectorSpace,
  query: string,
  signal: AbortSignal,
): Promise<Float32Array | string> {
  const embedder = await openEmbedder?.()
  if (embedder === undefined) return `the library has vectors of ${space.model}, which is not configured here`
  if (embedder.space.fingerprint !== space.fingerprint) {
    // A service may have its old model again, which it is asked for with a text: it is opened anew then.
    if (isService) await embedder.embed([query], signal, 'query')
    const which = isService ? 'configured' : 'built in'
    return `the library has vectors of another model (${space.model}) than the one that is ${which} (${embedder.space.model})`
  }
  const foreign = describeForeignQuestion(query, embedder.language)
  if (foreign !== undefined) return foreign
  const [vector] = await embedder.embed([query], signal, 'query')
  if (vector === undefined) throw new TypeError('it gave no vector')
  return vector
}

/** What is said where words have to answer alone. */
export function cannotBeUsed(what: string, error: unknown): string {
  return `${what} cannot be used: ${problemOf(error)}; answered by words alone`
}

/** What is wrong, for where it is said already that something cannot be used. */
function problemOf(error: unknown): string {
  if (!(error instanceof PharosError && error.code === 'SERVICE_UNUSABLE')) {
    return messageOf(error)
  }
  const { service, url, problem } = error.details
  return `${service} at ${url}: ${problem}`
}
