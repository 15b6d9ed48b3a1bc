/** How well one question was answered; every figure is from 0 to 1, higher is better. */
export interface MetricValues {
  /** Share of the expected results among the first k. */
  readonly recall: number
  /** Share of the first k that was expected. */
  readonly precision: number
  /** 1 over the rank of the first expected result, 0 if none is among the first k; its mean is the MRR. */
  readonly mrr: number
  /** Discounted gain of the first k relative to that of the best possible order. */
  readonly ndcg: number
  /** 1 if the first result is expected, else 0; its mean is the hit rate. */
  readonly 'success@1': number
  /** 1 if one of the first five results is expected, else 0. */
  readonly 'success@5': number
  /** 1 if one of the first ten results is expected, else 0. */
  readonly 'success@10': number
}

/** Names of all figures, in the order in which they are shown. */
export const METRICS = ['success@1', 'success@5', 'success@10', 'mrr', 'ndcg', 'recall', 'precision'] as const

/** One of {@link METRICS}. */
export type Metric = (typeof METRICS)[number]

/** Something that a question should find. */
export interface Expectation {
  readonly expected: string
  /** How much it is worth to find it, above 0. */
  readonly grade: number
}

/** Value of one result. */
export interface Judgement {
  /** Sum of the grades of the expectations that the result meets. */
  readonly gain: number
  /** Number of expectations that the result meets. */
  readonly met: number
}

/** Judges results in order. A second result for the same expectation counts nothing. */
export function judgeResults<T>(
  results: readonly T[],
  expectations: readonly Expectation[],
  isFound: (result: T, expected: string) => boolean,
): Judgement[] {
  const unmet = new Set(expectations)
  return results.map((result) => {
    const met = [...unmet].filter(({ expected }) => isFound(result, expected))
    for (const expectation of met) unmet.delete(expectation)
    return { gain: met.reduce((sum, { grade }) => sum + grade, 0), met: met.length }
  })
}

/** The rank of the first expected result, from 1; null if there is none. */
export function findFirstRank(judgements: readonly Judgement[]): number | null {
  return judgements.findIndex(({ met }) => met > 0) + 1 || null
}

/**
 * Measures one ranking against all expectations. Gain is linear in the grade, as in trec_eval. A result that meets several expectations at
 * once can exceed the ideal, and then counts as ideal.
 */
export function measureRanking(
  judgements: readonly Judgement[],
  expectations: readonly Pick<Expectation, 'grade'>[],
  k: number,
): MetricValues {
  const first = judgements.slice(0, k)
  const firstRank = findFirstRank(judgements)
  const met = first.reduce((sum, judgement) => sum + judgement.met, 0)
  const ideal = expectations.map(({ grade }) => grade).toSorted((a, b) => b - a)
  const best = discountedGain(ideal.slice(0, k))
  const within = (depth: number) => (firstRank !== null && firstRank <= depth ? 1 : 0)
  return {
    recall: met / (expectations.length || 1),
    precision: first.filter((judgement) => judgement.met > 0).length / k,
    mrr: within(k) / (firstRank ?? 1),
    ndcg: best === 0 ? 0 : Math.min(1, discountedGain(first.map(({ gain }) => gain)) / best),
    'success@1': within(1),
    'success@5': within(5),
    'success@10': within(10),
  }
}

/** The sum of grades, each divided by the binary logarithm of its rank plus 1: Järvelin and Kekäläinen, 2002. */
function discountedGain(grades: readonly number[]): number {
  return grades.reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0)
}

/** The mean of each figure; 0 for an empty list. */
export function averageMetrics(all: readonly MetricValues[]): MetricValues {
  const mean = (metric: Metric) => all.reduce((sum, figures) => sum + figures[metric], 0) / (all.length || 1)
  // METRICS has every key of MetricValues, which the type of `fromEntries` cannot express.
  return Object.fromEntries(METRICS.map((metric) => [metric, mean(metric)])) as unknown as MetricValues
}

/** The smallest value that the given share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** How two runs over the same questions compare. */
export interface Comparison {
  readonly wins: number
  readonly losses: number
  readonly ties: number
  /** Probability that wins and losses would be at least as uneven by chance alone. */
  readonly chance: number
}

/** Compares a figure of the same questions before and after a change. */
export function comparePairs(pairs: readonly (readonly [before: number, after: number])[]): Comparison {
  const wins = pairs.filter(([before, after]) => after - before > EPSILON).length
  const losses = pairs.filter(([before, after]) => before - after > EPSILON).length
  return { wins, losses, ties: pairs.length - wins - losses, chance: signTest(wins, losses) }
}

/** Figures that differ by less count as equal, because sums of fractions have rounding errors. */
export const EPSILON = 1e-9

/** The two-sided sign test: the probability that the throws of a fair coin are at least as uneven. */
function signTest(wins: number, losses: number): number {
  const throws = wins + losses
  // Uses logarithms, because the powers for a thousand throws underflow.
  let logChance = -throws * Math.LN2
  let tail = 0
  for (let heads = 0; heads <= Math.min(wins, losses); heads++) {
    tail += Math.exp(logChance)
    logChance += Math.log(throws - heads) - Math.log(heads + 1)
  }
  return Math.min(1, 2 * tail)
}
