/** How scores of words and of meanings become one: weighted sum, reciprocal ranks, or words alone. */
export type FusionMethod = 'convex' | 'rrf' | 'words'

/** A candidate of a search, as far as fusing goes. */
export interface FusionCandidate {
  /** What its words scored; 0 for one that was found by its meaning alone. */
  readonly wordScore: number
  /** Cosine of its meaning with the query's; null for one without a vector. */
  readonly similarity: number | null
}

/** What a candidate came to. */
export interface FusedScore {
  readonly score: number
  /** In words: how it came about. */
  readonly fusion: string
}

/** How to fuse. */
export interface FusionOptions {
  readonly method?: FusionMethod
  /** Share of the meaning in a weighted sum. @default by the query: {@link meaningShareFor} */
  readonly meaningShare?: number
}

/** Share of the meaning where a query is a question or a topic. */
const MEANING_SHARE = 0.3
/** The same where a query names something: then the words know better. */
const IDENTIFIER_MEANING_SHARE = 0.05
/**
 * What is less near than this has nothing to do with a query, and is no answer by its meaning alone. In the documentation of Python
 * the nearest chunk of a question about it had 0.44 and more, that of a question about something else 0.29 and less.
 */
export const LEAST_SIMILARITY = 0.3
/** How soon a rank stops to count; the value of Cormack, Clarke and Büttcher (SIGIR 2009). */
const RANK_DAMPING = 60

