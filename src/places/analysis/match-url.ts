import { countryOfCode, countryScoresOf, isLanguageSegment, parseUrl } from './match-context.ts'
import { simplifyHan } from './match-han.ts'
import { countryPlaces, type NameIndex } from './match-index.ts'
import {
  KIND_CITY,
  KIND_COUNTRY,
  KIND_REGION,
  NAME_ABBREV,
  NAME_DEMONYM,
  preferCity,
  priorOf,
  sizeSupport,
} from './match-score.ts'
import {
  COMMON_WORDS,
  DISHES,
  FUNCTION_WORDS,
  GIVEN_NAMES,
  isOrdinaryName,
  KITCHEN_WORDS,
  NON_PLACE_SEGMENTS,
  PLACE_NOUNS_AFTER,
  PRESS_NOUNS,
  STRONG_PREPOSITIONS,
  SURNAMES,
  THING_NOUNS,
} from './match-words.ts'
import type { KnownPlace, MatchContext, PlaceMatch } from './matcher.ts'
import { NAME_KIND_MASK, NAME_MAIN, packCountry } from './name-index.ts'
import { normalizeName } from './place.ts'

/** A word of a path, and its position. */
interface Word {
  readonly word: string
  readonly start: number
  readonly end: number
}

/** A piece of a path that may name a place. */
interface PathMention {
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

/** Finds places in the path of an address. */
export function matchUrl(index: NameIndex, url: string, context: MatchContext): readonly PlaceMatch[] {
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
  return resolveMentions(index, url, pieces)
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
    for (const word of normalizeName(decode(found[0]).replaceAll(/[-_]+/g, ' ')).split(' ')) {
      if (word !== '') words.push({ word, start: at, end: at + found[0].length })
    }
  }
  return words
}

function decode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
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

/** Chooses among places of the same name by the segments before and after: `/us/texas/paris`. */
function resolveMentions(index: NameIndex, url: string, pieces: readonly PathMention[]): readonly PlaceMatch[] {
  const { columns } = index
  const matches: PlaceMatch[] = []
  const bestCandidates = pieces.map(({ candidates }) => bestOf(candidates.map(({ score }) => score)).at)
  for (const [at, piece] of pieces.entries()) {
    const scores = piece.candidates.map(({ place, score }) => {
      let total = score
      for (const [other, { candidates, isWhole }] of pieces.entries()) {
        const anchor = candidates[bestCandidates[other] ?? 0]?.place
        if (other === at || anchor === undefined || columns.countries[anchor] !== columns.countries[place]) continue
        const kind = columns.kinds[anchor]
        const weight = isWhole ? 1.5 : 1
        if (kind === KIND_COUNTRY && columns.kinds[place] !== KIND_COUNTRY) total += 2 * weight
        else if (kind === KIND_REGION && columns.divisions[anchor] === columns.divisions[place]) total += 2.5 * weight
        else if (
          kind === KIND_CITY &&
          columns.kinds[place] === KIND_REGION &&
          columns.divisions[anchor] === columns.divisions[place]
        )
          total += 2
      }
      return total
    })
    const { at: top, margin } = bestOf(scores)
    const best = hasLaterPlaceIn(index, pieces, at, piece.candidates[top]?.place) ? top : cityOf(index, piece, top)
    const candidate = piece.candidates[best]
    if (candidate === undefined || isStateCode(index, piece, pieces[at + 1])) continue
    if (isPartOfWorld(index, piece, candidate, pieces[at + 1])) continue
    const hasAnchor = pieces.some(
      ({ candidates }, other) =>
        other !== at &&
        candidates.some(
          ({ place }) =>
            columns.kinds[place] !== KIND_CITY && columns.countries[place] === columns.countries[candidate.place],
        ),
    )
    const support = supportOf(index, piece, candidate, hasAnchor)
    if (support < 0) continue
    matches.push({
      place: index.placeAt(candidate.place),
      text: url.slice(piece.start, piece.end),
      start: piece.start,
      end: piece.end,
      score: Math.round((scores[best] ?? 0) * 100) / 100,
      confidence: Math.round((1 - 0.5 * Math.exp(-margin)) * (1 - 0.5 * Math.exp(-support - 0.3)) * 100) / 100,
    })
  }
  return matches
}

/** Whether a later mention may be a place in this region. Then the region itself is meant, and not a city of the same name. */
function hasLaterPlaceIn(
  index: NameIndex,
  pieces: readonly PathMention[],
  at: number,
  region: number | undefined,
): boolean {
  const { columns } = index
  return pieces
    .slice(at + 1)
    .some(({ candidates }) =>
      candidates.some(
        ({ place }) =>
          region !== undefined &&
          columns.countries[place] === columns.countries[region] &&
          columns.divisions[place] === columns.divisions[region],
      ),
    )
}

