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

const NO_LINKS: FoundLinks = { links: [], ...NO_FINDS }

/**
 * Reads the links of a page whose text came as Markdown, because navigation is only in its HTML. A transient failure puts the visit back;
 * after the last attempt the stored links are used. Undefined if the host gets a back-off meanwhile.
 */
export async function readHtmlLinks(
  crawl: HtmlReadingCrawl,
  visit: Visit,
): Promise<FoundLinks | Conclusion | undefined> {
  const { ports, counts, offers } = crawl
  const outcome = await fetchHtml(crawl, visit)
  if (outcome === POSTPONED_OUTCOME) return undefined
  if (outcome.type === 'failed') {
    const verdict = await concludeFailure(crawl, visit, outcome)
    if (verdict.state === 'pending') return verdict
    counts.incomplete ??= `the HTML of ${visit.url} could not be read (${outcome.reason.replaceAll('-', ' ')})`
    const links = await ports.ledger.readLinks(visit.sourceId, visit.key)
    return { links, ...offers.judge(links, linkContextOf(visit)) }
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