/** What names have and questions have not: inner marks or capitals, a call, a flag, a path, an operator, a number, one acronym. */
const NAME_LIKE: readonly RegExp[] = [
  /[A-Za-z0-9]_|_[A-Za-z0-9]|\w{2}\.[A-Za-z_]\w|::|->|=>/,
  /[a-z][A-Z]|[A-Z]{2,}[a-z]|^[A-Z]{2,}$/,
  /\w\(|\(\)|(?:^|\s)-{1,2}[A-Za-z]|\w\/\w/,
  /[$@#\\{}[\]<>|^~`=]|(?:^|\s)[%&*+/]{1,3}(?:\s|$)|^[?!:;.,]{1,3}\s/,
  // Meanings tell numbers badly apart: `RFC 2060` and `RFC 2818` are the same to them.
  /\d{2}|[A-Z]\d/,
]

/** Whether a query names something, such as `os.path.join()`, `--max-pages` or `RFC 2060`, instead of describing it. */
export function isIdentifierLike(query: string): boolean {
  const text = query.trim()
  return NAME_LIKE.some((pattern) => pattern.test(text))
}

/** How much the meaning of a query counts beside its words. */
export function meaningShareFor(query: string): number {
  return isIdentifierLike(query) ? IDENTIFIER_MEANING_SHARE : MEANING_SHARE
}

/** The scores of candidates, in their order. Without a single similarity, and by words alone, the words' own scores. */
export function fuseScores(
  query: string,
  candidates: readonly FusionCandidate[],
  options: FusionOptions = {},
): FusedScore[] {
  return createFusion(query, candidates, options)(candidates, 0)
}

/** Fuses candidates, in their order. `before` is how many came before them. */
export type FuseCandidates = (candidates: readonly FusionCandidate[], before: number) => FusedScore[]

/** Takes from the first candidates of a question what all of them are measured by, so that the scores of later ones compare. */
export function createFusion(
  query: string,
  first: readonly FusionCandidate[],
  options: FusionOptions = {},
): FuseCandidates {
  const { method = 'convex', meaningShare = meaningShareFor(query) } = options
  const hasMeaning = first.some(({ similarity }) => similarity !== null)
  if (method === 'words' || !hasMeaning) {
    return (candidates) => candidates.map(({ wordScore }) => ({ score: wordScore, fusion: 'words alone' }))
  }
  return method === 'rrf' ? fuseRanks : createShares(first, meaningShare)
}

/**
 * Weighted sum of the share of the best word score and of where the cosine stands between the least and the greatest. A
 * candidate without a vector is taken to mean what candidates with such words mean on average, so that a library that is
 * embedded in part ranks what it has not come to yet neither up nor down.
 */
function createShares(first: readonly FusionCandidate[], meaningShare: number): FuseCandidates {
  const best = Math.max(...first.map(({ wordScore }) => wordScore))
  const shareOf = ({ wordScore }: FusionCandidate): number => (best > 0 ? Math.min(1, wordScore / best) : 0)
  const placeOf = createSpread(first.flatMap(({ similarity }) => similarity ?? []))
  const meaningOf = ({ similarity }: FusionCandidate): number | null =>
    similarity === null ? null : placeOf(similarity)
  const expected = expectMeaning(first.map(shareOf), first.map(meaningOf))
  return (candidates) =>
    candidates.map((candidate) => {
      const word = shareOf(candidate)
      const known = meaningOf(candidate)
      const meaning = known ?? expected(word)
      const score = (1 - meaningShare) * word + meaningShare * meaning
      const how = `${write(1 - meaningShare)} × words ${write(word)} + ${write(meaningShare)} × meaning ${write(meaning)}`
      return { score, fusion: known === null ? `${how} (expected: it has no vector)` : how }
    })
}

/** Where a value stands between the least and the greatest, from 0 to 1. */
function createSpread(values: readonly number[]): (value: number) => number {
  const least = Math.min(...values)
  const range = Math.max(...values) - least
  return (value) => (range > 0 ? Math.min(1, Math.max(0, (value - least) / range)) : 1)
}

/** The straight line through what is known, by least squares, within 0 and 1. */
function expectMeaning(words: readonly number[], meanings: readonly (number | null)[]): (word: number) => number {
  const points = meanings.flatMap((meaning, i) => (meaning === null ? [] : [[words[i] ?? 0, meaning] as const]))
  const meanWord = mean(points.map(([word]) => word))
  const meanMeaning = mean(points.map(([, meaning]) => meaning))
  const variance = mean(points.map(([word]) => (word - meanWord) ** 2))
  const covariance = mean(points.map(([word, meaning]) => (word - meanWord) * (meaning - meanMeaning)))
  const slope = variance > 0 ? covariance / variance : 0
  return (word) => Math.min(1, Math.max(0, meanMeaning + slope * (word - meanWord)))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Sum of the reciprocal ranks by words and by meaning. A candidate without a vector has the rank of its words twice. */
function fuseRanks(candidates: readonly FusionCandidate[], before: number): FusedScore[] {
  const byWords = ranksOf(
    candidates.map(({ wordScore }) => (wordScore > 0 ? wordScore : null)),
    before,
  )
  const byMeaning = ranksOf(
    candidates.map(({ similarity }) => similarity),
    before,
  )
  return candidates.map((_, i) => {
    const word = byWords[i] ?? null
    const known = byMeaning[i] ?? null
    const meaning = known ?? word
    const score = reciprocal(word) + reciprocal(meaning)
    const how = `rank ${word ?? 'none'} by words, ${meaning ?? 'none'} by meaning`
    return { score, fusion: known === null ? `${how} (expected: it has no vector)` : how }
  })
}

/** The rank of each value after so many others, greatest first; equal values have the same. */
function ranksOf(values: readonly (number | null)[], before: number): (number | null)[] {
  const sorted = values.filter((value) => value !== null).sort((a, b) => b - a)
  const ranks = new Map<number, number>()
  for (const [i, value] of sorted.entries()) if (!ranks.has(value)) ranks.set(value, before + i + 1)
  return values.map((value) => (value === null ? null : (ranks.get(value) ?? null)))
}

function reciprocal(rank: number | null): number {
  return rank === null ? 0 : 1 / (RANK_DAMPING + rank)
}

function write(value: number): string {
  return value.toFixed(2)
}
