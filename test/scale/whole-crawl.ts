import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import { ActiveCrawl } from '../../src/crawl/active-crawl.ts'
import { EventQueue } from '../../src/crawl/event-queue.ts'
import { Frontier } from '../../src/crawl/frontier.ts'
import type { Ledger, Visit } from '../../src/crawl/ledger.ts'
import { ActivityCounter } from '../../src/crawl/observe-crawl.ts'
import { type CrawlPorts, type CrawlRun, DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { countSettled } from '../../src/crawl/visit/settle-visit.ts'
import { visitPage } from '../../src/crawl/visit/visit.ts'
import type { CrawlParts, RunningCrawl } from './process.ts'

/** Makes visits with the whole engine of the program: frontier, robots.txt, pacer, visits, retries. */
export function crawlWhole(parts: CrawlParts): RunningCrawl {
  const { time, visitLedger, fetcher, random, visits, hosts, source, deliver } = parts
  let requests = 0
  const ports: CrawlPorts = {
    // Visits use no other part of the ledger.
    ledger: visitLedger as unknown as Ledger,
    fetcher,
    readPage: () => Promise.reject(new TypeError('no page is read, because every response is unchanged')),
    clock: {
      now: () => time.now,
      sleep: (ms) => new Promise((resolve) => time.at(time.now + ms, () => deliver(resolve))),
    },
    random,
    newId: () => `${++requests}`,
    kindOf: () => Promise.resolve('unknown'),
    moveSite: () => Promise.resolve(),
    touch: () => Promise.resolve(true),
    end: () => Promise.resolve(),
  }
  const active = new ActiveCrawl(createRun(source, visits, hosts), ports, {
    signal: new AbortController().signal,
    events: new EventQueue(),
    activity: new ActivityCounter(),
  })
  // The simulation does not read events.
  active.events.close()
  const frontier = new Frontier(active)
  const all = Array.from({ length: visits }, () => visitOneByOne(active, frontier))
  // Closing the frontier also releases visits that were leased meanwhile.
  const done = Promise.all(all).then(() => frontier.close())
  return { done, stop: () => void frontier.close() }
}

/** Makes visits like `visit-site.ts`, without events. */
async function visitOneByOne(active: ActiveCrawl, frontier: Frontier): Promise<void> {
  for (;;) {
    const visit = await frontier.next()
    if (visit === undefined) return
    const isPage = await visitOne(active, visit)
    active.requests.largeVisits.release(visit)
    frontier.finishVisit(isPage)
  }
}

async function visitOne(active: ActiveCrawl, visit: Visit): Promise<boolean> {
  const { ledger } = active.ports
  const result = await visitPage(active, visit)
  if (result === undefined) {
    await ledger.release([visit])
    return false
  }
  return countSettled(active, result.settlement, await ledger.settle(result.settlement), 0)
}

function createRun(source: string, concurrency: number, hosts: number): CrawlRun {
  const startUrl = `https://${source}.example/`
  return {
    crawlId: source,
    sourceId: source,
    kind: 'refresh',
    isResumed: false,
    startUrl,
    siteUrl: startUrl,
    seeds: [],
    scope: DEFAULT_SCOPE,
    isScopeChanged: false,
    llmsTxtUrl: null,
    llmsFull: 'off',
    usesLlmsTxt: false,
    usesSitemaps: false,
    followsLinks: false,
    full: false,
    acceptLoss: false,
    discover: false,
    maxAgeMs: 0,
    maxAgeMsOf: {},
    headers: {},
    render: 'http',
    limits: { ...DEFAULT_CRAWL_LIMITS, concurrency, hosts },
  }
}
