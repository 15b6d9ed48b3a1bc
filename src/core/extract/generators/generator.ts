import type { Element } from '../../html/tree.ts'

/** A program that makes pages, and the rules for its markup. Each has its own file. */
export interface Generator {
  /** In lower case, as in `Page.generator`. */
  readonly name: string
  /** How the content of `<meta name="generator">` begins, in lower case. */
  readonly meta: readonly string[]
  /** Selectors that match only pages of this program. They count only if the page declares no known generator. */
  readonly fingerprints: readonly string[]
  /** Selectors of the element that holds the content, best first. The first match with text is taken. */
  readonly content: readonly string[]
  /**
   * Whether the content element may contain other parts, so that the general rules for pages apply as well. Otherwise all of the element
   * is content, except for the parts that `drop` names.
   * @default false
   */
  readonly hasChrome?: boolean
  /**
   * Whether every post of a discussion, or every entry of a list, has such a content element too. Then a page with several of them is left
   * to the general rules.
   * @default false
   */
  readonly isContentRepeatable?: boolean
  /** Selectors of parts inside the content that are dropped, with the reason. */
  readonly drop?: Readonly<Record<string, string>>
  /** Selectors of content that is hidden at first: tab panels, collapsed members. */
  readonly keepHidden?: readonly string[]
  /** Converts the markup of the generator into the common form that the modules in `normalize/` and `write/` understand. */
  readonly normalize?: (content: Element) => void
}
