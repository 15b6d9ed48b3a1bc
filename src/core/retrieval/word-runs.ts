/**
 * Passes a hash of each run of three words to `visit`. Single words would make all texts on one topic similar. White space, marks, case and
 * link targets do not count, because versions differ in those. It takes one pass over the characters, since every page is processed here.
 */
export function visitRuns(text: string, visit: (run: number) => void): void {
  let last = 0
  let before = 0
  let word = EMPTY
  const endWord = () => {
    visit((Math.imul(Math.imul(before, PRIME) + last, PRIME) + word) | 0)
    before = last
    last = word
    word = EMPTY
  }
  let hasTargets = true
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isWordUnit(unit)) {
      word = Math.imul(word ^ lowerOf(unit), PRIME)
      // In scripts without spaces each sign is a word.
      if (unit >= SPACELESS) endWord()
      continue
    }
    if (word !== EMPTY) endWord()
    if (hasTargets && unit === 0x5d && text.charCodeAt(i + 1) === 0x28) {
      const end = text.indexOf(')', i)
      hasTargets = end >= 0
      i = Math.max(i, end)
    }
  }
  if (word !== EMPTY) endWord()
}

/** Of FNV-1a. */
const EMPTY = 0x811c9dc5 | 0
const PRIME = 0x01000193

/** From here on are the scripts of China, Japan and Korea. */
const SPACELESS = 0x2e80

/** Letters, digits and the underscore; all characters beyond ASCII count. */
function isWordUnit(unit: number): boolean {
  if (unit > 0x7f || unit === 0x5f) return true
  return (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a)
}

function lowerOf(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit
}
