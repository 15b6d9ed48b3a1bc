import { kindOf } from '../core/chunk/kind.ts'
import { resolveLinks } from '../core/extract/text/resolve-links.ts'
import type { Kind } from '../core/model.ts'
import { resolveInTree } from '../core/url/resolve-in-tree.ts'
import type { Source } from './source.ts'
import type { PageText } from './store.ts'
import { isTree } from './tree.ts'

/** Some Markdown of a page. */
interface ShownText {
  readonly url: string
  /** What the page is known by. */
  readonly key: string
  readonly markdown: string
}

/**
 * The text of a page as it is shown. Links in files of a tree are stored as they are written there, so that a file that did not change is
 * the same in the next commit; here they get the addresses of those files at the commit or version that was read.
 */
export function withShownLinks(source: Pick<Source, 'url'>, { url, key, markdown }: ShownText): string {
  if (!isTree(source)) return markdown
  const file = { source: source.url, url, key }
  return resolveLinks(markdown, (href) => resolveInTree(file, href))
}

/** Whether the text of a page is Markdown, rather than a file line by line. */
export function isMarkdownPage({ key, sections }: Pick<PageText, 'key' | 'sections'>): boolean {
  return sections.length > 0 || MARKUP.has(kindOf(key))
}

const MARKUP: ReadonlySet<Kind> = new Set(['markdown', 'html'])
