import {
  DIGIT,
  kindAt,
  LETTER,
  LOWER,
  MARK,
  PAIRED,
  SEPARATOR,
  UNDERSCORE,
  UPPER,
  unitsAt,
  WORD,
} from './characters.ts'
import { foldWord, normalizeText } from './fold.ts'

/**
 * Receives one token, which is `source.slice(start, end)`. Passing the position instead of the string lets an index look a word up without
 * creating a string. `at` is the offset of the token in the original text; normalization can shift this offset a little.
 */
export type TokenVisitor = (source: string, start: number, end: number, at: number) => void

/** Must change whenever the same text gives other tokens, so that an index made with another tokenizer can be refused. */
export const TOKENIZER_VERSION = 2

/** Longest token, in UTF-16 units. Longer tokens (base64, hashes of hashes) are cut, in index and query alike. */
export const MAX_TOKEN_UNITS = 64

/**
 * Visits the tokens of a text in order. This is the only tokenizer of the product: documents and queries both use it.
 *
 * - Words are Unicode-normalized, lower-cased and lose the diacritics of Latin letters: `Café` gives `cafe`.
 * - Identifiers, paths of names and hyphenated words yield the whole and then the parts: `fs.readFileSync` gives
 *   `fs.readfilesync fs readfilesync read file sync`. A single letter before a capital does not count as a part: `OAuth` gives
 *   `oauth auth`.
 * - A word that ends in a number is also given without the number: `sha256` gives `sha256 sha`; `HTTP/2` gives `http http2 2`.
 * - Versions are given whole and by their prefixes: `v3.11.4` gives `v3.11.4 3.11.4 3.11`.
 * - Scripts written without spaces are given in overlapping pairs: `東京都` gives `東京 京都`; a lone character alone.
 * - `c++`, `c#` and similar names keep their signs; `user's` gives `user`, `don't` gives `dont`.
 *
 * Takes linear time on any input.
 */
export function visitTokens(text: string, visit: TokenVisitor): void {
  const cased = normalizeText(text)
  const lower = cased.toLowerCase()
  const { length } = lower
  let i = 0
  while (i < length) {
    const first = kindAt(cased, i)
    if ((first & (LOWER | UPPER | DIGIT | UNDERSCORE | LETTER)) === 0) {
      i = first === PAIRED ? visitPairs(lower, i, visit) : i + 1
      continue
    }
    const start = i
    let kinds = SEPARATOR
    let kind = kindAt(cased, ++i)
    while ((kind & (LOWER | UPPER | DIGIT)) !== 0) {
      kinds |= kind
      kind = kindAt(cased, ++i)
    }
    const isPlain = first !== UNDERSCORE && first !== LETTER && (kinds & (UPPER | LOWER)) !== (UPPER | LOWER)
    if (isPlain && kind === SEPARATOR && isRunEnd(cased, start, i)) {
      visit(lower, start, i - start > MAX_TOKEN_UNITS ? start + MAX_TOKEN_UNITS : i, start)
      if ((kinds & DIGIT) !== 0) visitLetters(cased, lower, start, i, visit)
    } else {
      i = visitRun(cased, lower, start, visit)
    }
  }
}

/** The tokens of a text, in order. */
export function tokenize(text: string): string[] {
  const tokens: string[] = []
  visitTokens(text, (source, start, end) => tokens.push(source.slice(start, end)))
  return tokens
}

/**
 * The shorter query tokens that match a token: each of the two characters for a pair of a script indexed in pairs, so that a single
 * character finds every pair that holds it; none for any other token.
 */
export function shortForms(token: string): readonly string[] {
  if (token.length > 4 || kindAt(token, 0) !== PAIRED) return NO_FORMS
  const middle = unitsAt(token, 0)
  if (middle === token.length || middle + unitsAt(token, middle) !== token.length) return NO_FORMS
  const first = token.slice(0, middle)
  const second = token.slice(middle)
  return first === second ? [first] : [first, second]
}

const NO_FORMS: readonly string[] = []

/**
 * Writes a compound without its joiners, which vary: `utf-8` is `utf8`, `node.js` is `nodejs`, `max_pages` is `maxpages`. A token stays
 * unchanged if dropping would join two digits (`3.11`), or if the token begins or ends with a joiner (`__init__`), because only the joiner
 * distinguishes it from the word.
 */
