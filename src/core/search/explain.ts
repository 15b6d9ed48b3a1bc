import { hasPosting, type RankedDocument, type RankedQuery, type Ranking } from './ranking.ts'

/** Where the score of a hit comes from: the sum of `parts` and `pairs`. */
export interface Explanation {
  readonly parts: readonly ScorePart[]
  readonly pairs: number
}

/** What one word of the query adds to a score through one field. */
export interface ScorePart {
  readonly word: string
  readonly field: string
  /** Terms of the field that matched the word. */
  readonly terms: readonly string[]
  /** How often they occur, those that only share the stem counting less. */
  readonly frequency: number
  /** How many documents have a match for the word in this field. */
  readonly documents: number
  readonly score: number
}

/** Where the scores of ranked documents come from, in their order. */
export function explainAll(
  ranking: Ranking,
  query: RankedQuery,
  ranked: readonly RankedDocument[],
  fields: readonly string[],
  nameOf: (term: number) => string,
): Explanation[] {
  const contributions = ranking.explain(
    query,
    ranked.map(({ document }) => document),
  )
  return ranked.map(({ document, pairs }, i) => {
    const parts = (contributions[i] ?? []).map(({ word, field, frequency, matches, score }): ScorePart => {
      const postings = query.postings[field]
      const ids = [...word.exact, ...word.variants].filter((id) => postings && hasPosting(postings, id, document))
      return {
        word: word.word,
        field: fields[field] ?? '',
        terms: ids.map(nameOf),
        frequency,
        documents: matches,
        score,
      }
    })
    return { parts, pairs }
  })
}
