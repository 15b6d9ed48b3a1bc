import { type CountryScores, countryScoresOf } from './match-context.ts'
import type { OpenIndex } from './match-index.ts'
import {
  FORM_BENT,
  FORM_EXACT,
  FORM_PLURAL,
  FORM_PREFIXED,
  FORM_RUN,
  findMentions,
  type Mention,
} from './match-mentions.ts'
import {
  CASE_LOWER,
  CASE_NONE,
  CASE_TITLE,
  CASE_UPPER,
  GAP_COMMA,
  GAP_DOT,
  GAP_HYPHEN,
  GAP_SENTENCE,
  GAP_SPACE,
  SCRIPT_HANGUL,
  SCRIPT_LATIN,
  type Token,
  tokenize,
} from './match-tokens.ts'
import * as lists from './match-words.ts'
import type { MatchContext, PlaceMatch } from './matcher.ts'
import { NAME_DERIVED, NAME_KIND_MASK, NAME_MAIN } from './name-index.ts'
import { NAME_KINDS } from './place.ts'

const KIND_COUNTRY = 0
const KIND_REGION = 1
const KIND_CITY = 2
const NAME_ABBREV = NAME_KINDS.indexOf('abbrev')
const NAME_DEMONYM = NAME_KINDS.indexOf('demonym')

/** The places that one name may mean in one text, with what is the same wherever the text has it. */
interface Reading {
  readonly places: readonly number[]
  readonly names: readonly number[]
  /** Of each place: how well known it is, and what the surroundings of the text say for it. */
  readonly base: readonly number[]
}

/** A mention on its way to a place. */
interface Draft {
  readonly mention: Mention
  readonly reading: Reading
  /** Number in the reading; -1 where it was none after all. */
  choice: number
  score: number
  margin: number
  /** Of a pair (`Paris, Texas`): the number of the mention that the first lies in. */
  paired: boolean
  consumed: boolean
  support: number
  needed: number
  /** `New York State`: the word beside it says that it is no city. */
  readonly isDivision: boolean
  /** It is a person's name here. */
  isPerson: boolean
}

/** How the letters of a text are used. */
interface Casing {
  /** It has no capitals, or nothing else: they tell nothing. */
  readonly isFlat: boolean
  /** Nearly every word has a capital, as headlines are written: they tell little. */
  readonly isHeadline: boolean
  /** Nouns have capitals: German. */
  readonly areNounsCapital: boolean
  /** Words that stand in small letters somewhere. */
  readonly small: ReadonlySet<string>
}

