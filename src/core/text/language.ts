import { franc } from 'franc-min'
import { FenceReader } from '../markdown/fences.ts'
import { countFunctionWords, type FunctionWordCounts, hasFunctionWords, isAsciiLetter } from './function-words.ts'
import { isKnownTwoLetterCode, primaryLanguageOf, toTwoLetterCode } from './language-code.ts'
import { hasOwnScript, languagesByScript, shareOfScript } from './script.ts'

/** The language of a page, and its origin. */
export interface PageLanguage {
  /** The short code of BCP 47: `en`, `zh`. */
  readonly language: string | null
  readonly source: 'page' | 'text' | null
}

/** The language of a page: the declared one, else the one detected at the beginning of its text. */
export function readLanguage(declaredTag: string | null, text: string): PageLanguage {
  const declared = declaredTag === null ? null : primaryLanguageOf(declaredTag)
  if (declared !== null) return { language: declared, source: 'page' }
  const found = detectLanguage(text)
  return { language: found, source: found === null ? null : 'text' }
}

/**
 * The language of a page, as BCP 47. The declared language counts, unless the text is in a script that the language does not use, or
 * clearly in the words of another language. Otherwise the language of the prose counts, if there is enough of it; else null.
 */
export function resolvePageLanguage(declaredTag: string | null, markdown: string): string | null {
  const declared = declaredTag === null ? null : primaryLanguageOf(declaredTag)
  const prose = proseOf(markdown)
  const letters = countLetters(prose)
  if (letters < MIN_LETTERS) return declared === null ? null : declaredTag
  const scriptLanguages = languagesByScript(prose)
  const wordStats = countFunctionWords(prose)
  if (declared !== null && canUseScript(declared, scriptLanguages, prose)) {
    return findOverridingLanguage(wordStats, declared) ?? declaredTag
  }
  return detectProse(prose, scriptLanguages, letters, wordStats)
}

/**
 * Whether a page in this script can be in a language. A page with mostly Latin letters may be full of names, so a little of the language's
 * own script is enough.
 */
function canUseScript(language: string, scriptLanguages: readonly string[], prose: string): boolean {
  if (scriptLanguages.length > 0) return scriptLanguages.includes(language) || !hasKnownScript(language)
  return !hasOwnScript(language) || shareOfScript(language, prose) >= MIN_OWN_SCRIPT_SHARE
}

/** Whether a table knows the script of a language. */
function hasKnownScript(language: string): boolean {
  return hasOwnScript(language) || hasFunctionWords(language) || isKnownTwoLetterCode(language)
}

/** The counts of function words in a text. */
type FunctionWordStats = ReturnType<typeof countFunctionWords>

/** The language whose function words dominate a text so clearly that it overrides the declared one. */
function findOverridingLanguage({ found, words }: FunctionWordStats, declared: string): string | undefined {
  const { count: declaredCount = 0 } = found.get(declared) ?? {}
  // A language without a list may share any of these words.
  if (!hasFunctionWords(declared)) return undefined
  const isClear = ([language, { count, weight, unambiguousCount }]: readonly [string, FunctionWordCounts]): boolean =>
    language !== declared &&
    weight >= CLEAR_WEIGHT &&
    unambiguousCount >= CLEAR_WORDS &&
    count >= CLEAR_SHARE * words &&
    count > CLEAR_TIMES * declaredCount
  return [...found].find(isClear)?.[0]
}

/**
 * Detects the language of prose. Letter statistics decide only for languages without a list of function words, because words are more
 * reliable and cheaper.
 */
function detectProse(
  prose: string,
  scriptLanguages: readonly string[],
  letters: number,
  { found, words }: FunctionWordStats,
): string | null {
  const [only, ...others] = scriptLanguages
  if (only !== undefined && (others.length === 0 || only === 'zh')) return only
  const [best, next] = [...found].sort(([, a], [, b]) => b.count - a.count)
  if (best !== undefined && isProvenByWords(best[1], words) && best[1].count > 1.5 * (next?.[1].count ?? 0))
    return best[0]
  const detected = letters < MIN_UNLISTED_LETTERS ? null : detectLanguage(prose)
  if (detected === null || hasFunctionWords(detected)) return null
  return scriptLanguages.length === 0 || scriptLanguages.includes(detected) ? detected : null
}

