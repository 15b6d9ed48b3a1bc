import { simplifyHan } from './match-han.ts'
import { beginHash, extendHash, type NameHash, prefixSlot, RUN_SALT, WORD_SALT } from './match-hash.ts'
import type { NameIndex } from './match-index.ts'
import { priorOf } from './match-score.ts'
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
import { normalizeName } from './place.ts'

/** Form of a mention: the words of the text are the name itself. */
export const FORM_EXACT = 0
/** Form of a mention: the words of the text are the name with inflection endings or a particle. */
export const FORM_INFLECTED = 1
/** Form of a mention: the first word begins with a preposition, conjunction or article that is written as a prefix. */
export const FORM_PREFIXED = 2
/** Form of a mention: the name is part of a run without spaces. */
export const FORM_RUN = 3
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
/** Maximum number of characters of a name in scripts without spaces. */
const MAX_RUN_UNITS = 24

/** Finds the names in a text. At each position the longest name wins, and mentions do not overlap. Takes linear time. */
export function findMentions(
  index: NameIndex,
  text: string,
  tokens: readonly Token[],
  language: string | undefined,
  isSingleCase: boolean,
): readonly Mention[] {
  const mentions: Mention[] = []
  const search = createSearch(index, text, tokens, language, isSingleCase)
  let at = 0
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (token.script === SCRIPT_UNSPACED) {
      search.addRunMentions(at, token, mentions)
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
function isOvertaken(search: Search, tokens: readonly Token[], { first, next }: Mention): boolean {
  const second = tokens[first + 1]
  if (next < first + 2 || second === undefined || !ARTICLES.has(tokens[first]?.word ?? '')) return false
  return (search.mentionAt(first + 1, second)?.next ?? 0) > next
}

interface Search {
  /** The mention that starts at a token. */
  mentionAt(at: number, token: Token): Mention | undefined
  /** Adds the mentions within a token of a script without spaces. */
  addRunMentions(at: number, token: Token, into: Mention[]): void
}

function createSearch(
  index: NameIndex,
  text: string,
  tokens: readonly Token[],
  language: string | undefined,
  isSingleCase: boolean,
): Search {
  const { maxLengthByPrefix } = index.columns
  const hash: NameHash = { high: 0, low: 0 }
  const canStart = (token: Token): boolean => isSingleCase || token.letterCase !== CASE_LOWER

  /** The longest name that starts at a token. `word` is the word of the token, possibly without its prefix. */
  function longestNameAt(at: number, word: string): { key: number; next: number; units: number } | undefined {
    const maxWords = Math.min(MAX_WORDS, maxLengthByPrefix[prefixSlot(word, 0, word.length, WORD_SALT)] ?? 0)
    if (maxWords === 0) return undefined
    beginHash(hash)
    extendHash(hash, word, 0, word.length)
    let best: { key: number; next: number; units: number } | undefined
    let units = word.length
    for (let count = 1; ; count++) {
      const last = tokens[at + count - 1]
      if (last === undefined) break
      if (isSingleCase || last.letterCase !== CASE_LOWER) {
        const key = index.keyOf(hash)
        if (key >= 0) best = { key, next: at + count, units }
      }
      const following = tokens[at + count]
      if (count === maxWords || following === undefined || !isJoined(following)) break
      if (following.gap !== GAP_JOINT) extendHash(hash, ' ', 0, 1)
      extendHash(hash, following.word, 0, following.word.length)
      units += following.word.length
    }
    return best
  }

  function exactMention(at: number, token: Token): Mention | undefined {
    const found = longestNameAt(at, token.word)
    if (found === undefined) return undefined
    // In scripts without capitals, `مدينة` is the word for any city, and rarely Medina.
    if (found.next === at + 1 && token.letterCase === CASE_NONE && PLACE_NOUNS_BEFORE.has(token.word)) return undefined
    const keys = [found.key]
    if (found.next === at + 1 && canBeInflected(token)) keys.push(...stemKeys(token.word))
    return mentionOf(at, found.next, 0, keys, FORM_EXACT, found.units)
  }

  function mentionOf(
    at: number,
    next: number,
    cut: number,
    keys: readonly number[],
    form: number,
    units: number,
  ): Mention {
    const start = (tokens[at]?.start ?? 0) + cut
    return { first: at, next, start, end: tokens[next - 1]?.end ?? 0, keys, form, units }
  }

  function canBeInflected(token: Token): boolean {
    return (
      token.script === SCRIPT_CYRILLIC ||
      token.script === SCRIPT_GREEK ||
      token.script === SCRIPT_OTHER ||
      (token.script === SCRIPT_LATIN && language !== undefined && language !== 'en')
    )
  }

  function stemKeys(word: string): readonly number[] {
    const keys = new Set<number>()
    for (const stem of stemsOf(word, language)) {
      const key = index.keyOfName(STEM_MARK + stem)
      if (key >= 0) keys.add(key)
    }
    return [...keys]
  }

  /** `Нижнем Новгороде`, `Ростове-на-Дону`: each word is inflected separately. */
  function inflectedMention(at: number, token: Token): Mention | undefined {
    const second = tokens[at + 1]
    const third = tokens[at + 2]
    if (second !== undefined && isJoined(second) && second.gap !== GAP_COMMA) {
      const heads = stemsOf(token.word, language)
      if (third !== undefined && second.gap === GAP_HYPHEN && third.gap === GAP_HYPHEN) {
        const key = keyOfStems(heads, [second.word], stemsOf(third.word, language))
        if (key >= 0) return mentionOf(at, at + 3, 0, [key], FORM_INFLECTED, token.word.length + third.word.length)
      }
      if (second.letterCase !== CASE_LOWER) {
        const key = keyOfStems(heads, undefined, stemsOf(second.word, language))
        if (key >= 0) return mentionOf(at, at + 2, 0, [key], FORM_INFLECTED, token.word.length + second.word.length)
      }
    }
    const keys = stemKeys(token.word)
    return keys.length === 0 ? undefined : mentionOf(at, at + 1, 0, keys, FORM_INFLECTED, token.word.length)
  }

  function keyOfStems(
    heads: readonly string[],
    middle: readonly string[] | undefined,
    tails: readonly string[],
  ): number {
    for (const head of heads) {
      for (const tail of tails) {
        const key = index.keyOfName(`${STEM_MARK}${head} ${middle === undefined ? '' : `${middle[0]} `}${tail}`)
        if (key >= 0) return key
      }
    }
    return -1
  }

  /** `بباريس`, `ולונדון`: a prefix written together with the name. */
  function prefixedMention(at: number, token: Token): Mention | undefined {
    for (const { cut, word } of withoutPrefix(token)) {
      const found = PLACE_NOUNS_BEFORE.has(word) ? undefined : longestNameAt(at, word)
      if (found !== undefined && (word.length >= 3 || found.next > at + 1)) {
        return mentionOf(at, found.next, cut, [found.key], FORM_PREFIXED, found.units)
      }
    }
    return undefined
  }

  /** `Serbs`: the gazetteer has demonyms without their plurals. */
  function pluralMention(at: number, token: Token): Mention | undefined {
    if (token.word.length < 4 || !token.word.endsWith('s')) return undefined
    const key = index.keyOfName(token.word.slice(0, -1))
    return key < 0 ? undefined : mentionOf(at, at + 1, 0, [key], FORM_PLURAL, token.word.length)
  }

  /** `서울에서`: a particle written together with the name. */
  function suffixedMention(at: number, token: Token): Mention | undefined {
    const { word } = token
    // Hangul has the same length in normal form, so offsets are valid in both.
    for (let length = Math.min(word.length - 1, MAX_RUN_UNITS); length >= 2; length--) {
      if (!KOREAN_PARTICLES.test(word.slice(length))) continue
      const key = index.keyOfName(word.slice(0, length))
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

  /** The longest name that starts at a position of a run. */
  function matchAt(run: Run, from: number): RunMatch | undefined {
    const known = run.matches[from]
    if (known !== undefined) return known === NO_MATCH ? undefined : known
    const { word } = run
    const maxUnits = Math.min(
      maxLengthByPrefix[prefixSlot(word, from, from + 2, RUN_SALT)] ?? 0,
      MAX_RUN_UNITS,
      word.length - from,
    )
    let best: RunMatch | undefined
    if (maxUnits >= 2) {
      beginHash(hash)
      for (let units = 1; units <= maxUnits; units++) {
        extendHash(hash, word, from + units - 1, from + units)
        if (units < 2 || !isWholeKatakana(run, from, from + units)) continue
        const key = index.keyOf(hash)
        if (key >= 0) best = { key, units }
      }
    }
    run.matches[from] = best ?? NO_MATCH
    return best
  }

  /**
   * `抵达莫斯科`: whether a name that starts inside this one wins, because it is longer and not much less known, or as long and better known.
   */
  function losesToInnerName(run: Run, from: number, match: RunMatch): boolean {
    for (let inner = from + 1; inner < from + match.units && inner + 2 <= run.word.length; inner++) {
      const other = matchAt(run, inner)
      if (other === undefined || other.units < match.units) continue
      const lead = bestPriorOf(other.key) - bestPriorOf(match.key)
      if (lead > (other.units > match.units ? -LONGER_LEAD : 0)) return true
    }
    return false
  }

  /** Score of the likeliest place of a name. */
  function bestPriorOf(key: number): number {
    const { keyStarts, postingPlaces, postingNames } = index.columns
    let best = 0
    for (let at = keyStarts[key] ?? 0; at < (keyStarts[key + 1] ?? 0); at++) {
      best = Math.max(best, priorOf(index, postingPlaces[at] ?? 0, postingNames[at] ?? 0))
    }
    return best
  }

  return {
    mentionAt(at, token) {
      if (token.word === '' || !canStart(token)) return undefined
      const found = exactMention(at, token)
      if (found !== undefined) return found
      if (canBeInflected(token)) return inflectedMention(at, token)
      if (token.script === SCRIPT_LATIN) return pluralMention(at, token)
      if (token.script === SCRIPT_ARABIC || token.script === SCRIPT_HEBREW) return prefixedMention(at, token)
      return token.script === SCRIPT_HANGUL ? suffixedMention(at, token) : undefined
    },
    addRunMentions(at, token, into) {
      const { word: full, origins } = normalizeRun(text.slice(token.start, token.end))
      const run: Run = { word: simplifyHan(full), origins, matches: [] }
      for (let from = 0; from + 2 <= run.word.length; ) {
        const match = matchAt(run, from)
        if (match === undefined || losesToInnerName(run, from, match)) {
          from++
          continue
        }
        const last = from + match.units - 1
        into.push({
          first: at,
          next: at + 1,
          start: token.start + (origins?.[from]?.start ?? from),
          end: token.start + (origins?.[last]?.end ?? last + 1),
          keys: [match.key],
          form: FORM_RUN,
          units: match.units,
        })
        from += match.units
      }
    },
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

/** The source offsets of a unit. */
interface Origin {
  readonly start: number
  readonly end: number
}

/** A name at a position of a run: its key and its length. */
interface RunMatch {
  readonly key: number
  readonly units: number
}

/** A run in normal form. */
interface Run {
  readonly word: string
  /** Source offsets of each unit; undefined when they are unchanged. */
  readonly origins: readonly Origin[] | undefined
  /** The longest name that starts at each position; unset until it is computed. */
  readonly matches: RunMatch[]
}

const NO_MATCH: RunMatch = { key: -1, units: 0 }

/** Score lead with which a name wins against a longer one that starts inside it. */
const LONGER_LEAD = 1

/** A run in normal form with the source offset of each unit; no offsets when they are unchanged. */
function normalizeRun(run: string): Pick<Run, 'word' | 'origins'> {
  const whole = normalizeName(run)
  if (whole === run) return { word: run, origins: undefined }
  let word = ''
  const origins: Origin[] = []
  let at = 0
  for (const character of run) {
    const normal = normalizeName(character)
    const origin = { start: at, end: at + character.length }
    for (let i = 0; i < normal.length; i++) origins.push(origin)
    word += normal
    at = origin.end
  }
  return { word, origins }
}

/** Whether a range does not split a katakana word: `ローマ` must not match inside `ローマン`. A middle dot separates words. */
function isWholeKatakana({ word, origins }: Run, from: number, to: number): boolean {
  const isInsideWord = (at: number): boolean =>
    isKatakana(word, at - 1) &&
    isKatakana(word, at) &&
    (origins === undefined || (origins[at]?.start ?? 0) - (origins[at - 1]?.start ?? 0) === 1)
  return !isInsideWord(from) && !isInsideWord(to)
}

function isKatakana(word: string, at: number): boolean {
  const code = at < 0 ? 0 : word.charCodeAt(at)
  return code >= 0x30a1 && code <= 0x30ff
}