export function dropJoiners(token: string): string {
  if (!JOINERS.test(token) || KEPT_JOINER.test(token)) return token
  return token.replace(JOINERS_EACH, '')
}

const JOINERS = /[-._:]/
const JOINERS_EACH = /[-._:]+/g
const KEPT_JOINER = /^[-._:]|[-._:]$|\d[-._:]+\d/

const HASH = 0x23
const APOSTROPHE = 0x27
const PLUS = 0x2b
const HYPHEN = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const CURLY_APOSTROPHE = 0x2019

/** Whether the character after a word is only a separator: it neither joins the next word nor belongs to this one. */
function isRunEnd(cased: string, start: number, end: number): boolean {
  switch (cased.charCodeAt(end)) {
    case DOT:
    case HYPHEN:
      return (kindAt(cased, end + 1) & WORD) === 0
    case COLON:
      return cased.charCodeAt(end + 1) !== COLON
    case SLASH:
      return kindAt(cased, end + 1) !== DIGIT
    case HASH:
    case PLUS:
      return end - start > 1
    case APOSTROPHE:
    case CURLY_APOSTROPHE:
      return false
    default:
      return true
  }
}

function visitPairs(lower: string, from: number, visit: TokenVisitor): number {
  let start = from
  let middle = from + unitsAt(lower, from)
  if (kindAt(lower, middle) !== PAIRED) {
    visit(lower, start, middle, start)
    return middle
  }
  while (kindAt(lower, middle) === PAIRED) {
    const end = middle + unitsAt(lower, middle)
    visit(lower, start, end, start)
    start = middle
    middle = end
  }
  return middle
}

/** Visits the tokens of the run that begins at `start` and returns the offset where the next token may begin. */
function visitRun(cased: string, lower: string, start: number, visit: TokenVisitor): number {
  const end = findRunEnd(cased, start)
  const after = lower.charCodeAt(end)
  if (after === APOSTROPHE || after === CURLY_APOSTROPHE) return visitBeforeApostrophe(cased, lower, start, end, visit)
  const signs = end - start === 1 ? countSigns(cased, end) : 0
  if (signs > 0) visit(lower, start, end + signs, start)
  else {
    visitCompound(cased, lower, start, end, visit)
    if (after === SLASH) visitProtocol(cased, lower, start, end, visit)
  }
  return end + signs
}

/** The end of a run of words that single dots, hyphens or double colons join without a space. */
function findRunEnd(cased: string, start: number): number {
  let i = start
  for (;;) {
    for (let kind = kindAt(cased, i); (kind & WORD) !== 0; kind = kindAt(cased, i)) i += unitsAt(cased, i)
    const next = i + joinerUnits(cased, i)
    if (next === i || (kindAt(cased, next) & WORD & ~MARK) === 0) return i
    i = next
  }
}

function joinerUnits(text: string, i: number): number {
  const unit = text.charCodeAt(i)
  if (unit === DOT || unit === HYPHEN) return 1
  return unit === COLON && text.charCodeAt(i + 1) === COLON ? 2 : 0
}

/** How many units of `++` or `#` follow a single letter and end there, as in C++ and C#. */
function countSigns(cased: string, end: number): number {
  if ((kindAt(cased, end - 1) & (LOWER | UPPER)) === 0) return 0
  const units = cased.charCodeAt(end) === HASH ? 1 : cased.startsWith('++', end) ? 2 : 0
  const isEnd = kindAt(cased, end + units) === SEPARATOR && !isSign(cased.charCodeAt(end + units))
  return isEnd ? units : 0
}

function isSign(unit: number): boolean {
  return unit === PLUS || unit === HASH
}

/** `user's` is `user`, `we're` is `we`, `don't` is `dont`; any other apostrophe separates words (`l'eau`). */
function visitBeforeApostrophe(cased: string, lower: string, start: number, end: number, visit: TokenVisitor): number {
  let suffixEnd = end + 1
  while (suffixEnd - end <= 3 && (kindAt(cased, suffixEnd) & WORD) !== 0) suffixEnd++
  const suffix = lower.slice(end + 1, suffixEnd)
  if (suffix === 't' && lower.charCodeAt(end - 1) === 0x6e) {
    const contraction = `${lower.slice(Math.max(start, end - MAX_TOKEN_UNITS + 1), end)}t`
    visit(contraction, 0, contraction.length, start)
    return suffixEnd
  }
  visitCompound(cased, lower, start, end, visit)
  return CONTRACTIONS.has(suffix) ? suffixEnd : end + 1
}

