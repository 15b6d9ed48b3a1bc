import type { CoherenceScores } from './match-coherence.ts'
import { type Casing, type Draft, isAdjacent, type TextContext } from './match-draft.ts'
import { FORM_EXACT, FORM_INFLECTED, FORM_PLURAL, FORM_PREFIXED, type Mention } from './match-mentions.ts'
import { FORM_RUN } from './match-runs.ts'
import { KIND_CITY, KIND_COUNTRY, KIND_REGION, NAME_DEMONYM, sizeSupport } from './match-score.ts'
import {
  CASE_LOWER,
  CASE_NONE,
  CASE_TITLE,
  GAP_COMMA,
  GAP_DOT,
  GAP_HYPHEN,
  GAP_SENTENCE,
  GAP_SPACE,
  SCRIPT_HANGUL,
  SCRIPT_LATIN,
  type Token,
} from './match-tokens.ts'
import * as lists from './match-words.ts'
import { NAME_DERIVED, NAME_KIND_MASK, NAME_MAIN } from './name-index.ts'

/** Computes how much evidence there is that a mention is a place at all (`support`), and how much it needs (`neededSupport`). */
export function judgeMention(
  context: TextContext,
  drafts: readonly Draft[],
  at: number,
  coherence: CoherenceScores,
): void {
  const { index, tokens, casing, language, countryScores } = context
  const draft = drafts[at] as Draft
  const { mention, reading, choice } = draft
  const place = reading.places[choice]
  if (place === undefined) return
  const { columns } = index
  const flags = reading.nameFlags[choice] ?? 0
  const nameKind = flags & NAME_KIND_MASK
  const kind = columns.kinds[place] ?? KIND_CITY
  const population = columns.populations[place] ?? 0
  const first = tokens[mention.first] as Token
  const around = neighboursOf(tokens, drafts, at)
  if (isNamedAfterPlace(tokens, mention)) return
  if (nameKind === NAME_DEMONYM) {
    draft.support = isAboutCountry(tokens, drafts, at) ? 2 : 0
    draft.neededSupport = 1
    return
  }
  const isSingle = mention.next === mention.first + 1
  const isCommon = isSingle && isCommonWord(first.word)
  const contextScore = coherence.scoreOf(place, reading) + (countryScores.get(columns.countries[place] ?? 0) ?? 0)
  let support = sizeSupport(index, place)
  if (first.script === SCRIPT_LATIN && kind === KIND_CITY && (flags & NAME_MAIN) === 0) {
    const doubt = aliasDoubt(mention, population, language === undefined || language === 'en')
    support -= contextScore >= WELL_SUPPORTED_SCORE && mention.units > 4 ? doubt / 2 : doubt
  }
  if (kind === KIND_REGION && (flags & NAME_DERIVED) !== 0) support -= 0.7
  if (mention.form === FORM_INFLECTED && first.letterCase !== CASE_NONE) support -= 0.3
  if (draft.isPaired) support += 4
  if (!isSingle) support += countContentWords(tokens, mention) > 1 ? 1.5 : 0.5
  if (contextScore > 0) support += kind === KIND_CITY ? (contextScore >= WELL_SUPPORTED_SCORE ? 1.2 : 0.8) : 0.5
  if (around.isListed) support += isAfterCertainPlace(tokens, drafts, at) ? 1.5 : 0.8
  if (!isSingle && !draft.isPaired && lists.TITLES.has(first.word) && around.precedingWordScore < 1) support -= 2
  if (around.isRiver && kind !== KIND_COUNTRY && mention.form === FORM_EXACT) support -= 2.5
  support += around.precedingWordScore
  if (mention.form === FORM_PREFIXED) support += 0.5
  draft.neededSupport = neededSupportFor(tokens, mention, casing, kind, population)
  // Nearly every capitalised word is the name of some hamlet, so a preposition before it is not enough.
  if (kind === KIND_CITY && population < 15_000 && first.letterCase !== CASE_NONE) draft.neededSupport += 0.5
  // A country named elsewhere in the text is not enough for a town without adjacent evidence.
  const isBare = isSingle && !draft.isPaired && !around.isListed && around.precedingWordScore <= 0
  if (kind === KIND_CITY && population < 100_000 && isBare && first.letterCase !== CASE_NONE) draft.neededSupport += 0.5
  if (isBare && kind === KIND_CITY && population < 1_000_000 && hasCityBeside(context, drafts, at)) support -= 2.5
  if (isCommon && !draft.isPaired && !draft.isTeam && around.isPartOfName) support -= 1.5
  if (around.isOtherPlace && !draft.isPaired && (kind !== KIND_COUNTRY || around.isBuilding)) support -= 3
  if (around.isStreet && !draft.isPaired) support -= 5
  if (isCountryAsDish(tokens, mention, casing)) support -= 9
  if (around.hasRenamingPrefix && !draft.isPaired) support -= 9
  draft.support = support
  if (!draft.isPaired && isSingle && first.letterCase === CASE_TITLE)
    detectPerson(tokens, draft, first, around, casing, kind, population)
  if (isPressTitle(tokens, mention)) draft.support -= 9
}

