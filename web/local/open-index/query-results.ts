import { type Signal, signal } from '@preact/signals'
import { KINDS } from '../../../src/core/model.ts'
import { ask, embeddingProgress, openedIndex } from '../page-state.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'
import type { SearchResults } from '../work/operations.ts'
import { latestOnly } from './latest-only.ts'

/** The results of a search, with the key of the query. */
export interface QueryResults extends SearchResults {
  readonly key: string
  readonly error: ErrorMessage | null
}

/** The filters of a search; the names are those of the query parameters. */
export const FILTERS = ['path', 'kind', 'heading', 'symbol'] as const

/** The last results. They stay in memory after the list is closed, because the chunk view highlights their terms. */
export const queryResults: Signal<QueryResults | null> = signal(null)
export const isSearching: Signal<boolean> = signal(false)

interface SearchRequest {
  readonly id: string
  readonly query: URLSearchParams
  readonly limit: number
}

/** Runs the query in the address. While a query runs, only the latest of the following ones is queued. */
export function search(id: string, query: URLSearchParams, limit: number): Promise<void> {
  return searchLatest({ id, query, limit })
}

const searchLatest = latestOnly(async (request: SearchRequest) => {
  isSearching.value = true
  queryResults.value = await runSearch(request)
  isSearching.value = false
})

/** Whether the address contains a query or a filter. */
export function hasQuery(query: URLSearchParams): boolean {
  return ['q', ...FILTERS].some((name) => query.has(name))
}

/** Identifies the results of a search: the version of the index, the query and the filters. */
export function keyOf(id: string, query: URLSearchParams): string {
  // The key changes once all embeddings exist, so that the search is repeated with semantic results.
  const hasAllEmbeddings = embeddingProgress.value?.state === 'whole'
  return JSON.stringify([
    id,
    openedIndex.value?.stored.indexId,
    hasAllEmbeddings,
    ...['q', ...FILTERS].map((name) => query.get(name) ?? ''),
  ])
}

async function runSearch({ id, query, limit }: SearchRequest): Promise<QueryResults | null> {
  if (!hasQuery(query)) return null
  const key = keyOf(id, query)
  const kind = query.get('kind')
  try {
    const answer = await ask('search', {
      query: query.get('q')?.trim() ?? '',
      options: {
        limit,
        pathPrefix: query.get('path') ?? undefined,
        kind: KINDS.find((candidate) => candidate === kind),
        headingPrefix: query.get('heading') ?? undefined,
        symbolPrefix: query.get('symbol') ?? undefined,
        // Treats the last word as a prefix, because queries are sent while typing.
        completes: true,
      },
    })
    return { key, ...answer, error: null }
  } catch (error) {
    return { key, hits: [], total: 0, completion: null, doubt: null, error: describeError(error) }
  }
}
