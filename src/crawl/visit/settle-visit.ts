import type { PageClass } from '../../core/model.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import type { CompletedVisit } from '../planning/planner.ts'
import type { PageKind } from '../ports.ts'
import { countVisit } from '../run-counts.ts'
import type { Settlement, SettlementResult } from '../settlement.ts'
import type { VisitResult } from './visit.ts'

/** Writes a settlement, counts it and reports it. Returns whether the visit brought a page. */
export async function settleVisit(crawl: ActiveCrawl, { settlement, bytes }: VisitResult): Promise<boolean> {
  const { ports, counts, site, staleLists, sharing, milestones, planning, isJoined } = crawl
  const { visit } = settlement
  const cost = isJoined ? { cost: { bytes, requests: counts.takeRequests() } } : {}
  const settled = await ports.ledger.settle({ ...settlement, ...cost })
  const kind = await findPageKind(crawl, settlement, settled)
  const isPage = countSettled(crawl, settlement, settled, bytes)
  if (settled.state === 'indexed' && counts.indexed === counts.run.limits.noticePages && counts.maxPages === Infinity)
    tellUnlimited(crawl)
  await staleLists.note(visit, settled, settlement.status ?? null)
  await sharing.share()
  if (settled.type === 'lost' || settled.state === 'pending') return isPage
  await milestones.note({ isPage, depth: visit.depth, bytes, isArticle: kind === 'article' })
  if (planning !== undefined) {
    const links = await findPageLinks(crawl, settlement)
    await planning.noteVisit(describeVisit(settlement, settled, kind, links), site.addressFilter.keyOf)
  }
  return isPage
}

function tellUnlimited({ counts, events }: Pick<ActiveCrawl, 'counts' | 'events'>): void {
  const { startUrl: target, limits } = counts.run
  const { noticePages: pages } = limits
  const command = `pharos recrawl ${target} --max-pages ${pages}`
  const message = `${pages} new pages were read, and there is no page limit; if the site has no end, stop the crawl (nothing is lost) and limit the next: ${command}`
  events.push({ type: 'problem', kind: 'no-page-limit', target, message, details: { pages } })
}

/** Counts a settled visit and emits its event. Returns whether it brought a page. */
export function countSettled(
  crawl: Pick<ActiveCrawl, 'counts' | 'offers' | 'events' | 'noteSettled'>,
  settlement: Settlement,
  settled: SettlementResult,
  bytes: number,
): boolean {
  const { visit, status = null, detail = null, record, now } = settlement
  const { state, reason } = settled
  crawl.noteSettled(visit)
  crawl.offers.noteSettled(settlement, settled)
  if (settled.type === 'lost' || state === 'pending') return false
  countVisit(crawl.counts, settlement, settled)
  const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
  const isStored = state === 'unchanged' && record === undefined
  const stored = isStored ? { storedMs: Math.max(0, now - (visit.checkedAt ?? now)) } : {}
  crawl.events.push({ type: 'settled', url: visit.url, state, reason, status, detail, bytes, chunks, ...stored })
  return state === 'indexed' || state === 'unchanged'
}

/** Returns the kind of a page: from this visit, or from the stored page if that is needed. */
async function findPageKind(
  { ports, milestones, planning }: ActiveCrawl,
  { visit, record }: Settlement,
  { state }: SettlementResult,
) {
  const recordKind = record?.classification?.kind
  if (recordKind !== undefined) return PAGE_KINDS[recordKind]
  const isNeeded = state === 'unchanged' && (planning !== undefined || milestones.isOpen)
  return isNeeded ? ports.kindOf(visit) : 'unknown'
}

export const PAGE_KINDS: Readonly<Record<PageClass, PageKind>> = { article: 'article', nav: 'hub', other: 'unknown' }

/** Links of a page: from this visit, or the stored ones if it is unchanged. */
async function findPageLinks({ ports }: ActiveCrawl, settlement: Settlement): Promise<readonly string[]> {
  const { visit, record, links, state } = settlement
  if (record !== undefined || links !== undefined) return record?.links ?? links ?? []
  return state === 'unchanged' && visit.hasLinks ? ports.ledger.readLinks(visit.sourceId, visit.key) : []
}

function describeVisit(
  { visit, record, status, target }: Settlement,
  settled: SettlementResult,
  kind: PageKind,
  links: readonly string[],
): CompletedVisit {
  const { url, key, depth, discovery } = visit
  const { state, reason } = settled
  return {
    ...{ url, key, depth, discovery, state, reason, kind, links },
    status: status ?? null,
    target: settled.target ?? target ?? null,
    page: record?.page ?? null,
    classification: record?.classification ?? null,
  }
}
