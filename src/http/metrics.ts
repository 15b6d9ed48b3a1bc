import type { DurationHistogram } from '../core/duration-histogram.ts'
import type { Dispatcher, JobView } from '../library/jobs/dispatcher.ts'
import type { ProgressFrame } from '../library/jobs/events/frames.ts'
import type { StoreStats } from '../library/ports/store.ts'
import { isLost, type WorkerRecord } from '../library/ports/workers.ts'
import { createHistogram, writeLabels } from './histogram.ts'

/** Metrics of the server and its jobs. */
export interface Metrics {
  /** Counts one response. `route` is the route pattern, never the actual path. */
  recordResponse(method: string, route: string, status: number, ms: number): void
  /** Counts one search. */
  recordSearch(ms: number): void
  /** All metrics in the text format of Prometheus. */
  write(streams: number): Promise<string>
  close(): void
}

type Counter = 'requests' | 'downloads' | 'found' | 'saved' | 'errors'

/** The counters of a job that are already included in the totals. */
interface JobCounters extends Readonly<Record<Counter, number>> {
  /** Response times of crawled hosts. */
  readonly latencies: DurationHistogram
}

const NO_LATENCIES: DurationHistogram = { counts: [], sumMs: 0 }
const NO_COUNTERS: JobCounters = { requests: 0, downloads: 0, found: 0, saved: 0, errors: 0, latencies: NO_LATENCIES }

/** Creates the metrics. They follow jobs through the feed, so the totals keep the counts of jobs that are forgotten. */
export function createMetrics(
  dispatcher: Pick<Dispatcher, 'feed' | 'list'>,
  readStats: () => Promise<StoreStats | null>,
  readWorkers: () => Promise<readonly WorkerRecord[] | null>,
): Metrics {
  const searches = createHistogram('pharos_search_duration_seconds', 'Time that searches over HTTP take.')
  const stats = cacheStats(readStats)
  let searchCount = 0
  const responses = createHistogram(
    'http_request_duration_seconds',
    'Time until an answer was sent, or a stream ended, by route.',
  )
  const fetches = createHistogram(
    'crawler_fetch_duration_seconds',
    'Time that hosts take to begin their answers to crawls.',
  )
  const totals: Record<Counter, number> = { requests: 0, downloads: 0, found: 0, saved: 0, errors: 0 }
  let counted = new Map<string, JobCounters>()

  const countProgress = () => {
    const next = new Map<string, JobCounters>()
    for (const { id, progress } of dispatcher.list()) {
      if (progress === null) continue
      const before = counted.get(id) ?? NO_COUNTERS
      const now = toCounters(progress)
      for (const name of COUNTERS) totals[name] += counterDelta(before[name], now[name])
      fetches.add({}, latenciesSince(before.latencies, now.latencies))
      next.set(id, now)
    }
    counted = next
  }
  const stop = dispatcher.feed.listen(countProgress)
  return {
    recordResponse: (method, route, status, ms) => responses.observe({ method, route, status: String(status) }, ms),
    recordSearch(ms) {
      searchCount++
      searches.observe({}, ms)
    },
    async write(streams) {
      countProgress()
      const library = await stats()
      const workers = await readWorkers()
      const jobs = dispatcher.list()
      const running = jobs.filter(({ status }) => status === 'running')
      const waiting = jobs.filter(({ status }) => status === 'queued')
      return [
        ...writeJobs(running, totals),
        ...gauge('pharos_jobs_waiting', 'Crawls that are queued.', waiting.length),
        ...gauge('http_event_streams', 'Event streams that are open.', streams),
        ...(library === null ? [] : writeLibrary(library)),
        ...(workers === null ? [] : writeWorkers(workers)),
        ...counter('pharos_searches_total', 'Searches over HTTP.', searchCount),
        ...searches.write(),
        ...responses.write(),
        ...fetches.write(),
        '',
      ].join('\n')
    },
    close: stop,
  }
}

/** How long store statistics stay cached, because counting is expensive. */
const STATS_TTL_MS = 15_000

function cacheStats(read: () => Promise<StoreStats | null>): () => Promise<StoreStats | null> {
  let cached: Promise<StoreStats | null> | undefined
  let cachedAt = 0
  return () => {
    if (cached === undefined || performance.now() - cachedAt >= STATS_TTL_MS) {
      cachedAt = performance.now()
      cached = read()
    }
    return cached
  }
}

function writeLibrary({ bytes, sources, pages, chunks }: StoreStats): string[] {
  return [
    ...gauge('pharos_library_bytes', 'Size of the library.', bytes),
    ...gauge('pharos_sources', 'Sources of the library.', sources),
    ...gauge('pharos_pages', 'Pages of the library.', pages),
    ...gauge('pharos_chunks', 'Chunks of the library.', chunks),
  ]
}

