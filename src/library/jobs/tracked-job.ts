import { maskSecretFields } from '../../core/secrets.ts'
import { looseKey } from '../../core/url/key.ts'
import type { JobRecord } from '../ports/job-log.ts'
import { FILTER_REASONS } from '../sources/describe-source.ts'
import type { CrawlRequest, JobView } from './dispatcher.ts'
import { type ErrorFrame, NO_PROGRESS, type NoteFrame, type ProgressFrame, type QueueFrame } from './events/frames.ts'
import { createRateMeter, type RateMeter } from './job-rates.ts'
import type { CrawlProcess, ProcessIdentity } from './runner.ts'

type Changing<T> = { -readonly [Name in keyof T]: T[Name] }

/** A queued, running or recently ended job of a dispatcher. */
export interface TrackedJob
  extends Changing<Omit<JobView, 'id' | 'url' | 'args' | 'pid' | 'createdAt' | 'rates' | 'trouble'>> {
  readonly id: string
  readonly request: CrawlRequest
  readonly createdAt: number
  /** Whether a pause was requested; the process confirms it later. */
  paused: boolean
  /** Consecutive restarts without progress. */
  fruitlessRestarts: number
  /** Progress at the end of the previous process. */
  earlierProgress: ProgressFrame | null
  /** When progress was last sent to the feed as a line of text. */
  progressLoggedAt: number
  /** Number of visits in that line. */
  loggedVisits: number
  /** Milestones already reported, so that a restarted process does not report them again. */
  readonly milestones: Set<string>
  /** The current or last process. */
  processIdentity: ProcessIdentity | null
  /** Null while no process runs. */
  child: CrawlProcess | null
  /** Maximum number of concurrent requests that the process was last told; 0 before that. */
  share: number
  /** Whether the job continues elsewhere, so that the end of this process is not its end. */
  isHandedOver: boolean
  /** Status that the job gets when it ends by request; null if no end was requested. */
  requestedEnd: 'stopped' | 'cancelled' | null
  /** Last line on stderr. */
  lastErrorLine: string | null
  /** Aborted on output or the end of the process. */
  silenceAbort: AbortController
  /** Aborted when the job has ended, or must end while waiting for a restart. */
  readonly endAbort: AbortController
  readonly meter: RateMeter
  /** Work of this worker's processes for the job; other workers may take part in it. */
  ownWork: WorkCounts
  /** Work of this worker's earlier processes, without the current one. */
  earlierOwnWork: WorkCounts
  readonly ownMeter: RateMeter
  readonly trouble: Trouble
  readonly waiters: (() => void)[]
}

/** Work done by processes of a worker. */
export interface WorkCounts {
  readonly visits: number
  readonly bytes: number
}

interface Trouble {
  readonly errorUrls: JobView['trouble']['errorUrls'][number][]
  filtered: number
  readonly filteredUrls: JobView['trouble']['filteredUrls'][number][]
}

/** Maximum number of addresses listed per kind. */
const MAX_LISTED = 20

/** Reasons for which the scope refuses an address. The HTTP API and the frames say `off-domain` instead of `off-site`. */
const FILTERS: ReadonlySet<string> = new Set([...FILTER_REASONS, 'off-domain'])

const NO_WORK: WorkCounts = { visits: 0, bytes: 0 }

/** Creates a queued job, new or from the record of an earlier server. */
export function createTrackedJob(id: string, request: CrawlRequest, now: number, record?: JobRecord): TrackedJob {
  return {
    id,
    request,
    createdAt: record?.createdAt ?? now,
    status: 'queued',
    stage: 'queued',
    stageChangedAt: now,
    startedAt: record?.startedAt ?? null,
    endedAt: null,
    paused: record?.progress?.paused ?? false,
    lastActivityAt: null,
    crawlId: record?.crawlId ?? null,
    sourceId: record?.sourceId ?? request.sourceId ?? null,
    problem: null,
    code: record?.code ?? null,
    signal: record?.signal ?? null,
    restarts: record?.restarts ?? 0,
    fruitlessRestarts: 0,
    progress: record?.progress ?? null,
    earlierProgress: record?.progress ?? null,
    progressLoggedAt: now,
    loggedVisits: record?.progress?.visited ?? 0,
    milestones: new Set(),
    processIdentity: record?.process ?? null,
    child: null,
    share: 0,
    isHandedOver: false,
    requestedEnd: null,
    lastErrorLine: null,
    silenceAbort: new AbortController(),
    endAbort: new AbortController(),
    meter: createRateMeter(),
    ownWork: NO_WORK,
    earlierOwnWork: NO_WORK,
    ownMeter: createRateMeter(),
    trouble: { errorUrls: [], filtered: 0, filteredUrls: [] },
    waiters: [],
  }
}

