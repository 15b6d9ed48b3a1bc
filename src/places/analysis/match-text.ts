import { type CoherenceScores, createCoherenceScores } from './match-coherence.ts'
import { countryScoresOf } from './match-context.ts'
import { casingOf, createDrafts, type Draft, type TextContext, titleCountries } from './match-draft.ts'
import { countryPlaces, type NameIndex } from './match-index.ts'
import { judgeMention, rejectNamesakes } from './match-judge.ts'
import { findMentions } from './match-mentions.ts'
import { joinPairs } from './match-pairs.ts'
import { isNorthAmerican, KIND_REGION, preferCity } from './match-score.ts'
import { tokenize } from './match-tokens.ts'
import type { KnownPlace, MatchContext, PlaceMatch } from './matcher.ts'

/**
 * Finds places in a text. It finds mentions, scores their candidates by prior and context, scores them again by the other places of the
 * text, and finally decides whether a place is meant at all.
 */
export function matchText(index: NameIndex, text: string, context: MatchContext): readonly PlaceMatch[] {
  const tokens = tokenize(text)
  const language = context.language?.toLowerCase().split('-')[0]
  const casing = casingOf(tokens, language)
  const mentions = findMentions(index, text, tokens, language, casing.isSingleCase)
  if (mentions.length === 0) return []
  const scores = countryScoresOf(context, (code) => countryPlaces(index).has(code))
  const textContext: TextContext = {
    index,
    tokens,
    casing,
    language,
    countryScores: scores,
    titleCountries: titleCountries(index, context.title),
  }
  const drafts = createDrafts(textContext, mentions)
  joinPairs(textContext, drafts)
  const coherence = createCoherenceScores(index)
  for (const draft of drafts) choose(index, draft, undefined)
  for (const draft of drafts) if (!draft.isConsumed) coherence.add(draft)
  for (const draft of drafts) choose(index, draft, coherence)
  for (const at of drafts.keys()) judgeMention(textContext, drafts, at, coherence)
  rejectNamesakes(tokens, drafts)
  return matchesOf(index, text, drafts)
}

function matchesOf(index: NameIndex, text: string, drafts: readonly Draft[]): readonly PlaceMatch[] {
  const known = new Map<number, KnownPlace>()
  const found: PlaceMatch[] = []
  for (const draft of drafts) {
    const placeIndex = draft.reading.places[draft.choice]
    if (placeIndex === undefined || draft.isConsumed || draft.support < draft.neededSupport) continue
    const place = known.get(placeIndex) ?? index.placeAt(placeIndex)
    known.set(placeIndex, place)
    const { start, end } = draft.mention
    found.push({
      place,
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
  const marginConfidence = 1 - 0.5 * Math.exp(-Math.max(0, draft.margin))
  const supportConfidence = 1 - 0.5 * Math.exp(-(draft.support - draft.neededSupport + 0.3))
  return round(marginConfidence * supportConfidence)
}

/** Chooses the likeliest place of a name. */
function choose(index: NameIndex, draft: Draft, coherence: CoherenceScores | undefined): void {
  const { reading } = draft
  let best = -1
  let bestScore = -Infinity
  let second = -Infinity
  for (const [i, place] of reading.places.entries()) {
    let score = (reading.baseScores[i] ?? 0) + (coherence?.scoreOf(place, reading) ?? 0)
    if (draft.isDivision && index.columns.kinds[place] === KIND_REGION) score += 2
    if (draft.isTeam && isNorthAmerican(index, place)) score += 3
    if (score > bestScore) {
      second = bestScore
      bestScore = score
      best = i
    } else if (score > second) second = score
  }
  if (draft.isPaired) {
    draft.score = (reading.baseScores[draft.choice] ?? 0) + 8
    draft.margin = 4
    return
  }
  draft.choice = draft.isDivision ? best : preferCity(index, reading.places, reading.nameFlags, best)
  draft.score = bestScore
  draft.margin = second === -Infinity ? 4 : bestScore - second
}
