import type { SourceLookup } from '../library.ts'
import type { PageText } from '../ports/store.ts'
import type { Source } from '../source.ts'
import { findPage, type PageInput } from './find-page.ts'

/** Headings of a page. */
export interface Outline extends Pick<PageText, 'url' | 'title' | 'sections' | 'checkedAt' | 'changedAt'> {
  readonly source: Source
  /** Number of lines of the page. */
  readonly lines: number
}

/** Lists the headings of a stored page as a tree. */
export async function listOutline(library: SourceLookup, input: PageInput): Promise<Outline> {
  const { source, url, title, sections, chunks, checkedAt, changedAt } = await findPage(library, input)
  return { source, url, title, sections, lines: chunks.at(-1)?.endLine ?? 0, checkedAt, changedAt }
}
