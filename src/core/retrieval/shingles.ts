/**
 * Passes a hash of each run of three words to `visit`. Single words would make all texts on one topic similar. White space, punctuation,
 * case and link targets do not count, because they often differ between versions of the same page. It takes one pass over the characters,
 * because every page is processed here.
 */
export function visitShingles(text: string, visit: (run: number) => void): void {
  let last = 0
  let before = 0
  let word = FNV_OFFSET
  const endWord = () => {
    visit((Math.imul(Math.imul(before, FNV_PRIME) + last, FNV_PRIME) + word) | 0)
    before = last
    last = word
    word = FNV_OFFSET
  }
  let mayHaveLinkTarget = true
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (isWordUnit(unit)) {
      word = Math.imul(word ^ lowerOf(unit), FNV_PRIME)
      // In scripts without spaces each character is a word.
      if (unit >= CJK_START) endWord()
      continue
    }
    if (word !== FNV_OFFSET) endWord()
    if (mayHaveLinkTarget && unit === 0x5d && text.charCodeAt(i + 1) === 0x28) {
      const end = text.indexOf(')', i)
      mayHaveLinkTarget = end >= 0
      i = Math.max(i, end)
    }
  }
  if (word !== FNV_OFFSET) endWord()
}

/** Constants of FNV-1a. */
const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** The first code unit of the scripts of China, Japan and Korea. */
const CJK_START = 0x2e80

/** Letters, digits and the underscore; all characters beyond ASCII count. */
function isWordUnit(unit: number): boolean {
  if (unit > 0x7f || unit === 0x5f) return true
  return (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a)
}

function lowerOf(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit
}
