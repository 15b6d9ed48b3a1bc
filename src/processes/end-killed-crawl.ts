import type { ProcessIdentity } from '../library/jobs/runner.ts'
import type { Library } from '../library/library.ts'
import { runnerIdOf } from './runner.ts'

/** Number of recent crawls of a source among which a crawl is searched by its id. */
export const MAX_RECENT_CRAWLS = 10

/** Ends a crawl whose process died without ending it, unless another process has resumed the crawl. */
export async function endKilledCrawl(
  { store, clock }: Pick<Library, 'clock' | 'store'>,
  sourceId: string,
  crawlId: string,
  processIdentity: ProcessIdentity | null,
): Promise<void> {
  if (processIdentity === null) return
  const found = (await store.listCrawls(sourceId, MAX_RECENT_CRAWLS)).find(({ id }) => id === crawlId)
  const runner = runnerIdOf(processIdentity.pid)
  if (found?.state === 'running' && found.runner === runner) await store.endCrawl(crawlId, null, clock.now(), runner)
}
