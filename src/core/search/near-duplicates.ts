/** A text that others are compared with. */
export interface ComparableText {
  readonly length: number
  /** Hashes of its runs of words; made when they are first asked for, since most texts differ by their length alone. */
  readonly runs: () => ReadonlySet<number>
}

/** Words in a run. Single words would make texts alike that only speak of the same thing. */
const RUN = 3

/** Share of the runs of words that two texts must have in common. */
const LIKENESS = 0.9

const WORD = /[\p{L}\p{N}_]+/gu

/** Where links lead: the same text in another version differs in nothing else. */
const TARGET = /\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)/g

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

function hashRuns(text: string): Set<number> {
  const words = text.replace(TARGET, ']').toLowerCase().match(WORD) ?? []
  const hashes = words.map(hashWord)
  const runs = new Set<number>()
  const last = Math.max(0, hashes.length - RUN)
  for (let i = 0; i <= last; i++) {
    let hash = 0
    for (let j = i; j < i + RUN; j++) hash = Math.imul(hash, 0x01000193) + (hashes[j] ?? 0)
    runs.add(hash | 0)
  }
  return runs
}

/** FNV-1a. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193)
  return hash
}
