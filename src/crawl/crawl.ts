import { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEvent, CrawlSummary } from './events.ts'
import { finishCrawl, isConclusive } from './finish.ts'
import { Frontier } from './frontier.ts'
import type { Reason, Visit } from './ledger.ts'
import { causeOf, createPatientLedger, Patience } from './patience.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { visitPage } from './visit.ts'
import { Pulse, type Watched, watchOver } from './watch.ts'

/** How long a crawl that was stopped waits for what is under way. Whatever comes later finds that the crawl is over. */
const GRACE_MS = 10_000

/**
 * Crawls a source and tells what happens. Ends with the event `ended`, whatever becomes of it; an aborted signal stops it at
 * the next good place. Every address is in the ledger with its state and reason before anything is told about it. While the store
 * cannot be written, the crawl waits.
 */
export async function* crawl(
  run: CrawlRun,
  ports: CrawlPorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  // Whoever stops reading stops the crawl.
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const patience = new Patience({
    clock: ports.clock,
    signal: either,
    pauseMs: run.limits.pauseMs,
    tell: (event) => active.events.push(event),
    giveUp: (problem) => stop.abort(new Error(problem)),
  })
  const pulse = new Pulse()
  const active = new ActiveCrawl(run, withPatience(pulse.watch(ports), patience), either)
  active.events.push({ type: 'started', crawlId: run.crawlId, kind: run.kind, isResumed: run.isResumed })
  const work = runCrawl({ active, patience, pulse, stop }).finally(() => active.events.close())
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
function withPatience(ports: CrawlPorts, patience: Patience): CrawlPorts {
  return {
    ...ports,
    ledger: createPatientLedger(ports.ledger, patience),
    moveSite: (siteUrl) => patience.keep(() => ports.moveSite(siteUrl)),
    end: (summary) => patience.keep(() => ports.end(summary)),
  }
}

async function runCrawl(watched: Watched): Promise<void> {
  const { active } = watched
  const ended = new AbortController()
  // A failure of the watch is none of the crawl, and is never left without anybody who takes note of it.
  const watch = watchOver(watched, ended.signal).catch(() => undefined)
  let summary: CrawlSummary
  try {
    await withGrace(active, visitEverything(active))
    summary = await conclude(active)
  } finally {
    ended.abort()
    await watch
  }
  active.events.push({ type: 'ended', summary })
}

/** Makes all visits. What goes wrong in a crawl that is being stopped anyway is no news. */
async function visitEverything(active: ActiveCrawl): Promise<void> {
  try {
    await begin(active)
    await visitAll(active)
    if (active.refusal === null && (await active.discoverLate())) await visitAll(active)
    while (active.refusal === null && (await requeueOrphans(active))) await visitAll(active)
    if (active.refusal !== null) await putBack(active, active.refusal)
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
}

/** Waits for work, but not for long when it is to stop and does not: a promise that nobody keeps must not hold up the end. */
async function withGrace({ signal, ports }: ActiveCrawl, work: Promise<void>): Promise<void> {
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
async function conclude(active: ActiveCrawl): Promise<CrawlSummary> {
  try {
    const summary = await finishCrawl(active)
    await active.ports.end(summary)
    return summary
  } catch (error) {
    if (!active.signal.aborted) throw error
  }
  // It was stopped while it finished, or cannot write that it was: then it looks interrupted to the next one, as it is.
  const summary = await finishCrawl(active)
  await active.ports.end(summary).catch((error: unknown) => {
    if (causeOf(error) === undefined) throw error
  })
  return summary
}

/** Puts into the frontier what the crawl begins with. What an interrupted one left there is still there. */
async function begin(active: ActiveCrawl): Promise<void> {
  const { run, ports } = active
  const now = ports.clock.now()
  if (run.isResumed) {
    active.pagesTaken = await ports.ledger.countPages(run.sourceId, run.crawlId)
    await active.resumeStart()
    // It may have been stopped after the cap had bitten, and nothing is left that would tell.
    const { maxPages } = run.scope
    if (maxPages !== null && active.pagesTaken >= maxPages) active.cappedAt = maxPages
  }
  if (run.kind === 'refresh' || run.kind === 'retry') {
    const which = run.kind === 'refresh' ? 'pages' : 'failed'
    if (!run.isResumed) await ports.ledger.requeue(run.sourceId, run.crawlId, which, now)
    return
  }
  await active.offer([run.startUrl, ...run.seeds], { depth: 0, foundOn: null, discovery: 'manual' })
}

/** Visits until nothing is due any more. The first failure that is no outcome of a visit ends all. */
async function visitAll(active: ActiveCrawl): Promise<void> {
  const frontier = new Frontier(active)
  const workers = Array.from({ length: active.run.limits.concurrency }, () => visitOneByOne(active, frontier))
  try {
    await Promise.all(workers)
  } finally {
    await frontier.close()
    await Promise.allSettled(workers)
  }
}

async function visitOneByOne(active: ActiveCrawl, frontier: Frontier): Promise<void> {
  for (;;) {
    const visit = await frontier.next()
    if (visit === undefined) return
    active.visiting.add(visit.url)
    let isPage = false
    try {
      isPage = await visitOne(active, visit)
    } finally {
      active.visiting.delete(visit.url)
      active.largeVisits.leave(visit)
      frontier.done(isPage)
    }
    await active.events.hasRoom()
  }
}

async function visitOne(active: ActiveCrawl, visit: Visit): Promise<boolean> {
  const { ledger } = active.ports
  try {
    const result = await visitPage(active, visit)
    // Whoever forgot to allow a private site is told so, and nothing is written about the pages it has.
    const isRefused = visit.hasPage && result?.settlement.reason === 'address-refused'
    if (isRefused) active.refusal = 'address-refused'
    if (result === undefined || isRefused) {
      await ledger.release([visit])
      return false
    }
    const { settlement, bytes } = result
    const settled = await ledger.settle(settlement)
    return active.count(settlement, settled, bytes)
  } catch (error) {
    await ledger.release([visit])
    throw error
  }
}

/** Leaves the pages of a site that may not be reached as they were. */
async function putBack({ run, ports }: ActiveCrawl, reason: Reason): Promise<void> {
  await ports.ledger.skipPending(run.sourceId, reason, null, ports.clock.now(), run.crawlId)
}

/** Addresses whose content is kept under another one are read for themselves when that one holds it no longer, or is to go. */
async function requeueOrphans(active: ActiveCrawl): Promise<boolean> {
  const { run, ports, signal } = active
  if (signal.aborted) return false
  const isComplete = await isConclusive(active)
  return (await ports.ledger.requeueOrphanedAliases(run.sourceId, run.crawlId, ports.clock.now(), isComplete)) > 0
}
