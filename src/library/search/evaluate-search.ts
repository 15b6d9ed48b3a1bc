import { isExpected, type JudgedQuery, plainAddress, type ResultPage } from '../../core/search/judged-queries.ts'
import { findFirstRank, judgeResults, type MetricValues, measureRanking } from '../../core/search/metrics.ts'
import type { Library } from '../library.ts'
import type { SearchAnswer, SearchInput } from '../search.ts'
import { searchLibrary } from './search-library.ts'

/** Options of an evaluation. */
export interface EvaluationOptions extends Pick<SearchInput, 'sources' | 'version' | 'fusion'> {
  /** Number of pages of an answer that count. */
  readonly k: number
}

/** Result of one question. */
export interface EvaluatedQuery extends JudgedQuery {
  readonly figures: MetricValues
  /** Rank of the first expected page, from 1; null if it was not found. */
  readonly place: number | null
  /** Addresses of the pages found, best first. */
  readonly found: readonly string[]
  readonly ms: number
  readonly engines: SearchAnswer['engines']
  readonly notices: SearchAnswer['notices']
}

/** Minimum number of pages, because metrics such as the hit rate at 10 need them whatever k is. */
const MIN_PAGES = 10

/** Asks each question and measures its answer. The first question runs twice, so that one-time loading does not count. */
export async function* evaluateSearch(
  library: Library,
  queries: readonly JudgedQuery[],
  { k, ...input }: EvaluationOptions,
  signal?: AbortSignal,
): AsyncGenerator<EvaluatedQuery> {
  const ask = (query: string) => searchLibrary(library, { ...input, query, limit: Math.max(k, MIN_PAGES) }, signal)
  if (queries[0] !== undefined) await ask(queries[0].query)
  for (const { query, expectations } of queries) {
    const start = performance.now()
    const answer = await ask(query)
    const ms = performance.now() - start
    const pages = listPages(answer)
    const judgements = judgeResults(pages, expectations, isExpected)
    yield {
      query,
      expectations,
      figures: measureRanking(judgements, expectations, k),
      place: findFirstRank(judgements),
      found: pages.map(({ url }) => url),
      ms,
      engines: answer.engines,
      notices: answer.notices,
    }
  }
}

/** Lists the pages of an answer in the order of their first appearance. */
function listPages({ passages, more }: SearchAnswer): ResultPage[] {
  const pages = new Map<string, { url: string; chunks: string[] }>()
  const add = (sourceId: string, address: string, chunks: readonly string[]) => {
    const url = plainAddress(address)
    const page = pages.get(`${sourceId} ${url}`) ?? { url, chunks: [] }
    page.chunks.push(...chunks)
    pages.set(`${sourceId} ${url}`, page)
  }
  for (const { sourceId, source, url, chunkIds } of passages) {
    add(
      sourceId,
      url,
      chunkIds.map((id) => `${source}/${id}`),
    )
  }
  for (const { sourceId, url, chunk } of more) add(sourceId, url, [chunk])
  return [...pages.values()]
}
