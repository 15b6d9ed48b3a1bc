import { findWords } from './find-words.ts'
import { compareUtf8 } from './order.ts'
import { stem } from './stem.ts'
import { isStopWord } from './stop-words.ts'
import { dropJoiners, shortForms, TOKENIZER_VERSION, type TokenVisitor, visitTokens } from './tokenize.ts'

/** The text rules of the product, as an analyzer for an index. Compounds match whatever joiner they have: `max_pages`, `max-pages`. */
export const textAnalyzer: {
  readonly id: string
  readonly visitTokens: (text: string, visit: TokenVisitor) => void
  readonly findParts: (text: string, tokens: ReadonlySet<string>) => [start: number, end: number][] | undefined
  readonly shortForms: (token: string) => readonly string[]
  readonly stem: (token: string) => string
  readonly isStopWord: (token: string) => boolean
  readonly compare: (a: string, b: string) => number
} = {
  id: `pharos-text-${TOKENIZER_VERSION}`,
  visitTokens,
  findParts: findWords,
  shortForms,
  stem: (token) => stem(dropJoiners(token)),
  isStopWord,
  compare: compareUtf8,
}

const MAX_STEMS = 50_000

/** The text rules, with a cache of recent stems: words repeat, and a lookup is faster than stemming. */
export function createCachingAnalyzer(): typeof textAnalyzer {
  const stems = new Map<string, string>()
  return {
    ...textAnalyzer,
    stem: (token) => {
      const known = stems.get(token)
      if (known !== undefined) return known
      const stem = textAnalyzer.stem(token)
      if (stems.size >= MAX_STEMS) stems.clear()
      stems.set(token, stem)
      return stem
    },
  }
}