/** Minimum score from other places and the page context at which a candidate is well supported. */
const WELL_SUPPORTED_SCORE = 0.7

/** `Panama hats`, `Guinea pigs`: things named after a place. */
function isNamedAfterPlace(tokens: readonly Token[], mention: Mention): boolean {
  const after = tokens[mention.next]
  return after !== undefined && after.gap === GAP_SPACE && lists.THING_NOUNS.has(after.word)
}

/** `through Rotterdam and Antwerp`: whether the previous place in the list is certain. */
function isAfterCertainPlace(tokens: readonly Token[], drafts: readonly Draft[], at: number): boolean {
  const before = drafts[at - 1]
  return before !== undefined && before.support >= before.neededSupport + 1 && isAdjacent(tokens, before, drafts[at])
}

/** `Brent Butterworth`: two adjacent town names are a person. */
function hasCityBeside({ index, tokens }: TextContext, drafts: readonly Draft[], at: number): boolean {
  const isCity = ({ reading, choice }: Draft): boolean =>
    index.columns.kinds[reading.places[choice] ?? -1] === KIND_CITY
  const [before, own, after] = [drafts[at - 1], drafts[at] as Draft, drafts[at + 1]]
  const touches = (first: Draft | undefined, second: Draft | undefined): boolean =>
    first !== undefined &&
    second !== undefined &&
    first.mention.next === second.mention.first &&
    tokens[second.mention.first]?.gap === GAP_SPACE &&
    tokens[second.mention.first]?.letterCase === CASE_TITLE
  return (
    (touches(before, own) && before !== undefined && isCity(before)) ||
    (touches(own, after) && after !== undefined && isCity(after))
  )
}

/** Number of words before and after a name that are searched for kitchen words. */
const KITCHEN_REACH = 14

/** `Turkey was served with cranberry sauce`: where capitals carry no information, the surrounding words decide. */
function isCountryAsDish(tokens: readonly Token[], { first: at }: Mention, casing: Casing): boolean {
  const first = tokens[at] as Token
  if (!lists.DISHES.has(first.word) || (first.gap !== GAP_SENTENCE && !casing.isHeadline && !casing.isSingleCase))
    return false
  const around = tokens.slice(Math.max(0, at - KITCHEN_REACH), at + KITCHEN_REACH)
  return around.some(({ word }) => lists.KITCHEN_WORDS.has(word))
}

function countContentWords(tokens: readonly Token[], mention: Mention): number {
  let count = 0
  for (let i = mention.first; i < mention.next; i++) {
    const token = tokens[i] as Token
    if (!lists.FUNCTION_WORDS.has(token.word) && !lists.COMMON_WORDS.has(token.word) && token.word.length > 2) count++
  }
  return count
}

/** Penalty for a name that is not the main name of the place: it may be a word of another language, or a nickname. */
function aliasDoubt(mention: Mention, population: number, isEnglish: boolean): number {
  if (mention.units < 4) return population >= 1_000_000 && !isEnglish ? 1.5 : 2.5
  if (population >= 1_000_000) return isEnglish ? 0.8 : 0.5
  return isEnglish ? (population >= 500_000 ? 1 : 2) : 1
}

function isCommonWord(word: string): boolean {
  return lists.COMMON_WORDS.has(word) || lists.PLACE_NOUNS_AFTER.has(word) || lists.PLACE_NOUNS_BEFORE.has(word)
}

