import { PharosError } from '../../core/errors.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import type { Library, SourceState } from '../library.ts'
import type { Job, JobProgress, Jobs } from '../ports/jobs.ts'
import type { Crawl } from '../ports/store.ts'
import type { Source } from '../source.ts'
import { describeSource, FILTER_REASONS, type SourceDescription } from './describe-source.ts'
import { matchSources } from './find-source.ts'
import type { Shortfall } from './shortfall.ts'
import {
  capOf,
  hasRecentHeartbeat,
  listWaiting,
  readRunningStatus,
  type SourceReport,
  totalPages,
} from './source-status.ts'

/** State of a crawl; a running one without heartbeats is `interrupted`. */
export type CrawlState = Crawl['state'] | 'interrupted'

/** A crawl in a list. */
export interface CrawlEntry {
  readonly source: Source
  readonly crawlId: string
  readonly kind: CrawlKind
  readonly state: CrawlState
  readonly startedAt: number
  readonly endedAt: number | null
  /** Duration so far, or in total. */
  readonly elapsedMs: number
  /** Why the crawl failed or was stopped, in words. */
  readonly problem: string | null
  /** Why the crawl could read nothing; null if it read something or the reason is unknown. */
  readonly reason: Reason | null
}

/** Report on a crawl of a source, during or after it. */
export interface CrawlReport
  extends Pick<
    SourceReport,
    'source' | 'status' | 'isRunning' | 'pages' | 'chunks' | 'waiting' | 'wider' | 'documentation'
  > {
  /** Null if the source was never crawled. */
  readonly crawl: CrawlEntry | null
  readonly progress: JobProgress
  /** The page cap that was reached; null if none was. */
  readonly cappedAt: number | null
  /** Known addresses left unread because of the cap, or because the crawl stopped. */
  readonly unread: number
  /** Why missing pages were kept; null if they were not, or none can be missing. */
  readonly incomplete: string | null
  /** Missing pages of the source after its last crawl; null for earlier crawls, or if none are known. */
  readonly shortfall: Shortfall | null
  /** What was wrong with the lists of the site, in words. */
  readonly listFaults: readonly string[]
  /** Addresses still to be visited. */
  readonly pending: number
  /** Failed pages that are empty until a browser runs their scripts; not counted while the crawl runs in this process. */
  readonly needsRendering: number
}

/** Reports on the crawl of a source that runs in this process, otherwise on the requested or last one in the library. */
export async function describeCrawl(
  library: SourceState & Pick<Library, 'vectors'>,
  jobs: Jobs,
  source: Source,
  limit: number,
  requestedId?: string,
): Promise<CrawlReport> {
  // A queued crawl is named by its job id.
  const crawlId = requestedId === undefined ? undefined : (jobs.find(requestedId)?.crawlId ?? requestedId)
  const job = jobs.list().find((one) => one.sourceId === source.id && one.crawlId === (crawlId ?? one.crawlId))
  if (job !== undefined && job.endedAt === null) return describeJob(library, source, job, limit)
  const description = await describeSource(library, source, limit)
  const { status, isRunning, pages, chunks, balance } = description
  const { crawl: last } = description
  const crawl = crawlId === undefined || last?.id === crawlId ? last : await findCrawl(library, source, crawlId)
  const isLast = crawl?.id === last?.id
  // If the end could not be written, for example on a full disk, only the job knows the problem.
  const problem = job === undefined ? null : problemOf(job)
  const withdrawn =
    crawl === null && job !== undefined && problem !== null ? withdrawnEntry(source, job, problem) : null
  return {
    source,
    status: withdrawn === null ? status : 'ERROR',
    isRunning: isRunning && isLast,
    crawl: crawl === null ? withdrawn : entryOf(library, source, crawl, problem),
    progress: isLast || crawl === null ? progressOf(description) : pastProgress(crawl),
    pages,
    chunks,
    cappedAt: crawl?.summary?.cappedAt ?? null,
    unread: crawl?.summary?.unread ?? (isLast && !isRunning ? balance.pending : 0),
    incomplete: crawl === null ? null : incompleteOf(crawl),
    waiting: isLast ? description.waiting : [],
    shortfall: isLast ? description.shortfall : null,
    wider: crawl?.summary?.wider ?? null,
    listFaults: crawl?.summary?.listFaults ?? [],
    documentation: description.documentation,
    pending: balance.pending,
    needsRendering: description.reasons['failed/needs-rendering'] ?? 0,
  }
}

/** Why a crawl kept the pages that it did not find; null if it had no such reason. */
export function incompleteOf({ kind, summary }: Pick<Crawl, 'kind' | 'summary'>): string | null {
  return kind === 'recrawl' ? (summary?.incomplete ?? null) : null
}

/** Lists crawls of all sources, newest first. */
export async function listCrawls(library: SourceState, limit: number): Promise<CrawlEntry[]> {
  const entries: CrawlEntry[] = []
  for (const source of await library.store.listSources()) {
    const crawls = await library.store.listCrawls(source.id, limit)
    for (const crawl of crawls) entries.push(entryOf(library, source, crawl, null))
  }
  return entries.sort((a, b) => b.startedAt - a.startedAt).slice(0, limit)
}

/** Finds the source of a crawl. */
export async function findCrawlSource(library: Pick<Library, 'store'>, jobs: Jobs, crawlId: string): Promise<Source> {
  const sources = await library.store.listSources()
  const job = jobs.find(crawlId)
  for (const source of sources) {
    if (job?.sourceId === source.id) return source
    const crawls = await library.store.listCrawls(source.id, Number.MAX_SAFE_INTEGER)
    if (crawls.some(({ id }) => id === crawlId)) return source
  }
  if (job?.source !== undefined && problemOf(job) !== null) return job.source
  throw new PharosError('CRAWL_UNKNOWN', { crawl: crawlId, library: library.store.location })
}

