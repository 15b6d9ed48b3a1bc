import { foldPagination } from '../../core/url/page-url.ts'
import type { CompletedVisit } from '../../crawl/planning/planner.ts'
import { parseAddress } from './address.ts'
import type { SiteModel } from './site-model.ts'

/** Limit of links read per page. */
const MAX_LINKS = 400
/** A page with at least this many links to hubs is a list of hubs. */
const MIN_HUB_LINKS = 5
const MAX_FOLLOWED = 50_000

/**
 * Follows the pagination of pages that list hubs. In a history crawl it follows the pagination of every hub, and archives. These pages are
 * visited first, as far as the crawl's scope allows.
 */
export class PaginationFollower {
  readonly #site: SiteModel
  readonly #isHistory: boolean
  readonly #followed = new Set<string>()

  constructor(site: SiteModel, isHistory: boolean) {
    this.#site = site
    this.#isHistory = isHistory
  }

  /** Pagination and archive pages that a page links to and that were not requested yet. */
  follow(visit: CompletedVisit): string[] {
    if (visit.kind === 'article' || this.#followed.size >= MAX_FOLLOWED) return []
    const isHistory = this.#isHistory && (visit.kind === 'hub' || this.#site.hubUrlOf(visit.url) !== undefined)
    if (!isHistory && !this.#listsHubs(visit)) return []
    const firstPage = foldPagination(visit.url)
    const links = visit.links.filter((link) => {
      if (this.#followed.has(link) || link === visit.url) return false
      const address = parseAddress(link)
      if (address === undefined || address.host !== this.#site.host) return false
      const isArchive = isHistory && address.date !== null && address.kind === 'nav'
      return isArchive || (address.isPagination && foldPagination(link) === firstPage)
    })
    for (const link of links) this.#followed.add(link)
    return links
  }

  /** Whether a page links to enough hubs to be a list of them. */
  #listsHubs({ links }: CompletedVisit): boolean {
    if (this.#site.hubSlots.length === 0) return false
    let count = 0
    for (const link of links.slice(0, MAX_LINKS)) {
      const address = parseAddress(link)
      if (address !== undefined && this.#site.hubLikelihoodOf(address) === 'hub' && ++count >= MIN_HUB_LINKS)
        return true
    }
    return false
  }
}