/** Support that a mention needs, depending on what else the name may be. */
function neededSupportFor(
  tokens: readonly Token[],
  mention: Mention,
  casing: Casing,
  kind: number,
  population: number,
): number {
  const first = tokens[mention.first] as Token
  if (mention.form === FORM_RUN) return kind === KIND_CITY ? (mention.units <= 2 ? 3 : 2) : 1
  if (first.letterCase === CASE_NONE) {
    if (kind !== KIND_CITY) return 1
    return mention.units > 3 ? 2 : first.script === SCRIPT_HANGUL ? (mention.units > 2 ? 2 : 2.6) : 3
  }
  if (mention.next > mention.first + 1) return countContentWords(tokens, mention) === 0 ? 3 : 1.5
  let needed = 2
  if (lists.FUNCTION_WORDS.has(first.word)) needed = 6
  else if (isCommonWord(first.word)) needed = kind === KIND_CITY && population < 100_000 ? 3.5 : 3
  else if (lists.SURNAMES.has(first.word) || (lists.GIVEN_NAMES.has(first.word) && kind === KIND_CITY)) needed = 2.5
  if (kind === KIND_REGION && needed > 2.5) needed += 1.5
  if (kind === KIND_CITY && mention.units <= 3) needed = Math.max(needed, first.script === SCRIPT_LATIN ? 2.8 : 3.5)
  if (kind === KIND_CITY || kind === KIND_REGION) {
    if (casing.isSingleCase) needed += 0.8
    else if (casing.lowerCaseWords.has(first.word)) needed += 1.2
    else if (casing.isHeadline && needed > 2) needed += 1
  }
  return needed
}

/** The words around a mention. */
interface Neighbours {
  readonly before: Token | undefined
  readonly beforeIsPlace: boolean
  readonly after: Token | undefined
  /** Another place is next to the mention, separated by `and` or a comma. */
  readonly isListed: boolean
  /** `the` precedes the name and no noun follows it: `across the Delaware`. */
  readonly isRiver: boolean
  /** A capitalised word is next to the mention. */
  readonly isPartOfName: boolean
  /** The name is that of a river or lake, or of a building that is more likely named after a person. */
  readonly isOtherPlace: boolean
  readonly isBuilding: boolean
  readonly isStreet: boolean
  /** `New England` is not England. */
  readonly hasRenamingPrefix: boolean
  /**
   * Positive if the preceding word usually precedes places. Negative if the mention begins a sentence and is also a common word or the name
   * of a person.
   */
  readonly precedingWordScore: number
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
  const isBuildingName =
    isOrdinary && after !== undefined && after.letterCase === CASE_TITLE && lists.BUILDING_NOUNS.has(after.word)
  let precedingWordScore = startsSentence && first.letterCase !== CASE_NONE && isOrdinary ? -0.5 : 0
  if (before !== undefined) {
    const leadingToken =
      lists.ARTICLES.has(before.word) && before.letterCase === CASE_LOWER ? tokens[mention.first - 2] : before
    const word = leadingToken?.word ?? ''
    if (lists.STRONG_PREPOSITIONS.has(word)) precedingWordScore = 2
    else if (lists.PLACE_NOUNS_BEFORE.has(word) || lists.LEADING_VERBS.has(word)) precedingWordScore = 1.5
    else if (lists.WEAK_PREPOSITIONS.has(word)) {
      precedingWordScore = lists.PLACE_NOUNS_BEFORE.has(tokens[mention.first - 2]?.word ?? '') ? 2 : 1
    }
  }
  return {
    before,
    beforeIsPlace: drafts[at - 1]?.mention.next === mention.first,
    after,
    isListed: isAdjacent(tokens, drafts[at - 1], drafts[at]) || isAdjacent(tokens, drafts[at], drafts[at + 1]),
    isRiver:
      before?.word === 'the' &&
      before.letterCase === CASE_LOWER &&
      (after === undefined || lists.FUNCTION_WORDS.has(after.word)) &&
      following?.gap !== GAP_HYPHEN,
    isPartOfName:
      (after !== undefined && after.letterCase === CASE_TITLE) ||
      (before !== undefined && before.letterCase === CASE_TITLE && before.gap !== GAP_SENTENCE),
    isBuilding: isBuildingName,
    isOtherPlace:
      isBuildingName ||
      (after !== undefined && after.letterCase === CASE_TITLE && lists.FEATURE_NOUNS.has(after.word)) ||
      (before !== undefined && before.letterCase === CASE_TITLE && lists.FEATURES_BEFORE.has(before.word)),
    isStreet: after !== undefined && after.letterCase === CASE_TITLE && lists.STREET_NOUNS.has(after.word),
    hasRenamingPrefix:
      before !== undefined &&
      before.letterCase === CASE_TITLE &&
      first.gap === GAP_SPACE &&
      lists.RENAMING_PREFIXES.has(before.word),
    precedingWordScore,
  }
}