/** Finds a source that is not in the library, because its first crawl, which ended within the last hour, could read nothing. */
export function findWithdrawn(jobs: Jobs, text: string): Source | undefined {
  const failed = jobs.list().filter((job) => job.endedAt !== null && problemOf(job) !== null)
  return matchSources(
    failed.flatMap(({ source }) => source ?? []),
    text,
  )[0]
}

function problemOf({ error, summary }: Job): string | null {
  return error ?? summary?.problem ?? null
}

/** The failed crawl of a source that was not kept. */
function withdrawnEntry(source: Source, { crawlId, startedAt, endedAt, summary }: Job, problem: string): CrawlEntry {
  return {
    ...{ source, crawlId, kind: 'add', state: 'failed', startedAt, endedAt },
    elapsedMs: (endedAt ?? startedAt) - startedAt,
    problem: `${problem}; the source was not added`,
    reason: summary?.uselessReason ?? null,
  }
}

async function findCrawl({ store }: Pick<Library, 'store'>, source: Source, crawlId: string): Promise<Crawl | null> {
  const crawls = await store.listCrawls(source.id, Number.MAX_SAFE_INTEGER)
  return crawls.find(({ id }) => id === crawlId) ?? null
}

async function describeJob(
  library: Pick<Library, 'clock' | 'store'>,
  source: Source,
  job: Job,
  limit: number,
): Promise<CrawlReport> {
  const { store, clock } = library
  const [crawl = null] = await store.listCrawls(source.id, 1)
  const kind = crawl?.kind ?? 'add'
  const { errorUrls, filteredUrls, ...counts } = job.progress
  const { pagesCrawled: indexed, pagesSkipped: unchanged, errors: failed } = counts
  const pending = counts.pagesTotal - indexed - unchanged - failed
  const progress = {
    ...counts,
    pagesTotal: totalPages({ indexed, unchanged, failed }, pending, capOf(source, crawl?.options.scope)),
    errorUrls: errorUrls.slice(0, limit),
    filteredUrls: filteredUrls.slice(0, limit),
  }
  return {
    source,
    status: await readRunningStatus(library, source.id, job.crawlId),
    isRunning: true,
    crawl: {
      source,
      crawlId: job.crawlId,
      kind,
      state: 'running',
      startedAt: job.startedAt,
      endedAt: null,
      elapsedMs: clock.now() - job.startedAt,
      problem: null,
      reason: null,
    },
    progress,
    ...(await store.countContent(source.id)),
    cappedAt: null,
    unread: 0,
    incomplete: null,
    waiting: await listWaiting(library, source),
    shortfall: null,
    wider: null,
    listFaults: [],
    documentation: [],
    needsRendering: 0,
    pending,
  }
}

function entryOf(
  { clock, runner, limits }: Pick<Library, 'clock' | 'limits' | 'runner'>,
  source: Source,
  crawl: Crawl,
  error: string | null,
): CrawlEntry {
  const { id: crawlId, kind, startedAt, endedAt, heartbeatAt, summary } = crawl
  const isOpen = crawl.state === 'running'
  const isAbandoned = crawl.runner !== null && runner.isGone(crawl.runner)
  const isAlive = isOpen && !isAbandoned && hasRecentHeartbeat(crawl, clock.now(), limits.aliveMs)
  const lastActiveAt = isAlive ? clock.now() : (endedAt ?? heartbeatAt)
  return {
    source,
    crawlId,
    kind,
    state: isOpen && !isAlive ? 'interrupted' : crawl.state,
    startedAt,
    endedAt,
    elapsedMs: summary?.elapsedMs ?? Math.max(0, lastActiveAt - startedAt),
    problem: summary?.problem ?? error,
    reason: summary?.uselessReason ?? null,
  }
}

/** Derives the progress of a crawl from the ledger. */
function progressOf(description: SourceDescription): JobProgress {
  const { source, crawl, isRunning, balance, reasons, errors, filtered, settled } = description
  const cap = isRunning ? capOf(source, crawl?.options.scope) : null
  return {
    pagesCrawled: settled.indexed,
    pagesSkipped: settled.unchanged,
    pagesTotal: totalPages(settled, balance.pending, cap),
    errors: settled.failed,
    errorUrls: errors.flatMap(({ url, reason, detail, crawlId }) =>
      crawlId !== crawl?.id
        ? []
        : {
            url,
            reason: [reason, detail].filter((part) => part !== null).join(', '),
          },
    ),
    filtered: FILTER_REASONS.reduce((sum, reason) => sum + (reasons[`skipped/${reason}`] ?? 0), description.kept),
    filteredUrls: filtered.map(({ url, reason, pattern }) => ({ url, reason: reason ?? 'refused', pattern })),
  }
}

/** Progress of an earlier crawl from its summary; its problem addresses are no longer known. */
function pastProgress({ summary }: Crawl): JobProgress {
  const { indexed = 0, unchanged = 0, failed = 0 } = summary ?? {}
  const pagesTotal = indexed + unchanged + failed
  return {
    pagesCrawled: indexed,
    pagesSkipped: unchanged,
    pagesTotal,
    errors: failed,
    errorUrls: [],
    filtered: 0,
    filteredUrls: [],
  }
}