const COUNTERS = ['requests', 'downloads', 'found', 'saved', 'errors'] as const

/** How much a counter has grown. A smaller value means that a new process started from 0. */
function counterDelta(before: number, now: number): number {
  return now >= before ? now - before : now
}

function toCounters({
  visited,
  downloaded,
  found,
  saved,
  errors,
  latencies = NO_LATENCIES,
}: ProgressFrame): JobCounters {
  return { requests: visited, downloads: downloaded, found, saved, errors, latencies }
}

/** The latencies since the last reading, or all of them when a new process started from 0. */
function latenciesSince(before: DurationHistogram, now: DurationHistogram): DurationHistogram {
  if (now.sumMs < before.sumMs) return now
  return {
    counts: now.counts.map((count, i) => counterDelta(before.counts[i] ?? 0, count)),
    sumMs: now.sumMs - before.sumMs,
  }
}

/** Two containers on one machine may have the same name and the same process ids, so the label includes the worker id. */
function labelOf({ name, id }: WorkerRecord): string {
  return `${name}/${id.slice(0, 8)}`
}

/** Metrics of each worker. A lost worker has no metrics of its own and only counts as lost. */
function writeWorkers(workers: readonly WorkerRecord[]): string[] {
  const liveWorkers = workers.filter((worker) => !isLost(worker))
  const each = (type: 'gauge' | 'counter', name: string, help: string, read: (worker: WorkerRecord) => number) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...liveWorkers.map((worker) => `${name}{${writeLabels({ worker: labelOf(worker) })}} ${read(worker)}`),
  ]
  return [
    ...gauge('pharos_workers', 'Workers that share the work of the library.', liveWorkers.length),
    ...gauge(
      'pharos_workers_lost',
      'Workers that stopped reporting in the last minute.',
      workers.length - liveWorkers.length,
    ),
    ...each('gauge', 'pharos_worker_slots', 'Crawls that a worker runs at once.', ({ slots }) => slots),
    ...each('gauge', 'pharos_worker_jobs', 'Crawls that a worker runs.', ({ jobs }) => jobs.length),
    ...each('gauge', 'pharos_worker_host_leases', 'Hosts that a worker has leased.', ({ leases }) => leases),
    ...each('counter', 'pharos_worker_visits_total', 'Visits of a worker.', ({ visits }) => visits),
    ...each('counter', 'pharos_worker_bytes_total', 'Bytes that a worker received.', ({ bytes }) => bytes),
    ...each(
      'gauge',
      'pharos_worker_visits_per_second',
      'Visits a second of a worker.',
      ({ visitsPerSec }) => visitsPerSec,
    ),
  ]
}

function writeJobs(running: readonly JobView[], totals: Readonly<Record<Counter, number>>): string[] {
  const sum = (read: (job: JobView) => number) => running.reduce((total, job) => total + read(job), 0)
  return [
    ...gauge('crawler_running', 'Crawls that run.', running.length),
    ...gauge('crawler_paused', 'Crawls that are paused.', running.filter(({ paused }) => paused).length),
    ...counter('crawler_requests_total', 'Visits that have finished.', totals.requests),
    ...counter('crawler_downloads_total', 'Answers with a body.', totals.downloads),
    ...counter('crawler_articles_found_total', 'Addresses that were found and admitted.', totals.found),
    ...counter('crawler_articles_saved_total', 'Pages that were stored.', totals.saved),
    ...counter('crawler_errors_total', 'Visits that failed.', totals.errors),
    ...gauge(
      'crawler_queue_size',
      'Addresses in the queue.',
      sum(({ progress }) => progress?.queueSize ?? 0),
    ),
    ...gauge(
      'crawler_requests_per_second',
      'Visits a second.',
      sum(({ rates }) => rates.requestsPerSec),
    ),
    ...gauge(
      'crawler_downloads_per_second',
      'Answers a second.',
      sum(({ rates }) => rates.downloadsPerSec),
    ),
    ...gauge(
      'crawler_bytes_per_second',
      'Bytes a second.',
      sum(({ rates }) => rates.bytesPerSec),
    ),
    ...gauge(
      'crawler_cache_hit_ratio',
      'Share of visits that were answered from the cache.',
      running.length === 0 ? 0 : sum(({ rates }) => rates.cacheHitRatio) / running.length,
    ),
    ...gauge(
      'crawler_error_rate_per_min',
      'Failed visits a minute.',
      sum(({ rates }) => rates.errorRatePerMin),
    ),
  ]
}

function gauge(name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`]
}

function counter(name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, `${name} ${value}`]
}
