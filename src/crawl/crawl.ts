import type { PageClass } from '../core/model.ts'
import { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEvent } from './events.ts'
import { finishCrawl, isConclusive } from './finish.ts'
import { Frontier, type FrontierOptions } from './frontier.ts'
import type { Reason, Settlement, SettlementResult, Visit } from './ledger.ts'
import type { CompletedVisit } from './planner.ts'
import type { PageKind } from './ports.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { countedSince, uncountSkipped } from './run-counts.ts'
import { createRetryingPorts } from './store-retry.ts'
import { type Supervisor, supervise } from './supervise.ts'
import { visitPage } from './visit.ts'

/**
 * Crawls a source and yields events; the last event is always `ended`. An aborted signal stops the crawl at the next safe point. The ledger
 * is written before an event about an address is emitted. While the store cannot be written, the crawl waits.
 */
export function crawl(run: CrawlRun, ports: CrawlPorts, signal: AbortSignal): AsyncGenerator<CrawlEvent, void, void> {
  const open = (crawlPorts: CrawlPorts, { signal: crawlSignal, storeRetry, activity }: Supervisor) =>
    new ActiveCrawl(run, activity.countCalls(createRetryingPorts(crawlPorts, storeRetry)), crawlSignal)
  return supervise({ run, ports, open, work: visitEverything, finish: finishCrawl }, signal)
}

async function visitEverything(active: ActiveCrawl): Promise<void> {
  await begin(active)
  await active.share()
  await visitAll(active)
  if (active.refusal === null && (await active.readListsIfNeeded())) await visitAll(active)
  while (canPlanMore(active) && (await active.planning?.idle()) === true) await visitAll(active)
  if (active.refusal === null && (await requeueUnlinked(active))) await visitAll(active)
  while (active.refusal === null && (await requeueOrphans(active))) await visitAll(active)
  if (active.refusal !== null) await skipAllPending(active, active.refusal)
  await active.emitSharedMilestones()
}

/** Whether the planner may still add visits. */
function canPlanMore({ refusal, cappedAt, signal }: ActiveCrawl): boolean {
  return refusal === null && cappedAt === null && !signal.aborted
}

/** Fills the frontier at the start of a crawl. A resumed crawl still has its rows there. */
async function begin(active: ActiveCrawl): Promise<void> {
  const { run, ports } = active
  const now = ports.clock.now()
  if (run.isResumed) {
    active.pagesTaken = await ports.ledger.countPages(run.sourceId, run.crawlId)
    await active.resumeStart()
    // A crawl that was stopped after it reached the cap has no pending rows that would show it.
    const { maxPages } = run.scope
    if (maxPages !== null && active.pagesTaken >= maxPages) {
      active.cappedAt = maxPages
      // Pages that the cap kept count towards this crawl.
      active.keptByCap = active.pagesTaken - maxPages
    }
    const reached = await ports.milestones?.read()
    if (reached !== undefined) active.milestones.resume(reached)
  }
  if (run.kind === 'refresh' || run.kind === 'retry') {
    const which = run.kind === 'refresh' ? 'pages' : 'failed'
    if (!run.isResumed) await ports.ledger.requeue(run.sourceId, run.crawlId, which, now)
    return
  }
  const { startUrl, siteUrl, isResumed } = run
  await active.planning?.begin({ startUrl, siteUrl, isResumed })
  await active.offer([startUrl, ...run.seeds], { depth: 0, foundOn: null, discovery: 'manual' })
}

/** Visits until nothing is due. An error that is not the outcome of a visit ends the crawl. */
export async function visitAll(active: ActiveCrawl, options?: FrontierOptions): Promise<void> {
  const frontier = new Frontier(active, options)
  const workers = Array.from({ length: active.run.limits.concurrency }, () => runWorker(active, frontier))
  try {
    await Promise.all(workers)
  } finally {
    await frontier.close()
    await Promise.allSettled(workers)
  }
}

