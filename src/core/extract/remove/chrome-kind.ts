/** The marks of one kind of chrome. Lists are words separated by spaces. */
export interface ChromeKind {
  /** A name for this kind of chrome, in a word or two. */
  readonly reason: string
  /** Values that mark this kind: of `role`, `itemprop`, `rel` and `aria-label`, and the last part of `itemtype`. */
  readonly attributes?: Readonly<Partial<Record<'role' | 'itemprop' | 'itemtype' | 'rel' | 'aria-label', string>>>
  /** Terms of classes and ids that mark this kind. */
  readonly terms?: string
  /** Terms that authors also use for content: they count only at the end of a name, and only in parts with hardly any prose. */
  readonly weakTerms?: string
  /** Names of products that insert such chrome into pages. They count even if the element holds most of the page. */
  readonly products?: string
  /** Whether the terms are jargon of web developers, so that no section of a text has such a name. @default false */
  readonly isJargon?: boolean
  /** Whether this kind consists of links, so that sentences without a link are something else, under any name. @default false */
  readonly isLinkList?: boolean
  /** A part with more text is something else, under any name. @default Infinity */
  readonly maxChars?: number
}

export function wordsIn(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '')
}