/** Finds places in a text. */
export function matchText(index: OpenIndex, text: string, context: MatchContext): readonly PlaceMatch[] {
  const tokens = tokenize(text)
  const language = context.language?.toLowerCase().split('-')[0]
  const casing = casingOf(tokens, language)
  const mentions = findMentions(index, text, tokens, language, casing.isFlat)
  if (mentions.length === 0) return []
  const scores = countryScoresOf(context, (code) => countryPlaces(index).has(code))
  const title = titleCountries(index, context.title)
  const drafts = draftsOf(index, tokens, mentions, casing, language, scores, title)
  joinPairs(index, tokens, drafts)
  const regard = createRegard(index)
  const isEnglish = language === undefined || language === 'en'
  for (const draft of drafts) choose(index, draft, undefined)
  for (const draft of drafts) if (draft.choice >= 0 && !draft.consumed) regard.take(draft)
  for (const draft of drafts) choose(index, draft, regard)
  for (const [at, draft] of drafts.entries()) judge(index, tokens, drafts, at, draft, casing, regard, scores, isEnglish)
  rejectNamesakes(tokens, drafts)
  const found: PlaceMatch[] = []
  for (const draft of drafts) {
    const place = draft.reading.places[draft.choice]
    if (place === undefined || draft.consumed || draft.support < draft.needed) continue
    const { start, end } = draft.mention
    found.push({
      place: index.placeAt(place),
      text: text.slice(start, end),
      start,
      end,
      score: round(draft.score),
      confidence: confidenceOf(draft),
    })
  }
  return found
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function confidenceOf(draft: Draft): number {
  const clear = 1 - 0.5 * Math.exp(-Math.max(0, draft.margin))
  const sure = 1 - 0.5 * Math.exp(-(draft.support - draft.needed + 0.3))
  return round(clear * sure)
}

function casingOf(tokens: readonly Token[], language: string | undefined): Casing {
  const small = new Set<string>()
  let title = 0
  let upper = 0
  let contents = 0
  for (const token of tokens) {
    if (token.letterCase === CASE_NONE) continue
    if (token.letterCase === CASE_LOWER) {
      small.add(token.word)
      if (token.word.length > 3 && !lists.FUNCTION_WORDS.has(token.word)) contents++
    } else if (token.letterCase === CASE_TITLE) title++
    else upper++
  }
  const capitals = title + upper
  const isFlat = capitals === 0 || (small.size === 0 && title === 0 && upper > 2)
  const isHeadline = capitals > 4 && contents * 8 < capitals
  const areNounsCapital = language === 'de' || (language === undefined && capitals > 20 && capitals > contents)
  return { isFlat, isHeadline, areNounsCapital, small }
}

const countriesOf = new WeakMap<OpenIndex, ReadonlyMap<number, number>>()

/** Numbers of the countries by their packed codes. */
export function countryPlaces(index: OpenIndex): ReadonlyMap<number, number> {
  const known = countriesOf.get(index)
  if (known !== undefined) return known
  const found = new Map(index.head.countries.map(({ place }) => [index.columns.countries[place] ?? 0, place]))
  countriesOf.set(index, found)
  return found
}

/** Countries that a title names: a place of the text that lies in one of them is likelier. */
function titleCountries(index: OpenIndex, title: string | undefined): ReadonlySet<number> {
  const countries = new Set<number>()
  if (title === undefined) return countries
  for (const { keys } of findMentions(index, title, tokenize(title.slice(0, 300)), undefined, false)) {
    for (const key of keys) {
      for (let at = index.columns.keyStarts[key] ?? 0; at < (index.columns.keyStarts[key + 1] ?? 0); at++) {
        const place = index.columns.postingPlaces[at] ?? 0
        const kind = index.columns.kinds[place]
        if (kind === KIND_COUNTRY || kind === KIND_REGION) countries.add(index.columns.countries[place] ?? 0)
      }
    }
  }
  return countries
}

function draftsOf(
  index: OpenIndex,
  tokens: readonly Token[],
  mentions: readonly Mention[],
  casing: Casing,
  language: string | undefined,
  scores: CountryScores,
  title: ReadonlySet<number>,
): Draft[] {
  const readings = new Map<string, Reading>()
  const drafts: Draft[] = []
  for (const mention of mentions) {
    const first = tokens[mention.first] as Token
    const isUpper = first.letterCase === CASE_UPPER && !casing.isFlat
    const id = `${mention.keys.join()}${isUpper ? '!' : ''}${mention.form}`
    let reading = readings.get(id)
    if (reading === undefined) {
      reading = read(index, tokens, mention, isUpper, casing, language, scores, title)
      readings.set(id, reading)
    }
    if (reading.places.length === 0) continue
    drafts.push({
      mention,
      reading,
      choice: -1,
      score: 0,
      margin: 0,
      paired: false,
      consumed: false,
      support: 0,
      needed: 1,
      isDivision: isDivision(tokens, mention),
      isPerson: false,
    })
  }
  return drafts
}

function isDivision(tokens: readonly Token[], mention: Mention): boolean {
  const after = tokens[mention.next]
  if (after !== undefined && after.gap === GAP_SPACE && lists.DIVISION_NOUNS.has(after.word)) return true
  const of = tokens[mention.first - 1]
  return of?.word === 'of' && lists.DIVISION_NOUNS.has(tokens[mention.first - 2]?.word ?? '')
}

/** What a name may mean, without those that it cannot as it is written. */
function read(
  index: OpenIndex,
  tokens: readonly Token[],
  mention: Mention,
  isUpper: boolean,
  casing: Casing,
  language: string | undefined,
  scores: CountryScores,
  title: ReadonlySet<number>,
): Reading {
  const { columns, head } = index
  const first = tokens[mention.first] as Token
  const isLatin = first.script === SCRIPT_LATIN
  const isSingle = mention.next === mention.first + 1
  const isShort = isLatin && mention.units <= 3 && isSingle
  const isSafe = isUpper && lists.SAFE_ABBREVIATIONS.has(first.word)
  const places: number[] = []
  const names: number[] = []
  const base: number[] = []
  for (const key of mention.keys) {
    for (let at = columns.keyStarts[key] ?? 0; at < (columns.keyStarts[key + 1] ?? 0); at++) {
      const place = columns.postingPlaces[at] ?? 0
      const name = columns.postingNames[at] ?? 0
      const nameKind = name & NAME_KIND_MASK
      const kind = columns.kinds[place] ?? KIND_CITY
      const lang = head.langs[columns.postingLangs[at] ?? 0] ?? ''
      // Capitals of a text that has others are abbreviations, and only a few of those are places for sure.
      if (nameKind === NAME_ABBREV && !isSafe && !(kind === KIND_CITY && isUpper && mention.units > 2)) continue
      if (kind === KIND_CITY && nameKind !== NAME_ABBREV && isLatin && isUpper && isSingle && mention.units <= 4)
        continue
      if (nameKind === NAME_DEMONYM && (casing.isFlat || first.letterCase === CASE_NONE)) continue
      if ((nameKind === NAME_DEMONYM) !== (mention.form === FORM_PLURAL) && mention.form !== FORM_EXACT) continue
      const isForeign = lang !== '' && mention.form !== FORM_RUN && lang !== 'en' && lang.split('-')[0] !== language
      if (kind !== KIND_CITY && isLatin && isForeign && mention.units <= 4 && (name & NAME_MAIN) === 0) continue
      if (kind === KIND_COUNTRY && isShort && !isSafe && (isForeign || lang === '' || lang === 'en')) continue
      if (kind === KIND_CITY && isShort && mention.units < 3) continue
      if (places.includes(place)) continue
      const population = columns.populations[place] ?? 0
      const country = columns.countries[place] ?? 0
      let score = 0.5 * Math.log10(population + 1) + (scores.get(country) ?? 0) + (title.has(country) ? 1 : 0)
      score += kind === KIND_COUNTRY ? 2 : kind === KIND_REGION ? 0.2 : kind === KIND_CITY ? 0 : 4
      if (columns.capitals[place] === 1) score += 1.2
      if ((name & NAME_MAIN) !== 0) score += 0.5
      else if (isLatin && kind === KIND_CITY && (language === undefined || language === 'en')) score -= 0.3
      if (isForeign && isLatin && kind !== KIND_CITY && (name & NAME_MAIN) === 0)
        score -= language === undefined ? 1 : 3
      if ((name & NAME_DERIVED) !== 0) score -= (name & NAME_MAIN) !== 0 ? 0.2 : 0.5
      places.push(place)
      names.push(name)
      base.push(score)
    }
  }
  return { places, names, base }
}

/** `Paris, Texas`: the second says which one of the first is meant, and is no find of its own. */
function joinPairs(index: OpenIndex, tokens: readonly Token[], drafts: readonly Draft[]): void {
  for (const [at, draft] of drafts.entries()) {
    if (draft.consumed) continue
    const after = tokens[draft.mention.next]
    if (after === undefined || draft.mention.form === FORM_RUN) continue
    const next = drafts[at + 1]
    if (next !== undefined && next.mention.first === draft.mention.next && after.gap === GAP_COMMA) {
      const inner = bestWithin(index, draft, next, isListed(tokens, drafts, at))
      if (inner < 0) continue
      draft.choice = inner
      draft.paired = true
      next.consumed = true
    } else if (
      (after.gap === GAP_COMMA || after.gap === GAP_SPACE) &&
      after.letterCase === CASE_UPPER &&
      after.word.length === 2
    ) {
      const inner = bestOfDivision(index, draft, after.word.toUpperCase())
      if (inner >= 0) {
        draft.choice = inner
        draft.paired = true
      }
    }
  }
}

/** `Georgia, Armenia and Azerbaijan` is a list: what follows the second goes on with another. */
function isListed(tokens: readonly Token[], drafts: readonly Draft[], at: number): boolean {
  const before = drafts[at - 1]
  const first = tokens[drafts[at]?.mention.first ?? 0]
  if (
    before !== undefined &&
    before.mention.next === drafts[at]?.mention.first &&
    first?.gap === GAP_COMMA &&
    !before.paired
  )
    return true
  const second = drafts[at + 1]
  const third = drafts[at + 2]
  if (second === undefined || third === undefined) return false
  return isBeside(tokens, second, third)
}

const LIST_WORDS = new Set(['and', 'or', 'et', 'ou', 'und', 'oder', 'y', 'o', 'e', 'i', 've', 'и', 'та', 'и', 'και'])

/** The likeliest place of the first name that lies in one of the second; -1 where there is none, or a country is meant. */
function bestWithin(index: OpenIndex, inner: Draft, outer: Draft, isList: boolean): number {
  const { columns } = index
  const top = topOf(inner.reading.base)
  const isCountry = columns.kinds[inner.reading.places[top] ?? 0] === KIND_COUNTRY
  let best = -1
  for (const [i, place] of inner.reading.places.entries()) {
    const kind = columns.kinds[place]
    if (kind === KIND_COUNTRY || ((inner.reading.names[i] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM) continue
    if (best >= 0 && (inner.reading.base[i] ?? 0) <= (inner.reading.base[best] ?? 0)) continue
    const within = outer.reading.places.some((other, j) => {
      const otherKind = columns.kinds[other]
      if (((outer.reading.names[j] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM) return false
      if (columns.countries[other] !== columns.countries[place] || other === place) return false
      if (otherKind === KIND_COUNTRY) return !isCountry && !(isList && i !== top)
      // A list of cities of one land is no pair, nor are a region and a city of one name.
      return (
        otherKind === KIND_REGION &&
        kind === KIND_CITY &&
        columns.divisions[other] === columns.divisions[place] &&
        !(isList && i !== top)
      )
    })
    if (within) best = i
  }
  return best
}

/** `Austin, TX` */
function bestOfDivision(index: OpenIndex, draft: Draft, code: string): number {
  const { columns, head } = index
  let best = -1
  for (const [i, place] of draft.reading.places.entries()) {
    if (columns.kinds[place] !== KIND_CITY || head.divisions[columns.divisions[place] ?? 0] !== code) continue
    if (best < 0 || (draft.reading.base[i] ?? 0) > (draft.reading.base[best] ?? 0)) best = i
  }
  return best
}

function topOf(scores: readonly number[]): number {
  let top = 0
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[top] ?? 0)) top = i
  return top
}

/** What the other places of a text say for a candidate. */
interface Regard {
  take(draft: Draft): void
  /** Points for a candidate from places other than those of its own name. */
  of(place: number, own: Reading): number
}

function createRegard(index: OpenIndex): Regard {
  const { columns } = index
  const ofCountries = createTally()
  const ofDivisions = createTally()
  const ofCities = createTally()
  const keyOf = (place: number): number => (columns.countries[place] ?? 0) * 65_536 + (columns.divisions[place] ?? 0)
  return {
    take({ reading, choice, margin }) {
      const place = reading.places[choice] ?? 0
      const kind = columns.kinds[place]
      const country = columns.countries[place] ?? 0
      const isDemonym = ((reading.names[choice] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM
      if (kind === KIND_COUNTRY) ofCountries.give(country, reading, isDemonym ? 0.4 : 0.7, 2)
      else if (kind === KIND_REGION) {
        ofDivisions.give(keyOf(place), reading, 3, 4)
        ofCountries.give(country, reading, 0.5, 1)
      } else if (kind === KIND_CITY && margin > 0.5 && (columns.populations[place] ?? 0) >= 50_000) {
        ofCountries.give(country, reading, 0.4, 0.8)
        ofCities.give(keyOf(place), reading, 1.5, 3)
      }
    },
    of(place, own) {
      const kind = columns.kinds[place]
      const inCountry = ofCountries.of(columns.countries[place] ?? 0, own, 2.5)
      if (kind === KIND_COUNTRY) return inCountry
      const beside = ofCities.of(keyOf(place), own, 2)
      if (kind === KIND_REGION) return inCountry + 2 * beside
      // In a region that is spoken of lie many villages that bear the name of a city elsewhere.
      const weight = (columns.populations[place] ?? 0) >= 15_000 ? 1 : 0.5
      return inCountry + weight * ofDivisions.of(keyOf(place), own, 3.5) + 0.5 * beside
    },
  }
}

/** Points by what they are for, with who gave them: a name does not speak for itself. */
interface Tally {
  give(key: number, from: Reading, points: number, most: number): void
  /** At most so many, and the fewer the more was given to others: a list of all states speaks for none. */
  of(key: number, own: Reading, most: number): number
}

function createTally(): Tally {
  const points = new Map<number, number>()
  const given = new Map<Reading, Map<number, number>>()
  const givenBy = new Map<Reading, number>()
  let all = 0
  return {
    give(key, from, more, most) {
      const byKey = given.get(from) ?? new Map<number, number>()
      const before = byKey.get(key) ?? 0
      const added = Math.min(most, before + more) - before
      byKey.set(key, before + added)
      given.set(from, byKey)
      givenBy.set(from, (givenBy.get(from) ?? 0) + added)
      points.set(key, (points.get(key) ?? 0) + added)
      all += added
    },
    of(key, own, most) {
      const others = (points.get(key) ?? 0) - (given.get(own)?.get(key) ?? 0)
      if (others <= 0) return 0
      return Math.min(most, others) * (others / (all - (givenBy.get(own) ?? 0)))
    },
  }
}

/** The likeliest place of a name. */
function choose(index: OpenIndex, draft: Draft, regard: Regard | undefined): void {
  const { reading } = draft
  let best = -1
  let bestScore = -Infinity
  let second = -Infinity
  for (const [i, place] of reading.places.entries()) {
    let score = (reading.base[i] ?? 0) + (regard?.of(place, reading) ?? 0)
    if (draft.isDivision && index.columns.kinds[place] === KIND_REGION) score += 2
    if (score > bestScore) {
      second = bestScore
      bestScore = score
      best = i
    } else if (score > second) second = score
  }
  if (draft.paired) {
    draft.score = (reading.base[draft.choice] ?? 0) + 8
    draft.margin = 4
    return
  }
  draft.choice = draft.isDivision ? best : preferCity(index, reading, best)
  draft.score = bestScore
  draft.margin = second === -Infinity ? 4 : bestScore - second
}

/** A region that bears the name of a city in it is rarely meant by that name alone. */
function preferCity(index: OpenIndex, reading: Reading, best: number): number {
  const { columns } = index
  const region = reading.places[best]
  if (region === undefined || columns.kinds[region] !== KIND_REGION) return best
  let city = best
  let most = 99_999
  for (const [i, place] of reading.places.entries()) {
    if (columns.kinds[place] !== KIND_CITY || columns.countries[place] !== columns.countries[region]) continue
    const population = columns.populations[place] ?? 0
    if (columns.divisions[place] !== columns.divisions[region] || population <= most) continue
    const isMain = ((reading.names[i] ?? 0) & NAME_MAIN) !== 0
    if (!isMain && population < Math.min(3_000_000, 0.3 * (columns.populations[region] ?? 0))) continue
    city = i
    most = population
  }
  return city
}

/** Weighs whether a place was meant at all. */
function judge(
  index: OpenIndex,
  tokens: readonly Token[],
  drafts: readonly Draft[],
  at: number,
  draft: Draft,
  casing: Casing,
  regard: Regard,
  scores: CountryScores,
  isEnglish: boolean,
): void {
  const { mention, reading, choice } = draft
  const place = reading.places[choice]
  if (place === undefined) return
  const { columns } = index
  const name = reading.names[choice] ?? 0
  const nameKind = name & NAME_KIND_MASK
  const kind = columns.kinds[place] ?? KIND_CITY
  const population = columns.populations[place] ?? 0
  const first = tokens[mention.first] as Token
  const around = neighboursOf(tokens, drafts, at)
  if (nameKind === NAME_DEMONYM) {
    draft.support = isAboutCountry(tokens, drafts, at) ? 2 : 0
    draft.needed = 1
    return
  }
  const isSingle = mention.next === mention.first + 1
  const isCommon = isSingle && isCommonWord(first.word)
  let support =
    kind === KIND_COUNTRY || kind > KIND_CITY
      ? 4
      : kind === KIND_REGION
        ? 3
        : sizeSupport(population, columns.capitals[place] === 1)
  if (first.script === SCRIPT_LATIN && kind === KIND_CITY && (name & NAME_MAIN) === 0)
    support -= aliasDoubt(mention, population, isEnglish)
  if (kind === KIND_REGION && (name & NAME_DERIVED) !== 0) support -= 0.5
  if (mention.form === FORM_BENT && first.letterCase !== CASE_NONE) support -= 0.3
  if (draft.paired) support += 4
  if (!isSingle) support += wordsOfWeight(tokens, mention) > 1 ? 1.5 : 0.5
  const backing = regard.of(place, reading) + (scores.get(columns.countries[place] ?? 0) ?? 0)
  if (backing > 0) support += kind === KIND_CITY ? (backing >= 0.7 ? 1.2 : 0.8) : 0.5
  if (around.isListed) support += 0.8
  if (around.isRiver && kind !== KIND_COUNTRY && mention.form === FORM_EXACT) support -= 2.5
  support += around.preposition
  if (mention.form === FORM_PREFIXED) support += 0.5
  draft.needed = neededFor(tokens, mention, casing, kind, population)
  if (isCommon && !draft.paired && around.isPartOfName) support -= 1.5
  if (around.isOtherPlace && !draft.paired && kind !== KIND_COUNTRY) support -= 3
  if (around.isNew && !draft.paired) support -= 9
  draft.support = support
  if (!draft.paired && isSingle && first.letterCase === CASE_TITLE)
    judgeAsPerson(draft, first, around, casing, kind, population)
  if (isPressTitle(tokens, mention)) draft.support -= 9
}

function sizeSupport(population: number, isCapital: boolean): number {
  if (population >= 1_000_000) return 3
  if (population >= 500_000 || isCapital) return 2.5
  return population >= 100_000 ? 2 : population >= 15_000 ? 1 : 0
}

function wordsOfWeight(tokens: readonly Token[], mention: Mention): number {
  let count = 0
  for (let i = mention.first; i < mention.next; i++) {
    const token = tokens[i] as Token
    if (!lists.FUNCTION_WORDS.has(token.word) && !lists.COMMON_WORDS.has(token.word) && token.word.length > 2) count++
  }
  return count
}

/** A name that is not the one a place is shown by may be a word of some other language, or a joke. */
function aliasDoubt(mention: Mention, population: number, isEnglish: boolean): number {
  if (mention.units < 4) return 2.5
  if (population >= 1_000_000) return isEnglish ? 0.8 : 0.5
  return isEnglish ? (population >= 500_000 ? 1 : 2) : 1
}

function isCommonWord(word: string): boolean {
  return lists.COMMON_WORDS.has(word) || lists.PLACE_NOUNS_AFTER.has(word) || lists.PLACE_NOUNS_BEFORE.has(word)
}

/** How much must speak for a name, by what else it may be. */
function neededFor(
  tokens: readonly Token[],
  mention: Mention,
  casing: Casing,
  kind: number,
  population: number,
): number {
  const first = tokens[mention.first] as Token
  if (mention.form === FORM_RUN)
    return kind === KIND_CITY ? (mention.units <= 2 ? 3 : mention.units === 3 ? 2.2 : 1.8) : 1
  if (first.letterCase === CASE_NONE)
    return kind === KIND_CITY ? (mention.units <= 3 && first.script !== SCRIPT_HANGUL ? 3 : 2) : 1
  if (mention.next > mention.first + 1) return wordsOfWeight(tokens, mention) === 0 ? 3 : 1.5
  let needed = 2
  if (lists.FUNCTION_WORDS.has(first.word)) needed = 6
  else if (isCommonWord(first.word)) needed = kind === KIND_CITY && population < 100_000 ? 3.5 : 3
  else if (lists.SURNAMES.has(first.word) || (lists.GIVEN_NAMES.has(first.word) && kind === KIND_CITY)) needed = 2.5
  if (kind === KIND_REGION && needed > 2.5) needed += 1.5
  if (kind === KIND_CITY && mention.units <= 3) needed = Math.max(needed, 2.8)
  if (kind === KIND_CITY || kind === KIND_REGION) {
    if (casing.isFlat) needed += 0.8
    else if (casing.small.has(first.word)) needed += 1.2
    else if (casing.isHeadline && needed > 2) needed += 1
  }
  return needed
}

/** What stands beside a mention. */
interface Neighbours {
  readonly before: Token | undefined
  readonly beforeIsPlace: boolean
  readonly after: Token | undefined
  readonly afterIsPlace: boolean
  /** Another place stands beside it, with `and` or a comma between. */
  readonly isListed: boolean
  /** It has an article and no noun to go with it: `across the Delaware`. */
  readonly isRiver: boolean
  /** A word with a capital stands beside it. */
  readonly isPartOfName: boolean
  /** It is a river, a street or a lake of the name. */
  readonly isOtherPlace: boolean
  /** `New England` is not England. */
  readonly isNew: boolean
  /** Points for a word before it that leads to places. */
  readonly preposition: number
}

function neighboursOf(tokens: readonly Token[], drafts: readonly Draft[], at: number): Neighbours {
  const { mention } = drafts[at] as Draft
  const first = tokens[mention.first] as Token
  const startsSentence = first.gap === GAP_SENTENCE
  const isClose = first.gap === GAP_SPACE || first.gap === GAP_DOT || first.gap === GAP_HYPHEN
  const before =
    isClose || (first.gap !== GAP_SENTENCE && first.gap !== GAP_COMMA) ? tokens[mention.first - 1] : undefined
  const following = tokens[mention.next]
  const after = following !== undefined && following.gap === GAP_SPACE ? following : undefined
  const isOrdinary = isCommonWord(first.word) || lists.SURNAMES.has(first.word) || lists.GIVEN_NAMES.has(first.word)
  let preposition = startsSentence && first.letterCase !== CASE_NONE && isOrdinary ? -0.5 : 0
  if (before !== undefined) {
    const lead =
      lists.ARTICLES.has(before.word) && before.letterCase === CASE_LOWER ? tokens[mention.first - 2] : before
    const word = lead?.word ?? ''
    if (lists.STRONG_PREPOSITIONS.has(word)) preposition = 2
    else if (lists.PLACE_NOUNS_BEFORE.has(word) || lists.LEADING_VERBS.has(word)) preposition = 1.5
    else if (lists.WEAK_PREPOSITIONS.has(word)) {
      preposition = lists.PLACE_NOUNS_BEFORE.has(tokens[mention.first - 2]?.word ?? '') ? 2 : 1
    }
  }
  return {
    before,
    beforeIsPlace: drafts[at - 1]?.mention.next === mention.first,
    after,
    afterIsPlace: drafts[at + 1]?.mention.first === mention.next,
    isListed: isBeside(tokens, drafts[at - 1], drafts[at]) || isBeside(tokens, drafts[at], drafts[at + 1]),
    isRiver:
      before?.word === 'the' &&
      before.letterCase === CASE_LOWER &&
      (after === undefined || lists.FUNCTION_WORDS.has(after.word)) &&
      following?.gap !== GAP_HYPHEN,
    isPartOfName:
      (after !== undefined && after.letterCase === CASE_TITLE) ||
      (before !== undefined && before.letterCase === CASE_TITLE && before.gap !== GAP_SENTENCE),
    isOtherPlace:
      (after !== undefined && after.letterCase === CASE_TITLE && lists.FEATURE_NOUNS.has(after.word)) ||
      (before !== undefined && before.letterCase === CASE_TITLE && lists.FEATURES_BEFORE.has(before.word)),
    isNew:
      before !== undefined &&
      before.letterCase === CASE_TITLE &&
      first.gap === GAP_SPACE &&
      lists.RENAMING.has(before.word),
    preposition,
  }
}

/** Two mentions with nothing but a comma or `and` between. */
function isBeside(tokens: readonly Token[], first: Draft | undefined, second: Draft | undefined): boolean {
  if (first === undefined || second === undefined || first.mention.form === FORM_RUN) return false
  const between = second.mention.first - first.mention.next
  const joint = tokens[first.mention.next]
  if (between === 0) return joint?.gap === GAP_COMMA
  return between === 1 && joint?.gap === GAP_SPACE && LIST_WORDS.has(joint.word)
}

/** Words before and after that make a name a person's. */
function judgeAsPerson(
  draft: Draft,
  first: Token,
  around: Neighbours,
  casing: Casing,
  kind: number,
  population: number,
): void {
  const { before, after } = around
  if (
    before !== undefined &&
    before.letterCase !== CASE_LOWER &&
    before.letterCase !== CASE_NONE &&
    !around.beforeIsPlace
  ) {
    const isInitial = before.end - before.start === 1 && first.gap === GAP_DOT
    if (
      lists.TITLES.has(before.word) ||
      isInitial ||
      (lists.GIVEN_NAMES.has(before.word) && before.letterCase === CASE_TITLE)
    ) {
      draft.isPerson = true
    } else if (
      before.letterCase === CASE_TITLE &&
      before.gap !== GAP_SENTENCE &&
      !casing.isHeadline &&
      !casing.areNounsCapital &&
      !isKnownWord(before.word)
    ) {
      draft.support -= kind === KIND_COUNTRY ? 1 : population >= 3_000_000 ? 1 : 2.5
    }
  }
  if (
    before !== undefined &&
    around.beforeIsPlace &&
    lists.GIVEN_NAMES.has(before.word) &&
    before.letterCase === CASE_TITLE &&
    first.gap === GAP_SPACE
  ) {
    draft.isPerson = true
  }
  const isGiven = lists.GIVEN_NAMES.has(first.word)
  if (after !== undefined && after.letterCase === CASE_TITLE && isGiven && !isKnownWord(after.word) && !casing.isFlat)
    draft.isPerson = true
  if (
    after !== undefined &&
    lists.SPEAKING_VERBS.has(after.word) &&
    (isGiven || lists.SURNAMES.has(first.word)) &&
    kind !== KIND_COUNTRY
  ) {
    draft.support -= population >= 1_000_000 ? 0.5 : 2.5
  }
  if (draft.isPerson) draft.support -= 9
}

/** Words that are no part of a person's name though they may have a capital. */
function isKnownWord(word: string): boolean {
  return (
    lists.PLACE_NOUNS_AFTER.has(word) ||
    lists.PLACE_NOUNS_BEFORE.has(word) ||
    lists.FUNCTION_WORDS.has(word) ||
    lists.STRONG_PREPOSITIONS.has(word) ||
    lists.WEAK_PREPOSITIONS.has(word) ||
    lists.PRESS_NOUNS.has(word)
  )
}

/** `The Washington Post reported` says nothing of Washington. */
function isPressTitle(tokens: readonly Token[], mention: Mention): boolean {
  const after = tokens[mention.next]
  return (
    after !== undefined &&
    after.gap === GAP_SPACE &&
    after.letterCase === CASE_TITLE &&
    lists.PRESS_NOUNS.has(after.word)
  )
}

/** Lists of peoples are looked through so far, that a text of nothing else takes linear time. */
const MAX_LIST = 8

/** `French President` and `the French` are about France; `in French` and `French fries` are not. */
function isAboutCountry(tokens: readonly Token[], drafts: readonly Draft[], at: number): boolean {
  // `British and Irish ministers`: the noun of the last is that of all.
  let last = at
  while (last - at < MAX_LIST && isDemonym(drafts[last + 1]) && isBeside(tokens, drafts[last], drafts[last + 1])) last++
  const { mention } = drafts[last] as Draft
  const noun = tokens[mention.next]
  const isClose = noun !== undefined && (noun.gap === GAP_SPACE || noun.gap === GAP_HYPHEN)
  if (isClose && lists.FIXED_AFTER_DEMONYM.has(noun.word)) return false
  if (isClose && !lists.FUNCTION_WORDS.has(noun.word)) return true
  const own = (drafts[at] as Draft).mention
  return own.form === FORM_PLURAL || tokens[own.first - 1]?.word === 'the'
}

function isDemonym(draft: Draft | undefined): boolean {
  return draft !== undefined && ((draft.reading.names[draft.choice] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM
}

/** Who was called a person once is one again, unless something says it is a place. */
function rejectNamesakes(tokens: readonly Token[], drafts: readonly Draft[]): void {
  const persons = new Set<string>()
  for (const { isPerson, mention } of drafts) if (isPerson) persons.add(tokens[mention.first]?.word ?? '')
  if (persons.size === 0) return
  for (const [at, draft] of drafts.entries()) {
    if (draft.isPerson || draft.paired || !persons.has(tokens[draft.mention.first]?.word ?? '')) continue
    if (draft.mention.next === draft.mention.first + 1 && neighboursOf(tokens, drafts, at).preposition < 2)
      draft.support -= 9
  }
}
