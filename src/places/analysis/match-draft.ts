import type { CountryScores } from './match-context.ts'
import type { NameIndex } from './match-index.ts'
import { FORM_EXACT, FORM_PLURAL, findMentions, type Mention } from './match-mentions.ts'
import { FORM_RUN } from './match-runs.ts'
import { KIND_CITY, KIND_COUNTRY, KIND_REGION, NAME_ABBREV, NAME_DEMONYM, priorOf } from './match-score.ts'
import {
  CASE_LOWER,
  CASE_NONE,
  CASE_TITLE,
  CASE_UPPER,
  GAP_COMMA,
  GAP_SPACE,
  SCRIPT_LATIN,
  type Token,
  tokenize,
} from './match-tokens.ts'
import * as lists from './match-words.ts'
import { NAME_KIND_MASK, NAME_MAIN } from './name-index.ts'

/** The places that one name may mean in a text, with the scores that are the same for every occurrence. */
export interface Reading {
  readonly places: readonly number[]
  /** For each place: the flags of its name, as in the name index. */
  readonly nameFlags: readonly number[]
  /** For each place: how well known it is, plus the score of the context. */
  readonly baseScores: readonly number[]
}

/** A mention that is being resolved to a place. */
export interface Draft {
  readonly mention: Mention
  readonly reading: Reading
  /** Index in the reading; -1 until a place is chosen. */
  choice: number
  score: number
  margin: number
  /** Whether the mention is the first of a pair such as `Paris, Texas`. `isConsumed` marks the second. */
  isPaired: boolean
  isConsumed: boolean
  /** Evidence that the mention means a place at all. */
  support: number
  /** Minimum `support` with which the mention counts as a place. */
  neededSupport: number
  /** `New York State`: the adjacent word says that a region is meant. */
  readonly isDivision: boolean
  /** `San Jose Sharks`: the mention is part of the name of a North American team. */
  readonly isTeam: boolean
  /** Whether the mention is the name of a person. */
  isPerson: boolean
}

/** How a text uses capital letters. */
export interface Casing {
  /** The text has no capitals, or only capitals, so that they carry no information. */
  readonly isSingleCase: boolean
  /** Nearly every word is capitalised, as in headlines, so capitals carry little information. */
  readonly isHeadline: boolean
  /** Nouns are capitalised, as in German. */
  readonly hasCapitalNouns: boolean
  /** Words that occur in lower case in the text. */
  readonly lowerCaseWords: ReadonlySet<string>
}

/** A text with everything that influences the score of its names. */
export interface TextContext {
  readonly index: NameIndex
  readonly tokens: readonly Token[]
  readonly casing: Casing
  /** Without region: `pt` for `pt-BR`. */
  readonly language: string | undefined
  /** Countries that the context points to. */
  readonly countryScores: CountryScores
  /** Countries that the title names, or whose regions it names. */
  readonly titleCountries: ReadonlySet<number>
}

/** Detects how a text uses capitals. */
export function casingOf(tokens: readonly Token[], language: string | undefined): Casing {
  const lowerCaseWords = new Set<string>()
  let title = 0
  let upper = 0
  let lowerContentWords = 0
  for (const token of tokens) {
    if (token.letterCase === CASE_NONE) continue
    if (token.letterCase === CASE_LOWER) {
      lowerCaseWords.add(token.word)
      if (token.word.length > 3 && !lists.FUNCTION_WORDS.has(token.word)) lowerContentWords++
    } else if (token.letterCase === CASE_TITLE) title++
    else upper++
  }
  const capitals = title + upper
  const isSingleCase = capitals === 0 || (lowerCaseWords.size === 0 && title === 0 && upper > 2)
  const isHeadline = capitals > 4 && lowerContentWords * 8 < capitals
  const hasCapitalNouns = language === 'de' || (language === undefined && capitals > 20 && capitals > lowerContentWords)
  return { isSingleCase, isHeadline, hasCapitalNouns, lowerCaseWords }
}

