import { compareUtf8 } from './order.ts'
import { stem } from './stem.ts'
import { isStopWord } from './stop-words.ts'
import { TOKENIZER_VERSION, type TokenVisitor, visitTokens, widenToken } from './tokenize.ts'

/** The product's rules for text, in the shape an index takes them. */
export const textAnalyzer: {
  readonly id: string
  readonly visitTokens: (text: string, visit: TokenVisitor) => void
  readonly widenToken: (token: string) => ((candidate: string) => boolean) | undefined
  readonly stem: (token: string) => string
  readonly isStopWord: (token: string) => boolean
  readonly compare: (a: string, b: string) => number
} = { id: `pharos-text-${TOKENIZER_VERSION}`, visitTokens, widenToken, stem, isStopWord, compare: compareUtf8 }