/** Whether function words prove the language of a text: a name may be as frequent, but is a single word. */
function isProvenByWords({ count, weight, unambiguousCount }: FunctionWordCounts, words: number): boolean {
  return (
    count >= MIN_FUNCTION_WORD_SHARE * words && weight >= (unambiguousCount > 0 ? MIN_WEIGHT : MIN_AMBIGUOUS_WEIGHT)
  )
}

/** In a text with fewer letters of prose, names and labels would decide. */
const MIN_LETTERS = 80
/** Minimum share of the words of a text that are function words of its language. */
const MIN_FUNCTION_WORD_SHARE = 0.03
/** Minimum weight of different words: two of which one is unambiguous, or four ambiguous ones. */
const MIN_WEIGHT = 1.5
const MIN_AMBIGUOUS_WEIGHT = 2
/**
 * Thresholds for overriding the declared language, all for the function words of another language: their weight, the number of different
 * unambiguous ones, their share of all words, and their ratio to the function words of the declared language.
 */
const CLEAR_WEIGHT = 4
const CLEAR_WORDS = 3
const CLEAR_SHARE = 0.1
const CLEAR_TIMES = 4
/** A language without a list of function words is accepted only for a text with at least this many letters. */
const MIN_UNLISTED_LETTERS = 500
/** Minimum share of letters in the own script of the declared language, on a page with mostly Latin letters. */
const MIN_OWN_SCRIPT_SHARE = 0.02
/** Prose is looked for in this many characters, because a page may begin with code. */
const SEARCHED_CHARS = 8000
/** Most pages have enough prose in this many characters. */
const FIRST_SEARCHED_CHARS = 4000

/** The beginning of the prose of a page: without code, addresses and Markdown syntax. */
function proseOf(markdown: string): string {
  // A part that ends with a line has the same prose as in the whole text: only code continues on the next line, and an unclosed block of
  // code is removed too.
  const end = markdown.indexOf('\n', FIRST_SEARCHED_CHARS) + 1
  const first = end > 0 && end < SEARCHED_CHARS ? keepProse(markdown.slice(0, end)) : ''
  const prose = first.length < SAMPLE_CHARS ? keepProse(markdown.slice(0, SEARCHED_CHARS)) : first
  return prose.slice(0, SAMPLE_CHARS)
}

function keepProse(markdown: string): string {
  const fences = new FenceReader()
  const lines = markdown.split('\n').filter((line) => fences.read(line) === undefined)
  return lines
    .join('\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/\]\((?:(?!\]\()[^)\n])*\)/g, ']')
    .replace(/<?https?:\S+/g, ' ')
    .replace(/[#*_|>[\]]+/g, ' ')
}

/** Number of letters in a text. Testing ASCII without a regular expression takes a tenth of the time. */
function countLetters(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) {
      if (isAsciiLetter(unit)) count++
      continue
    }
    const character = String.fromCodePoint(text.codePointAt(i) ?? 0)
    i += character.length - 1
    if (LETTER.test(character)) count++
  }
  return count
}

const LETTER = /\p{L}/u

/** Detection reads this many characters; more changes nothing. */
const SAMPLE_CHARS = 2000
/** In a text with fewer characters, names and labels would decide. */
const MIN_SAMPLE_CHARS = 60

function detectLanguage(text: string): string | null {
  const sample = text.slice(0, SAMPLE_CHARS).replace(/\s+/g, ' ')
  const found = franc(sample, { minLength: MIN_SAMPLE_CHARS })
  return found === 'und' ? null : toTwoLetterCode(found)
}
