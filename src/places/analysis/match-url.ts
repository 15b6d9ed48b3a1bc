import { decodePart } from '../../core/url/decode-part.ts'
import { simplifyHan } from './match-han.ts'
import type { NameIndex } from './match-index.ts'
import { KIND_CITY, KIND_COUNTRY, KIND_REGION, NAME_DEMONYM, preferCity, priorOf, sizeSupport } from './match-score.ts'
import { COMMON_WORDS, FUNCTION_WORDS, GIVEN_NAMES, isOrdinaryName, SURNAMES } from './match-words.ts'
import type { KnownPlace, MatchContext, PlaceMatch } from './matcher.ts'
import { NAME_KIND_MASK, NAME_MAIN } from './name-index.ts'
import { normalizeName } from './place.ts'

import { findPathMentions, type PathMention } from './url-mentions.ts'
/** Finds places in the path of an address. Chooses among places of the same name by the segments before and after: `/us/texas/paris`. */
export function matchUrl(index: NameIndex, url: string, context: MatchContext): readonly PlaceMatch[] {
  const pieces = findPathMentions(index, url, context)
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
  const name = normalizeName(decodePart(slug).replaceAll('-', ' '))
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
