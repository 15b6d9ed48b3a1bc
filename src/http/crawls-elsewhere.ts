import { looseKey } from '../core/url/key.ts'
import type { JobView } from '../library/dispatch/dispatcher.ts'
import type { JobItem } from '../library/dispatch/job-item.ts'
import type { Library } from '../library/library.ts'
import { reportSource } from '../library/operations/source-status.ts'
import type { Source } from '../library/source.ts'
import type { HttpPorts } from './ports.ts'
import { withLibraryOr } from './store-access.ts'
import { isoOf } from './time.ts'

/** A crawl that another process runs on the same library. It is watched from here, and ended where it was begun. */
export interface ElsewhereItem extends JobItem {
  readonly elsewhere: true
  readonly sourceId: string
}

/** The crawls of other processes. */
export interface CrawlsElsewhere {
  list(): Promise<readonly ElsewhereItem[]>
  /** Those that were found last: looked for anew after a while, without anybody waiting for it. */
  readonly latest: readonly ElsewhereItem[]
}

/** What was found is good for so long: many look at the list each second, and looking is some work for each source. */
const FRESH_MS = 2000

/** Creates them. */
export function createCrawlsElsewhere(ports: HttpPorts, freshMs: number = FRESH_MS): CrawlsElsewhere {
  let latest: readonly ElsewhereItem[] = []
  let found: Promise<readonly ElsewhereItem[]> | undefined
  let foundAt = Number.NEGATIVE_INFINITY
  const look = async (): Promise<readonly ElsewhereItem[]> => {
    latest = await withLibraryOr(
      ports,
      (library) => findOthers(library, ports.dispatcher.list()),
      // Those that ran a moment ago.
      () => latest,
    )
    return latest
  }
  const list = () => {
    if (found === undefined || performance.now() - foundAt >= freshMs) {
      foundAt = performance.now()
      found = look()
    }
    return found
  }
  return {
    list,
    get latest() {
      // Whoever waits for the list is told what went wrong.
      list().catch(() => undefined)
      return latest
    },
  }
}

async function findOthers(library: Library, jobs: readonly JobView[]): Promise<ElsewhereItem[]> {
  const items: ElsewhereItem[] = []
  const known = new Set(jobs.map(({ crawlId }) => crawlId))
  const running = (await library.store.listRunning()).filter(({ id }) => !known.has(id))
  if (running.length === 0) return items
  const sources = new Map((await library.store.listSources()).map((source) => [source.id, source]))
  for (const crawl of running) {
    const source = sources.get(crawl.sourceId)
    if (source === undefined || jobs.some((job) => isOf(job, source))) continue
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

/** Whether a job is about a source, also before its process has said which one it crawls. */
function isOf({ crawlId, sourceId, url }: JobView, source: Source): boolean {
  if (sourceId === source.id) return true
  return crawlId === null && sourceId === null && looseKey(url) === looseKey(source.url)
}
