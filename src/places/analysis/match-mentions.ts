import { beginHash, extendHash, type NameHash, prefixSlot, WORD_SALT } from './match-hash.ts'
import type { NameIndex } from './match-index.ts'
import { MAX_RUN_UNITS, RunSearch } from './match-runs.ts'
import { STEM_MARK, stemsOf } from './match-stems.ts'
import {
  CASE_LOWER,
  CASE_NONE,
  GAP_BREAK,
  GAP_COMMA,
  GAP_HYPHEN,
  GAP_JOINT,
  GAP_SENTENCE,
  SCRIPT_ARABIC,
  SCRIPT_CYRILLIC,
  SCRIPT_GREEK,
  SCRIPT_HANGUL,
  SCRIPT_HEBREW,
  SCRIPT_LATIN,
  SCRIPT_OTHER,
  SCRIPT_UNSPACED,
  type Token,
} from './match-tokens.ts'
import { ARTICLES, PLACE_NOUNS_BEFORE } from './match-words.ts'

/** Form of a mention: the words of the text are the name itself. */
export const FORM_EXACT = 0
/** Form of a mention: the words of the text are the name with inflection endings or a particle. */
export const FORM_INFLECTED = 1
/** Form of a mention: the first word begins with a preposition, conjunction or article that is written as a prefix. */
export const FORM_PREFIXED = 2
/** Form of a mention: the word is the plural of a demonym, such as `Serbs`. */
export const FORM_PLURAL = 4

/** Words of a text that are the name of one or more places. */
export interface Mention {
  /** Index of the first token of the mention. */
  readonly first: number
  /** Index of the token after the mention. */
  readonly next: number
  readonly start: number
  readonly end: number
  /** Keys of the names that the words may be. */
  readonly keys: readonly number[]
  readonly form: number
  /** Length in normal form; short names need more evidence. */
  readonly units: number
}

/** Maximum number of words in a name. */
const MAX_WORDS = 10

/** Finds the names in a text. At each position the longest name wins, and mentions do not overlap. Takes linear time. */
export function findMentions(
  index: NameIndex,
  text: string,
  tokens: readonly Token[],
  language: string | undefined,
  isSingleCase: boolean,
): readonly Mention[] {
  const mentions: Mention[] = []
  const search = new NameSearch(index, tokens, language, isSingleCase)
  const runs = new RunSearch(index)
  let at = 0
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (token.script === SCRIPT_UNSPACED) {
      runs.addMentions(at, token.start, text.slice(token.start, token.end), mentions)
      at++
      continue
    }
    const mention = search.mentionAt(at, token)
    if (mention === undefined || isOvertaken(search, tokens, mention)) {
      at++
    } else {
      mentions.push(mention)
      at = mention.next
    }
  }
  return mentions
}

/** `La Nouvelle-Zélande`: a name that starts with an article yields to a name after the article that ends later. */
function isOvertaken(search: NameSearch, tokens: readonly Token[], { first, next }: Mention): boolean {
  const second = tokens[first + 1]
  if (next < first + 2 || second === undefined || !ARTICLES.has(tokens[first]?.word ?? '')) return false
  return (search.mentionAt(first + 1, second)?.next ?? 0) > next
}

/** Finds the names that start at the tokens of a text. */
class NameSearch {
  readonly #index: NameIndex
  readonly #tokens: readonly Token[]
  readonly #language: string | undefined
  readonly #isSingleCase: boolean
  readonly #hash: NameHash = { high: 0, low: 0 }

  constructor(index: NameIndex, tokens: readonly Token[], language: string | undefined, isSingleCase: boolean) {
    this.#index = index
    this.#tokens = tokens
    this.#language = language
    this.#isSingleCase = isSingleCase
  }

