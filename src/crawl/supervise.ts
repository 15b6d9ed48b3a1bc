import type { CrawlEvent, CrawlSummary } from './events.ts'
import { causeOf, createPatientLedger, Patience } from './patience.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { Pulse, type Watched, type WatchedCrawl, watchOver } from './watch.ts'

/** How long a crawl that was stopped waits for what is under way. Whatever comes later finds that the crawl is over. */
const GRACE_MS = 10_000

/** What every crawl needs of the outside world, whatever it reads. */
export type RunPorts = Pick<CrawlPorts, 'ledger' | 'clock' | 'control' | 'touch' | 'end'>

/** A crawl while it runs, as far as whoever runs it has to know it. */
export interface SupervisedCrawl extends WatchedCrawl {
  readonly ports: RunPorts
  readonly signal: AbortSignal
}

/** What a crawl that begins is given. */
export interface Supervisor {
  readonly signal: AbortSignal
  readonly patience: Patience
  readonly pulse: Pulse
}

/** A crawl that is to be run. */
export interface Supervision<C extends SupervisedCrawl, P extends RunPorts> {
  readonly run: Pick<CrawlRun, 'crawlId' | 'kind' | 'isResumed' | 'limits'>
  readonly ports: P
  /** Begins it with ports whose writes wait until they are possible. */
  readonly open: (ports: P, supervisor: Supervisor) => C
  readonly work: (active: C) => Promise<void>
  /** Adds up what it came to. */
  readonly finish: (active: C) => Promise<CrawlSummary>
}

/**
 * Runs a crawl and tells what happens. Ends with the event `ended`, whatever becomes of it; an aborted signal stops it at the next
 * good place. While the store cannot be written, the crawl waits.
 */
export async function* supervise<C extends SupervisedCrawl, P extends RunPorts>(
  supervision: Supervision<C, P>,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const { run, ports } = supervision
  // Whoever stops reading stops the crawl.
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const patience = new Patience({
    clock: ports.clock,
    signal: either,
    pauseMs: (cause) => (cause === 'disk-full' ? run.limits.fullMs : run.limits.pauseMs),
    tell: (event) => active.events.push(event),
    giveUp: (problem) => stop.abort(new Error(problem)),
  })
  const pulse = new Pulse()
  const active = supervision.open(withPatience(ports, patience), { signal: either, patience, pulse })
  active.events.push({ type: 'started', crawlId: run.crawlId, kind: run.kind, isResumed: run.isResumed })
  const work = runToEnd(supervision, { active, patience, pulse, stop }).finally(() => active.events.close())
  // Whoever reads learns of a failure when everything before it has been read, which may be long after.
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

/** The same ports, whose writes wait until they are possible. A sign of life does not: there will be another. */
function withPatience<P extends RunPorts>(ports: P, patience: Patience): P {
  return {
    ...ports,
    ledger: createPatientLedger(ports.ledger, patience),
    end: (summary: CrawlSummary) => patience.keep(() => ports.end(summary)),
  }
}

async function runToEnd<C extends SupervisedCrawl, P extends RunPorts>(
  supervision: Supervision<C, P>,
  watched: Watched & { readonly active: C },
): Promise<void> {
  const { active } = watched
  const ended = new AbortController()
  // A failure of the watch is none of the crawl, and is never left without anybody who takes note of it.
  const watch = watchOver(watched, ended.signal).catch(() => undefined)
  const told = tellPauses(active, ended.signal)
  let summary: CrawlSummary
  try {
    await withGrace(active, workUntilStopped(supervision, active))
    summary = await conclude(supervision, active)
  } finally {
    ended.abort()
    await watch
    await told
  }
  // A crawl may be over before it was looked at for the first time.
  const progress = await active.progress().catch(() => undefined)
  if (progress !== undefined) active.events.push({ type: 'progress', ...progress })
  active.events.push({ type: 'ended', summary })
}

/** Tells when the crawl is paused, and when it goes on. */
async function tellPauses({ ports, events }: SupervisedCrawl, ended: AbortSignal): Promise<void> {
  const { control, clock } = ports
  let since: number | undefined
  while (control !== undefined && !ended.aborted) {
    const now = clock.now()
    if (control.isPaused && since === undefined) {
      since = now
      events.push({ type: 'paused', cause: 'requested', detail: 'somebody asked for it' })
    } else if (!control.isPaused && since !== undefined) {
      events.push({ type: 'resumed', cause: 'requested', pausedMs: now - since })
      since = undefined
    }
    // One that cannot say when it changes would be asked for ever.
    const isTold = await control.changed(ended).then(
      () => true,
      () => false,
    )
    if (!isTold) return
  }
}

/** Does the work. What goes wrong in a crawl that is being stopped anyway is no news. */
async function workUntilStopped<C extends SupervisedCrawl, P extends RunPorts>(
  { work }: Supervision<C, P>,
  active: C,
): Promise<void> {
  try {
    await work(active)
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
}

/** Waits for work, but not for long when it is to stop and does not: a promise that nobody keeps must not hold up the end. */
async function withGrace({ signal, ports }: SupervisedCrawl, work: Promise<void>): Promise<void> {
  const isDone = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: isDone.signal })
    if (signal.aborted) resolve()
  })
  const late = stopped.then(() => ports.clock.sleep(GRACE_MS, isDone.signal)).catch(() => undefined)
  try {
    await Promise.race([work, late])
  } finally {
    isDone.abort()
  }
}

/** Adds up and writes that the crawl is over, before anybody is told. */
async function conclude<C extends SupervisedCrawl, P extends RunPorts>(
  { finish }: Supervision<C, P>,
  active: C,
): Promise<CrawlSummary> {
  try {
    const summary = await finish(active)
    await active.ports.end(summary)
    return summary
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
  // It was stopped while it finished, or cannot write that it was: then it looks interrupted to the next one, as it is.
  const summary = await finish(active)
  await active.ports.end(summary).catch((error: unknown) => {
    if (causeOf(error) === undefined) throw error
  })
  return summary
}
