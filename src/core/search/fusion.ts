/** How word scores and cosines are combined: weighted sum, or words alone. */
export type FusionMethod = 'convex' | 'words'

/** The scores of a candidate that are combined. */
export interface FusionCandidate {
  /** Score by words, as a share of the best possible; 0 for a candidate that was found by meaning alone. */
  readonly wordScore: number
  /** Cosine with the query; null for a candidate without a vector. */
  readonly similarity: number | null
  /** Whether the candidate was found by meaning alone and ranks below the hits by words. @default whether `wordScore` is 0 */
  readonly isNear?: boolean
}

/** Result for a candidate. */
export interface FusedScore {
  readonly score: number
  /** The formula of the fusion, as text. */
  readonly fusion: string
}

/** Options for combining scores. */
export interface FusionOptions {
  readonly method?: FusionMethod
  /** Share of the meaning in a weighted sum. @default by the query: {@link meaningShareFor} */
  readonly meaningShare?: number
}

/**
 * A text with a lower similarity is unrelated to the question and does not count as an answer by meaning alone. In the Python documentation
 * the nearest chunk scored 0.44 or more for questions about Python, and 0.29 or less for other questions.
 */
export const MIN_SIMILARITY = 0.3

/** Share of the meaning where a query is a question or a topic. */
const MEANING_SHARE = 0.4
/** Share of the meaning where a query is a name, because words are more reliable there. */
const IDENTIFIER_MEANING_SHARE = 0.1

/** Spellings of names that questions lack: inner punctuation or capitals, a call, a flag, a path, an operator, a number, one acronym. */
const NAME_LIKE: readonly RegExp[] = [
  /[A-Za-z0-9]_|_[A-Za-z0-9]|\w{2}\.[A-Za-z_]\w|::|->|=>/,
  /[a-z][A-Z]|[A-Z]{2}[a-z]|^[A-Z]{2,}$/,
  /\w\(|\(\)|(?:^|\s)-{1,2}[A-Za-z]|\w\/\w/,
  /[$@#\\{}[\]<>|^~`=]|(?:^|\s)[%&*+/]{1,3}(?:\s|$)|^[?!:;.,]{1,3}\s/,
  // Embeddings barely distinguish numbers: `RFC 2060` and `RFC 2818` are almost equal to them.
  /\d{2}|[A-Z]\d/,
]

/** A query of more words than this is a question, even if it contains names. */
const MAX_NAME_WORDS = 6

/** Whether a query is a name, such as `os.path.join()`, `--max-pages` or `RFC 2060`, instead of a description. */
export function isIdentifierLike(query: string): boolean {
  const text = query.trim()
  return (
    text.split(/\s+/, MAX_NAME_WORDS + 1).length <= MAX_NAME_WORDS && NAME_LIKE.some((pattern) => pattern.test(text))
  )
}

/** How much the meaning of a query counts beside its words. */
export function meaningShareFor(query: string): number {
  return isIdentifierLike(query) ? IDENTIFIER_MEANING_SHARE : MEANING_SHARE
}

/** Fuses candidates, in their order. */
export type FuseCandidates = (candidates: readonly FusionCandidate[]) => FusedScore[]

/**
 * Weighted sum of the word score and the cosine, both unscaled, so that a weak match stays weak. A candidate without a vector gets the
 * average cosine of the first candidates with similar word scores, so that a partly embedded library ranks its other chunks neither up nor
 * down.
 */
export function createFusion(
  query: string,
  first: readonly FusionCandidate[],
  options: FusionOptions = {},
): FuseCandidates {
  const { method = 'convex', meaningShare = meaningShareFor(query) } = options
  const known = first.filter((candidate): candidate is KnownCandidate => candidate.similarity !== null)
  if (method === 'words' || known.length === 0) {
    return (candidates) => candidates.map(({ wordScore }) => ({ score: wordScore, fusion: 'words alone' }))
  }
  // Candidates found by meaning alone are near by selection, so they say nothing about hits by words.
  const byWords = known.filter(({ wordScore, isNear = wordScore === 0 }) => !isNear)
  const expected = fitSimilarity(byWords.length > 0 ? byWords : known)
  return (candidates) =>
    candidates.map(({ wordScore, similarity }) => {
      const meaning = Math.max(0, similarity ?? expected(wordScore))
      const score = (1 - meaningShare) * wordScore + meaningShare * meaning
      const formula = `${formatScore(1 - meaningShare)} × words ${formatScore(wordScore)} + ${formatScore(meaningShare)} × meaning ${formatScore(meaning)}`
      return { score, fusion: similarity === null ? `${formula} (expected: it has no vector)` : formula }
    })
}

/** A candidate with a vector. */
interface KnownCandidate extends FusionCandidate {
  readonly similarity: number
}

/** Predicts the cosine from the word score: the least-squares line through the known candidates. */
function fitSimilarity(known: readonly KnownCandidate[]): (wordScore: number) => number {
  const meanWord = mean(known.map(({ wordScore }) => wordScore))
  const meanSimilarity = mean(known.map(({ similarity }) => similarity))
  const variance = mean(known.map(({ wordScore }) => (wordScore - meanWord) ** 2))
  const covariance = mean(
    known.map(({ wordScore, similarity }) => (wordScore - meanWord) * (similarity - meanSimilarity)),
  )
  const slope = variance > 0 ? covariance / variance : 0
  return (wordScore) => Math.min(1, meanSimilarity + slope * (wordScore - meanWord))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function formatScore(value: number): string {
  return value.toFixed(2)
}
