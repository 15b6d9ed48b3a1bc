import { isArticleUrl } from '../core/url/page-url.ts'
import { isRead } from '../crawl/ledger.ts'
import type { PlannedVisit } from '../crawl/planner.ts'

/** What a visit tells about an address that was supposed to be a hub. */
export type HubFinding =
  | { readonly type: 'confirmed' | 'rejected' | 'missing' }
  /** It leads elsewhere: what is there decides. */
  | { readonly type: 'moved'; readonly target: string }
  /** Nobody could look. */
  | { readonly type: 'open' }

/** A page with so many links within its site leads on, whatever else it is. */
const LEAST_LINKS = 10

/** Reasons that say that there is nothing. */
const NOTHING: ReadonlySet<string | null> = new Set(['not-found', 'removed', 'soft-404', 'guess-missed', 'empty'])

/** Judges what was found where a hub was supposed to be. `innerLinks` are the links of the page that stay within its site. */
export function judgeHub(
  visit: Pick<PlannedVisit, 'state' | 'reason' | 'target' | 'kind'>,
  innerLinks: number,
): HubFinding {
  const { state, reason, target, kind } = visit
  if (reason === 'redirect' && target !== null) return { type: 'moved', target }
  // What has the content of another address is no page of its own.
  if (reason === 'duplicate') return { type: 'rejected' }
  if (reason === 'canonical' && target !== null) return { type: 'moved', target }
  if (NOTHING.has(reason)) return { type: 'missing' }
  if (!isRead({ state, reason })) return { type: 'open' }
  if (kind === 'article') return { type: 'rejected' }
  return { type: kind === 'hub' || innerLinks >= LEAST_LINKS ? 'confirmed' : 'rejected' }
}

/** How many links of a page stay on its site, by where they seem to lead. */
export interface LinkCounts {
  readonly nav: number
  readonly articles: number
}

/** Links of one page that are looked at. */
const MOST_LINKS = 400

/** Counts the links of a page that stay on a host. */
export function countLinks(links: readonly string[], host: string): LinkCounts {
  let nav = 0
  let articles = 0
  const inner = [`http://${host}/`, `https://${host}/`]
  for (const link of links.slice(0, MOST_LINKS)) {
    if (!inner.some((start) => link.startsWith(start))) continue
    if (isArticleUrl(link)) articles++
    else nav++
  }
  return { nav, articles }
}
