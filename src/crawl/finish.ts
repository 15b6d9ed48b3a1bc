import type { ActiveCrawl } from './active-crawl.ts'
import { walkRows } from './addresses/walk-rows.ts'
import { findWiderScope } from './addresses/wider-scope.ts'
import type { CrawlCounts } from './crawl-counts.ts'
import type { CrawlEnd, CrawlSummary } from './events.ts'
import { type FoundAddress, isRead, type Ledger, type LedgerCounts, type LedgerRow, type Refusal } from './ledger.ts'
import { INCONCLUSIVE_REASONS, isAbsent, type Reason } from './ledger-reasons.ts'
import { StallError, TAKEN_OVER } from './observe-crawl.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { countFailures } from './run-counts.ts'
import type { ProcessCounts } from './sharing.ts'

/** A site may have thousands of broken sitemaps. */
const MAX_LIST_FAULTS = 10

/** Ends a crawl: removes the pages proven gone, within the allowed loss, and returns the summary. */
export async function finishCrawl(active: ActiveCrawl): Promise<CrawlSummary> {
  const { run, ports, counts, site, lists, requests } = active
  await requests.pacer.hosts.endSlowdowns()
  const start = await findStart(active)
  const stopped = await findStop(active)
  const { provenGone, ...done } = await active.countAll()
  const uselessReason =
    stopped === undefined
      ? await findUselessReason(active, active.linkedCounts ?? { ...done, provenGone }, start)
      : null
  // A crawl that failed removes nothing.
  const failure = uselessReason === null ? null : describeUseless(active, done, uselessReason, start)
  const ending: Ending =
    stopped !== undefined
      ? describeStop(stopped.reason)
      : failure !== null
        ? { end: 'failed', problem: failure, removed: 0, withheld: 0 }
        : await removeGone(active, await hasSeenAll(active))
  if (stopped === undefined && start !== undefined && isRead(start) && hasReadEverything(counts))
    await dropUnnamed(active)
  if (stopped === undefined) await ports.ledger.checkAliases(run.sourceId, ports.clock.now())
  const isFinished = stopped === undefined && counts.cappedAt === null && active.refusal === null
  await active.planning?.end(isFinished)
  const { removed, withheld } = ending
  const ledger = await ports.ledger.countLedger(run.sourceId)
  const failed = countFailures({ ...done, provenGone }, ending.end === 'completed')
  const problem = ending.problem ?? findImbalance(ledger)
  const end = ending.end === 'completed' && problem !== null ? 'failed' : ending.end
  // Stored at the end only, so that a resumed crawl detects the move again. Never in a refresh, because the next crawl that discovers pages
  // must notice the move.
  if ((end === 'completed' || end === 'gate') && lists.areUsed && site.movedTo !== undefined)
    await ports.moveSite(site.movedTo)
  const siteOfSource = { sourceId: run.sourceId, siteUrl: site.url }
  const wider = end === 'completed' ? await findWiderScope(ports.ledger, siteOfSource, ledger) : undefined
  return {
    crawlId: run.crawlId,
    kind: run.kind,
    end,
    ledger,
    ...done,
    failed,
    removed,
    withheld,
    ...(await describeCap(counts, ports.ledger, ledger)),
    ...(wider === undefined ? {} : { wider }),
    incomplete: await findIncompleteReason(active),
    // Addresses in a list may hold credentials.
    listFaults: counts.listFaults.slice(0, MAX_LIST_FAULTS).map((fault) => fault.replace(/\/\/[^\s/?#]*@/g, '//')),
    elapsedMs: ports.clock.now() - counts.startedAt,
    problem,
    uselessReason,
  }
}

/** Takes pending rows out of the frontier because the cap was reached. Returns their number, and how many of them have a page. */
export async function skipForCap(
  ledger: Pick<Ledger, 'skipPending' | 'countLedger'>,
  { sourceId, crawlId }: Pick<CrawlRun, 'sourceId' | 'crawlId'>,
  cap: string,
  now: number,
): Promise<{ readonly left: number; readonly kept: number }> {
  const before = countLeftByCap(await ledger.countLedger(sourceId))
  const left = await ledger.skipPending(sourceId, 'page-cap', cap, now, crawlId)
  if (left === 0) return { left, kept: 0 }
  return { left, kept: left - (countLeftByCap(await ledger.countLedger(sourceId)) - before) }
}

function countLeftByCap({ reasons }: LedgerCounts): number {
  return reasons['skipped/page-cap'] ?? 0
}

/**
 * The cap that was reached, and the number of addresses left unread, by the cap or because the crawl stopped. A cap that left nothing
 * unread is not reported.
 */
export async function describeCap(
  { run, cappedAt, keptByCap, spent }: CappedCrawl,
  ledger: Pick<Ledger, 'countRemovable'>,
  counts: LedgerCounts,
): Promise<Pick<CrawlSummary, 'cappedAt' | 'unread' | 'spent'>> {
  const open = counts.states.pending + counts.states.leased
  if (cappedAt === null) return open === 0 ? { cappedAt } : { cappedAt, unread: open }
  const unread = open + countLeftByCap(counts) + keptByCap + (await countUnseen(run, ledger))
  return unread === 0 ? { cappedAt: null } : { cappedAt, unread, ...(spent === undefined ? {} : { spent }) }
}

/** The part of a crawl that `describeCap` needs. */
interface CappedCrawl {
  readonly run: Pick<CrawlRun, 'sourceId' | 'crawlId' | 'kind'>
  readonly cappedAt: number | null
  readonly keptByCap: number
  readonly spent?: CrawlSummary['spent'] | undefined
}

/** Counts pages of earlier runs that this run did not reach; 0 for a retry, which visits failed addresses only. */
async function countUnseen(
  { sourceId, crawlId, kind }: CappedCrawl['run'],
  ledger: Pick<Ledger, 'countRemovable'>,
): Promise<number> {
  if (kind === 'retry') return 0
  const all = await ledger.countRemovable(sourceId, crawlId, true)
  const proven = await ledger.countRemovable(sourceId, crawlId, false)
  return all.removable - proven.removable
}

/** Returns the reason if the crawl must not end as completed. After a long suspension another process may have taken it over. */
async function findStop({ signal, ports }: ActiveCrawl): Promise<{ readonly reason: unknown } | undefined> {
  if (signal.aborted) return { reason: signal.reason }
  // If the store does not respond now, the takeover is detected when the end is written.
  const isOurs = await ports.touch().catch(() => true)
  return isOurs ? undefined : { reason: new Error(TAKEN_OVER) }
}

/** The end of a crawl before the ledger is checked for open addresses. */
export interface Ending {
  readonly end: CrawlEnd
  readonly problem: string | null
  readonly removed: number
  readonly withheld: number
}

/** Whether the crawl has seen every page, so that what it did not see is no longer linked. */
async function hasSeenAll(active: ActiveCrawl): Promise<boolean> {
  return (await isConclusive(active)) && (await countUnseen(active.run, active.ports.ledger)) === 0
}

/** The part of a crawl that `removeGone` needs. */
interface EndingCrawl {
  readonly run: Pick<CrawlRun, 'sourceId' | 'crawlId' | 'acceptLoss' | 'limits'> & {
    /** Number of pages that recent runs removed. They count towards the loss of this run. @default 0 */
    readonly lostBefore?: number
    /** Removable pages whose content is at another address now, so that they are no loss. @default 0 */
    readonly moved?: number
  }
  readonly ports: Pick<CrawlPorts, 'ledger' | 'clock'>
}

/** Removes the pages that a crawl proved gone, unless the loss is too large. `isComplete`: pages that were not seen count as gone too. */
export async function removeGone({ run, ports }: EndingCrawl, isComplete: boolean): Promise<Ending> {
  const { removable, pages } = await ports.ledger.countRemovable(run.sourceId, run.crawlId, isComplete)
  const { lostBefore = 0, moved = 0 } = run
  const lost = removable <= moved ? 0 : removable - moved + lostBefore
  if (!run.acceptLoss && isHeavyLoss(run.limits, lost, pages + lostBefore)) {
    const before = lostBefore === 0 ? '' : ` (recent runs already removed ${lostBefore})`
    const problem = `${removable} of ${pages} pages were not found any more${before}`
    return { end: 'gate', problem, removed: 0, withheld: removable }
  }
  const removed = await ports.ledger.removeProven(run.sourceId, run.crawlId, isComplete, ports.clock.now())
  return { end: 'completed', problem: null, removed, withheld: 0 }
}

/** Whether a crawl has read every list and page that can name an address. */
function hasReadEverything({ run, cappedAt, incomplete }: CrawlCounts): boolean {
  return run.kind === 'recrawl' && cappedAt === null && incomplete === null && !run.isScopeChanged
}

/**
 * Drops addresses that the cap of an earlier run left unread and that a run without a cap did not find. Otherwise no run would ever read
 * them, and the source would never be complete.
 */
export async function dropUnnamed({
  run,
  ports,
}: {
  readonly run: Pick<CrawlRun, 'sourceId' | 'crawlId' | 'scope'>
  readonly ports: Pick<CrawlPorts, 'ledger' | 'clock'>
}): Promise<void> {
  const { ledger, clock } = ports
  const maxDepth = run.scope.maxDepth ?? Infinity
  for await (const rows of walkRows(ledger, run.sourceId, { state: 'skipped', reason: 'page-cap' })) {
    const unseen = rows.filter(
      ({ crawlId, hasPage, depth }) => crawlId !== run.crawlId && !hasPage && depth <= maxDepth,
    )
    const finds = unseen.map((row) => refuseRow(row, UNNAMED))
    if (finds.length > 0) await ledger.offer(run.sourceId, run.crawlId, finds, clock.now())
  }
}

const UNNAMED: Refusal = { reason: 'unlinked', pattern: null, target: null }

function refuseRow({ key, url, host, depth, foundOn, discovery }: LedgerRow, refusal: Refusal): FoundAddress {
  return { key, url, host, depth, foundOn, discovery, refusal }
}

/** From this many pages on, losing more than half of the source is too much. */
const MIN_MAJORITY_LOSS = 3

/** Whether removing this many pages needs the consent of the user. */
export function isHeavyLoss(
  { lossPages, lossShare }: Pick<CrawlRun['limits'], 'lossPages' | 'lossShare'>,
  removable: number,
  pages: number,
): boolean {
  const isMajority = removable >= MIN_MAJORITY_LOSS && removable * 2 > pages
  return isMajority || (removable > lossPages && removable > pages * lossShare)
}

/** The ending of a stopped crawl, from the abort reason. */
export function describeStop(reason: unknown): Ending {
  const problem = reason instanceof Error ? reason.message : 'stopped'
  return { end: reason instanceof StallError ? 'failed' : 'cancelled', problem, removed: 0, withheld: 0 }
}

/** Whether pages that this crawl did not find are no longer linked: everything that could lead to them was read. */
export async function isConclusive(active: ActiveCrawl): Promise<boolean> {
  const { run, counts } = active
  if (
    run.kind !== 'recrawl' ||
    counts.cappedAt !== null ||
    run.isScopeChanged ||
    (await findIncompleteReason(active)) !== null
  )
    return false
  const start = await findStart(active)
  // A start that did not respond says nothing about the site.
  return start !== undefined && (isRead(start) || isAbsent(start.reason))
}

/**
 * Returns why a missing address proves nothing, as text; null if it proves that the page is gone. Reads the ledger, because a resumed crawl
 * has no other memory of earlier outcomes.
 */
async function findIncompleteReason(active: ActiveCrawl): Promise<string | null> {
  const { run, ports, sharing } = active
  const { incomplete } = active.counts
  if (incomplete !== null || run.kind !== 'recrawl') return incomplete
  // A resumed or shared crawl does not know which addresses had no room before.
  const mayBeFull = run.isResumed || (await sharing.readJoinedCounts(true)).overflow > 0
  const isFull = mayBeFull && (await ports.ledger.countLedger(run.sourceId)).total >= run.limits.ledgerRows
  if (isFull) return `the source has reached its limit of ${run.limits.ledgerRows} addresses`
  if (!run.followsLinks) return null
  const unread = await ports.ledger.findUnread(run.sourceId, run.crawlId, INCONCLUSIVE_REASONS)
  if (unread === undefined) return null
  const { url, reason } = unread
  if (reason === 'page-cap') return `the page cap left out some pages, such as ${url}`
  return reason === 'too-many-links'
    ? `${url}: not all links were read`
    : `${url} could not be read (${reason?.replace(/^http-/, '').replaceAll('-', ' ')})`
}

/** Returns the row that the redirects of the start lead to. */
async function findStart({ run, ports, site }: ActiveCrawl): Promise<LedgerRow | undefined> {
  let key = site.addressFilter.keyOf(run.startUrl)
  let row: LedgerRow | undefined
  for (let step = 0; key !== undefined && step <= run.limits.redirects; step++) {
    row = await ports.ledger.findRow(run.sourceId, key)
    if (row?.reason !== 'redirect' || row.target === null) return row
    key = row.target
  }
  return row
}

/** Returns why a crawl cannot count as completed: some addresses are open or missing from the counts. */
export function findImbalance({ total, states }: LedgerCounts): string | null {
  const sum = Object.values(states).reduce((all, count) => all + count, 0)
  if (sum !== total) return `${total} addresses are known and ${sum} accounted for`
  const open = states.pending + states.leased
  return open > 0 ? `${open} addresses were not visited` : null
}

/** Returns why a crawl was useless: it could not start, every page failed, or nothing is stored. */
async function findUselessReason(
  { run, refusal, counts, ports }: ActiveCrawl,
  { visited, failed, provenGone }: ProcessCounts,
  start: LedgerRow | undefined,
): Promise<Reason | null> {
  if (refusal !== null) return refusal
  // A retry whose addresses fail again is still a valid result.
  if (run.kind === 'retry') return null
  // Pages that the interrupted run had read count for the resumed run.
  const hasAllFailed = visited > 0 && failed + provenGone === visited && !(run.isResumed && counts.pagesTaken > 0)
  const { states } = await ports.ledger.countLedger(run.sourceId)
  const hasNothing = run.kind !== 'refresh' && states.indexed + states.unchanged === 0
  return hasAllFailed || hasNothing ? (start?.reason ?? 'empty') : null
}

function describeUseless(
  { run, refusalDetail }: ActiveCrawl,
  { visited }: Pick<ProcessCounts, 'visited'>,
  reason: Reason,
  start: LedgerRow | undefined,
): string {
  if (refusalDetail !== null) return `${run.startUrl}: ${reason}, ${refusalDetail}`
  if (start?.reason !== reason)
    return `${run.startUrl}: ${reason}${visited > 1 ? `, none of ${visited} pages was read` : ''}`
  const why = [reason, start.pattern, start.detail].filter((part) => part !== null).join(', ')
  return `${start.url}: ${start.state} (${why})`
}
