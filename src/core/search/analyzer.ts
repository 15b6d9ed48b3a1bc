/** Receives one token: `source.slice(start, end)`, which begins near offset `at` of the text. */
export type TokenVisitor = (source: string, start: number, end: number, at: number) => void

/** Everything an index has to know about text. The same analyzer must serve documents and queries. */
export interface Analyzer {
  /** Name and version of the rules below. An index saved under another one is refused. */
  readonly id: string
  /** Visits the tokens of a text in order. */
  readonly visitTokens: (text: string, visit: TokenVisitor) => void
  /** Where the parts of a text stand that hold every one of some tokens that is in it, in order; undefined where that takes as long. */
  readonly findParts?: (
    text: string,
    tokens: ReadonlySet<string>,
  ) => (readonly [start: number, end: number])[] | undefined
  /** Tokens with the same stem find each other, an exact match counting more. */
  readonly stem: (token: string) => string
  /** Tells whether a token is left out of queries that have others. */
  readonly isStopWord: (token: string) => boolean
  /** The query tokens that find a token besides itself and its stem: `東` and `京` find `東京`. Called once a term. */
  readonly shortForms?: (token: string) => readonly string[]
  /** The order of terms and keys, which also breaks ties between equal scores. */
  readonly compare: (a: string, b: string) => number
}
