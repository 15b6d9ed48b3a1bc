import type { Page } from '../../core/model.ts'
import { countLinks } from '../../core/url/count-links.ts'
import { parseStored } from './damage.ts'

/** What an analysis repeats of what a page says about itself, besides its title. */
export const ANALYSED_FACTS = ['author', 'publishedAt', 'modifiedAt', 'language', 'section'] as const

/** What a copy of its vectors repeats of it, besides its title and how many links there are. */
export const COPIED_FACTS = ['description', 'modifiedAt', 'language'] as const

/** What was said about a page; its facts, links and sections as JSON. */
export interface Said {
  readonly title: string
  readonly url: string
  readonly sections: string
  readonly links: string
  readonly analysed: string
  readonly copied: string
}

/** What follows for everything that repeats something of a page when other things are said about it than before. */
export interface SaidAnew {
  readonly isRenamed: boolean
  /** The anchors of its sections may be others. */
  readonly isLaidOutAnew: boolean
  /** An analysis of it is out of date. */
  readonly isAnalysedOtherwise: boolean
  /** A copy of its vectors would be searched by what was said before. */
  readonly isCopiedOtherwise: boolean
}

/** Compares what was said about a page, if anything was, with what is said now. */
export function compareSaid(said: Said | undefined, page: Page): SaidAnew {
  const isRenamed = said?.title !== page.title
  return {
    isRenamed,
    isLaidOutAnew: said?.sections !== JSON.stringify(page.sections),
    isAnalysedOtherwise: isRenamed || said.analysed !== writeFacts(page, ANALYSED_FACTS),
    isCopiedOtherwise: isRenamed || isCopiedOtherwise(said, page),
  }
}

/** What a page says about itself under these names, as JSON. */
export function writeFacts<Name extends keyof Page>(page: Pick<Page, Name>, names: readonly Name[]): string {
  return JSON.stringify(names.map((name) => page[name] ?? null))
}

function isCopiedOtherwise(said: Said, page: Page): boolean {
  if (said.copied !== writeFacts(page, COPIED_FACTS)) return true
  if (said.url === page.url && said.links === JSON.stringify(page.links)) return false
  const before = countLinks({ url: said.url, links: parseStored<Page['links']>(said.links) })
  const now = countLinks(page)
  return before.internal !== now.internal || before.external !== now.external
}
