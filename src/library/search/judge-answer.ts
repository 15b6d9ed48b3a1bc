import { type Judgement, judgeRelevance, MAX_JUDGED } from '../../core/retrieval/relevance.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import type { RankedHit } from './ranked-hits.ts'

/** Judges how well hits answer a question; hits must be sorted best first. */
export async function judgeAnswer(
  { readOrdinaryWords }: Pick<Library, 'readOrdinaryWords'>,
  hits: readonly RankedHit[],
  query: string,
): Promise<Judgement> {
  const judged = hits.slice(0, MAX_JUDGED).map(({ title, chunk, missing, missingOnPage, similarity }) => ({
    // Reading `content` decodes the text, so it is read only when it is needed.
    text: missing === null ? [title, ...chunk.headingPath, chunk.content].join('\n') : '',
    missing,
    missingOnPage,
    similarity,
  }))
  return judgeRelevance(judged, (await readOrdinaryWords?.()) ?? NO_WORDS, query)
}

const NO_WORDS: ReadonlySet<string> = new Set()

/** At most this many hits in other sources are considered. */
const MAX_HITS = 20

/** At most this many other sources are named. */
const MAX_SOURCES = 3

/** Returns the names of unsearched sources that contain words missing from the hits. */
export async function findElsewhere(
  { store }: Pick<Library, 'store'>,
  words: readonly string[],
  searched: readonly Source[],
): Promise<string[]> {
  if (words.length === 0) return []
  const others = new Map((await store.listSources()).map((source) => [source.id, source]))
  for (const { id } of searched) others.delete(id)
  if (others.size === 0) return []
  const query = words.join(' ')
  const found = await store.search({ query, limit: MAX_HITS, filter: { sourceIds: [...others.keys()] } })
  const covering = found.filter(({ missing }) => missing.length < words.length)
  const chunks = await store.readMatches(covering)
  const names = chunks.flatMap((chunk) => {
    const source = others.get(chunk?.sourceId ?? '')
    return source === undefined ? [] : [labelOf(source)]
  })
  return [...new Set(names)].slice(0, MAX_SOURCES)
}