/** `/america/argentina`: an alias of a country means a part of the world when another country follows. */
function isPartOfWorld(
  { columns }: NameIndex,
  { isWhole, isCode }: PathMention,
  { place, flags }: PathMention['candidates'][number],
  next: PathMention | undefined,
): boolean {
  if (!isWhole || isCode || columns.kinds[place] !== KIND_COUNTRY || (flags & NAME_MAIN) !== 0) return false
  const following =
    next?.isWhole === true ? next.candidates[bestOf(next.candidates.map(({ score }) => score)).at] : undefined
  if (following === undefined || columns.kinds[following.place] !== KIND_COUNTRY) return false
  return columns.countries[following.place] !== columns.countries[place]
}

function cityOf(index: NameIndex, { candidates }: PathMention, best: number): number {
  return preferCity(
    index,
    candidates.map(({ place }) => place),
    candidates.map(({ flags }) => flags),
    best,
  )
}

/** `/ca/san-francisco`: two letters are a state when the city after them lies in it. */
function isStateCode(index: NameIndex, { isCode, word }: PathMention, next: PathMention | undefined): boolean {
  if (!isCode || next === undefined) return false
  const { at } = bestOf(next.candidates.map(({ score }) => score))
  const place = next.candidates[at]?.place
  if (place === undefined || index.columns.kinds[place] !== KIND_CITY) return false
  return index.head.divisions[index.columns.divisions[place] ?? 0] === word.toUpperCase()
}

function bestOf(scores: readonly number[]): { at: number; margin: number } {
  let at = 0
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[at] ?? 0)) at = i
  let second = -Infinity
  for (const [i, score] of scores.entries()) if (i !== at && score > second) second = score
  return { at, margin: second === -Infinity ? 4 : (scores[at] ?? 0) - second }
}

/** How far the evidence for a place exceeds the minimum; negative when the mention does not mean a place. */
function supportOf(
  index: NameIndex,
  piece: PathMention,
  candidate: { readonly place: number; readonly flags: number },
  hasAnchor: boolean,
): number {
  const kind = index.columns.kinds[candidate.place] ?? KIND_CITY
  if (piece.isCode) return 1
  let support = sizeSupport(index, candidate.place)
  if (piece.isWhole) support += 1
  // Names of small regions are often ordinary words (`nord`, `quarter`).
  else if (kind === KIND_REGION && (index.columns.populations[candidate.place] ?? 0) < 1_000_000) support -= 1.5
  if (hasAnchor) support += 1.5
  if (piece.hasPlaceWord) support += 1
  if (kind === KIND_CITY && (candidate.flags & NAME_MAIN) === 0) support -= 1
  if (piece.wordCount > 1) support += 1
  let needed = 3
  const { word } = piece
  const isGivenName = GIVEN_NAMES.has(word)
  const isThing = piece.isAmongThings && isOrdinaryName(word)
  if (FUNCTION_WORDS.has(word) || isThing) needed = 9
  else if (kind === KIND_COUNTRY && piece.isWhole) needed = 3
  else if (SECTION_WORDS.has(word) || COMMON_WORDS.has(word)) needed = hasAnchor && piece.isWhole ? 3.5 : 6
  // `jordan-peterson` and `jordan-protests` look alike, so only the rest of the path can decide.
  else if (SURNAMES.has(word) || isGivenName)
    needed = piece.isWhole || (kind === KIND_COUNTRY && piece.isNews) ? 3 : isGivenName && !piece.hasPlaceWord ? 5 : 4
  return support - needed
}

/** Words for sections of a site. */
const SECTION_WORDS = new Set(
  'world news sport sports business politics opinion culture travel money health science tech technology media national local home video live central union general international topics tag tags category search index archive life style arts film music books'.split(
    ' ',
  ),
)

/** Places with a slug, likeliest first. */
export function placesBySlug(index: NameIndex, slug: string): readonly KnownPlace[] {
  const { columns } = index
  const name = normalizeName(decode(slug).replaceAll('-', ' '))
  if (name === '') return []
  const found = new Map<number, number>()
  const addPlacesOf = (key: number): void => {
    if (key < 0) return
    for (let at = columns.keyStarts[key] ?? 0; at < (columns.keyStarts[key + 1] ?? 0); at++) {
      const place = columns.postingPlaces[at] ?? 0
      const flags = columns.postingNames[at] ?? 0
      if ((flags & NAME_KIND_MASK) === NAME_DEMONYM) continue
      const isCountry = columns.kinds[place] === KIND_COUNTRY
      found.set(place, priorOf(index, place, flags) + (isCountry ? 10 : 0))
    }
  }
  addPlacesOf(index.keyOfName(name))
  addPlacesOf(index.keyOfName(simplifyHan(name.replaceAll(' ', ''))))
  if (name === 'uk') addPlacesOf(index.keyOfName('gb'))
  return [...found].sort((a, b) => b[1] - a[1]).map(([place]) => index.placeAt(place))
}
