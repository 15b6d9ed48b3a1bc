import type { ActiveCrawl } from '../active-crawl.ts'
import { isNegotiated } from '../discovery/markdown-variant.ts'
import { POSTPONED_OUTCOME } from '../hosts/send-permit.ts'
import type { Refusal, Visit } from '../ledger.ts'
import type { FetchOutcome } from '../ports.ts'
import { hasAllLinks } from '../read-page.ts'
import { readResponse } from '../read-response.ts'
import type { Settlement } from '../settlement.ts'
import { type Conclusion, concludeOutcome, concludeRefusal } from './conclude-outcome.ts'
import { concludePage, concludeUnread } from './conclude-page.ts'
import { fetchVisit, type VisitResponse } from './fetch-visit.ts'
import { leadOn, NO_LINKS, readHtmlLinks } from './html-links.ts'
import { linkContextOf, withFinds } from './page-links.ts'
import { readerOf } from './read-safely.ts'

/** A completed visit: what to write, and the size of the response. */
export interface VisitResult {
  readonly settlement: Settlement
  readonly bytes: number
}

/**
 * Makes a visit: checks robots.txt, fetches, reads, and decides the new state of the row. Writes nothing. Returns undefined if the visit
 * must wait for another slot of its host.
 */
export async function visitPage(crawl: ActiveCrawl, visit: Visit): Promise<VisitResult | undefined> {
  const early = await concludeEarly(crawl, visit)
  if (early !== undefined) return { settlement: await prepareSettlement(crawl, visit, early), bytes: 0 }
  // Another request may have changed the pace of the host while this visit waited: then the visit waits for another slot.
  const { host, notBefore, lease } = visit
  const turn = await crawl.requests.pacer.enterSlot(host, notBefore, crawl.signal, lease)
  if (typeof turn === 'string') return undefined
  const answer = await fetchVisit(crawl, visit, turn)
  const { outcome } = answer
  if (outcome === POSTPONED_OUTCOME) return undefined
  // Reading may leave the body empty.
  const bytes = outcome.type === 'fetched' ? outcome.snapshot.body.length : 0
  const verdict =
    outcome.type === 'fetched'
      ? await readAndConclude(crawl, visit, answer, outcome)
      : await concludeOutcome(crawl, visit, answer, outcome)
  return verdict && { settlement: await prepareSettlement(crawl, visit, verdict), bytes }
}

/** Decides about a visit without a request, if possible. */
async function concludeEarly(crawl: ActiveCrawl, visit: Visit): Promise<Conclusion | undefined> {
  const { requests, signal, linkedCounts } = crawl
  if (await isHeldByLlmsFull(crawl, visit)) return { state: 'unchanged', detail: 'its content came with llms-full.txt' }
  const refusal = findRefusal(crawl, visit)
  if (refusal !== null)
    return { state: 'skipped', ...refusal, isProvenGone: visit.hasPage && linkedCounts !== undefined }
  const parked = requests.pacer.hosts.parked.get(visit.host)
  if (parked !== undefined) return { state: 'failed', reason: 'host-parked', pattern: parked }
  const permission = await requests.robots.judge(visit.url, signal)
  if (!permission.allowed) return concludeRefusal(visit, permission)
  return (await isFresh(crawl, visit)) ? { state: 'unchanged', detail: 'checked recently' } : undefined
}

/** Reads a response and decides what it means. Undefined if the visit must be repeated later. */
async function readAndConclude(
  crawl: ActiveCrawl,
  visit: Visit,
  answer: VisitResponse,
  outcome: Extract<FetchOutcome, { type: 'fetched' }>,
): Promise<Conclusion | undefined> {
  const { snapshot } = outcome
  const read = await readResponse(snapshot, readerOf(crawl, visit))
  if (read.type !== 'read') return concludeUnread(crawl, visit, read, snapshot.status ?? 200)
  // A service that fetches pages returns them as its browser shows them, with their links; Markdown variants are fetched without it.
  const isByService = crawl.ports.pageFetcher !== undefined && !answer.isVariant
  const isMarkdown = answer.isVariant || (!isByService && isNegotiated(visit.url, snapshot))
  const isFollowed = isMarkdown && crawl.run.followsLinks
  const needsHtml = isFollowed && !leadOn(crawl, visit, read.record?.links)
  const contentHash = read.record?.page.contentHash
  const html = isFollowed ? await readHtmlLinks(crawl, visit, contentHash, needsHtml) : NO_LINKS
  if (html === undefined || 'state' in html) return html
  return concludePage(crawl, visit, { answer, outcome, read, isByService, html, needsHtml })
}

