/** Receives one token: `source.slice(start, end)`, which begins near offset `at` of the text. */
export type TokenVisitor = (source: string, start: number, end: number, at: number) => void

/** Everything an index has to know about text. The same analyzer must serve documents and queries. */
export interface Analyzer {
  /** Name and version of the rules below. An index saved under another one is refused. */
  readonly id: string
  /** Visits the tokens of a text in order. */
  readonly visitTokens: (text: string, visit: TokenVisitor) => void
  /** Tokens with the same stem find each other, an exact match counting more. */
  readonly stem: (token: string) => string
  /** Tells whether a token is left out of queries that have others. */
  readonly isStopWord: (token: string) => boolean
  /** Tells which further tokens a query token stands for, if any; asked of the whole vocabulary, so seldom. */
  readonly widenToken?: (token: string) => ((candidate: string) => boolean) | undefined
  /** The order of terms and keys, which also breaks ties between equal scores. */
  readonly compare: (a: string, b: string) => number
}
