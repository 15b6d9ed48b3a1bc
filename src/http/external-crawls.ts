import { isoOf } from '../core/text/iso-time.ts'
import { looseKey } from '../core/url/key.ts'
import type { JobView } from '../library/jobs/dispatcher.ts'
import type { JobItem } from '../library/jobs/job-item.ts'
import type { Library, SourceState } from '../library/library.ts'
import type { Source } from '../library/source.ts'
import { reportSource } from '../library/sources/source-status.ts'
import type { HttpPorts } from './ports.ts'
import { withLibraryOr } from './server/store-access.ts'

/** A crawl that another process runs on the same library. This server can show it but not stop it. */
export interface ExternalCrawl extends JobItem {
  readonly elsewhere: true
  /** Pages that are new or changed, and those found unchanged. */
  readonly saved: number
  readonly unchanged: number
  readonly sourceId: string
}

/** The crawls of other processes. */
export interface ExternalCrawls {
  list(): Promise<readonly ExternalCrawl[]>
  /** The last known crawls. Reading this starts a refresh once the cache has expired, without waiting for it. */
  readonly latest: readonly ExternalCrawl[]
}

/** How long the list stays cached: clients poll it every second, and each refresh costs work per source. */
const CACHE_TTL_MS = 2000

/** Creates the cached list of crawls in other processes. */
export function createExternalCrawls(ports: HttpPorts, cacheTtlMs: number = CACHE_TTL_MS): ExternalCrawls {
  let latest: readonly ExternalCrawl[] = []
  let cached: Promise<readonly ExternalCrawl[]> | undefined
  let cachedAt = Number.NEGATIVE_INFINITY
  const refresh = async (): Promise<readonly ExternalCrawl[]> => {
    latest = await withLibraryOr(
      ports,
      (library) => findExternalCrawls(library, ports.dispatcher.list()),
      // On failure, the last known crawls are returned.
      () => latest,
    )
    return latest
  }
  const list = () => {
    if (cached === undefined || performance.now() - cachedAt >= cacheTtlMs) {
      cachedAt = performance.now()
      cached = refresh()
    }
    return cached
  }
  return {
    list,
    get latest() {
      // Callers that await `list()` get the error, so this background refresh ignores it.
      list().catch(() => undefined)
      return latest
    },
  }
}

async function findExternalCrawls(
  library: SourceState & Pick<Library, 'vectors'>,
  jobs: readonly JobView[],
): Promise<ExternalCrawl[]> {
  const items: ExternalCrawl[] = []
  const known = new Set(jobs.map(({ crawlId }) => crawlId))
  const running = (await library.store.listRunning()).filter(({ id }) => !known.has(id))
  if (running.length === 0) return items
  const sources = new Map((await library.store.listSources()).map((source) => [source.id, source]))
  for (const crawl of running) {
    const source = sources.get(crawl.sourceId)
    if (source === undefined || jobs.some((job) => isJobOfSource(job, source))) continue
    const { isRunning, balance } = await reportSource(library, source)
    if (!isRunning) continue
    const { pending, indexed, unchanged, failed, gone } = balance
    items.push({
      id: crawl.id,
      pid: null,
      url: source.url,
      startedAt: isoOf(crawl.startedAt),
      paused: false,
      visited: indexed + unchanged + failed + gone,
      downloaded: indexed + unchanged,
      saved: indexed,
      unchanged,
      errors: failed,
      queueSize: pending,
      lastActivityAt: isoOf(crawl.heartbeatAt),
      status: 'running',
      stage: 'running',
      stageChangedAt: isoOf(crawl.startedAt),
      elsewhere: true,
      sourceId: source.id,
    })
  }
  return items
}

/** Whether a job crawls this source, even before its process has reported a source id. */
function isJobOfSource({ crawlId, sourceId, url }: JobView, source: Source): boolean {
  if (sourceId === source.id) return true
  return crawlId === null && sourceId === null && looseKey(url) === looseKey(source.url)
}
