import { MIN_SIMILARITY } from '../search/fusion.ts'
import type { MissingWord } from '../search/ranked-query.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { writeList } from '../text/list.ts'
import { tokenize } from '../text/tokenize.ts'

/** How well an answer fits its question: it answers the question, may only touch the topic, or is unrelated. */
export const RELEVANCES = ['strong', 'weak', 'none'] as const

/** One of {@link RELEVANCES}. */
export type Relevance = (typeof RELEVANCES)[number]

/** The parts of a hit that are judged. */
export interface JudgedHit {
  /** Title, headings and text; needed only where `missing` is null. */
  readonly text: string
  /** Words of the question that the hit lacks; null for a hit by meaning alone. */
  readonly missing: readonly MissingWord[] | null
  /** Words of the question that its whole page lacks. @default the same as `missing` */
  readonly missingOnPage?: readonly MissingWord[]
  /** Cosine with the question; null if unknown. */
  readonly similarity: number | null
}

/** How well an answer fits. */
export interface Judgement {
  readonly relevance: Relevance
  /** Informative words of the question that none of the best hits has. */
  readonly uncovered: readonly string[]
}

/** Number of best hits that are judged. */
export const MAX_JUDGED = 5

/** From this cosine on, a text that shares no word with the question still answers it. */
const CLEAR_SIMILARITY = 0.45

/** An answer is weak if the names that its pages lack make up more than this share of the question. */
const MAX_NAMES_SHARE = 0.15

/** An answer whose nearest meaning is far away is unrelated if the words it lacks make up more than this share of the question. */
const MAX_FAR_SHARE = 0.15

/**
 * An answer whose meaning is not near is also weak if the words it lacks, names or not, make up more than this share of the question.
 */
const MAX_WORDS_SHARE = 0.75

/** From this cosine on, missing ordinary words are no reason for doubt. */
const NEAR_SIMILARITY = 0.4

/**
 * Judges the best hits of a question. The strongest evidence is a name that none of their pages has: pages about connections do not
 * answer a question about "pgbouncer". Ordinary words prove little, because questions use other words than the page.
 */
export function judgeRelevance(
  hits: readonly JudgedHit[],
  ordinaryWords: ReadonlySet<string>,
  query: string,
): Judgement {
  const best = hits.slice(0, MAX_JUDGED)
  const nearest = best.reduce((max, { similarity }) => Math.max(max, similarity ?? 0), 0)
  const [missingWords] = best.flatMap(({ missing }) => (missing === null ? [] : [missing]))
  // All hits were found by meaning alone, so only the cosine can decide.
  if (missingWords === undefined) {
    const words = [...new Set(tokenize(query))].filter((word) => !textAnalyzer.isStopWord(word))
    return {
      relevance: nearest >= CLEAR_SIMILARITY ? 'strong' : nearest >= MIN_SIMILARITY ? 'weak' : 'none',
      uncovered: words.filter((word) => !best.some((hit) => containsWord(hit, word))).slice(0, MAX_REPORTED_WORDS),
    }
  }
  const uncovered = missingWords.filter(({ word }) => !best.some((hit) => containsWord(hit, word)))
  const isOnPage = (word: string): boolean =>
    best.some(
      ({ missing, missingOnPage }) => missing !== null && missingOnPage?.some((one) => one.word === word) === false,
    )
  const names =
    ordinaryWords.size === 0 ? [] : uncovered.filter(({ word }) => isName(word, ordinaryWords) && !isOnPage(word))
  const uncoveredShare = sumShares(uncovered)
  const hasMeaning = best.some(({ similarity }) => similarity !== null)
  // A name may be far from its own definition in meaning, so a text with all words of the question is not doubted.
  const isFar = hasMeaning && nearest < MIN_SIMILARITY && uncoveredShare > MAX_FAR_SHARE
  const isDoubtful =
    sumShares(names) > MAX_NAMES_SHARE || (uncoveredShare > MAX_WORDS_SHARE && nearest < NEAR_SIMILARITY)
  return { relevance: isFar ? 'none' : isDoubtful ? 'weak' : 'strong', uncovered: listInformative(uncovered, names) }
}

/** Writes a caveat for an uncertain answer, such as `Weak match: nothing found mentions "pgbouncer".`; undefined for a strong one. */
export function describeDoubt({ relevance, uncovered }: Judgement): string | undefined {
  if (relevance === 'strong') return undefined
  const what = relevance === 'weak' ? 'Weak match' : 'Probably not here'
  const why =
    uncovered.length === 0
      ? relevance === 'weak'
        ? 'found by its meaning, without any word of the question'
        : 'nothing found is close to the question'
      : `nothing found mentions ${writeList(
          uncovered.map((word) => JSON.stringify(word)),
          'or',
        )}`
  return `${what}: ${why}.`
}

/** A word that can be a name: letters, and at most two digits at the end. Numbers and file names differ from question to question. */
const NAME = /^\p{L}[\p{L}]*\d{0,2}$/u

/** Endings of English words, and their replacements: `deleting` is `delete`, `retries` is `retry`. */
const ENDINGS: readonly (readonly [ending: RegExp, replacements: readonly string[]])[] = [
  [/i(?:es|ed|er|ers|est)$/, ['y']],
  [/(?:e?s|e?d|e?r|e?rs|e?st|ing|able|ably)$/, ['', 'e']],
  [/(?:s|ly|ness|ment)$/, ['']],
  [/(.)\1(?:ed|er|ers|ing)$/, ['$1']],
]

const PREFIX = /^(?:un|re|non|pre|dis|mis)(?=\p{L}{3})/u

function isName(word: string, ordinaryWords: ReadonlySet<string>): boolean {
  return NAME.test(word) && !isOrdinary(word, ordinaryWords)
}

/** Whether a word, or its base form, is ordinary English. */
function isOrdinary(word: string, words: ReadonlySet<string>): boolean {
  return [word, word.replace(PREFIX, '')].some((base) => {
    const bases = ENDINGS.flatMap(([ending, replacements]) => replacements.map((end) => base.replace(ending, end)))
    return words.has(base) || bases.some((one) => one.length > 2 && words.has(one))
  })
}

/** Words below this share of a question are not reported. */
const MIN_REPORTED_SHARE = 0.05

/** At most this many words are reported. */
const MAX_REPORTED_WORDS = 5

/** The uncovered words to report: names first, then by their share. */
function listInformative(uncovered: readonly MissingWord[], names: readonly MissingWord[]): string[] {
  const nameRank = (word: MissingWord): number => (names.includes(word) ? 1 : 0)
  return uncovered
    .filter(({ share }) => share >= MIN_REPORTED_SHARE)
    .sort((a, b) => nameRank(b) - nameRank(a) || b.share - a.share)
    .slice(0, MAX_REPORTED_WORDS)
    .map(({ word }) => word)
}

function containsWord({ text, missing }: JudgedHit, word: string): boolean {
  if (missing !== null) return !missing.some((one) => one.word === word)
  const wanted = textAnalyzer.stem(word)
  let isFound = false
  textAnalyzer.visitTokens(text, (source, start, end) => {
    isFound ||= textAnalyzer.stem(source.slice(start, end)) === wanted
  })
  return isFound
}

function sumShares(words: readonly MissingWord[]): number {
  return words.reduce((sum, { share }) => sum + share, 0)
}
