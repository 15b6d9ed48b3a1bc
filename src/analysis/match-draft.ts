import type { CountryScores } from './match-context.ts'
import type { OpenIndex } from './match-index.ts'
import { FORM_EXACT, FORM_PLURAL, FORM_RUN, findMentions, type Mention } from './match-mentions.ts'
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

/** The places that one name may mean in one text, with what is the same wherever the text has it. */
export interface Reading {
  readonly places: readonly number[]
  readonly names: readonly number[]
  /** Of each place: how well known it is, and what the surroundings of the text say for it. */
  readonly base: readonly number[]
}

/** A mention on its way to a place. */
export interface Draft {
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
  /** `San Jose Sharks`: it is the city of a team of North America. */
  readonly isTeam: boolean
  /** It is a person's name here. */
  isPerson: boolean
}

/** How the letters of a text are used. */
export interface Casing {
  /** It has no capitals, or nothing else: they tell nothing. */
  readonly isFlat: boolean
  /** Nearly every word has a capital, as headlines are written: they tell little. */
  readonly isHeadline: boolean
  /** Nouns have capitals: German. */
  readonly areNounsCapital: boolean
  /** Words that stand in small letters somewhere. */
  readonly small: ReadonlySet<string>
}

/** A text with what is known of it: everything that its names are weighed by. */
export interface GivenText {
  readonly index: OpenIndex
  readonly tokens: readonly Token[]
  readonly casing: Casing
  /** Without its region: `pt` for `pt-BR`. */
  readonly language: string | undefined
  /** Countries that its surroundings speak for. */
  readonly scores: CountryScores
  /** Countries that its title names. */
  readonly title: ReadonlySet<number>
}

/** How a text uses capitals. */
export function casingOf(tokens: readonly Token[], language: string | undefined): Casing {
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

/** Countries that a title names: a place of the text that lies in one of them is likelier. */
export function titleCountries(index: OpenIndex, title: string | undefined): ReadonlySet<number> {
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

/** Reads every mention; those that can mean nothing as they are written are left out. */
export function draftsOf(given: GivenText, mentions: readonly Mention[]): readonly Draft[] {
  const { tokens, casing } = given
  const readings = new Map<string, Reading>()
  const drafts: Draft[] = []
  for (const mention of mentions) {
    const first = tokens[mention.first] as Token
    const isUpper = first.letterCase === CASE_UPPER && !casing.isFlat
    const id = `${mention.keys.join()}${isUpper ? '!' : ''}${mention.form}`
    let reading = readings.get(id)
    if (reading === undefined) {
      reading = read(given, mention, isUpper)
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
      isTeam: isTeam(tokens, mention),
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

/** `Dallas Cowboys`, and with one word between: `Boston Red Sox`. */
function isTeam(tokens: readonly Token[], { next }: Mention): boolean {
  for (let at = next; at <= next + 1; at++) {
    const token = tokens[at]
    if (token === undefined || token.gap !== GAP_SPACE || token.letterCase !== CASE_TITLE) return false
    if (lists.TEAM_NOUNS.has(token.word)) return true
  }
  return false
}

/** What a name may mean, without those that it cannot as it is written. */
function read(given: GivenText, mention: Mention, isUpper: boolean): Reading {
  const { index, tokens, casing, language, scores, title } = given
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
      if (kind !== KIND_COUNTRY && nameKind !== NAME_ABBREV && isLatin && isUpper && isSingle && mention.units <= 4)
        continue
      if (nameKind === NAME_DEMONYM && (casing.isFlat || first.letterCase === CASE_NONE)) continue
      if ((nameKind === NAME_DEMONYM) !== (mention.form === FORM_PLURAL) && mention.form !== FORM_EXACT) continue
      const isForeign = lang !== '' && mention.form !== FORM_RUN && lang !== 'en' && lang.split('-')[0] !== language
      if (kind !== KIND_CITY && isLatin && isForeign && mention.units <= 4 && (name & NAME_MAIN) === 0) continue
      if (kind === KIND_COUNTRY && isShort && !isSafe && (isForeign || lang === '' || lang === 'en')) continue
      if (kind === KIND_CITY && isShort && mention.units < 3) continue
      if (places.includes(place)) continue
      const country = columns.countries[place] ?? 0
      let score = priorOf(index, place, name) + (scores.get(country) ?? 0) + (title.has(country) ? 1 : 0)
      const isPlain = (name & NAME_MAIN) !== 0 || kind !== KIND_CITY || !isLatin
      if (!isPlain && (language === undefined || language === 'en')) score -= 0.3
      if (isForeign && isLatin && kind !== KIND_CITY && (name & NAME_MAIN) === 0)
        score -= language === undefined ? 1 : 3
      places.push(place)
      names.push(name)
      base.push(score)
    }
  }
  return { places, names, base }
}

/** Words between the parts of a list. */
const LIST_WORDS = new Set(['and', 'or', 'et', 'ou', 'und', 'oder', 'y', 'o', 'e', 'i', 've', 'и', 'та', 'και'])

/** Two mentions with nothing but a comma or `and` between. */
export function isBeside(tokens: readonly Token[], first: Draft | undefined, second: Draft | undefined): boolean {
  if (first === undefined || second === undefined || first.mention.form === FORM_RUN) return false
  const between = second.mention.first - first.mention.next
  const joint = tokens[first.mention.next]
  if (between === 0) return joint?.gap === GAP_COMMA
  // Before the last of a list some write a comma as well.
  return between === 1 && (joint?.gap === GAP_SPACE || joint?.gap === GAP_COMMA) && LIST_WORDS.has(joint.word)
}
