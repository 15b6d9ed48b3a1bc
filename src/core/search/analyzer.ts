/** Receives one token: `source.slice(start, end)`, which begins near offset `at` of the text. */
export type TokenVisitor = (source: string, start: number, end: number, at: number) => void

/** The text rules of an index. The same analyzer must serve documents and queries. */
export interface Analyzer {
  /** Name and version of the rules below. An index saved under another id is refused. */
  readonly id: string
  /** Visits the tokens of a text in order. */
  readonly visitTokens: (text: string, visit: TokenVisitor) => void
  /**
   * The positions of the parts of a text that hold all occurrences of some tokens, in order; undefined if finding them would not save time.
   */
  readonly findParts?: (
    text: string,
    tokens: ReadonlySet<string>,
  ) => (readonly [start: number, end: number])[] | undefined
  /** Tokens with the same stem match each other; an exact match counts more. */
  readonly stem: (token: string) => string
  /** Whether a query ignores the token, unless all its tokens are stop words. */
  readonly isStopWord: (token: string) => boolean
  /** The query tokens that find a token besides itself and its stem: `東` and `京` find `東京`. Called once per term. */
  readonly shortForms?: (token: string) => readonly string[]
  /** The order of terms and keys, which also breaks ties between equal scores. */
  readonly compare: (a: string, b: string) => number
}
