import { decodePart } from '../../core/url/decode-part.ts'
import { countryOfCode, countryScoresOf, isLanguageSegment, parseUrl } from './match-context.ts'
import { simplifyHan } from './match-han.ts'
import { countryPlaces, type NameIndex } from './match-index.ts'
import { KIND_CITY, KIND_COUNTRY, NAME_ABBREV, NAME_DEMONYM, priorOf } from './match-score.ts'
import {
  DISHES,
  KITCHEN_WORDS,
  NON_PLACE_SEGMENTS,
  PLACE_NOUNS_AFTER,
  PRESS_NOUNS,
  STRONG_PREPOSITIONS,
  THING_NOUNS,
} from './match-words.ts'
import type { MatchContext } from './matcher.ts'
import { NAME_KIND_MASK, NAME_MAIN, packCountry } from './name-index.ts'
import { normalizeName } from './place.ts'

/** A word of a path, and its position. */
interface Word {
  readonly word: string
  readonly start: number
  readonly end: number
}

/** A piece of a path that may name a place. */
export interface PathMention {
  /** The places that may be meant; `flags` are those of the name, as in the name index. */
  readonly candidates: readonly { readonly place: number; readonly score: number; readonly flags: number }[]
  readonly start: number
  readonly end: number
  readonly wordCount: number
  /** The name fills its whole path segment. */
  readonly isWhole: boolean
  /** The name in normal form. */
  readonly word: string
  readonly isCode: boolean
  /** The word before or after the name is typical beside places: `fire-in-bristol`, `paris-fashion-week`. */
  readonly hasPlaceWord: boolean
  /** The slug has a news word: `israel-hamas-war-live`. */
  readonly isNews: boolean
  /** The name is below a segment for things or people (`/recipes/turkey`, `/author/jordan`), or is a dish beside kitchen words. */
  readonly isAmongThings: boolean
}

/** Maximum number of words of a name in a slug. */
const MAX_WORDS = 7
const MAX_SEGMENTS = 40
/** Limit of mentions in an address, because each is compared with all others. */
const MAX_MENTIONS = 40

/** Finds the pieces of the path of an address that may name places. */
export function findPathMentions(index: NameIndex, url: string, context: MatchContext): readonly PathMention[] {
  const parsed = parseUrl(url)
  const from = pathStart(url)
  if (parsed === undefined || from < 0) return []
  const to = pathEnd(url, from)
  const scores = countryScoresOf({ ...context, url }, (code) => countryPlaces(index).has(code))
  const pieces: PathMention[] = []
  let number = 0
  let before: string | undefined
  for (let start = from; start < to && number < MAX_SEGMENTS && pieces.length < MAX_MENTIONS; number++) {
    let end = url.indexOf('/', start)
    if (end < 0 || end > to) end = to
    if (end > start) {
      collectMentions(index, url, start, end, before, scores, pieces)
      before = url.slice(start, end).toLowerCase()
    }
    start = end + 1
  }
  return pieces
}

function pathStart(url: string): number {
  const scheme = url.indexOf('://')
  const slash = scheme < 0 ? -1 : url.indexOf('/', scheme + 3)
  return slash < 0 ? -1 : slash + 1
}

function pathEnd(url: string, from: number): number {
  for (let i = from; i < url.length; i++) if (url[i] === '?' || url[i] === '#') return i
  return url.length
}

function collectMentions(
  index: NameIndex,
  url: string,
  start: number,
  end: number,
  before: string | undefined,
  scores: ReadonlyMap<number, number>,
  into: PathMention[],
): void {
  const raw = url.slice(start, end).replace(/\.(?:s?html?|php|aspx?|jsp|xml|json|rss|amp)$/i, '')
  if (raw.length > 400) return
  if (/^[A-Za-z]{2}$/.test(raw)) {
    const code = codeOf(index, raw, before)
    if (code !== undefined)
      into.push({
        candidates: [code],
        start,
        end: start + 2,
        wordCount: 1,
        isWhole: true,
        word: raw,
        isCode: true,
        hasPlaceWord: false,
        isNews: false,
        isAmongThings: false,
      })
    return
  }
  const words = wordsOf(raw, start)
  for (let at = 0; at < words.length; ) {
    const piece = longestMention(index, words, at, before, scores)
    if (piece === undefined) at++
    else {
      into.push(piece)
      at += piece.wordCount
    }
  }
}

/** The country of a two-letter segment, unless it is a language or something else. */
function codeOf(
  index: NameIndex,
  raw: string,
  before: string | undefined,
): { place: number; score: number; flags: number } | undefined {
  const code = countryOfCode(raw)
  const place = countryPlaces(index).get(packCountry(code))
  if (place === undefined) return undefined
  // At the start of a path (`/us/`, `/en/us/`) only codes that are not languages count; elsewhere a segment such as `/c/` must precede
  // them.
  const isAtStart = before === undefined || before.length === 2
  if (isAtStart ? isLanguageSegment(raw.toLowerCase()) || !HEAD_COUNTRY_CODES.has(code) : !CODE_LEADS.has(before))
    return undefined
  return { place, score: 6, flags: NAME_ABBREV }
}

