import type { Page } from '../../core/model.ts'
import { countLinks } from '../../core/url/count-links.ts'
import { parseStored } from './damage.ts'

/** Page metadata that an analysis copies, besides the title. */
export const ANALYSED_FACTS = ['author', 'publishedAt', 'modifiedAt', 'language', 'section'] as const

/** Page metadata that an external copy of the vectors carries, besides the title and the number of links. */
export const COPIED_FACTS = ['description', 'modifiedAt', 'language'] as const

/** The stored metadata of a page, with facts, links and sections as JSON. */
export interface StoredMetadata {
  readonly title: string
  readonly url: string
  readonly sections: string
  readonly links: string
  readonly analysed: string
  readonly copied: string
}

/** Which derived data is out of date after the metadata of a page changed. */
export interface MetadataDiff {
  readonly hasNewTitle: boolean
  /** The anchors of the sections may have changed. */
  readonly hasNewSections: boolean
  /** The analysis of the page is out of date. */
  readonly isAnalysisOutdated: boolean
  /** The external copy of the vectors still has the old metadata. */
  readonly isVectorCopyOutdated: boolean
}

/** Compares the stored metadata of a page, if any, with the new one. */
export function compareMetadata(stored: StoredMetadata | undefined, page: Page): MetadataDiff {
  const isRenamed = stored?.title !== page.title
  return {
    hasNewTitle: isRenamed,
    hasNewSections: stored?.sections !== JSON.stringify(page.sections),
    isAnalysisOutdated: isRenamed || stored.analysed !== writeFacts(page, ANALYSED_FACTS),
    isVectorCopyOutdated: isRenamed || isVectorCopyOutdated(stored, page),
  }
}

/** The named metadata fields of a page as JSON. */
export function writeFacts<Name extends keyof Page>(page: Pick<Page, Name>, names: readonly Name[]): string {
  return JSON.stringify(names.map((name) => page[name] ?? null))
}

function isVectorCopyOutdated(stored: StoredMetadata, page: Page): boolean {
  if (stored.copied !== writeFacts(page, COPIED_FACTS)) return true
  if (stored.url === page.url && stored.links === JSON.stringify(page.links)) return false
  const before = countLinks({ url: stored.url, links: parseStored<Page['links']>(stored.links) })
  const now = countLinks(page)
  return before.internal !== now.internal || before.external !== now.external
}
