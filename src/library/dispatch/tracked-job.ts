import { maskFields } from '../../core/secrets.ts'
import { looseKey } from '../../core/url/key.ts'
import type { JobRecord, JobStatus } from '../job-log.ts'
import { FILTER_REASONS } from '../operations/describe-source.ts'
import type { CrawlOrder, JobView } from './dispatcher.ts'
import { type ErrorFrame, NO_PROGRESS, type NoteFrame, type ProgressFrame, type QueueFrame } from './frames.ts'
import { createRateMeter, type RateMeter } from './job-rates.ts'
import type { CrawlProcess, ProcessMark } from './runner.ts'

/** A job as a dispatcher keeps it while it waits, runs, or ended a moment ago. */
export interface TrackedJob {
  readonly id: string
  readonly order: CrawlOrder
  readonly createdAt: number
  status: JobStatus
  stage: JobView['stage']
  stageChangedAt: number
  startedAt: number | null
  endedAt: number | null
  /** Whether it was asked to pause; what its process says about it comes later. */
  paused: boolean
  lastActivityAt: number | null
  crawlId: string | null
  sourceId: string | null
  problem: string | null
  code: number | null
  signal: string | null
  restarts: number
  /** How often in a row its process was started again and came to nothing. */
  vainStarts: number
  progress: ProgressFrame | null
  /** Where it stood when its last process but one ended. */
  carried: ProgressFrame | null
  /** When its progress was last given to the log. */
  progressKeptAt: number
  /** When it was last said in words how far it is, and how far that was. */
  saidAt: number
  saidVisited: number
  /** What it has reached: each milestone is told once, however often its process is started. */
  readonly milestones: Set<string>
  /** The process that runs it, or ran it last. */
  mark: ProcessMark | null
  /** Its process; null while none runs. */
  child: CrawlProcess | null
  /** How many requests its process was told to have in flight at most; 0 before that. */
  share: number
  /** Whether it goes on elsewhere: what becomes of its process here is not its end. */
  isLeft: boolean
  /** How it was asked to end. */
  askedEnd: 'stopped' | 'cancelled' | null
  /** The last line of its process that is about trouble. */
  lastWords: string | null
  /** Aborted when its process says something, or is gone. */
  heard: AbortController
  /** Aborted when it has ended, or is asked to while it waits for its next process. */
  readonly over: AbortController
  readonly meter: RateMeter
  /** What its processes here have done, and how fast they go; others may take part. */
  own: Done
  /** The same without what its last process has done. */
  ownBefore: Done
  readonly ownMeter: RateMeter
  readonly trouble: Trouble
  readonly waiters: (() => void)[]
}

/** What was done by processes of a worker. */
export interface Done {
  readonly visits: number
  readonly bytes: number
}

interface Trouble {
  readonly errorUrls: JobView['trouble']['errorUrls'][number][]
  filtered: number
  readonly filteredUrls: JobView['trouble']['filteredUrls'][number][]
}

/** So many addresses are remembered of each kind. */
const MAX_LISTED = 20

/** Reasons for which the scope refuses an address; the contract has its own word for one of them. */
const FILTERS: ReadonlySet<string> = new Set([...FILTER_REASONS, 'off-domain'])

const NOTHING_DONE: Done = { visits: 0, bytes: 0 }

/** A job that waits: a new one, or one that an earlier server left. */
export function createTrackedJob(id: string, order: CrawlOrder, now: number, left?: JobRecord): TrackedJob {
  return {
    id,
    order,
    createdAt: left?.createdAt ?? now,
    status: 'queued',
    stage: 'queued',
    stageChangedAt: now,
    startedAt: left?.startedAt ?? null,
    endedAt: null,
    paused: left?.progress?.paused ?? false,
    lastActivityAt: null,
    crawlId: left?.crawlId ?? null,
    sourceId: left?.sourceId ?? order.sourceId ?? null,
    problem: null,
    code: null,
    signal: null,
    restarts: left?.restarts ?? 0,
    vainStarts: 0,
    progress: left?.progress ?? null,
    carried: left?.progress ?? null,
    progressKeptAt: now,
    saidAt: now,
    saidVisited: left?.progress?.visited ?? 0,
    milestones: new Set(),
    mark: left?.process ?? null,
    child: null,
    share: 0,
    isLeft: false,
    askedEnd: null,
    lastWords: null,
    heard: new AbortController(),
    over: new AbortController(),
    meter: createRateMeter(),
    own: NOTHING_DONE,
    ownBefore: NOTHING_DONE,
    ownMeter: createRateMeter(),
    trouble: { errorUrls: [], filtered: 0, filteredUrls: [] },
    waiters: [],
  }
}

