import type { Element } from '../../html/tree.ts'

/** A program that makes pages, and what is known about those it makes. One file each. */
export interface Generator {
  /** In lower case, as in `Page.generator`. */
  readonly name: string
  /** How the content of `<meta name="generator">` begins, in lower case. */
  readonly meta: readonly string[]
  /** Selectors of what stands in no other program's pages. They count only where no generator is named. */
  readonly signs: readonly string[]
  /** Selectors of the element that holds the content, best first. The first that is there and has text is taken. */
  readonly content: readonly string[]
  /**
   * Whether content of any kind may stand in there, with parts that are none of it, so that what is known about pages in
   * general applies as well. Otherwise all of it is content but for what `drop` names. @default false
   */
  readonly isMixed?: boolean
  /** Selectors of what is no content although it stands in it, with the reason. */
  readonly drop?: Readonly<Record<string, string>>
  /** Selectors of content that is hidden at first: tab panels, collapsed members. */
  readonly keep?: readonly string[]
  /** Brings markup of its own into the common form that `normalize` and `write` understand. */
  readonly normalize?: (content: Element) => void
}