async function runWorker(active: ActiveCrawl, frontier: Frontier): Promise<void> {
  for (;;) {
    const visit = await frontier.next()
    if (visit === undefined) return
    active.begin(visit)
    let isPage = false
    try {
      isPage = await visitOne(active, visit)
    } finally {
      active.visiting.delete(visit.url)
      active.largeVisits.release(visit)
      frontier.finishVisit(isPage)
    }
    await active.events.waitForRoom()
  }
}

async function visitOne(active: ActiveCrawl, visit: Visit): Promise<boolean> {
  const { ledger } = active.ports
  try {
    const result = await visitPage(active, visit)
    // If the user forgot to allow a private site, the crawl ends with this error and its stored pages stay unchanged.
    const isRefused = visit.hasPage && result?.settlement.reason === 'address-refused'
    if (isRefused) {
      active.refusal = 'address-refused'
      active.refusalDetail = result.settlement.pattern ?? result.settlement.detail ?? null
    }
    if (result === undefined || isRefused) {
      await ledger.release([visit])
      return false
    }
    const { settlement, bytes } = result
    const cost = active.isJoined ? { cost: { bytes, requests: active.takeRequests() } } : {}
    const settled = await ledger.settle({ ...settlement, ...cost })
    const kind = await findPageKind(active, settlement, settled)
    const isPage = active.countSettled(settlement, settled, bytes)
    await active.noteListed(visit, settled, settlement.status ?? null)
    await active.share()
    if (settled.type === 'lost' || settled.state === 'pending') return isPage
    await active.emitMilestones({ isPage, depth: visit.depth, bytes, isArticle: kind === 'article' })
    if (active.planning !== undefined) {
      const links = await findPageLinks(active, settlement)
      await active.planning.noteVisit(describeVisit(settlement, settled, kind, links), active.addressFilter.keyOf)
    }
    return isPage
  } catch (error) {
    await ledger.release([visit])
    throw error
  }
}

/** Returns the kind of a page: from this visit, or from the stored page if that is needed. */
async function findPageKind(
  { ports, milestones, planning, isJoined }: ActiveCrawl,
  { visit, record }: Settlement,
  { state }: SettlementResult,
) {
  const recordKind = record?.classification?.kind
  if (recordKind !== undefined) return PAGE_KINDS[recordKind]
  const isNeeded = state === 'unchanged' && (planning !== undefined || (milestones.isOpen && !isJoined))
  return isNeeded ? ports.kindOf(visit) : 'unknown'
}

const PAGE_KINDS: Readonly<Record<PageClass, PageKind>> = { article: 'article', nav: 'hub', other: 'unknown' }

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

/** Takes all pending rows out of the frontier when the site must not be requested; stored pages stay. */
async function skipAllPending({ run, ports }: ActiveCrawl, reason: Reason): Promise<void> {
  await ports.ledger.skipPending(run.sourceId, reason, null, ports.clock.now(), run.crawlId)
}

/**
 * Requeues addresses that the start no longer leads to, so that each is requested before its page counts as gone. The start may show a
 * placeholder for a while.
 */
async function requeueUnlinked(active: ActiveCrawl): Promise<boolean> {
  const { run, ports, signal } = active
  if (signal.aborted || !(await isConclusive(active))) return false
  active.isCheckingUnlinked = true
  return (await ports.ledger.requeue(run.sourceId, run.crawlId, 'unlinked', ports.clock.now())) > 0
}

/** Requeues aliases whose content is no longer held by their target, or whose target is about to be removed. */
async function requeueOrphans(active: ActiveCrawl): Promise<boolean> {
  const { run, ports, signal } = active
  if (signal.aborted) return false
  const isComplete = await isConclusive(active)
  const since = countedSince(active)
  const orphans = await ports.ledger.requeueOrphanedAliases(run.sourceId, run.crawlId, since, isComplete)
  uncountSkipped(active, orphans.settled)
  return orphans.requeued > 0
}