/** Completes a conclusion. The settlement of the start waits for the lists of the site. */
async function prepareSettlement(crawl: ActiveCrawl, visit: Visit, conclusion: Conclusion): Promise<Settlement> {
  const { run, ports, lists, site, offers, sharing } = crawl
  let verdict = conclusion
  // If the start only redirects, the lists are read in the visit of its target.
  const isRedirect = verdict.reason === 'redirect' && verdict.state === 'skipped'
  if (!isRedirect && lists.areUsed && site.isStart(visit.key)) {
    // Other processes can join before the lists are read: they need only the location of the site.
    if (verdict.state !== 'pending') {
      site.isLocated = true
      await sharing.share()
    }
    await lists.readOnce(visit.key)
    // Only llms-full.txt was to be read, but it holds no page: the start is not indexed either. A page of an earlier run stays.
    if (lists.isLlmsFullMissing && !visit.hasPage && verdict.state === 'indexed')
      verdict = { state: 'skipped', reason: 'excluded', pattern: '--llms-full only' }
  }
  const now = ports.clock.now()
  // A page that was not requested, or whose response did not show its content, keeps its last check time.
  const isConfirmed = verdict.state === 'indexed' || (verdict.state === 'unchanged' && verdict.status !== undefined)
  const checkedAt = visit.hasPage && !isConfirmed ? visit.checkedAt : now
  const maxRows = run.limits.ledgerRows
  const settlement: Settlement = { visit, crawlId: run.crawlId, now, checkedAt, maxRows, ...verdict }
  // A page that could not be read now keeps its earlier links. So does one that redirects: it stays if its target has no content.
  const { state, reason } = settlement
  // The links of a missing page, or of an address that the network guard refuses, are not followed.
  const isGone = reason === 'not-found' || reason === 'removed' || reason === 'address-refused'
  const keepsLinks = isRedirect || (settlement.finds === undefined && state !== 'pending' && !isGone)
  if (!visit.hasLinks || !keepsLinks || !run.followsLinks) return settlement
  const links = await ports.ledger.readLinks(visit.sourceId, visit.key)
  const replayed = withFinds(settlement, offers.judge(links, linkContextOf(visit)))
  const isTruncated = state === 'unchanged' && !hasAllLinks(links)
  return isTruncated ? { ...replayed, reason: 'too-many-links' } : replayed
}

/**
 * Returns why an address must no longer be fetched. Addresses from the user are always fetched. So are stored pages that only look like a
 * trap or are beyond the depth limit, and addresses whose preferred spelling has no content.
 */
function findRefusal(
  { site, offers }: ActiveCrawl,
  { key, url, depth, discovery, foundOn, hasPage, isFinal }: Visit,
): Refusal | null {
  if (discovery === 'manual') return null
  // An llms-full.txt itself is never requested as a page: what remained of it was stored when it was read.
  if (discovery === 'llms-full' && foundOn === null) return { reason: 'covered', pattern: null, target: null }
  return (
    site.judge(url, hasPage ? 0 : depth, discovery, hasPage || isFinal).refusal ??
    (hasPage ? null : offers.findCovering(key))
  )
}

/** Whether a page was checked so recently that it is not requested. */
async function isFresh({ run, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  const windows = Object.values(run.maxAgeMsOf)
  if (!visit.hasPage || run.full || Math.max(run.maxAgeMs, ...windows) === 0) return false
  const maxAge = (windows.length > 0 ? run.maxAgeMsOf[await ports.kindOf(visit)] : undefined) ?? run.maxAgeMs
  return ports.clock.now() - (visit.checkedAt ?? 0) < maxAge
}

/**
 * Whether a page came from an llms-full.txt that this crawl has not read, as in a refresh or when the file fails. Its own address would
 * return the same content in another form, which the next recrawl would have to undo.
 */
async function isHeldByLlmsFull({ lists, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  if (lists.isLlmsFullKnown || !visit.hasPage || visit.discovery !== 'llms-full') return false
  // A page that was fetched since then has a status.
  return (await ports.ledger.findRow(visit.sourceId, visit.key))?.status === null
}
