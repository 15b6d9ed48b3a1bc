import type { CrawlEvent, CrawlSummary } from './events.ts'
import { ActivityCounter, type ObservedCrawl, type ObservedRun, observeCrawl } from './observe-crawl.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { causeOf, createRetryingLedger, StoreRetry } from './store-retry.ts'

/** Grace period for work in progress after a crawl was stopped. Writes after this period fail, because the crawl has ended. */
const SHUTDOWN_GRACE_MS = 10_000

/** The ports that every crawl needs, for sites and for files. */
export type RunPorts = Pick<CrawlPorts, 'ledger' | 'clock' | 'control' | 'touch' | 'end'>

/** The part of a running crawl that the supervisor needs. */
export interface SupervisedCrawl extends ObservedCrawl {
  readonly ports: RunPorts
  readonly signal: AbortSignal
}

/** Passed to a crawl that begins. */
export interface Supervisor {
  readonly signal: AbortSignal
  readonly storeRetry: StoreRetry
  readonly activity: ActivityCounter
}

/** A crawl to run. */
export interface SuperviseOptions<C extends SupervisedCrawl, P extends RunPorts> {
  readonly run: Pick<CrawlRun, 'crawlId' | 'kind' | 'isResumed' | 'limits'>
  readonly ports: P
  /** Opens the crawl with ports whose writes wait until they succeed. */
  readonly open: (ports: P, supervisor: Supervisor) => C
  readonly work: (active: C) => Promise<void>
  /** Creates the summary. */
  readonly finish: (active: C) => Promise<CrawlSummary>
}

/**
 * Runs a crawl and yields its events; the last event is always `ended`. An aborted signal stops the crawl at the next safe point. While the
 * store cannot be written, the crawl waits.
 */
export async function* supervise<C extends SupervisedCrawl, P extends RunPorts>(
  supervision: SuperviseOptions<C, P>,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { run, ports } = supervision
  // A consumer that stops reading the events stops the crawl.
  const stop = new AbortController()
  const crawlSignal = AbortSignal.any([signal, stop.signal])
  const storeRetry = new StoreRetry({
    clock: ports.clock,
    signal: crawlSignal,
    maxWaitMs: (cause) => (cause === 'disk-full' ? run.limits.fullMs : run.limits.pauseMs),
    tell: (event) => active.events.push(event),
    giveUp: (problem) => stop.abort(new Error(problem)),
  })
  const activity = new ActivityCounter()
  const active = supervision.open(withStoreRetry(ports, storeRetry), { signal: crawlSignal, storeRetry, activity })
  active.events.push({ type: 'started', crawlId: run.crawlId, kind: run.kind, isResumed: run.isResumed })
  const work = runToEnd(supervision, { active, storeRetry, activity, stop }).finally(() => active.events.close())
  // The consumer gets a failure only after all earlier events, which may take long; until then the rejection must count as handled.
  work.catch(() => undefined)
  try {
    yield* active.events
    await work
  } finally {
    stop.abort()
    active.events.close()
    await work.catch(() => undefined)
  }
}

/** Wraps ports so that writes wait until they succeed. The liveness signal does not wait, because another signal follows. */
function withStoreRetry<P extends RunPorts>(ports: P, storeRetry: StoreRetry): P {
  return {
    ...ports,
    ledger: createRetryingLedger(ports.ledger, storeRetry),
    end: (summary: CrawlSummary) => storeRetry.retryWrite(() => ports.end(summary)),
  }
}

async function runToEnd<C extends SupervisedCrawl, P extends RunPorts>(
  supervision: SuperviseOptions<C, P>,
  observed: ObservedRun & { readonly active: C },
): Promise<void> {
  const { active } = observed
  const ended = new AbortController()
  // A failure of the observation is no failure of the crawl, and must not become an unhandled rejection.
  const observation = observeCrawl(observed, ended.signal).catch(() => undefined)
  const pauseReports = reportPauses(active, ended.signal)
  let summary: CrawlSummary
  try {
    await withGrace(active, workUntilStopped(supervision, active))
    summary = await conclude(supervision, active)
  } finally {
    ended.abort()
    await observation
    await pauseReports
  }
  // A short crawl may end before its first progress event.
  const progress = await active.progress().catch(() => undefined)
  if (progress !== undefined) active.events.push({ type: 'progress', ...progress })
  active.events.push({ type: 'ended', summary })
}

/** Emits events when the crawl is paused and resumed. */
async function reportPauses({ ports, events }: SupervisedCrawl, ended: AbortSignal): Promise<void> {
  const { control, clock } = ports
  let since: number | undefined
  while (control !== undefined && !ended.aborted) {
    const now = clock.now()
    if (control.isPaused && since === undefined) {
      since = now
      events.push({ type: 'paused', cause: 'requested', detail: 'a user paused the crawl' })
    } else if (!control.isPaused && since !== undefined) {
      events.push({ type: 'resumed', cause: 'requested', pausedMs: now - since })
      since = undefined
    }
    // Ends if `waitForChange` rejects, because calling it again would cause an endless loop.
    const hasChanged = await control.waitForChange(ended).then(
      () => true,
      () => false,
    )
    if (!hasChanged) return
  }
}

/** Does the work. Ignores errors of a crawl that is being stopped. */
async function workUntilStopped<C extends SupervisedCrawl, P extends RunPorts>(
  { work }: SuperviseOptions<C, P>,
  active: C,
): Promise<void> {
  try {
    await work(active)
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
}

/** Waits for the work, but after a stop only for the grace period: a promise that never settles must not delay the end. */
async function withGrace({ signal, ports }: SupervisedCrawl, work: Promise<void>): Promise<void> {
  const done = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done.signal })
    if (signal.aborted) resolve()
  })
  const graceOver = stopped.then(() => ports.clock.sleep(SHUTDOWN_GRACE_MS, done.signal)).catch(() => undefined)
  try {
    await Promise.race([work, graceOver])
  } finally {
    done.abort()
  }
}

/** Writes the end of the crawl before `ended` is emitted. */
async function conclude<C extends SupervisedCrawl, P extends RunPorts>(
  { finish }: SuperviseOptions<C, P>,
  active: C,
): Promise<CrawlSummary> {
  try {
    const summary = await finish(active)
    await active.ports.end(summary)
    return summary
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
  // The crawl was stopped while it finished. If its end still cannot be written, the next run finds the crawl interrupted, as it should.
  const summary = await finish(active)
  await active.ports.end(summary).catch((error: unknown) => {
    if (causeOf(error) === undefined) throw error
  })
  return summary
}
