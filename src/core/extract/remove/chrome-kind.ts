/** The marks of one kind of chrome. Lists are words separated by spaces. */
export interface ChromeKind {
  /** A name for this kind of chrome, in a word or two. */
  readonly reason: string
  /** Values of the attributes `role`, `itemprop`, `rel`, `aria-label` (in lower case) and last parts of `itemtype` that mark it. */
  readonly attributes?: Readonly<Partial<Record<'role' | 'itemprop' | 'itemtype' | 'rel' | 'aria-label', string>>>
  /** Terms of classes and ids that mark it. */
  readonly terms?: string
  /** Terms that authors also use for content: they count at the end of a name and in parts with hardly a sentence. */
  readonly weakTerms?: string
  /** Names of products that insert it into pages. They count for any share of the page. */
  readonly products?: string
  /** Whether the terms are jargon of web developers, so that no section of a text has such a name. @default false */
  readonly isJargon?: boolean
  /** Whether it consists of links, so that sentences without a link are something else, under any name. @default false */
  readonly isLinkList?: boolean
  /** A part with more text is something else, under any name. @default Infinity */
  readonly maxChars?: number
}

export function wordsIn(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '')
}
