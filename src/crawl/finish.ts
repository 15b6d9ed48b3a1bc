import { urlKey } from '../core/url/key.ts'
import type { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEnd, CrawlSummary } from './events.ts'
import type { LedgerCounts, LedgerRow, Reason } from './ledger.ts'

/** Ends a crawl: removes what it proved gone, as far as that is allowed, and adds up. */
export async function finishCrawl(active: ActiveCrawl): Promise<CrawlSummary> {
  const { run, ports } = active
  const start = await findStart(active)
  let end: CrawlEnd = 'completed'
  let problem: string | null = null
  let removed = 0
  let withheld = 0
  if (active.signal.aborted) {
    end = 'cancelled'
    problem = describeStop(active.signal.reason)
  } else {
    const isComplete = await isConclusive(active)
    const { removable, pages } = await ports.ledger.countRemovable(run.sourceId, run.crawlId, isComplete)
    const { lossPages, lossShare } = run.limits
    if (!run.acceptLoss && removable > lossPages && removable > pages * lossShare) {
      end = 'gate'
      withheld = removable
      problem = `${removable} of ${pages} pages were not found any more`
    } else {
      removed = await ports.ledger.removeProven(run.sourceId, run.crawlId, isComplete, ports.clock.now())
    }
  }
  const ledger = await ports.ledger.countLedger(run.sourceId)
  if (end === 'completed') {
    problem = findProblem(run.kind, ledger, start)
    if (problem !== null) end = 'failed'
  }
  const { visited, indexed, unchanged, skipped, failed, newInRefresh, bytes, requests, cappedAt } = active
  return {
    crawlId: run.crawlId,
    kind: run.kind,
    end,
    ledger,
    visited,
    indexed,
    unchanged,
    skipped,
    failed,
    removed,
    withheld,
    cappedAt,
    incomplete: active.incomplete,
    newInRefresh,
    bytes,
    requests,
    elapsedMs: ports.clock.now() - active.startedAt,
    problem,
  }
}

/** Whether a page that was not found in this crawl is really not there: everything was looked at that could lead to it. */
export async function isConclusive(active: ActiveCrawl): Promise<boolean> {
  const { run, cappedAt, incomplete } = active
  if (run.kind !== 'recrawl' || cappedAt !== null || run.isScopeChanged || incomplete !== null) return false
  const start = await findStart(active)
  if (start === undefined) return false
  const { state, reason } = start
  // A start that answered with something else than a page says nothing about the site behind it.
  return state === 'indexed' || state === 'unchanged' || (reason !== null && READ.has(reason) && state === 'skipped')
}

/** Why a page that was read is not kept at its address. */
const READ: ReadonlySet<Reason> = new Set<Reason>(['noindex', 'canonical', 'duplicate', 'covered'])

/** The row that holds what the start led to. */
async function findStart({ run, ports }: ActiveCrawl): Promise<LedgerRow | undefined> {
  let key = urlKey(run.startUrl)
  let row: LedgerRow | undefined
  for (let step = 0; key !== undefined && step <= run.limits.redirects; step++) {
    row = await ports.ledger.findRow(run.sourceId, key)
    if (row?.reason !== 'redirect' || row.target === null) return row
    key = row.target
  }
  return row
}

/** What forbids to call a crawl completed. */
function findProblem(kind: string, ledger: LedgerCounts, start: LedgerRow | undefined): string | null {
  const { total, states } = ledger
  const sum = Object.values(states).reduce((all, count) => all + count, 0)
  if (sum !== total) return `${total} addresses are known and ${sum} accounted for`
  if (states.pending + states.leased > 0) return `${states.pending + states.leased} addresses were not visited`
  if (kind !== 'add' && kind !== 'recrawl') return null
  if (states.indexed + states.unchanged > 0) return null
  if (start === undefined) return 'the start is not known'
  const why = [start.reason, start.pattern, start.detail].filter((part) => part !== null).join(', ')
  return `${start.url}: ${start.state}${why === '' ? '' : ` (${why})`}`
}

function describeStop(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'stopped'
}
