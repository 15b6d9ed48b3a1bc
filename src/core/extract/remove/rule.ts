/** The marks of one kind of chrome. Lists are words separated by spaces. */
export interface Chrome {
  /** A name for this kind of chrome, in a word or two. */
  readonly reason: string
  /** Values of the attributes `role`, `itemprop`, `rel`, `aria-label` (in lower case) and last parts of `itemtype` that mean it. */
  readonly says?: Readonly<Partial<Record<'role' | 'itemprop' | 'itemtype' | 'rel' | 'aria-label', string>>>
  /** Terms of classes and ids that mean it. */
  readonly terms?: string
  /** Terms that authors use for content too: they mean it at the end of a name and where there is hardly a sentence. */
  readonly weakTerms?: string
  /** Names of products that put it into pages. They mean it however much of the page it is. */
  readonly products?: string
  /** Whether the terms are jargon of those who make pages, so that no section of a text is called so. @default false */
  readonly isJargon?: boolean
  /** Whether it leads elsewhere, so that sentences without a link are something else, whatever they are called. @default false */
  readonly isLinks?: boolean
  /** A part with more text is something else, whatever it is called. @default Infinity */
  readonly maxChars?: number
}

export function wordsIn(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '')
}
