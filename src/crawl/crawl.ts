import { ActiveCrawl } from './active-crawl.ts'
import type { CrawlEvent } from './events.ts'
import { finishCrawl } from './finish.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { createRetryingPorts } from './store-retry.ts'
import { Supervisor } from './supervise.ts'
import { visitSite } from './visit/visit-site.ts'

/**
 * Crawls a source and yields events; the last event is always `ended`. An aborted signal stops the crawl at the next safe point. The ledger
 * is written before an event about an address is emitted. While the store cannot be written, the crawl waits.
 */
export async function* crawl(
  run: CrawlRun,
  ports: CrawlPorts,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent, void, void> {
  const supervisor = new Supervisor(run, ports, signal)
  const retryingPorts = createRetryingPorts(supervisor.ports, supervisor.storeRetry)
  const active = new ActiveCrawl(run, supervisor.activity.trackRequests(retryingPorts), supervisor)
  yield* supervisor.run(active, visitSite, finishCrawl)
}
