import type { Snapshot } from '../../core/model.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import type { Visit } from '../ledger.ts'
import { PageDefect } from '../page-defect.ts'
import type { PageReading, ReadOptions } from '../ports.ts'
import type { ReadResponseOptions } from '../read-response.ts'

/** Size of a page above which its visit must acquire `largeVisits`. */
const LARGE_BODY = 2 ** 20

/** Reads a page. A page that crashes the reader must not crash the crawl, so a text that describes the problem is returned. */
export async function readSafely(
  { ports, activity, signal }: Pick<ActiveCrawl, 'ports' | 'activity' | 'signal'>,
  snapshot: Snapshot,
  key: string,
  options?: ReadOptions,
): Promise<PageReading | string> {
  try {
    return await activity.track(ports.readPage(snapshot, key, options))
  } catch (error) {
    if (signal.aborted) throw error
    return error instanceof PageDefect ? `the page ${error.message}` : 'could not be read'
  }
}

/** The reader for the response to a visit. With `auto`, a page that needed rendering once is always rendered. */
export function readerOf(
  crawl: Pick<ActiveCrawl, 'run' | 'ports' | 'activity' | 'signal' | 'site' | 'requests'>,
  visit: Visit,
): ReadResponseOptions {
  const { run, site, requests } = crawl
  return {
    render: requests.render,
    isAlwaysRendered: run.render === 'chromium',
    isShell: visit.isShell,
    read: async (snapshot, options) => {
      // The visit of a large response already has a place, but a rendered page may be larger than its response.
      if (snapshot.body.length > LARGE_BODY) await requests.largeVisits.acquire(visit)
      return readSafely(crawl, snapshot, visit.key, options)
    },
    keyOf: site.addressFilter.keyOf,
  }
}
