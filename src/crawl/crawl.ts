import { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEvent } from './events.ts'
import { finishCrawl, isConclusive } from './finish.ts'
import { Frontier } from './frontier.ts'
import type { Reason, Visit } from './ledger.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { visitPage } from './visit.ts'

const PROGRESS_MS = 250
const HEARTBEAT_MS = 5000

/**
 * Crawls a source and tells what happens. Ends with the event `ended`, whatever becomes of it; an aborted signal stops it at
 * the next good place. Every address is in the ledger with its state and reason before anything is told about it.
 */
export async function* crawl(
  run: CrawlRun,
  ports: CrawlPorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  // Whoever stops reading stops the crawl.
  const stop = new AbortController()
  const active = new ActiveCrawl(run, ports, AbortSignal.any([signal, stop.signal]))
  active.events.push({ type: 'started', crawlId: run.crawlId, kind: run.kind, isResumed: run.isResumed })
  const work = runCrawl(active, stop).finally(() => active.events.close())
  try {
    yield* active.events
    await work
  } finally {
    stop.abort()
    active.events.close()
    await work.catch(() => undefined)
  }
}

async function runCrawl(active: ActiveCrawl, stop: AbortController): Promise<void> {
  const ended = new AbortController()
  // A failure of the watch is none of the crawl, and is never left without anybody who takes note of it.
  const watch = watchOver(active, stop, ended.signal).catch(() => undefined)
  let problem: unknown
  try {
    await begin(active)
    await visitAll(active)
    if (active.refusal === null && (await active.discoverLate())) await visitAll(active)
    while (active.refusal === null && (await requeueOrphans(active))) await visitAll(active)
    if (active.refusal !== null) await putBack(active, active.refusal)
  } catch (error) {
    problem = error
  } finally {
    ended.abort()
    await watch
  }
  if (problem !== undefined && !active.signal.aborted) throw problem
  active.events.push({ type: 'ended', summary: await finishCrawl(active) })
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
    active.current.add(visit.url)
    let isPage = false
    try {
      isPage = await visitOne(active, visit)
    } finally {
      active.current.delete(visit.url)
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

/** Tells the progress and that the crawl is alive, until it ends. A crawl that was taken over stops. */
async function watchOver(active: ActiveCrawl, stop: AbortController, ended: AbortSignal): Promise<void> {
  const { clock, touch } = active.ports
  let beatAt = clock.now() + HEARTBEAT_MS
  while (!ended.aborted) {
    await clock.sleep(PROGRESS_MS, ended).catch(() => undefined)
    if (ended.aborted) return
    // A count or a sign of life that fails is one that is missed: the store may be busy, and the next one is due soon.
    const progress = await active.progress().catch(() => undefined)
    if (progress !== undefined) active.events.push({ type: 'progress', ...progress })
    if (clock.now() < beatAt) continue
    beatAt = clock.now() + HEARTBEAT_MS
    const isOurs = await touch().catch(() => true)
    if (!isOurs) stop.abort(new Error('another process has taken the crawl over'))
  }
}
