import type { Analyzer } from './analyzer.ts'

/** A word of a query, before anybody has looked which terms it stands for. */
export interface ParsedWord {
  /** The form of it that the query says first. */
  readonly word: string
  readonly stem: string
  /** All forms of it that the query says. */
  readonly forms: readonly string[]
  /** Share of its score that counts. */
  readonly weight: number
}

/** Tokens of a query beyond this many are left out of account, and words beyond that many. */
const MAX_QUERY_TOKENS = 256
const MAX_QUERY_WORDS = 64

/**
 * Tokens of a query that overlap (the parts of an identifier, both sides of a hyphen, pairs of characters) count this share each.
 * A whole identifier counts in full beside its parts: who writes it means it.
 */
const OVERLAP_WEIGHT = 0.5

/** The words of a query. Stop words are dropped if others remain; forms of one word are one word. */
export function parseQuery(query: string, analyzer: Analyzer): ParsedWord[] {
  const weights = weighTokens(query, analyzer)
  const tokens = [...weights.keys()]
  const content = tokens.filter((token) => !analyzer.isStopWord(token))
  const groups = new Map<string, string[]>()
  for (const token of content.length > 0 ? content : tokens) {
    const stem = analyzer.stem(token)
    const forms = groups.get(stem)
    if (forms) forms.push(token)
    else if (groups.size < MAX_QUERY_WORDS) groups.set(stem, [token])
  }
  return [...groups].map(([stem, forms]) => {
    const [word = stem] = forms
    return { word, stem, forms, weight: weights.get(word) ?? 1 }
  })
}

/** The tokens of a query, each once, with their weights. */
function weighTokens(query: string, analyzer: Analyzer): Map<string, number> {
  const weights = new Map<string, number>()
  let last = ''
  let isIdentifier = false
  let reach = 0
  analyzer.visitTokens(query, (source, start, end, at) => {
    const token = source.slice(start, end)
    const isOverlapping = at < reach
    const isPart = isOverlapping && at + token.length <= reach
    if (isOverlapping && !(isPart && isIdentifier)) weights.set(last, OVERLAP_WEIGHT)
    if (!weights.has(token) && weights.size < MAX_QUERY_TOKENS) weights.set(token, isOverlapping ? OVERLAP_WEIGHT : 1)
    if (!isOverlapping) {
      last = token
      isIdentifier = !HYPHENATED.test(token) || query.charAt(at - 1) === '-'
    }
    reach = Math.max(reach, at + end - start)
  })
  return weights
}

/** Words joined by hyphens alone are words, unless another one before them makes them a flag: `--max-pages`. */
const HYPHENATED = /^[^-._:]+(?:-[^-._:]+)+$/
