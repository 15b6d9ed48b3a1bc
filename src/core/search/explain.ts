import { type RankedQuery, sumFrequencies } from './ranked-query.ts'
import type { RankedEntry, Ranking } from './ranking.ts'

/** The origin of the score of a hit: the sum of `parts` and `pairs`. */
export interface Explanation {
  readonly parts: readonly ScorePart[]
  readonly pairs: number
}

/** Contribution of one word of the query to a score. */
export interface ScorePart {
  readonly word: string
  /** Occurrences by field, of fields that have any. */
  readonly fields: Readonly<Record<string, number>>
  /** Terms of the document that matched the word. */
  readonly terms: readonly string[]
  /** How many documents match the word. */
  readonly documents: number
  readonly score: number
}

/** The explanations of ranked documents, in their order. */
export function explainAll(
  ranking: Ranking,
  query: RankedQuery,
  ranked: readonly RankedEntry[],
  fields: readonly string[],
  nameOf: (term: number) => string,
): Explanation[] {
  const contributions = ranking.explain(
    query,
    ranked.map(({ document }) => document),
  )
  return ranked.map(({ document, pairs }, i) => {
    const parts = (contributions[i] ?? []).map(({ word, frequencies, matches, score }): ScorePart => {
      const ids = [...word.exact, ...word.variants].filter((id) => sumFrequencies(query, [id], document).some(Boolean))
      const counts = fields.map((field, f) => [field, frequencies[f] ?? 0] as const).filter(([, count]) => count > 0)
      return { word: word.word, fields: Object.fromEntries(counts), terms: ids.map(nameOf), documents: matches, score }
    })
    return { parts, pairs }
  })
}