/** Whether a request targets the same source and library as a job. */
export function isSameStart(
  request: CrawlRequest,
  { request: other, sourceId }: Pick<TrackedJob, 'request' | 'sourceId'>,
): boolean {
  if (libraryOf(request) !== libraryOf(other)) return false
  return request.sourceId === undefined || sourceId === null
    ? looseKey(request.url) === looseKey(other.url)
    : request.sourceId === sourceId
}

function libraryOf({ args }: CrawlRequest): string | undefined {
  return args.find((arg) => arg.startsWith('--db='))
}

/** Identity of a milestone within a job. */
export function milestoneKey({ kind, scope, target }: NoteFrame): string {
  return JSON.stringify([kind, scope, target])
}

/** Sets the stage of a job and the time of the change. */
export function setStage(job: TrackedJob, stage: JobView['stage'], now: number): void {
  job.stage = stage
  job.stageChangedAt = now
}

/** Progress as stored in the log, including a requested pause that the process may not have confirmed. */
export function createStoredProgress({ progress, paused }: TrackedJob): ProgressFrame | null {
  if (progress === null) return paused ? { ...NO_PROGRESS, paused } : null
  return { ...progress, paused }
}

/** Adds the progress of earlier processes, because a process that resumes a crawl counts from zero. */
export function addEarlierProgress({ earlierProgress }: TrackedJob, progress: ProgressFrame): ProgressFrame {
  if (earlierProgress === null || earlierProgress.crawlId === null || earlierProgress.crawlId !== progress.crawlId)
    return progress
  return {
    ...progress,
    visited: earlierProgress.visited + progress.visited,
    downloaded: earlierProgress.downloaded + progress.downloaded,
    found: earlierProgress.found + progress.found,
    saved: earlierProgress.saved + progress.saved,
    unchanged: earlierProgress.unchanged + progress.unchanged,
    skipped: earlierProgress.skipped + progress.skipped,
    errors: earlierProgress.errors + progress.errors,
    bytes: earlierProgress.bytes + progress.bytes,
  }
}

/** Records a page that could not be fetched or stored. */
export function noteError({ trouble }: TrackedJob, { url, kind, code, message }: ErrorFrame): void {
  if (trouble.errorUrls.length >= MAX_LISTED) return
  const reason = message ?? (code === null ? kind : `${kind}, answered ${code}`)
  trouble.errorUrls.push({ url, reason })
}

/** Records an address that the scope refused; ignores other queue changes. */
export function noteFiltered({ trouble }: TrackedJob, { action, url, reason }: QueueFrame): void {
  if (action !== 'drop' || reason === null || !FILTERS.has(reason)) return
  trouble.filtered++
  if (trouble.filteredUrls.length < MAX_LISTED) trouble.filteredUrls.push({ url, reason })
}

/** Creates the public view of a job, with secrets masked. */
export function viewOf(job: TrackedJob, now: number): JobView {
  const { id, request, child, meter, trouble } = job
  const { errorUrls, filtered, filteredUrls } = trouble
  return {
    id,
    url: maskSecretFields(request.url),
    args: request.args.map(maskSecretFields),
    pid: (child?.identity ?? (job.endedAt === null ? null : job.processIdentity))?.pid ?? null,
    status: job.status,
    stage: job.stage,
    stageChangedAt: job.stageChangedAt,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    paused: job.paused,
    lastActivityAt: job.lastActivityAt,
    crawlId: job.crawlId,
    sourceId: job.sourceId,
    problem: job.problem,
    code: job.code,
    signal: job.signal,
    restarts: job.restarts,
    progress: job.progress,
    rates: meter.read(now),
    trouble: { errorUrls: [...errorUrls], filtered, filteredUrls: [...filteredUrls] },
  }
}

/** Creates the record of a job for the log. */
export function recordOf(job: TrackedJob): JobRecord {
  const { id, request, processIdentity, status, createdAt, startedAt, endedAt, crawlId, sourceId, restarts } = job
  return {
    id,
    url: request.url,
    args: request.args,
    process: processIdentity,
    status,
    createdAt,
    startedAt,
    endedAt,
    crawlId,
    sourceId,
    restarts,
    progress: createStoredProgress(job),
    problem: job.problem,
    code: job.code,
    signal: job.signal,
  }
}