const CONTRACTIONS: ReadonlySet<string> = new Set(['s', 're', 've', 'll', 'd', 'm'])

/**
 * Visits a run whole, then each of its segments between joiners, then the words inside each segment:
 *
 *     os.path.readFile_v2    segments  os  path  readFile_v2    words  read file v2
 */
function visitCompound(cased: string, lower: string, start: number, end: number, visit: TokenVisitor): void {
  visitFolded(lower, start, end, visit)
  let i = start
  while (i < end) {
    const segmentEnd = findSegmentEnd(cased, i, end)
    const versionEnd = findVersionEnd(cased, i, segmentEnd, end)
    if (versionEnd > segmentEnd) {
      visitVersion(cased, lower, i, versionEnd, start, end, visit)
      i = versionEnd
    } else {
      if (i > start || segmentEnd < end) visitFolded(lower, i, segmentEnd, visit)
      visitWords(cased, lower, i, segmentEnd, visit)
      i = segmentEnd
    }
    i += joinerUnits(cased, i)
  }
}

/** Longest name of a protocol, before its slash. */
const MAX_PROTOCOL_UNITS = 16

/** `HTTP/2` also gives `http2`: letters, a slash and at most two digits with nothing after them. */
function visitProtocol(cased: string, lower: string, start: number, end: number, visit: TokenVisitor): void {
  const digitsEnd = findDigitsEnd(cased, end + 1)
  const units = digitsEnd - end - 1
  if (units < 1 || units > 2 || end - start < 2 || end - start > MAX_PROTOCOL_UNITS) return
  const next = digitsEnd + joinerUnits(cased, digitsEnd)
  if (cased.charCodeAt(next) === SLASH || (kindAt(cased, next) & WORD) !== 0) return
  for (let i = start; i < end; i++) if ((kindAt(cased, i) & (LOWER | UPPER)) === 0) return
  const joined = lower.slice(start, end) + lower.slice(end + 1, digitsEnd)
  visit(joined, 0, joined.length, start)
}

/** Visits the letters of an ASCII word that ends in a number, if it is letters and then at most four digits. */
function visitLetters(cased: string, lower: string, start: number, end: number, visit: TokenVisitor): void {
  let lettersEnd = end
  while (lettersEnd > start && end - lettersEnd < 5 && kindAt(cased, lettersEnd - 1) === DIGIT) lettersEnd--
  const digitCount = end - lettersEnd
  if (digitCount === 0 || digitCount > 4 || lettersEnd - start < 2 || lettersEnd - start > MAX_TOKEN_UNITS) return
  for (let i = start; i < lettersEnd; i++) if ((kindAt(cased, i) & (LOWER | UPPER)) === 0) return
  visit(lower, start, lettersEnd, start)
}

function findSegmentEnd(cased: string, from: number, end: number): number {
  let i = from
  while (i < end && joinerUnits(cased, i) === 0) i++
  return i
}

/** The end of the dotted number that begins in the segment, or the segment's end if none does. */
function findVersionEnd(cased: string, from: number, segmentEnd: number, end: number): number {
  if (kindAt(cased, segmentEnd - 1) !== DIGIT || from === segmentEnd) return segmentEnd
  let versionEnd = segmentEnd
  while (cased.charCodeAt(versionEnd) === DOT && versionEnd < end) {
    const nextEnd = findDigitsEnd(cased, versionEnd + 1)
    if (nextEnd === versionEnd + 1 || (kindAt(cased, nextEnd) & WORD) !== 0) break
    versionEnd = nextEnd
  }
  return versionEnd
}

function findDigitsEnd(cased: string, from: number): number {
  let i = from
  while (kindAt(cased, i) === DIGIT) i++
  return i
}

/** `python3.11.4` gives `python`, `3.11.4` and `3.11`; prefixes have at most three numbers. */
function visitVersion(
  cased: string,
  lower: string,
  start: number,
  end: number,
  runStart: number,
  runEnd: number,
  visit: TokenVisitor,
): void {
  const firstDot = lower.indexOf('.', start)
  let digitsStart = firstDot
  while (digitsStart > start && kindAt(cased, digitsStart - 1) === DIGIT) digitsStart--
  if (digitsStart - start > 1) visitFolded(lower, start, digitsStart, visit)
  if (digitsStart > runStart || end < runEnd) visitFolded(lower, digitsStart, end, visit)
  let prefixEnd = findDigitsEnd(cased, firstDot + 1)
  for (let numbers = 2; numbers <= 3 && prefixEnd < end; numbers++) {
    visitFolded(lower, digitsStart, prefixEnd, visit)
    prefixEnd = findDigitsEnd(cased, prefixEnd + 1)
  }
}

