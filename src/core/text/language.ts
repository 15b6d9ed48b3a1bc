import { franc } from 'franc-min'
import { countFunctionWords, type FunctionWordCounts, hasFunctionWords } from './function-words.ts'
import { hasTwoLetterCode, primaryLanguageOf, toTwoLetterCode } from './language-code.ts'
import { hasOwnScript, languagesByScript, shareOfScript } from './script.ts'

/** The language of a page, and its origin. */
export interface PageLanguage {
  /** The short code of BCP 47: `en`, `zh`. */
  readonly language: string | null
  readonly source: 'page' | 'text' | null
}

/** The language of a page: the declared one, else the one detected at the beginning of its text. */
export function readLanguage(stated: string | null, text: string): PageLanguage {
  const own = stated === null ? null : primaryLanguageOf(stated)
  if (own !== null) return { language: own, source: 'page' }
  const found = detectLanguage(text)
  return { language: found, source: found === null ? null : 'text' }
}

/**
 * The language of a page, as BCP 47. The declared language counts, unless the text is in a script that the language does not use, or
 * clearly in the words of another language. Otherwise the language of the prose counts, if there is enough of it; else null.
 */
export function resolvePageLanguage(stated: string | null, markdown: string): string | null {
  const own = stated === null ? null : primaryLanguageOf(stated)
  const prose = proseOf(markdown)
  const letters = prose.match(/\p{L}/gu)?.length ?? 0
  if (letters < MIN_LETTERS) return own === null ? null : stated
  const written = languagesByScript(prose)
  const signs = countFunctionWords(prose)
  if (own !== null && canUseScript(own, written, prose)) return findOverridingLanguage(signs, own) ?? stated
  return detectProse(prose, written, letters, signs)
}

/**
 * Whether a page in this script can be in a language. A page with mostly Latin letters may be full of names, so a little of the language's
 * own script is enough.
 */
function canUseScript(language: string, written: readonly string[], prose: string): boolean {
  if (written.length > 0) return written.includes(language) || !isKnownScript(language)
  return !hasOwnScript(language) || shareOfScript(language, prose) >= MIN_OWN_SCRIPT_SHARE
}

/** Whether a table knows the script of a language. */
function isKnownScript(language: string): boolean {
  return hasOwnScript(language) || hasFunctionWords(language) || hasTwoLetterCode(language)
}

/** The counts of function words in a text. */
type FunctionWordStats = ReturnType<typeof countFunctionWords>

/** The language whose function words dominate a text so clearly that it overrides the declared one. */
function findOverridingLanguage({ found, words }: FunctionWordStats, own: string): string | undefined {
  const { count: owned = 0 } = found.get(own) ?? {}
  // A language without a list may share any of these words.
  if (!hasFunctionWords(own)) return undefined
  const isClear = ([language, { count, weight, sure }]: readonly [string, FunctionWordCounts]): boolean =>
    language !== own &&
    weight >= CLEAR_WEIGHT &&
    sure >= CLEAR_WORDS &&
    count >= CLEAR_SHARE * words &&
    count > CLEAR_TIMES * owned
  return [...found].find(isClear)?.[0]
}

/**
 * Detects the language of prose. Letter statistics count only where function words do not contradict them, because words are more reliable
 * and cheaper.
 */
function detectProse(
  prose: string,
  written: readonly string[],
  letters: number,
  { found, words }: FunctionWordStats,
): string | null {
  const [only, ...others] = written
  if (only !== undefined && (others.length === 0 || only === 'zh')) return only
  const [best, next] = [...found].sort(([, a], [, b]) => b.count - a.count)
  if (best !== undefined && isProvenByWords(best[1], words) && best[1].count > 1.5 * (next?.[1].count ?? 0))
    return best[0]
  const seen = letters < MIN_UNLISTED_LETTERS ? null : detectLanguage(prose)
  if (seen === null || hasFunctionWords(seen) || (written.length > 0 && !written.includes(seen))) return null
  return seen
}

/** Whether function words prove the language of a text: a name may be as frequent, but is a single word. */
function isProvenByWords({ count, weight, sure }: FunctionWordCounts, words: number): boolean {
  return count >= MIN_FUNCTION_WORD_SHARE * words && weight >= (sure > 0 ? MIN_WEIGHT : MIN_AMBIGUOUS_WEIGHT)
}

/** With fewer letters of prose, names and labels decide. */
const MIN_LETTERS = 80
/** Minimum share of the words of a text that are function words of its language. */
const MIN_FUNCTION_WORD_SHARE = 0.03
/** Minimum weight of different words: two of which one is unambiguous, or four ambiguous ones. */
const MIN_WEIGHT = 1.5
const MIN_AMBIGUOUS_WEIGHT = 2
/**
 * Thresholds for overriding the declared language: the number of different words, their share, and their ratio to the words of the declared
 * language.
 */
const CLEAR_WEIGHT = 4
const CLEAR_WORDS = 3
const CLEAR_SHARE = 0.1
const CLEAR_TIMES = 4
/** A language without a list of function words is accepted for a text of this length. */
const MIN_UNLISTED_LETTERS = 500
/** Minimum share of letters in the script of a language. */
const MIN_OWN_SCRIPT_SHARE = 0.02
/** Prose is searched in this many characters, because a page may begin with code. */
const SEARCHED_CHARS = 8000

/** The prose of a page: without code, addresses and marks. */
function proseOf(markdown: string): string {
  return markdown
    .slice(0, SEARCHED_CHARS)
    .replace(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^\1[`~]*[ \t]*$|$(?![\s\S]))/gm, ' ')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/\]\([^)\n]*\)/g, ']')
    .replace(/<?https?:\S+/g, ' ')
    .replace(/[#*_|>[\]]+/g, ' ')
    .slice(0, SAMPLE_CHARS)
}

/** Detection reads this many characters; more changes nothing. */
const SAMPLE_CHARS = 2000
/** With less, names and labels decide. */
const MIN_SAMPLE_CHARS = 60

function detectLanguage(text: string): string | null {
  const sample = text.slice(0, SAMPLE_CHARS).replace(/\s+/g, ' ')
  const found = franc(sample, { minLength: MIN_SAMPLE_CHARS })
  return found === 'und' ? null : toTwoLetterCode(found)
}
