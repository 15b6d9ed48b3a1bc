import type { ActiveCrawl } from '../active-crawl.ts'
import type { FoundAddresses } from '../addresses/offers.ts'
import { isNegotiated } from '../discovery/markdown-variant.ts'
import { POSTPONED_OUTCOME } from '../hosts/send-permit.ts'
import type { Visit } from '../ledger.ts'
import { listLinks } from '../read-page.ts'
import { type ConcludingCrawl, type Conclusion, concludeFailure } from './conclude-outcome.ts'
import { type FetchingCrawl, fetchHtml } from './fetch-visit.ts'
import { findLinks, linkContextOf, NO_FINDS } from './page-links.ts'
import { readSafely } from './read-safely.ts'

type HtmlReadingCrawl = FetchingCrawl & ConcludingCrawl & Pick<ActiveCrawl, 'activity' | 'counts'>

/** Links of a page, and the addresses found through them. */
export interface FoundLinks extends FoundAddresses {
  readonly links: readonly string[]
}

export const NO_LINKS: FoundLinks = { links: [], ...NO_FINDS }

/** Whether links lead from a page to other addresses of the source. */
export function leadOn({ site }: Pick<ActiveCrawl, 'site'>, visit: Visit, links: readonly string[] = []): boolean {
  return links.some((url) => {
    const { key, refusal } = site.judge(url, 0, 'link')
    return refusal === null && key !== visit.key
  })
}

/**
 * Returns the links that the Markdown of a page may lack. Unchanged Markdown keeps its links if it needs no HTML, and in a refresh, which
 * finds no new ones. Otherwise `needsHtml` decides whether the HTML is requested: navigation may be only there. A transient failure puts
 * the visit back; after the last attempt the stored links are used. Undefined if the host gets a back-off meanwhile.
 */
export async function readHtmlLinks(
  crawl: HtmlReadingCrawl,
  visit: Visit,
  contentHash: string | undefined,
  needsHtml: boolean,
): Promise<FoundLinks | Conclusion | undefined> {
  const { run, counts, offers } = crawl
  const isSame = visit.contentHash === contentHash && !run.full
  if (isSame && (!needsHtml || run.kind === 'refresh')) return readStoredLinks(crawl, visit)
  if (!needsHtml) return NO_LINKS
  const outcome = await fetchHtml(crawl, visit)
  if (outcome === POSTPONED_OUTCOME) return undefined
  if (outcome.type === 'failed') {
    const verdict = await concludeFailure(crawl, visit, outcome)
    if (verdict.state === 'pending') return verdict
    counts.incomplete ??= `the HTML of ${visit.url} could not be read (${outcome.reason.replaceAll('-', ' ')})`
    return readStoredLinks(crawl, visit)
  }
  if (outcome.type !== 'fetched' || isNegotiated(visit.url, outcome.snapshot)) return NO_LINKS
  const reading = await readSafely(crawl, outcome.snapshot, visit.key)
  if (typeof reading === 'string') return NO_LINKS
  const { extraction, record } = reading
  if (extraction.type === 'page' && record !== null)
    return { links: record.links, ...findLinks(crawl, visit, extraction.page, record.links) }
  const links = extraction.type === 'no-page' ? listLinks(extraction.links) : []
  return { links, ...offers.judge(links, linkContextOf(visit)) }
}

async function readStoredLinks({ ports, offers }: HtmlReadingCrawl, visit: Visit): Promise<FoundLinks> {
  const links = await ports.ledger.readLinks(visit.sourceId, visit.key)
  return { links, ...offers.judge(links, linkContextOf(visit)) }
}
