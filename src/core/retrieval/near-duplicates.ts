/** A text that others are compared with. */
export interface ComparableText {
  readonly length: number
  /**
   * Hashes of its runs of three words: by single words, texts that speak of the same thing would be alike. Made when they are first
   * asked for, since most texts differ by their length alone.
   */
  readonly runs: () => ReadonlySet<number>
}

/** Share of the runs of words that two texts must have in common. */
const LIKENESS = 0.9

/** Texts of lengths that differ more than this have too little in common, even where one has the longer links. */
const LENGTHS = 0.6

/** Prepares a text to be compared. White space, marks, case and the targets of links do not count. */
export function createComparable(text: string): ComparableText {
  let runs: ReadonlySet<number> | undefined
  return {
    length: text.length,
    runs: () => {
      runs ??= hashRuns(text)
      return runs
    },
  }
}

/** Whether two texts are the same but for details. */
export function isNearDuplicate(a: ComparableText, b: ComparableText): boolean {
  if (Math.min(a.length, b.length) < LENGTHS * Math.max(a.length, b.length)) return false
  const [small, large] = a.runs().size <= b.runs().size ? [a.runs(), b.runs()] : [b.runs(), a.runs()]
  const sum = small.size + large.size
  if (2 * small.size < LIKENESS * sum) return false
  let common = 0
  for (const hash of small) if (large.has(hash)) common++
  return 2 * common >= LIKENESS * sum
}

/** One pass over the characters, since every passage may be asked. Where links lead is skipped: versions differ in that. */
function hashRuns(text: string): Set<number> {
  const runs = new Set<number>()
  let before = 0
  let last = 0
  let word = EMPTY
  const endWord = () => {
    if (word === EMPTY) return
    runs.add((Math.imul(Math.imul(before, PRIME) + last, PRIME) + word) | 0)
    before = last
    last = word
    word = EMPTY
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isWordUnit(unit)) {
      word = Math.imul(word ^ (unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit), PRIME)
      continue
    }
    endWord()
    if (unit === 0x5d && text.charCodeAt(i + 1) === 0x28) i = Math.max(i, text.indexOf(')', i))
  }
  endWord()
  return runs
}

/** Of FNV-1a. */
const EMPTY = 0x811c9dc5 | 0
const PRIME = 0x01000193

/** Letters, digits and the underscore; everything beyond ASCII counts as one. */
function isWordUnit(unit: number): boolean {
  if (unit > 0x7f || unit === 0x5f) return true
  return (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a)
}
