import { type Draft, isAdjacent, type TextContext } from './match-draft.ts'
import type { NameIndex } from './match-index.ts'
import { FORM_RUN } from './match-runs.ts'
import { KIND_CITY, KIND_COUNTRY, KIND_REGION, NAME_DEMONYM } from './match-score.ts'
import { CASE_UPPER, GAP_COMMA, GAP_SPACE, type Token } from './match-tokens.ts'
import { NAME_KIND_MASK } from './name-index.ts'

/** `Paris, Texas`: the second name decides which place the first is, and is not a match itself. */
export function joinPairs({ index, tokens }: TextContext, drafts: readonly Draft[]): void {
  for (const [at, draft] of drafts.entries()) {
    if (draft.isConsumed) continue
    const after = tokens[draft.mention.next]
    if (after === undefined || draft.mention.form === FORM_RUN) continue
    const next = drafts[at + 1]
    if (next !== undefined && next.mention.first === draft.mention.next && after.gap === GAP_COMMA) {
      const inner = bestWithin(index, draft, next, isListed(tokens, drafts, at))
      if (inner < 0) continue
      draft.choice = inner
      draft.isPaired = true
      next.isConsumed = true
    } else if (
      (after.gap === GAP_COMMA || after.gap === GAP_SPACE) &&
      after.letterCase === CASE_UPPER &&
      after.word.length === 2
    ) {
      const inner = bestOfDivision(index, draft, after.word.toUpperCase())
      if (inner >= 0) {
        draft.choice = inner
        draft.isPaired = true
      }
    }
  }
}

/** `Georgia, Armenia and Azerbaijan` is a list: another item precedes the first or follows the second. */
function isListed(tokens: readonly Token[], drafts: readonly Draft[], at: number): boolean {
  const before = drafts[at - 1]
  const first = tokens[drafts[at]?.mention.first ?? 0]
  if (
    before !== undefined &&
    before.mention.next === drafts[at]?.mention.first &&
    first?.gap === GAP_COMMA &&
    !before.isPaired
  )
    return true
  const second = drafts[at + 1]
  const third = drafts[at + 2]
  if (second === undefined || third === undefined) return false
  return isAdjacent(tokens, second, third)
}

/** Index of the likeliest candidate of `inner` that lies in a candidate of `outer`; -1 when there is none. */
function bestWithin(index: NameIndex, inner: Draft, outer: Draft, isList: boolean): number {
  const { columns } = index
  const top = topOf(inner.reading.baseScores)
  const isMainlyCountry = columns.kinds[inner.reading.places[top] ?? 0] === KIND_COUNTRY
  let best = -1
  for (const [i, place] of inner.reading.places.entries()) {
    const kind = columns.kinds[place]
    if (kind === KIND_COUNTRY || ((inner.reading.nameFlags[i] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM) continue
    if (best >= 0 && (inner.reading.baseScores[i] ?? 0) <= (inner.reading.baseScores[best] ?? 0)) continue
    const isWithin = outer.reading.places.some((other, j) => {
      const otherKind = columns.kinds[other]
      if (((outer.reading.nameFlags[j] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM) return false
      if (columns.countries[other] !== columns.countries[place] || other === place) return false
      if (otherKind === KIND_COUNTRY) return !isMainlyCountry && !(isList && i !== top)
      // Apart from countries, only a city and its region are a pair; two cities of one country are a list.
      return (
        otherKind === KIND_REGION &&
        kind === KIND_CITY &&
        columns.divisions[other] === columns.divisions[place] &&
        !(isList && i !== top)
      )
    })
    if (isWithin) best = i
  }
  return best
}

/** `Austin, TX`: the likeliest city of the name in the division with this code; -1 when there is none. */
function bestOfDivision(index: NameIndex, draft: Draft, code: string): number {
  const { columns, head } = index
  let best = -1
  for (const [i, place] of draft.reading.places.entries()) {
    if (columns.kinds[place] !== KIND_CITY || head.divisions[columns.divisions[place] ?? 0] !== code) continue
    if (best < 0 || (draft.reading.baseScores[i] ?? 0) > (draft.reading.baseScores[best] ?? 0)) best = i
  }
  return best
}

function topOf(scores: readonly number[]): number {
  let top = 0
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[top] ?? 0)) top = i
  return top
}