/** Whether an order is for what a job crawls, into the same library. */
export function isSameStart(
  order: CrawlOrder,
  { order: other, sourceId }: Pick<TrackedJob, 'order' | 'sourceId'>,
): boolean {
  if (libraryOf(order) !== libraryOf(other)) return false
  return order.sourceId === undefined || sourceId === null
    ? looseKey(order.url) === looseKey(other.url)
    : order.sourceId === sourceId
}

function libraryOf({ args }: CrawlOrder): string | undefined {
  return args.find((arg) => arg.startsWith('--db='))
}

/** What tells a milestone from others of a job. */
export function milestoneKey({ kind, scope, target }: NoteFrame): string {
  return JSON.stringify([kind, scope, target])
}

/** Notes that a job has come to a stage. */
export function setStage(job: TrackedJob, stage: JobView['stage'], now: number): void {
  job.stage = stage
  job.stageChangedAt = now
}

/** Where a job stands, as the log keeps it: with what was asked of it, which its process may not have heard of yet. */
export function keptProgress({ progress, paused }: TrackedJob): ProgressFrame | null {
  if (progress === null) return paused ? { ...NO_PROGRESS, paused } : null
  return { ...progress, paused }
}

/** Where a job stands by what its process reports. One that goes on with a crawl counts from nothing; the job does not. */
export function addCarried({ carried }: TrackedJob, progress: ProgressFrame): ProgressFrame {
  if (carried === null || carried.crawlId === null || carried.crawlId !== progress.crawlId) return progress
  return {
    ...progress,
    visited: carried.visited + progress.visited,
    downloaded: carried.downloaded + progress.downloaded,
    found: carried.found + progress.found,
    saved: carried.saved + progress.saved,
    unchanged: carried.unchanged + progress.unchanged,
    skipped: carried.skipped + progress.skipped,
    errors: carried.errors + progress.errors,
    bytes: carried.bytes + progress.bytes,
  }
}

/** Notes a page that could not be had. */
export function noteError({ trouble }: TrackedJob, { url, kind, code, message }: ErrorFrame): void {
  if (trouble.errorUrls.length >= MAX_LISTED) return
  const reason = message ?? (code === null ? kind : `${kind}, answered ${code}`)
  trouble.errorUrls.push({ url, reason })
}

/** Notes an address that the scope refused, if that is what a change of the queue is. */
export function noteFiltered({ trouble }: TrackedJob, { action, url, reason }: QueueFrame): void {
  if (action !== 'drop' || reason === null || !FILTERS.has(reason)) return
  trouble.filtered++
  if (trouble.filteredUrls.length < MAX_LISTED) trouble.filteredUrls.push({ url, reason })
}

/** A job as others see it. */
export function viewOf(job: TrackedJob, now: number): JobView {
  const { id, order, child, meter, trouble } = job
  const { errorUrls, filtered, filteredUrls } = trouble
  return {
    id,
    url: maskFields(order.url),
    args: order.args.map(maskFields),
    pid: (child?.mark ?? (job.endedAt === null ? null : job.mark))?.pid ?? null,
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

/** A job as the log keeps it. */
export function recordOf(job: TrackedJob): JobRecord {
  const { id, order, mark, status, createdAt, startedAt, endedAt, crawlId, sourceId, restarts, problem } = job
  return {
    id,
    url: order.url,
    args: order.args,
    process: mark,
    status,
    createdAt,
    startedAt,
    endedAt,
    crawlId,
    sourceId,
    restarts,
    progress: keptProgress(job),
    problem,
  }
}