  /** The mention that starts at a token. */
  mentionAt(at: number, token: Token): Mention | undefined {
    if (token.word === '' || !this.#canStart(token)) return undefined
    const found = this.#exactMention(at, token)
    if (found !== undefined) return found
    if (this.#canBeInflected(token)) return this.#inflectedMention(at, token)
    if (token.script === SCRIPT_LATIN) return this.#pluralMention(at, token)
    if (token.script === SCRIPT_ARABIC || token.script === SCRIPT_HEBREW) return this.#prefixedMention(at, token)
    return token.script === SCRIPT_HANGUL ? this.#suffixedMention(at, token) : undefined
  }

  #canStart(token: Token): boolean {
    return this.#isSingleCase || token.letterCase !== CASE_LOWER
  }

  /** The longest name that starts at a token. `word` is the word of the token, possibly without its prefix. */
  #longestNameAt(at: number, word: string): { key: number; next: number; units: number } | undefined {
    const maxWords = Math.min(
      MAX_WORDS,
      this.#index.columns.maxLengthByPrefix[prefixSlot(word, 0, word.length, WORD_SALT)] ?? 0,
    )
    if (maxWords === 0) return undefined
    beginHash(this.#hash)
    extendHash(this.#hash, word, 0, word.length)
    let best: { key: number; next: number; units: number } | undefined
    let units = word.length
    for (let count = 1; ; count++) {
      const last = this.#tokens[at + count - 1]
      if (last === undefined) break
      if (this.#isSingleCase || last.letterCase !== CASE_LOWER) {
        const key = this.#index.keyOf(this.#hash)
        if (key >= 0) best = { key, next: at + count, units }
      }
      const following = this.#tokens[at + count]
      if (count === maxWords || following === undefined || !isJoined(following)) break
      if (following.gap !== GAP_JOINT) extendHash(this.#hash, ' ', 0, 1)
      extendHash(this.#hash, following.word, 0, following.word.length)
      units += following.word.length
    }
    return best
  }

  #exactMention(at: number, token: Token): Mention | undefined {
    const found = this.#longestNameAt(at, token.word)
    if (found === undefined) return undefined
    // In scripts without capitals, `مدينة` is the word for any city, and rarely Medina.
    if (found.next === at + 1 && token.letterCase === CASE_NONE && PLACE_NOUNS_BEFORE.has(token.word)) return undefined
    const keys = [found.key]
    if (found.next === at + 1 && this.#canBeInflected(token)) keys.push(...this.#stemKeys(token.word))
    return this.#mentionOf(at, found.next, 0, keys, FORM_EXACT, found.units)
  }

  #mentionOf(at: number, next: number, cut: number, keys: readonly number[], form: number, units: number): Mention {
    const start = (this.#tokens[at]?.start ?? 0) + cut
    return { first: at, next, start, end: this.#tokens[next - 1]?.end ?? 0, keys, form, units }
  }

  #canBeInflected(token: Token): boolean {
    return (
      token.script === SCRIPT_CYRILLIC ||
      token.script === SCRIPT_GREEK ||
      token.script === SCRIPT_OTHER ||
      (token.script === SCRIPT_LATIN && this.#language !== undefined && this.#language !== 'en')
    )
  }

  #stemKeys(word: string): readonly number[] {
    const keys = new Set<number>()
    for (const stem of stemsOf(word, this.#language)) {
      const key = this.#index.keyOfName(STEM_MARK + stem)
      if (key >= 0) keys.add(key)
    }
    return [...keys]
  }

  /** `Нижнем Новгороде`, `Ростове-на-Дону`: each word is inflected separately. */
  #inflectedMention(at: number, token: Token): Mention | undefined {
    const second = this.#tokens[at + 1]
    const third = this.#tokens[at + 2]
    if (second !== undefined && isJoined(second) && second.gap !== GAP_COMMA) {
      const heads = stemsOf(token.word, this.#language)
      if (third !== undefined && second.gap === GAP_HYPHEN && third.gap === GAP_HYPHEN) {
        const key = this.#keyOfStems(heads, [second.word], stemsOf(third.word, this.#language))
        if (key >= 0)
          return this.#mentionOf(at, at + 3, 0, [key], FORM_INFLECTED, token.word.length + third.word.length)
      }
      if (second.letterCase !== CASE_LOWER) {
        const key = this.#keyOfStems(heads, undefined, stemsOf(second.word, this.#language))
        if (key >= 0)
          return this.#mentionOf(at, at + 2, 0, [key], FORM_INFLECTED, token.word.length + second.word.length)
      }
    }
    const keys = this.#stemKeys(token.word)
    return keys.length === 0 ? undefined : this.#mentionOf(at, at + 1, 0, keys, FORM_INFLECTED, token.word.length)
  }

  #keyOfStems(heads: readonly string[], middle: readonly string[] | undefined, tails: readonly string[]): number {
    for (const head of heads) {
      for (const tail of tails) {
        const key = this.#index.keyOfName(`${STEM_MARK}${head} ${middle === undefined ? '' : `${middle[0]} `}${tail}`)
        if (key >= 0) return key
      }
    }
    return -1
  }

  /** `بباريس`, `ולונדון`: a prefix written together with the name. */
  #prefixedMention(at: number, token: Token): Mention | undefined {
    for (const { cut, word } of withoutPrefix(token)) {
      const found = PLACE_NOUNS_BEFORE.has(word) ? undefined : this.#longestNameAt(at, word)
      if (found !== undefined && (word.length >= 3 || found.next > at + 1)) {
        return this.#mentionOf(at, found.next, cut, [found.key], FORM_PREFIXED, found.units)
      }
    }
    return undefined
  }

  /** `Serbs`: the gazetteer has demonyms without their plurals. */
  #pluralMention(at: number, token: Token): Mention | undefined {
    if (token.word.length < 4 || !token.word.endsWith('s')) return undefined
    const key = this.#index.keyOfName(token.word.slice(0, -1))
    return key < 0 ? undefined : this.#mentionOf(at, at + 1, 0, [key], FORM_PLURAL, token.word.length)
  }

  /** `서울에서`: a particle written together with the name. */
  #suffixedMention(at: number, token: Token): Mention | undefined {
    const { word } = token
    // Hangul has the same length in normal form, so offsets are valid in both.
    for (let length = Math.min(word.length - 1, MAX_RUN_UNITS); length >= 2; length--) {
      if (!KOREAN_PARTICLES.test(word.slice(length))) continue
      const key = this.#index.keyOfName(word.slice(0, length))
      if (key < 0) continue
      return {
        first: at,
        next: at + 1,
        start: token.start,
        end: token.start + length,
        keys: [key],
        form: FORM_INFLECTED,
        units: length,
      }
    }
    return undefined
  }
}

function isJoined(token: Token): boolean {
  return token.gap !== GAP_BREAK && token.gap !== GAP_SENTENCE && token.word !== ''
}

/** Korean particles, optionally after a word for a kind of place. */
const KOREAN_PARTICLES =
  /^(?:특별시|광역시|국제공항|공항|대학교|대학|경찰청|경찰|지방법원|지법|시청|시장|시민|역|항|시|도|주|군|구|현|산|인|계|발|행|측)?(?:에서는|에서도|에서의|에서|에는|에도|에만|에게|에|으로부터|으로는|으로|로부터|로는|로|은|는|이나|이라는|이|가|을|를|의|과의|과는|과|와의|와는|와|도|만|까지|부터|보다|처럼|이며|이고)?$/u

const ARABIC_PREFIXES = ['وال', 'بال', 'كال', 'فال', 'لل', 'ال', 'وب', 'ول', 'و', 'ب', 'ل', 'ف', 'ك']
const HEBREW_PREFIXES = ['וב', 'ול', 'ומ', 'שב', 'של', 'מה', 'וה', 'ש', 'ב', 'ל', 'מ', 'ה', 'ו', 'כ']

/** The word without each prefix that it may have; if a prefix ends in an article, also the word with the article. */
function withoutPrefix(token: Token): readonly { cut: number; word: string }[] {
  const found: { cut: number; word: string }[] = []
  const prefixes = token.script === SCRIPT_ARABIC ? ARABIC_PREFIXES : HEBREW_PREFIXES
  for (const prefix of prefixes) {
    if (!token.word.startsWith(prefix) || token.word.length - prefix.length < 2) continue
    const rest = token.word.slice(prefix.length)
    // The article may be part of the gazetteer's name or not.
    const cut = prefix.endsWith('ال') ? prefix.length - 2 : prefix.length
    if (prefix === 'لل') found.push({ cut: 1, word: `ال${rest}` })
    else if (prefix.length === 3 && prefix.endsWith('ال')) found.push({ cut: 1, word: `ال${rest}` })
    found.push({ cut, word: rest })
  }
  return found
}
