import { foldPagination } from '../core/url/page-url.ts'
import type { PlannedVisit } from '../crawl/planner.ts'
import { parseAddress } from './address.ts'
import type { SiteBook } from './site-book.ts'

/** Links of one page that are looked at, and how many of them lead to hubs on a list of hubs. */
const MOST_LINKS = 400
const LISTED_HUBS = 5
const MOST_FOLLOWED = 50_000

/**
 * Further pages of what lists hubs, and in a crawl of the history those of every hub, and archives: they are visited first, as far as
 * the crawl may go.
 */
export class FurtherPages {
  readonly #site: SiteBook
  readonly #isHistory: boolean
  readonly #followed = new Set<string>()

  constructor(site: SiteBook, isHistory: boolean) {
    this.#site = site
    this.#isHistory = isHistory
  }

  /** The further pages and archives that a page leads to and that were not asked for yet. */
  follow(visit: PlannedVisit): string[] {
    if (visit.kind === 'article' || this.#followed.size >= MOST_FOLLOWED) return []
    const isHistory = this.#isHistory && (visit.kind === 'hub' || this.#site.hubOf(visit.url) !== undefined)
    if (!isHistory && !this.#listsHubs(visit)) return []
    const own = foldPagination(visit.url)
    const links = visit.links.filter((link) => {
      if (this.#followed.has(link) || link === visit.url) return false
      const address = parseAddress(link)
      if (address === undefined || address.host !== this.#site.host) return false
      const isArchive = isHistory && address.date !== null && address.kind === 'nav'
      return isArchive || (address.isPagination && foldPagination(link) === own)
    })
    for (const link of links) this.#followed.add(link)
    return links
  }

  /** Whether a page leads to so many hubs that it is a list of them. */
  #listsHubs({ links }: PlannedVisit): boolean {
    if (this.#site.hubSlots.length === 0) return false
    let count = 0
    for (const link of links.slice(0, MOST_LINKS)) {
      const address = parseAddress(link)
      if (address !== undefined && this.#site.placeOf(address) === 'hub' && ++count >= LISTED_HUBS) return true
    }
    return false
  }
}