/** Visits the words of one segment, separated by underscores and changes of case, unless it is a single word. */
function visitWords(cased: string, lower: string, start: number, end: number, visit: TokenVisitor): void {
  let i = start
  while (i < end) {
    while (i < end && kindAt(cased, i) === UNDERSCORE) i++
    const from = i
    while (i < end && kindAt(cased, i) !== UNDERSCORE) i++
    if (i > from) visitCamelWords(cased, lower, from, i, i - from === end - start, visit)
  }
}

function visitCamelWords(
  cased: string,
  lower: string,
  start: number,
  end: number,
  isSegment: boolean,
  visit: TokenVisitor,
): void {
  let from = start
  let hasInitial = false
  if (end - start <= MAX_TOKEN_UNITS) {
    for (let i = start + unitsAt(cased, start); i < end; i += unitsAt(cased, i)) {
      if (!isCaseBoundary(cased, lower, i, end)) continue
      if (i === start + 1) {
        hasInitial = true
        continue
      }
      visitFolded(lower, from, i, visit)
      visitInside(cased, lower, from, i, hasInitial && from === start, visit)
      from = i
    }
  }
  if (from > start || !isSegment) visitFolded(lower, from, end, visit)
  visitInside(cased, lower, from, end, hasInitial && from === start, visit)
}

/**
 * Visits a word without the number at its end and without an initial: `OAuth2` gives `oauth` and `auth`. After an initial fewer than four
 * letters are rarely a word (`eBay`, `IPv6`).
 */
function visitInside(
  cased: string,
  lower: string,
  start: number,
  end: number,
  hasInitial: boolean,
  visit: TokenVisitor,
): void {
  visitLetters(cased, lower, start, end, visit)
  if (!hasInitial) return
  let lettersEnd = end
  while (lettersEnd > start && kindAt(cased, lettersEnd - 1) === DIGIT) lettersEnd--
  if (lettersEnd - start > 4) visitFolded(lower, start + 1, lettersEnd, visit)
}

/** Whether a word begins at `i`: `read|File`, `HTTP|Server`, `utf8|Decode`, but `APIs` and `I18N` are single words. */
function isCaseBoundary(cased: string, lower: string, i: number, end: number): boolean {
  if (!isUpperAt(cased, lower, i)) return false
  const before = kindAt(cased, i - 1)
  if (before !== DIGIT && !isUpperAt(cased, lower, i - 1)) return (before & (LOWER | LETTER)) !== 0
  const isBeforeLower =
    i + 1 < end && (kindAt(cased, i + 1) & (LOWER | LETTER)) !== 0 && !isUpperAt(cased, lower, i + 1)
  const isPlural = i + 2 === end && lower.charCodeAt(i + 1) === 0x73
  return isBeforeLower && !isPlural
}

function isUpperAt(cased: string, lower: string, i: number): boolean {
  return cased.charCodeAt(i) !== lower.charCodeAt(i)
}

/** Visits `lower.slice(start, end)`, cut to the longest token and, outside ASCII, folded. */
function visitFolded(lower: string, start: number, end: number, visit: TokenVisitor): void {
  const cut = end - start > MAX_TOKEN_UNITS ? cutAt(lower, start + MAX_TOKEN_UNITS) : end
  if (!hasContent(lower, start, cut)) return
  for (let i = start; i < cut; i++) {
    if (lower.charCodeAt(i) < 0x80) continue
    const folded = foldWord(lower.slice(start, cut))
    visit(folded, 0, folded.length > MAX_TOKEN_UNITS ? cutAt(folded, MAX_TOKEN_UNITS) : folded.length, start)
    return
  }
  visit(lower, start, cut, start)
}

/** Moves a cut that would split a surrogate pair to the start of the pair. */
function cutAt(text: string, end: number): number {
  return unitsAt(text, end - 1) === 2 ? end - 1 : end
}

/** Whether there are characters other than underscores. */
function hasContent(lower: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (lower.charCodeAt(i) !== 0x5f) return true
  return false
}
