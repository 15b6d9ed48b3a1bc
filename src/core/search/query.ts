import type { Analyzer } from './analyzer.ts'

/** A word of a query, before its lookup in an index. */
export interface ParsedWord {
  /** The first form of the word in the query. */
  readonly word: string
  readonly stem: string
  /** All forms of the word in the query. */
  readonly forms: readonly string[]
  /** Share of its score that counts: less for parts of compounds, more for words that the query repeats. */
  readonly weight: number
  /** Inside a quoted phrase: distance in tokens from the previous word. */
  readonly phraseGap?: number
}

/** Words of a query beyond this many are left out. */
const MAX_PARSED_WORDS = 512

/**
 * Overlapping tokens of a query (the parts of an identifier, both sides of a hyphen, pairs of characters) count this share each. A whole
 * identifier counts in full beside its parts, because a query that writes it out means it.
 */
const OVERLAP_WEIGHT = 0.5

/** A word that a query repeats `n` times counts `n · (1 + k) / (n + k)` times: 1, 1.7, 2.1, and never more than 5. */
const REPEAT_DAMPING = 4

/** A quoted phrase of 3 to 200 characters. A longer quotation is not treated as a phrase. */
const PHRASE = /"([^"\n]{3,200})"|“([^”\n]{3,200})”/g

/** The words of a query. Stop words are dropped if others remain; forms of one word are one word. */
export function parseQuery(query: string, analyzer: Analyzer): ParsedWord[] {
  const tokens = readTokens(query, analyzer)
  const content = tokens.filter(({ token }) => !analyzer.isStopWord(token))
  const words = new Map<string, WordInQuery>()
  /** The token before the current one, if it belongs to the last of `words`. */
  let previous: QueryToken | undefined
  /** Stem of the last of `words`. */
  let last: string | undefined
  for (const token of content.length > 0 ? content : tokens) {
    const stem = analyzer.stem(token.token)
    const known = words.get(stem)
    if (known === undefined && words.size >= MAX_PARSED_WORDS) break
    const word = known ?? { forms: new Set(), weight: token.weight, count: 0, isInPhrase: false, phraseGap: undefined }
    word.forms.add(token.token)
    if (known === undefined || !token.isOverlapping) word.count++
    const isInPhrase = token.phrase >= 0
    // The gap of a phrase is relative to the previous word: a word that occurred earlier moves into the phrase, unless it is in another
    // phrase.
    if (known === undefined || (isInPhrase && !word.isInPhrase)) {
      const isLinked = isInPhrase && token.phrase === previous?.phrase
      word.phraseGap = isLinked ? token.position - (previous?.position ?? 0) : undefined
      word.isInPhrase = isInPhrase
      words.delete(stem)
      words.set(stem, word)
      last = stem
    }
    previous = last === stem ? token : undefined
  }
  return [...words].map(([stem, { forms, weight, count, phraseGap }]) => {
    const [word = stem] = forms
    const repeated = (count * (1 + REPEAT_DAMPING)) / (count + REPEAT_DAMPING)
    return { word, stem, forms: [...forms], weight: weight * repeated, ...(phraseGap !== undefined && { phraseGap }) }
  })
}

/** A word while the tokens of a query are read. */
interface WordInQuery {
  readonly forms: Set<string>
  readonly weight: number
  count: number
  isInPhrase: boolean
  phraseGap: number | undefined
}

/** A token of a query. */
interface QueryToken {
  readonly token: string
  /** Number of the token among all tokens, stop words included. */
  readonly position: number
  /** Number of its quoted phrase, or -1. */
  readonly phrase: number
  /** Whether it overlaps an earlier token. */
  readonly isOverlapping: boolean
  weight: number
}

/** The tokens of a query in their order. */
function readTokens(query: string, analyzer: Analyzer): QueryToken[] {
  const phrases = [...query.matchAll(PHRASE)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }))
  const phraseAt = (at: number): number => phrases.findIndex(({ start, end }) => at >= start && at < end)
  const tokens: QueryToken[] = []
  let whole: QueryToken | undefined
  let isIdentifier = false
  let reach = 0
  analyzer.visitTokens(query, (source, start, end, at) => {
    const token = source.slice(start, end)
    const isOverlapping = at < reach
    const isPart = isOverlapping && at + token.length <= reach
    if (isOverlapping && whole !== undefined && !(isPart && isIdentifier)) whole.weight = OVERLAP_WEIGHT
    const weight = isOverlapping ? OVERLAP_WEIGHT : 1
    const queryToken = {
      token,
      position: tokens.length,
      phrase: phrases.length === 0 ? -1 : phraseAt(at),
      isOverlapping,
      weight,
    }
    tokens.push(queryToken)
    if (!isOverlapping) {
      whole = queryToken
      isIdentifier = !HYPHENATED.test(token) || query.charAt(at - 1) === '-'
    }
    reach = Math.max(reach, at + end - start)
  })
  return tokens
}

/** Words joined only by hyphens are words, unless a leading hyphen makes them a flag: `--max-pages`. */
const HYPHENATED = /^[^-._:]+(?:-[^-._:]+)+$/
