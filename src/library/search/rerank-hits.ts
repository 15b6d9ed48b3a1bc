import { messageOf } from '../../core/errors.ts'
import { embeddedText } from '../embed/embedded-text.ts'
import type { Library } from '../library.ts'
import type { Store, StoredChunk } from '../ports/store.ts'
import type { HitExplanation } from '../search.ts'
import { ServiceFailure } from '../service-call.ts'
import { TimeoutError, withTimeout } from '../with-timeout.ts'

/** Fields of a hit that reranking needs. */
export interface RerankableHit extends StoredChunk {
  readonly score: number
  readonly pageBonus?: number
  readonly explanation?: HitExplanation
}

/** Hits after reranking, or unchanged. */
export interface Reranking<H> {
  readonly hits: readonly H[]
  readonly isReranked: boolean
  /** Why the hits are unchanged, if a reranker should have judged them. */
  readonly notices: readonly string[]
}

/** Cache of recent judgements by store, so that further answers to a question keep the same order without another request. */
const judgementCache = new WeakMap<Store, Map<string, CachedJudgements>>()

interface CachedJudgements {
  readonly judgements: readonly number[]
  readonly until: number
}

const CACHE_TTL_MS = 10 * 60_000
const MAX_CACHED = 100

/** Maximum length of a judged text in UTF-16 units: more than most models read, and within the size of a request. */
const MAX_TEXT_CHARS = 4000

/**
 * Lets the configured reranker judge the first hits by their text and sorts them accordingly. Each rank keeps its score, so that all
 * hits remain comparable. If the reranker fails or is too slow, the hits are unchanged.
 */
export async function rerankHits<H extends RerankableHit>(
  library: Pick<Library, 'clock' | 'openReranker' | 'sha256' | 'store'>,
  query: string,
  hits: readonly H[],
  signal?: AbortSignal,
): Promise<Reranking<H>> {
  const unchanged = { hits, isReranked: false, notices: [] }
  if (hits.length < 2) return unchanged
  const reranker = await library.openReranker?.()
  if (reranker === undefined) return unchanged
  const { candidates, budgetMs } = reranker
  const judged = hits.slice(0, candidates)
  const texts = judged.map(textOf)
  try {
    const judgements = await judgeOnce(library, [reranker.name, query, ...texts], () =>
      withTimeout(budgetMs, signal, (limited) => reranker.rerank(query, texts, limited)),
    )
    return { hits: [...reorder(judged, judgements), ...hits.slice(candidates)], isReranked: true, notices: [] }
  } catch (error) {
    signal?.throwIfAborted()
    return { ...unchanged, notices: [`the reranker ${describe(error, budgetMs)}; ranked without it`] }
  }
}

/** Returns cached judgements, or requests them. The cache key covers the whole request, so that any change causes a new request. */
async function judgeOnce(
  { store, clock, sha256 }: Pick<Library, 'clock' | 'sha256' | 'store'>,
  request: readonly string[],
  judge: () => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const cache = judgementCache.get(store) ?? new Map<string, CachedJudgements>()
  judgementCache.set(store, cache)
  const key = sha256(JSON.stringify(request))
  const known = cache.get(key)
  if (known !== undefined && clock.now() < known.until) return known.judgements
  const judgements = await judge()
  cache.delete(key)
  cache.set(key, { judgements, until: clock.now() + CACHE_TTL_MS })
  const [oldest] = cache.keys()
  if (oldest !== undefined && cache.size > MAX_CACHED) cache.delete(oldest)
  return judgements
}

function textOf({ title, chunk }: StoredChunk): string {
  const text = embeddedText(title, chunk.headingPath, chunk.content)
  if (text.length <= MAX_TEXT_CHARS) return text
  // The service would reject half of a surrogate pair.
  return text.slice(0, MAX_TEXT_CHARS).replace(/[\uD800-\uDBFF]$/, '')
}

/** Sorts hits by judgement; hits with equal judgements keep their order. */
function reorder<H extends RerankableHit>(hits: readonly H[], judgements: readonly number[]): H[] {
  const order = hits.map((hit, before) => ({ hit, before, judgement: judgements[before] ?? 0 }))
  order.sort((a, b) => b.judgement - a.judgement || a.before - b.before)
  const ranks = hits.toSorted((a, b) => b.score - a.score)
  return order.map(({ hit, before, judgement }, place) => {
    const { explanation } = hit
    const reranker = { score: judgement, place: place + 1, placeBefore: before + 1 }
    const { score, pageBonus = 0 } = ranks[place] ?? hit
    return {
      ...hit,
      score,
      pageBonus,
      ...(explanation === undefined ? {} : { explanation: { ...explanation, reranker } }),
    }
  })
}

function describe(error: unknown, budgetMs: number): string {
  const isLate = error instanceof TimeoutError || (error instanceof ServiceFailure && error.type === 'timeout')
  if (isLate) return `gave no answer within ${budgetMs / 1000} s`
  return `cannot be used: ${messageOf(error)}`
}
