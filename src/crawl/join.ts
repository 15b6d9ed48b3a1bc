import { ActiveCrawl } from './active-crawl.ts'
import { visitAll } from './crawl.ts'
import type { CrawlEvent, CrawlSummary } from './events.ts'
import { describeStop, type Ending } from './finish.ts'
import { createPatientPorts } from './patience.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import type { SharedCrawl } from './sharing.ts'
import { type Supervisor, supervise } from './supervise.ts'

/** Whoever takes part in a crawl leaves when there was nothing to do for it for so long. */
const LEAVE_AFTER_MS = 3000

/** What is known of a crawl that this process takes part in. */
export interface Partaking {
  /** As it was when this process came. */
  readonly shared: SharedCrawl
  /** Says that this process is alive. What is known by now; undefined when the crawl is over. */
  readonly look: () => Promise<SharedCrawl | undefined>
}

/**
 * Takes part in a crawl that another process has begun: makes visits on hosts that are free, and nothing else. Ends with the event
 * `ended`, which tells what this process has done, when there is nothing to do for it any more.
 */
export function joinCrawl(
  run: CrawlRun,
  ports: Omit<CrawlPorts, 'touch'>,
  { shared, look }: Partaking,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const over = new AbortController()
  let active: ActiveCrawl | undefined
  // That a crawl is over is no failure of those who took part in it.
  const touch = async (): Promise<boolean> => {
    const now = await look()
    // Whoever knows the site at another place judges its addresses wrongly.
    if (now?.siteUrl !== shared.siteUrl) over.abort()
    else if (active !== undefined) active.isFullKnown = now.isFullKnown
    return true
  }
  const open = (patient: CrawlPorts, { signal: either, patience, pulse }: Supervisor) => {
    active = new ActiveCrawl(run, pulse.watch(createPatientPorts(patient, patience)), either, shared)
    return active
  }
  const work = (active: ActiveCrawl) => visitAll(active, { leaveAfterMs: LEAVE_AFTER_MS, leaves: over.signal })
  return supervise({ run, ports: { ...ports, touch }, open, work, finish: addUp }, signal)
}

const AT_EASE: Ending = { end: 'completed', problem: null, removed: 0, withheld: 0 }

async function addUp(active: ActiveCrawl): Promise<CrawlSummary> {
  const { run, ports, signal, incomplete, startedAt, refusal } = active
  const { provenGone: _, ...done } = active.done
  await active.pacer.forgetFailures()
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

/** Whoever may not reach the site is of no help; those who may go on. */
function describeEnd({ refusal, refusalDetail }: ActiveCrawl): Ending {
  return refusal === null ? AT_EASE : { ...AT_EASE, end: 'failed', problem: refusalDetail ?? refusal }
}
