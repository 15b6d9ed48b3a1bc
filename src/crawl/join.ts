import { ActiveCrawl } from './active-crawl.ts'
import { visitAll } from './crawl.ts'
import type { CrawlEvent, CrawlSummary } from './events.ts'
import { describeStop, type Ending } from './finish.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import type { SharedCrawl } from './sharing.ts'
import { createRetryingPorts } from './store-retry.ts'
import { type Supervisor, supervise } from './supervise.ts'

/** A joined process leaves after this idle time. */
const IDLE_TIMEOUT_MS = 3000

/** The crawl that this process joins. */
export interface JoinOptions {
  /** State of the crawl when this process joined. */
  readonly shared: SharedCrawl
  /** Signals that this process is alive. Returns the current state; undefined when the crawl is over. */
  readonly heartbeat: () => Promise<SharedCrawl | undefined>
}

/**
 * Joins a crawl that another process started: only makes visits, on hosts that are free. Ends with the event `ended`, with the counts of
 * this process, when it has nothing left to do.
 */
export function joinCrawl(
  run: CrawlRun,
  ports: Omit<CrawlPorts, 'touch'>,
  { shared, heartbeat }: JoinOptions,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const leave = new AbortController()
  let active: ActiveCrawl | undefined
  // Returns true even when the crawl is over, because that is no failure of a joined process.
  const touch = async (): Promise<boolean> => {
    const current = await heartbeat()
    // If the site has moved, this process would judge addresses by the wrong location, so it leaves.
    if (current?.siteUrl !== shared.siteUrl) leave.abort()
    else if (active !== undefined) active.isLlmsFullKnown = current.isFullKnown
    return true
  }
  const open = (crawlPorts: CrawlPorts, { signal: crawlSignal, storeRetry, activity }: Supervisor) => {
    active = new ActiveCrawl(run, activity.countCalls(createRetryingPorts(crawlPorts, storeRetry)), crawlSignal, shared)
    return active
  }
  const work = (active: ActiveCrawl) => visitAll(active, { idleTimeoutMs: IDLE_TIMEOUT_MS, stopSignal: leave.signal })
  return supervise({ run, ports: { ...ports, touch }, open, work, finish: createSummary }, signal)
}

const COMPLETED_ENDING: Ending = { end: 'completed', problem: null, removed: 0, withheld: 0 }

async function createSummary(active: ActiveCrawl): Promise<CrawlSummary> {
  const { run, ports, signal, incomplete, startedAt, refusal } = active
  const { provenGone: _, ...done } = active.done
  await active.pacer.endSlowdowns()
  return {
    crawlId: run.crawlId,
    kind: run.kind,
    ...(signal.aborted ? describeStop(signal.reason) : describeEnd(active)),
    ledger: await ports.ledger.countLedger(run.sourceId),
    ...done,
    cappedAt: null,
    incomplete,
    elapsedMs: ports.clock.now() - startedAt,
    vainReason: refusal,
  }
}

/** If this process may not reach the site, it fails alone, and the other processes continue. */
function describeEnd({ refusal, refusalDetail }: ActiveCrawl): Ending {
  return refusal === null ? COMPLETED_ENDING : { ...COMPLETED_ENDING, end: 'failed', problem: refusalDetail ?? refusal }
}
