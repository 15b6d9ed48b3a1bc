import { foldPagination } from '../core/url/page-url.ts'
import type { PlannedVisit } from '../crawl/planner.ts'
import { parseAddress } from './address.ts'
import type { SiteBook } from './site-book.ts'

/** Limit of links read per page, and the number of links to hubs that makes a page a list of hubs. */
const MOST_LINKS = 400
const LISTED_HUBS = 5
const MOST_FOLLOWED = 50_000

/**
 * Follows the pagination of pages that list hubs. In a history crawl it follows the pagination of every hub, and archives. These pages are
 * visited first, as far as the crawl's scope allows.
 */
export class FurtherPages {
  readonly #site: SiteBook
  readonly #isHistory: boolean
  readonly #followed = new Set<string>()

  constructor(site: SiteBook, isHistory: boolean) {
    this.#site = site
    this.#isHistory = isHistory
  }

  /** Pagination and archive pages that a page links to and that were not requested yet. */
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

  /** Whether a page links to enough hubs to be a list of them. */
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