/** Detects from the words before and after a name whether it is that of a person. */
function detectPerson(
  tokens: readonly Token[],
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
      !casing.hasCapitalNouns &&
      !cannotBePersonName(before.word)
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
  const isGivenName = lists.GIVEN_NAMES.has(first.word)
  // Surnames are also used as given names, but the name of a large city more likely means the city.
  const canBeGivenName = isGivenName || (lists.SURNAMES.has(first.word) && kind === KIND_CITY && population < 500_000)
  const hasSurname = after !== undefined && after.letterCase === CASE_TITLE && !cannotBePersonName(after.word)
  if (hasSurname && canBeGivenName && !casing.isSingleCase && !draft.isTeam && !namesBuilding(tokens, draft.mention))
    draft.isPerson = true
  if (
    after !== undefined &&
    lists.SPEAKING_VERBS.has(after.word) &&
    (isGivenName || lists.SURNAMES.has(first.word)) &&
    kind !== KIND_COUNTRY
  ) {
    draft.support -= population >= 1_000_000 ? 0.5 : 2.5
  }
  if (draft.isPerson) draft.support -= 9
}

/** `Houston Methodist Hospital`: capitalised words that end in a word for a building. */
function namesBuilding(tokens: readonly Token[], { next }: Mention): boolean {
  for (let at = next; at < next + 3; at++) {
    const token = tokens[at]
    if (token === undefined || token.gap !== GAP_SPACE || token.letterCase !== CASE_TITLE) return false
    if (lists.BUILDING_NOUNS.has(token.word) || lists.PLACE_NOUNS_AFTER.has(token.word)) return true
  }
  return false
}

/** Whether a word is never part of a person's name, even if it is capitalized. */
function cannotBePersonName(word: string): boolean {
  return (
    lists.PLACE_NOUNS_AFTER.has(word) ||
    lists.PLACE_NOUNS_BEFORE.has(word) ||
    lists.FUNCTION_WORDS.has(word) ||
    lists.STRONG_PREPOSITIONS.has(word) ||
    lists.WEAK_PREPOSITIONS.has(word) ||
    lists.PRESS_NOUNS.has(word) ||
    lists.TITLE_NOUNS.has(word)
  )
}

/** `The Washington Post reported` says nothing about Washington. */
function isPressTitle(tokens: readonly Token[], mention: Mention): boolean {
  const after = tokens[mention.next]
  return (
    after !== undefined &&
    after.gap === GAP_SPACE &&
    after.letterCase === CASE_TITLE &&
    lists.PRESS_NOUNS.has(after.word)
  )
}

/** Maximum number of demonyms of a list that are scanned, so that a text of demonyms alone takes linear time. */
const MAX_LIST_LENGTH = 8

/** `French President` and `the French` are about France; `in French` and `French fries` are not. */
function isAboutCountry(tokens: readonly Token[], drafts: readonly Draft[], at: number): boolean {
  // `British and Irish ministers`: the noun of the last demonym applies to all.
  let last = at
  while (
    last - at < MAX_LIST_LENGTH &&
    isDemonym(drafts[last + 1]) &&
    isAdjacent(tokens, drafts[last], drafts[last + 1])
  )
    last++
  const { mention } = drafts[last] as Draft
  const noun = tokens[mention.next]
  const isClose = noun !== undefined && (noun.gap === GAP_SPACE || noun.gap === GAP_HYPHEN)
  if (isClose && lists.FIXED_AFTER_DEMONYM.has(noun.word)) return false
  if (isClose && !lists.FUNCTION_WORDS.has(noun.word)) return true
  const own = (drafts[at] as Draft).mention
  return own.form === FORM_PLURAL || tokens[own.first - 1]?.word === 'the'
}

function isDemonym(draft: Draft | undefined): boolean {
  return draft !== undefined && ((draft.reading.nameFlags[draft.choice] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM
}

/** Rejects one-word mentions of a name that a person has anywhere in the text, unless the preceding word marks a mention as a place. */
export function rejectNamesakes(tokens: readonly Token[], drafts: readonly Draft[]): void {
  const persons = new Set<string>()
  for (const { isPerson, mention } of drafts) if (isPerson) persons.add(tokens[mention.first]?.word ?? '')
  if (persons.size === 0) return
  for (const [at, draft] of drafts.entries()) {
    if (draft.isPerson || draft.isPaired || !persons.has(tokens[draft.mention.first]?.word ?? '')) continue
    if (draft.mention.next === draft.mention.first + 1 && neighboursOf(tokens, drafts, at).precedingWordScore < 2)
      draft.support -= 9
  }
}
