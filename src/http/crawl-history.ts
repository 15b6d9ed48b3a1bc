import type { Dispatcher } from '../library/jobs/dispatcher.ts'
import type { JobItem } from '../library/jobs/job-item.ts'

/** The counters of a crawl at a point in time. */
export interface CrawlSample {
  readonly at: number
  readonly visited: number
  readonly errors: number
  readonly queueSize: number
}

/** Samples of the running crawls, in the memory of this server: a page that is reloaded shows the run from its beginning. */
export interface CrawlHistory {
  /** The samples of each running crawl, oldest first. `others` are the crawls of other processes, which are sampled whenever this is called. */
  read(others: readonly JobItem[]): readonly { readonly id: string; readonly samples: readonly CrawlSample[] }[]
  close(): void
}

/** Interval between two samples of a crawl in its first minutes. */
const SAMPLE_INTERVAL_MS = 2000
/** At this many samples of a crawl every second one is dropped, and the interval doubles: a crawl of any length fits. */
const MAX_SAMPLES = 240

/** Samples the crawls of the dispatcher as they report progress, with the time of `now`. */
export function createCrawlHistory(
  dispatcher: Pick<Dispatcher, 'list' | 'feed'>,
  now: () => number = Date.now,
): CrawlHistory {
  const crawls = new Map<string, { samples: CrawlSample[]; intervalMs: number }>()
  let sampledAt = Number.NEGATIVE_INFINITY
  /** The crawls of other processes at the last call of `read`. */
  let otherIds: ReadonlySet<string> = new Set()
  const add = (id: string, sample: CrawlSample) => {
    const crawl = crawls.get(id) ?? { samples: [], intervalMs: SAMPLE_INTERVAL_MS }
    crawls.set(id, crawl)
    const last = crawl.samples.at(-1)
    // A restarted process counts from zero.
    if (last !== undefined && sample.visited < last.visited) crawl.samples = []
    else if (last !== undefined && sample.at - last.at < crawl.intervalMs) return
    crawl.samples.push(sample)
    if (crawl.samples.length < MAX_SAMPLES) return
    crawl.samples = crawl.samples.filter((_, i) => i % 2 === 0)
    crawl.intervalMs *= 2
  }
  const listRunning = () => dispatcher.list().filter(({ status }) => status === 'running')
  const sample = () => {
    const at = now()
    if (at - sampledAt < SAMPLE_INTERVAL_MS) return
    sampledAt = at
    const running = listRunning()
    const runningIds = new Set(running.map(({ id }) => id))
    for (const id of crawls.keys()) if (!runningIds.has(id) && !otherIds.has(id)) crawls.delete(id)
    for (const { id, progress } of running) {
      if (progress === null) continue
      const { visited, errors, queueSize } = progress
      add(id, { at, visited, errors, queueSize })
    }
  }
  const unsubscribe = dispatcher.feed.listen(sample)
  return {
    read(others) {
      otherIds = new Set(others.map(({ id }) => id))
      sample()
      for (const { id, visited, errors, queueSize } of others) add(id, { at: now(), visited, errors, queueSize })
      const running = new Set([...listRunning(), ...others].map(({ id }) => id))
      return [...crawls].filter(([id]) => running.has(id)).map(([id, { samples }]) => ({ id, samples }))
    },
    close: unsubscribe,
  }
}
