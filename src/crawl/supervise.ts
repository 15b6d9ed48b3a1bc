import { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlSummary } from './events.ts'
import { ActivityCounter, type ObservedCrawl, observeCrawl } from './observe-crawl.ts'
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

/** The run that a supervisor watches. */
type SupervisedRun = Pick<CrawlRun, 'crawlId' | 'kind' | 'isResumed' | 'limits'>

/** Watches a crawl: waits while the store cannot be written, and stops a crawl that makes no progress. */
export class Supervisor<P extends RunPorts = RunPorts> {
  /** Ports whose writes wait until they succeed. */
  readonly ports: P
  /** Aborted when the crawl must stop. */
  readonly signal: AbortSignal
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly activity: ActivityCounter = new ActivityCounter()
  readonly storeRetry: StoreRetry
  readonly #run: SupervisedRun
  readonly #stop = new AbortController()

  constructor(run: SupervisedRun, ports: P, signal: AbortSignal) {
    this.#run = run
    this.signal = AbortSignal.any([signal, this.#stop.signal])
    this.storeRetry = new StoreRetry({
      clock: ports.clock,
      signal: this.signal,
      maxWaitMs: (cause) => (cause === 'disk-full' ? run.limits.fullMs : run.limits.pauseMs),
      tell: (event) => this.events.push(event),
      giveUp: (problem) => this.#stop.abort(new Error(problem)),
    })
    this.ports = withStoreRetry(ports, this.storeRetry)
  }

  /**
   * Runs a crawl to its end and yields its events; the last event is always `ended`. An aborted signal stops the crawl at the next safe
   * point. `finish` creates the summary.
   */
  async *run<C extends SupervisedCrawl>(
    active: C,
    work: (active: C) => Promise<void>,
    finish: (active: C) => Promise<CrawlSummary>,
  ): AsyncGenerator<CrawlEvent, void, void> {
    const { events } = this
    const { crawlId, kind, isResumed } = this.#run
    events.push({ type: 'started', crawlId, kind, isResumed })
    const end = this.#runToEnd(active, work, finish).finally(() => events.close())
    // The consumer gets a failure only after all earlier events, which may take long; until then the rejection must count as handled.
    end.catch(() => undefined)
    try {
      yield* events
      await end
    } finally {
      // A consumer that stops reading the events stops the crawl.
      this.#stop.abort()
      events.close()
      await end.catch(() => undefined)
    }
  }

  async #runToEnd<C extends SupervisedCrawl>(
    active: C,
    work: (active: C) => Promise<void>,
    finish: (active: C) => Promise<CrawlSummary>,
  ): Promise<void> {
    const { storeRetry, activity, events } = this
    const ended = new AbortController()
    // A failure of the observation is no failure of the crawl, and must not become an unhandled rejection.
    const observed = { active, storeRetry, activity, stop: this.#stop }
    const observation = observeCrawl(observed, ended.signal).catch(() => undefined)
    const pauseReports = reportPauses(active, ended.signal)
    let summary: CrawlSummary
    try {
      await withGrace(active, workUntilStopped(work(active), active.signal))
      summary = await conclude(active, () => finish(active))
    } finally {
      ended.abort()
      await observation
      await pauseReports
    }
    // A short crawl may end before its first progress event.
    const progress = await active.progress().catch(() => undefined)
    if (progress !== undefined) events.push({ type: 'progress', ...progress })
    events.push({ type: 'ended', summary })
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

/** Waits for the work. Ignores errors of a crawl that is being stopped. */
async function workUntilStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
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
async function conclude(
  { ports, signal }: SupervisedCrawl,
  finish: () => Promise<CrawlSummary>,
): Promise<CrawlSummary> {
  try {
    const summary = await finish()
    await ports.end(summary)
    return summary
  } catch (error) {
    if (!signal.aborted) throw error
  }
  // The crawl was stopped while it finished. If its end still cannot be written, the next run finds the crawl interrupted, as it should.
  const summary = await finish()
  await ports.end(summary).catch((error: unknown) => {
    if (causeOf(error) === undefined) throw error
  })
  return summary
}