/** Segments after which two letters are a country. */
const CODE_LEADS = new Set(
  'c country countries nation nations region regions location locations place places world geo global edition editions international intl land pays pais'.split(
    ' ',
  ),
)

/** Codes that are not languages, or that mean the country far more often: `/fr/` alone is French, `/us/` is the country. */
const HEAD_COUNTRY_CODES = new Set(
  'US GB AU CA IN NZ IE ZA JP CN BR MX SG HK AE CH AT BE SE DK CZ GR UA IL KR'.split(' '),
)

/** The words of a segment in normal form, with their positions in the address. */
function wordsOf(raw: string, start: number): readonly Word[] {
  const words: Word[] = []
  for (const found of raw.matchAll(/[^-_+.,~:;()!'*\s]+/g)) {
    const at = start + found.index
    for (const word of normalizeName(decodePart(found[0]).replaceAll(/[-_]+/g, ' ')).split(' ')) {
      if (word !== '') words.push({ word, start: at, end: at + found[0].length })
    }
  }
  return words
}

function longestMention(
  index: NameIndex,
  words: readonly Word[],
  at: number,
  before: string | undefined,
  scores: ReadonlyMap<number, number>,
): PathMention | undefined {
  for (let count = Math.min(MAX_WORDS, words.length - at); count > 0; count--) {
    const window = words.slice(at, at + count)
    const isWhole = count === words.length
    const joined = window.map(({ word }) => word).join(' ')
    const key = index.keyOfName(joined)
    const runKey =
      key < 0 && /[\u0370-\uffff]/.test(joined) ? index.keyOfName(simplifyHan(joined.replaceAll(' ', ''))) : key
    if (runKey < 0) continue
    const candidates = candidatesOf(index, runKey, joined, isWhole, scores)
    const first = window[0]
    const last = window.at(-1)
    if (candidates.length === 0 || first === undefined || last === undefined) continue
    const next = words[at + count]?.word
    if (!isWhole && next !== undefined && (PRESS_NOUNS.has(next) || THING_NOUNS.has(next))) continue
    const isAmongThings =
      NON_PLACE_SEGMENTS.has(before ?? '') || (DISHES.has(joined) && words.some(({ word }) => KITCHEN_WORDS.has(word)))
    const isNews = words.some(({ word }) => NEWS_WORDS.has(word))
    const hasPlaceWord = STRONG_PREPOSITIONS.has(words[at - 1]?.word ?? '') || PLACE_NOUNS_AFTER.has(next ?? '')
    return {
      candidates,
      start: first.start,
      end: last.end,
      wordCount: count,
      isWhole,
      word: joined,
      isCode: false,
      hasPlaceWord,
      isNews,
      isAmongThings,
    }
  }
  return undefined
}

function candidatesOf(
  index: NameIndex,
  key: number,
  joined: string,
  isWhole: boolean,
  scores: ReadonlyMap<number, number>,
): PathMention['candidates'] {
  const { columns } = index
  const found: { place: number; score: number; flags: number }[] = []
  const isShort = joined.length <= 3 && /^[a-z]+$/.test(joined)
  for (let at = columns.keyStarts[key] ?? 0; at < (columns.keyStarts[key + 1] ?? 0); at++) {
    const place = columns.postingPlaces[at] ?? 0
    const flags = columns.postingNames[at] ?? 0
    const nameKind = flags & NAME_KIND_MASK
    const kind = columns.kinds[place] ?? KIND_CITY
    if (nameKind === NAME_DEMONYM) continue
    if (isShort && kind === KIND_COUNTRY && !(isWhole || SAFE_IN_SLUGS.has(joined))) continue
    if (isShort && kind !== KIND_COUNTRY && !(isWhole && (flags & NAME_MAIN) !== 0)) continue
    // A foreign name in the middle of a slug is more likely a word: `nord`.
    const lang = index.head.langs[columns.postingLangs[at] ?? 0] ?? ''
    const isMain = (flags & NAME_MAIN) !== 0
    if (!isWhole && !isMain && kind !== KIND_CITY && lang !== '' && lang !== 'en') continue
    let score = priorOf(index, place, flags) + (scores.get(columns.countries[place] ?? 0) ?? 0)
    if (!isMain && kind === KIND_CITY) score -= 0.7
    found.push({ place, score, flags })
  }
  return found
}

/** Words of headlines about countries. */
const NEWS_WORDS = new Set(
  `war live attack attacks strike strikes airstrike airstrikes protest protests crisis conflict ceasefire truce border
  troops army military minister government parliament election elections vote referendum coup president sanctions talks
  deal treaty earthquake flood floods wildfire wildfires killed kills missile missiles drone drones hostage hostages
  embassy invasion economy inflation refugees migrants tariffs ambassador`.split(/\s+/),
)

/** Short words that always mean a country in slugs. */
const SAFE_IN_SLUGS = new Set(['usa', 'uae', 'uk'])
