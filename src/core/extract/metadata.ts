import { find } from '../html/selector.ts'
import { type Element, lineOf } from '../html/tree.ts'
import type { Page } from '../model.ts'

/** What a page says about itself. */
export type Metadata = Pick<
  Page,
  'title' | 'description' | 'author' | 'publishedAt' | 'modifiedAt' | 'language' | 'canonical' | 'alternates' | 'robots'
> & {
  /** Types that schema.org data gives (`Article`, `Product`), and `og:type`, in lower case. */
  readonly types: readonly string[]
}

export function readMetadata(root: Element, _base: string): Metadata {
  const title = find(root, (element) => element.name === 'title')
  return {
    title: title === undefined ? '' : lineOf(title),
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    types: [],
  }
}
