import type { ActiveCrawl } from '../active-crawl.ts'
import { isConclusive } from '../finish.ts'
import { Frontier, type FrontierOptions } from '../frontier.ts'
import type { Visit } from '../ledger.ts'
import type { Reason } from '../ledger-reasons.ts'
import { countedSince, uncountSkipped } from '../run-counts.ts'
import { settleVisit } from './settle-visit.ts'
import { visitPage } from './visit.ts'

/** Makes all visits of a crawl: what was found, what the planner adds, and what must be checked at the end. */
export async function visitSite(active: ActiveCrawl): Promise<void> {
  await begin(active)
  await active.sharing.share()
  await visitAll(active)
  if (active.refusal === null && (await active.lists.readIfNeeded())) {
    await active.sharing.share()
    await visitAll(active)
  }
  while (canPlanMore(active) && (await active.planning?.idle()) === true) await visitAll(active)
  if (active.refusal === null && (await requeueUnlinked(active))) await visitAll(active)
  while (active.refusal === null && (await requeueOrphans(active))) await visitAll(active)
  if (active.refusal !== null) await skipAllPending(active, active.refusal)
  await active.milestones.emitShared()
}

/** Whether the planner may still add visits. */
function canPlanMore({ refusal, counts, signal }: ActiveCrawl): boolean {
  return refusal === null && counts.cappedAt === null && !signal.aborted
}

/** Fills the frontier at the start of a crawl. A resumed crawl still has its rows there. */
async function begin(active: ActiveCrawl): Promise<void> {
  const { run, ports, counts } = active
  const now = ports.clock.now()
  if (run.isResumed) {
    const { indexed, unchanged } = await ports.ledger.countSettled(run.sourceId, run.crawlId)
    counts.pagesTaken = indexed + unchanged
    await active.lists.resume()
    // A crawl that was stopped after it reached the cap has no pending rows that would show it.
    const { maxPages } = run.scope
    if (maxPages !== null && counts.pagesTaken >= maxPages) {
      counts.cappedAt = maxPages
      // Pages that the cap kept count towards this crawl.
      counts.keptByCap = counts.pagesTaken - maxPages
    }
  }
  await active.milestones.begin(run.isResumed)
  if (run.kind === 'refresh' || run.kind === 'retry') {
    const which = run.kind === 'refresh' ? 'pages' : 'failed'
    if (!run.isResumed) await ports.ledger.requeue(run.sourceId, run.crawlId, which, now)
    return
  }
  const { startUrl, siteUrl, isResumed } = run
  await active.planning?.begin({ startUrl, siteUrl, isResumed })
  await active.offers.offer([startUrl, ...run.seeds], { depth: 0, foundOn: null, discovery: 'manual' })
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
    const leased = await frontier.next()
    if (leased === undefined) return
    const visit = { ...leased, url: active.site.writeUrl(leased) }
    active.begin(visit)
    let isPage = false
    try {
      isPage = await visitOne(active, visit)
    } finally {
      active.visiting.delete(visit.url)
      active.site.moves.delete(visit.key)
      active.requests.largeVisits.release(visit)
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
    if (result !== undefined && !isRefused) return await settleVisit(active, result)
    await ledger.release([visit])
    return false
  } catch (error) {
    await ledger.release([visit])
    throw error
  }
}

/** Takes all pending rows out of the frontier when the site must not be requested; stored pages stay. */
async function skipAllPending({ run, ports }: ActiveCrawl, reason: Reason): Promise<void> {
  await ports.ledger.skipPending(run.sourceId, reason, null, ports.clock.now(), run.crawlId)
}

/**
 * Requeues pages that nothing leads to any more: their own responses decide whether they stay. A page or list that named them may show a
 * placeholder for a while. Pages beyond the depth limit of the run are left alone.
 */
async function requeueUnlinked(active: ActiveCrawl): Promise<boolean> {
  const { run, ports, signal } = active
  if (signal.aborted || !(await isConclusive(active))) return false
  active.linkedCounts = await active.countAll()
  const { sourceId, crawlId, scope } = run
  return (await ports.ledger.requeue(sourceId, crawlId, 'unlinked', ports.clock.now(), scope.maxDepth)) > 0
}

/** Requeues aliases whose content is no longer held by their target, or whose target is about to be removed. */
async function requeueOrphans({ run, ports, signal, counts }: ActiveCrawl): Promise<boolean> {
  if (signal.aborted) return false
  const orphans = await ports.ledger.requeueOrphanedAliases(run.sourceId, run.crawlId, countedSince(counts))
  uncountSkipped(counts, orphans.settled)
  return orphans.requeued > 0
}