/** Countries that the title names, or whose regions it names. A place of the text is likelier if it lies in one of them. */
export function titleCountries(index: NameIndex, title: string | undefined): ReadonlySet<number> {
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

/** Creates a draft for each mention, except those that cannot be a place as written. */
export function createDrafts(context: TextContext, mentions: readonly Mention[]): readonly Draft[] {
  const { tokens, casing } = context
  const readings = new Map<string, Reading>()
  const drafts: Draft[] = []
  for (const mention of mentions) {
    const first = tokens[mention.first] as Token
    const isUpper = first.letterCase === CASE_UPPER && !casing.isSingleCase
    const id = `${mention.keys.join()}${isUpper ? '!' : ''}${mention.form}`
    let reading = readings.get(id)
    if (reading === undefined) {
      reading = createReading(context, mention, isUpper)
      readings.set(id, reading)
    }
    if (reading.places.length === 0) continue
    drafts.push({
      mention,
      reading,
      choice: -1,
      score: 0,
      margin: 0,
      isPaired: false,
      isConsumed: false,
      support: 0,
      neededSupport: 1,
      isDivision: isDivision(tokens, mention),
      isTeam: isTeam(tokens, mention),
      isPerson: false,
    })
  }
  return drafts
}

function isDivision(tokens: readonly Token[], mention: Mention): boolean {
  const after = tokens[mention.next]
  if (after !== undefined && after.gap === GAP_SPACE && lists.DIVISION_NOUNS.has(after.word)) return true
  const before = tokens[mention.first - 1]
  return before?.word === 'of' && lists.DIVISION_NOUNS.has(tokens[mention.first - 2]?.word ?? '')
}

/** `Dallas Cowboys`, and with one word between: `Boston Red Sox`. */
function isTeam(tokens: readonly Token[], { next }: Mention): boolean {
  for (let at = next; at <= next + 1; at++) {
    const token = tokens[at]
    if (token === undefined || token.gap !== GAP_SPACE || token.letterCase !== CASE_TITLE) return false
    if (lists.TEAM_NOUNS.has(token.word)) return true
  }
  return false
}

/** The places that a name may mean, without those that its spelling excludes. */
function createReading(context: TextContext, mention: Mention, isUpper: boolean): Reading {
  const { index, tokens, casing, language, countryScores, titleCountries } = context
  const { columns, head } = index
  const first = tokens[mention.first] as Token
  const isLatin = first.script === SCRIPT_LATIN
  const isSingle = mention.next === mention.first + 1
  const isShort = isLatin && mention.units <= 3 && isSingle
  const isSafeAbbreviation = isUpper && lists.SAFE_ABBREVIATIONS.has(first.word)
  const places: number[] = []
  const nameFlags: number[] = []
  const baseScores: number[] = []
  for (const key of mention.keys) {
    for (let at = columns.keyStarts[key] ?? 0; at < (columns.keyStarts[key + 1] ?? 0); at++) {
      const place = columns.postingPlaces[at] ?? 0
      const flags = columns.postingNames[at] ?? 0
      const nameKind = flags & NAME_KIND_MASK
      const kind = columns.kinds[place] ?? KIND_CITY
      const lang = head.langs[columns.postingLangs[at] ?? 0] ?? ''
      // Upper-case words in a mixed-case text are abbreviations, and only a few of those are certainly places.
      if (nameKind === NAME_ABBREV && !isSafeAbbreviation && !(kind === KIND_CITY && isUpper && mention.units > 2))
        continue
      if (kind !== KIND_COUNTRY && nameKind !== NAME_ABBREV && isLatin && isUpper && isSingle && mention.units <= 4)
        continue
      if (nameKind === NAME_DEMONYM && (casing.isSingleCase || first.letterCase === CASE_NONE)) continue
      if ((nameKind === NAME_DEMONYM) !== (mention.form === FORM_PLURAL) && mention.form !== FORM_EXACT) continue
      const isForeign = lang !== '' && mention.form !== FORM_RUN && lang !== 'en' && lang.split('-')[0] !== language
      if (kind !== KIND_CITY && isLatin && isForeign && mention.units <= 4 && (flags & NAME_MAIN) === 0) continue
      if (kind === KIND_COUNTRY && isShort && !isSafeAbbreviation && (isForeign || lang === '' || lang === 'en'))
        continue
      if (kind === KIND_CITY && isShort && mention.units < 3) continue
      if (places.includes(place)) continue
      const country = columns.countries[place] ?? 0
      let score =
        priorOf(index, place, flags) + (countryScores.get(country) ?? 0) + (titleCountries.has(country) ? 1 : 0)
      const isUsualName = (flags & NAME_MAIN) !== 0 || kind !== KIND_CITY || !isLatin
      if (!isUsualName && (language === undefined || language === 'en')) score -= 0.3
      if (isForeign && isLatin && kind !== KIND_CITY && (flags & NAME_MAIN) === 0)
        score -= language === undefined ? 1 : 3
      places.push(place)
      nameFlags.push(flags)
      baseScores.push(score)
    }
  }
  return { places, nameFlags, baseScores }
}

/** Conjunctions between the parts of a list. */
const LIST_WORDS = new Set(['and', 'or', 'et', 'ou', 'und', 'oder', 'y', 'o', 'e', 'i', 've', 'и', 'та', 'και'])

/** Whether only a comma or a conjunction separates two mentions. */
export function isAdjacent(tokens: readonly Token[], first: Draft | undefined, second: Draft | undefined): boolean {
  if (first === undefined || second === undefined || first.mention.form === FORM_RUN) return false
  const between = second.mention.first - first.mention.next
  const joint = tokens[first.mention.next]
  if (between === 0) return joint?.gap === GAP_COMMA
  // Some writers put a comma before the conjunction of a list.
  return between === 1 && (joint?.gap === GAP_SPACE || joint?.gap === GAP_COMMA) && LIST_WORDS.has(joint.word)
}
