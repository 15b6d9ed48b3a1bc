import { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEvent, CrawlSummary } from './events.ts'
import { describeStop, type Ending } from './finish.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import type { SharedCrawl } from './sharing.ts'
import { createRetryingPorts } from './store-retry.ts'
import { Supervisor } from './supervise.ts'
import { visitAll } from './visit/visit-site.ts'

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
export async function* joinCrawl(
  run: CrawlRun,
  ports: Omit<CrawlPorts, 'touch'>,
  { shared, heartbeat }: JoinOptions,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const leave = new AbortController()
  // Returns true even when the crawl is over, because that is no failure of a joined process.
  const touch = async (): Promise<boolean> => {
    const current = await heartbeat()
    // If the site has moved, this process would judge addresses by the wrong location, so it leaves.
    if (current?.siteUrl !== shared.siteUrl) leave.abort()
    else active.lists.isLlmsFullKnown = current.isFullKnown
    return true
  }
  const supervisor = new Supervisor(run, { ...ports, touch }, signal)
  const retryingPorts = createRetryingPorts(supervisor.ports, supervisor.storeRetry)
  const active = new ActiveCrawl(run, supervisor.activity.trackRequests(retryingPorts), supervisor, shared)
  const work = () => visitAll(active, { idleTimeoutMs: IDLE_TIMEOUT_MS, stopSignal: leave.signal })
  yield* supervisor.run(active, work, createSummary)
}

const COMPLETED_ENDING: Ending = { end: 'completed', problem: null, removed: 0, withheld: 0 }

async function createSummary(active: ActiveCrawl): Promise<CrawlSummary> {
  const { run, ports, signal, counts, requests, refusal } = active
  const { provenGone: _, ...done } = counts.ofProcess(requests.pacer.hosts.parked)
  await requests.pacer.hosts.endSlowdowns()
  return {
    crawlId: run.crawlId,
    kind: run.kind,
    ...(signal.aborted ? describeStop(signal.reason) : describeEnd(active)),
    ledger: await ports.ledger.countLedger(run.sourceId),
    ...done,
    cappedAt: null,
    incomplete: counts.incomplete,
    elapsedMs: ports.clock.now() - counts.startedAt,
    uselessReason: refusal,
  }
}

/** If this process may not reach the site, it fails alone, and the other processes continue. */
function describeEnd({ refusal, refusalDetail }: ActiveCrawl): Ending {
  return refusal === null ? COMPLETED_ENDING : { ...COMPLETED_ENDING, end: 'failed', problem: refusalDetail ?? refusal }
}
