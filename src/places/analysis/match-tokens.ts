import { normalizeName } from './place.ts'

/** What separates a token from the previous one. */
export const GAP_BREAK = 0
export const GAP_SPACE = 1
export const GAP_HYPHEN = 2
export const GAP_COMMA = 3
/** An apostrophe, or nothing: in a name both tokens are one word. */
export const GAP_JOINT = 4
/** A dot that does not end a sentence: `St. Petersburg`. */
export const GAP_DOT = 5
/** The end of a sentence. */
export const GAP_SENTENCE = 6

/** Capitalisation of a token. */
export const CASE_NONE = 0
export const CASE_LOWER = 1
export const CASE_TITLE = 2
export const CASE_UPPER = 3

/** Script of a token, which determines its writing rules. */
export const SCRIPT_LATIN = 0
export const SCRIPT_CYRILLIC = 1
export const SCRIPT_GREEK = 2
export const SCRIPT_ARABIC = 3
export const SCRIPT_HEBREW = 4
export const SCRIPT_HANGUL = 5
/** Scripts without spaces: each run is one token. */
export const SCRIPT_UNSPACED = 6
/** All other scripts with spaces, such as Devanagari and Armenian. */
export const SCRIPT_OTHER = 7

/** One word of a text, or one run of a script without spaces. */
export interface Token {
  readonly start: number
  readonly end: number
  /** In the normal form of `normalizeName`; empty for a run without spaces and for a word that is too long. */
  readonly word: string
  readonly gap: number
  readonly letterCase: number
  readonly script: number
}

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー々〆〇・\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}'
const TOKEN = new RegExp(
  `(?:\\p{Lu}\\.){2,}\\p{Lu}?(?![\\p{L}\\p{N}])|[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}\\u200c\\u0640])+`,
  'gu',
)

/** Longer words are not names; runs without spaces are split elsewhere. */
const MAX_WORD_UNITS = 80

/** Splits a text of any script into words. Takes linear time. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let before = 0
  for (const found of text.matchAll(TOKEN)) {
    const raw = found[0]
    const start = found.index
    const end = start + raw.length
    const script = scriptOf(raw)
    const isTooLong = raw.length > MAX_WORD_UNITS && script !== SCRIPT_UNSPACED
    const word = script === SCRIPT_UNSPACED || isTooLong ? '' : normalizeName(raw)
    const gap = tokens.length === 0 ? GAP_SENTENCE : gapOf(text, before, start, tokens.at(-1))
    tokens.push({ start, end, word, gap: isTooLong ? GAP_BREAK : gap, letterCase: caseOf(raw, script), script })
    before = end
  }
  return tokens
}

function scriptOf(raw: string): number {
  const code = raw.codePointAt(0) ?? 0
  if (code < 0x370) return SCRIPT_LATIN
  if (code < 0x400) return SCRIPT_GREEK
  if (code < 0x530) return SCRIPT_CYRILLIC
  if (code >= 0x590 && code < 0x600) return SCRIPT_HEBREW
  if ((code >= 0x600 && code < 0x780) || (code >= 0xfb50 && code < 0xff00)) return SCRIPT_ARABIC
  if ((code >= 0xac00 && code < 0xd7b0) || (code >= 0x1100 && code < 0x1200)) return SCRIPT_HANGUL
  if (
    (code >= 0xe00 && code < 0x10a0) ||
    (code >= 0x1780 && code < 0x1800) ||
    (code >= 0x2e80 && code < 0xa4d0) ||
    (code >= 0xf900 && code < 0xfb00) ||
    (code >= 0xff66 && code < 0xffa0) ||
    code >= 0x1b000
  ) {
    return SCRIPT_UNSPACED
  }
  if ((code >= 0x1e00 && code < 0x1f00) || (code >= 0xff00 && code < 0xff66)) return SCRIPT_LATIN
  return code >= 0x1f00 && code < 0x2000 ? SCRIPT_GREEK : SCRIPT_OTHER
}

function caseOf(raw: string, script: number): number {
  if (script === SCRIPT_UNSPACED || script === SCRIPT_HANGUL || script === SCRIPT_ARABIC || script === SCRIPT_HEBREW) {
    return CASE_NONE
  }
  const code = raw.charCodeAt(0)
  // Unicode lists a second Georgian alphabet as capitals, but sentences do not use it.
  if (code >= 0x10a0 && code < 0x1100) return CASE_NONE
  const lower = raw.toLowerCase()
  const upper = raw.toUpperCase()
  if (lower === upper) return CASE_NONE
  if (raw === lower) return CASE_LOWER
  if (raw === upper && raw.length > 1) return CASE_UPPER
  const first = raw[0] ?? ''
  return first === lower[0] ? CASE_LOWER : CASE_TITLE
}

function gapOf(text: string, from: number, to: number, before: Token | undefined): number {
  const length = to - from
  if (length === 0) return GAP_JOINT
  if (length === 1) {
    const code = text.charCodeAt(from)
    if (code === 0x20 || code === 0xa0 || code === 0x0a) return GAP_SPACE
    if (code === 0x2d || code === 0x2010 || code === 0x2011 || code === 0x2f || code === 0x5f || code === 0x2013) {
      return GAP_HYPHEN
    }
    if (code === 0x27 || code === 0x2019 || code === 0x2018 || code === 0x2bc || code === 0x60) return GAP_JOINT
  }
  const gap = text.slice(from, Math.min(to, from + 40))
  if (/[!?;:。！？؟۔।…]|\n\s*\n|["“«„]\s*$/u.test(gap)) return GAP_SENTENCE
  if (gap.includes('.')) {
    const isAbbreviation = before !== undefined && before.end - before.start <= 3 && before.letterCase !== CASE_LOWER
    return isAbbreviation && /^\.[ \u00a0]?$/.test(gap) ? GAP_DOT : GAP_SENTENCE
  }
  if (/^\s+$/u.test(gap)) return gap.length > 4 ? GAP_BREAK : GAP_SPACE
  if (/^\s?[,،、，]\s?$/u.test(gap)) return GAP_COMMA
  return GAP_BREAK
}
