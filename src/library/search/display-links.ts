import { kindOf } from '../../core/chunk/kind.ts'
import { resolveLinks } from '../../core/extract/text/resolve-links.ts'
import type { Kind } from '../../core/model.ts'
import { resolveInTree } from '../../core/url/resolve-in-tree.ts'
import type { PageText } from '../ports/store.ts'
import { isTree } from '../ports/tree.ts'
import type { Source } from '../source.ts'

/** Markdown of a page. */
interface PageMarkdown {
  readonly url: string
  /** Key of the page. */
  readonly key: string
  readonly markdown: string
}

/**
 * Returns the Markdown of a page for display. Links in trees are stored as written, so that an unchanged file stays equal in the next
 * commit; here they are resolved to the commit or version that was read.
 */
export function resolveDisplayLinks(source: Pick<Source, 'url'>, { url, key, markdown }: PageMarkdown): string {
  if (!isTree(source)) return markdown
  const file = { source: source.url, url, key }
  return resolveLinks(markdown, (href) => resolveInTree(file, href))
}

/** Whether the text of a page is Markdown and not the lines of a file. */
export function isMarkdownPage({ key, sections }: Pick<PageText, 'key' | 'sections'>): boolean {
  return sections.length > 0 || MARKDOWN_KINDS.has(kindOf(key))
}

/** Kinds of files that are stored as Markdown. */
const MARKDOWN_KINDS: ReadonlySet<Kind> = new Set(['markdown', 'html'])
