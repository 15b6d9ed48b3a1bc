import type { Change } from '../../core/changes/change.ts'
import { compareSections } from '../../core/changes/compare-sections.ts'
import { writeLineDiff } from '../../core/changes/line-diff.ts'
import { splitLines } from '../../core/text/lines.ts'
import type { Library } from '../library.ts'
import { isMarkdownPage, resolveDisplayLinks } from '../search/display-links.ts'
import type { FoundPage } from '../search/find-page.ts'
import { comparedPath } from './read-page-set.ts'

/** What the last crawl of its source changed on a page. */
export interface PageChange {
  /** By section; empty if only markup or links changed, or if the page is very long. */
  readonly sections: readonly Change[]
  /** The first changed lines, with their markup: `- old`, `+ new`. */
  readonly lines: readonly string[]
}

/** Longer texts are compared by line only: rewritten sections of 400,000 characters would block the server for 350 ms. */
const MAX_CHARS = 100_000
const MAX_LINES = 12

/** Compares a page with its text before the last crawl of its source; null if that crawl did not change it. */
export async function comparePage(
  { readEarlierText }: Pick<Library, 'readEarlierText'>,
  page: FoundPage,
): Promise<PageChange | null> {
  const { source, markdown: after } = page
  const stored = await readEarlierText?.(source.id, page.key)
  if (stored === undefined || stored === null) return null
  const before = isMarkdownPage(page) ? resolveDisplayLinks(source, { ...page, markdown: stored }) : stored
  if (before === after) return null
  const path = comparedPath(source, page)
  const pageOf = (markdown: string) => [{ path, markdown, definitions: null }]
  const isShort = before.length + after.length <= MAX_CHARS
  return {
    sections: isShort ? compareSections(pageOf(before), pageOf(after)) : [],
    lines: writeLineDiff(splitLines(before), splitLines(after), MAX_LINES),
  }
}
