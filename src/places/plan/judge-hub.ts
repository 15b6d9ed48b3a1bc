import { isArticleUrl } from '../../core/url/page-url.ts'
import { isRead } from '../../crawl/ledger.ts'
import type { CompletedVisit } from '../../crawl/planning/planner.ts'

/** The result of visiting an address that may be a hub. */
export type HubFinding =
  | { readonly type: 'confirmed' | 'rejected' | 'missing' }
  /** A redirect or a canonical link; its target decides. */
  | { readonly type: 'moved'; readonly target: string }
  /** The page could not be read. */
  | { readonly type: 'open' }

/** A page with at least this many links within its site is a hub, unless it is an article. */
const MIN_HUB_LINKS = 10

/** Reasons that mean that the page does not exist. */
const MISSING_REASONS: ReadonlySet<string | null> = new Set([
  'not-found',
  'removed',
  'soft-404',
  'guess-missed',
  'empty',
])

/** Judges a visit to a possible hub. `innerLinks` is the number of links within the site. */
export function judgeHub(
  visit: Pick<CompletedVisit, 'state' | 'reason' | 'target' | 'kind'>,
  innerLinks: number,
): HubFinding {
  const { state, reason, target, kind } = visit
  if (reason === 'redirect' && target !== null) return { type: 'moved', target }
  // A page with the content of another address is not a hub of its own.
  if (reason === 'duplicate') return { type: 'rejected' }
  if (reason === 'canonical' && target !== null) return { type: 'moved', target }
  if (MISSING_REASONS.has(reason)) return { type: 'missing' }
  if (!isRead({ state, reason })) return { type: 'open' }
  if (kind === 'article') return { type: 'rejected' }
  return { type: kind === 'hub' || innerLinks >= MIN_HUB_LINKS ? 'confirmed' : 'rejected' }
}

/** Links of a page within its site, counted by their likely targets. */
export interface LinkCounts {
  readonly nav: number
  readonly articles: number
}

/** Limit of links read per page. */
const MAX_LINKS = 400

/** Counts the links of a page that stay on a host. */
export function countLinks(links: readonly string[], host: string): LinkCounts {
  let nav = 0
  let articles = 0
  const inner = [`http://${host}/`, `https://${host}/`]
  for (const link of links.slice(0, MAX_LINKS)) {
    if (!inner.some((start) => link.startsWith(start))) continue
    if (isArticleUrl(link)) articles++
    else nav++
  }
  return { nav, articles }
}
