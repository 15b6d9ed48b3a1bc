/** The classes of characters for the tokenizer. The values are bits, so that the classes of a run can be combined. */
export const SEPARATOR = 0
export const LOWER = 1
export const UPPER = 2
export const DIGIT = 4
export const UNDERSCORE = 8
/** A letter or digit outside ASCII, of a script that puts spaces between words. */
export const LETTER = 16
/** A combining mark: continues a word, never begins one. */
export const MARK = 32
/** A character of a script written without spaces, indexed in overlapping pairs. */
export const PAIRED = 64
/** Characters that are allowed inside a word. */
export const WORD: number = LOWER | UPPER | DIGIT | UNDERSCORE | LETTER | MARK

const UNKNOWN = 128
const PAIRED_SCRIPT =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/** Classes of the characters of the basic plane, filled in on first use, because testing the regular expressions each time is slow. */
const kinds: Uint8Array = createKinds()

function createKinds(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(UNKNOWN)
  table.fill(SEPARATOR, 0, 0x80)
  table.fill(DIGIT, 0x30, 0x3a)
  table.fill(UPPER, 0x41, 0x5b)
  table.fill(LOWER, 0x61, 0x7b)
  table[0x5f] = UNDERSCORE
  return table
}

/** The class of the character at `i`, `SEPARATOR` at the end of the text and for half a surrogate pair. */
export function kindAt(text: string, i: number): number {
  // Past the end charCodeAt returns NaN, and reading a table with NaN once makes later reads slow too.
  if (i >= text.length) return SEPARATOR
  const known = kinds[text.charCodeAt(i)] ?? SEPARATOR
  return known === UNKNOWN ? learnKindAt(text, i) : known
}

function learnKindAt(text: string, i: number): number {
  const codePoint = text.codePointAt(i) ?? 0
  const kind = classify(String.fromCodePoint(codePoint))
  if (codePoint < 0xd800 || (codePoint > 0xdfff && codePoint < 0x10000)) kinds[codePoint] = kind
  return kind
}

/** How many UTF-16 units the character at `i` takes. */
export function unitsAt(text: string, i: number): number {
  const unit = text.charCodeAt(i)
  if (unit < 0xd800 || unit > 0xdbff || i + 1 >= text.length) return 1
  const next = text.charCodeAt(i + 1)
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1
}

function classify(character: string): number {
  const isMark = /\p{M}/u.test(character)
  if (!isMark && !/[\p{L}\p{N}]/u.test(character)) return SEPARATOR
  if (PAIRED_SCRIPT.test(character)) return PAIRED
  return isMark ? MARK : LETTER
}
