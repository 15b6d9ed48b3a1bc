import { visitShingles } from './shingles.ts'

/** A text for comparison. */
export interface ComparableText {
  readonly length: number
  /** Hashes of its runs of words, computed on first use, because most comparisons end at the length. */
  readonly shingles: () => ReadonlySet<number>
  /** Its words in order, computed on first use. */
  readonly words: () => readonly string[]
}

/** Share of the runs of words that two texts must have in common. */
const MIN_SHARED_SHINGLES = 0.9

/** Smallest ratio of lengths: texts that differ more have too little in common, even if one has longer links. */
const MIN_LENGTH_RATIO = 0.6

/** Prepares a text to be compared. White space, punctuation, case and link targets do not count. */
export function createComparable(text: string): ComparableText {
  let runs: ReadonlySet<number> | undefined
  let words: readonly string[] | undefined
  return {
    length: text.length,
    shingles: () => {
      runs ??= hashShingles(text)
      return runs
    },
    words: () => {
      words ??= splitWords(text)
      return words
    },
  }
}

/** Whether two texts are equal except for details. The details may still matter: {@link isEquivalentText}. */
export function isNearDuplicate(a: ComparableText, b: ComparableText): boolean {
  if (Math.min(a.length, b.length) < MIN_LENGTH_RATIO * Math.max(a.length, b.length)) return false
  const [small, large] =
    a.shingles().size <= b.shingles().size ? [a.shingles(), b.shingles()] : [b.shingles(), a.shingles()]
  const sum = small.size + large.size
  if (2 * small.size < MIN_SHARED_SHINGLES * sum) return false
  let common = 0
  for (const hash of small) if (large.has(hash)) common++
  return 2 * common >= MIN_SHARED_SHINGLES * sum
}

/**
 * Whether one text covers the other: one is the other with some additional words, and none of these is a number, a name in code or a
 * negation. Replaced or reordered words can reverse the meaning, so they do not count as equal.
 */
export function isEquivalentText(a: ComparableText, b: ComparableText): boolean {
  const [short, long] = a.words().length <= b.words().length ? [a.words(), b.words()] : [b.words(), a.words()]
  let found = 0
  for (const word of long) {
    if (found < short.length && plainOf(word) === plainOf(short[found] ?? '')) found++
    else if (SIGNIFICANT_WORD.test(word) || NEGATION.test(plainOf(word))) return false
  }
  return found === short.length
}

/** Numbers, and names from code: with an underscore or an inner capital, or after a backtick. */
const SIGNIFICANT_WORD = /^`|[\p{N}_]|\p{Ll}\p{Lu}/u

/** Negations and restrictions in the languages that documentation is mostly written in. */
const NEGATION =
  /^(?:no|not|nor|none|never|neither|cannot|without|unless|except|only|\p{L}+n['’]t|nicht|kein\p{L}*|nie|ohne|nur|ne|pas|jamais|sans|nunca|sin|não|sem|не|нет|без)$/u

function plainOf(word: string): string {
  return word.replace('`', '').toLowerCase()
}

/** Words as written, including a backtick directly before a word, without link targets. */
function splitWords(text: string): string[] {
  const visibleText = text.replace(/\]\((?:[^()]|\([^()]*\))*\)/g, ']')
  return visibleText.match(/`?[\p{L}\p{M}\p{N}_]+(?:['’]\p{L}+)*/gu) ?? []
}

function hashShingles(text: string): Set<number> {
  const runs = new Set<number>()
  visitShingles(text, (run) => runs.add(run))
  return runs
}
