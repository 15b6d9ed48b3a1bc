import type { JobView } from '../library/dispatch/dispatcher.ts'
import type { ProgressFrame } from '../library/dispatch/frames.ts'
import { writeJobItem } from '../library/dispatch/job-item.ts'
import type { JobEntry } from '../library/job-log.ts'
import { isoOf, isoOrNull } from './time.ts'

/** A job in all its details. */
export function jobRecord(job: JobView): Record<string, unknown> {
  return {
    ...writeJobItem(job),
    args: job.args,
    startUrl: job.url,
    createdAt: isoOf(job.createdAt),
    endedAt: isoOrNull(job.endedAt),
    crawlId: job.crawlId,
    sourceId: job.sourceId,
    problem: job.problem,
    code: job.code,
    signal: job.signal,
    metrics: metricsOf(job.progress, job.rates),
    lastProgress: job.progress,
  }
}

const STILL: JobView['rates'] = {
  requestsPerSec: 0,
  downloadsPerSec: 0,
  errorRatePerMin: 0,
  bytesPerSec: 0,
  cacheHitRatio: 0,
}

/** The same of one that only the history knows. */
export function endedRecord(job: JobEntry): Record<string, unknown> {
  const { id, url, args, status, createdAt, startedAt, endedAt, crawlId, sourceId, problem, progress } = job
  return {
    id,
    pid: job.process?.pid ?? null,
    url,
    startedAt: isoOrNull(startedAt),
    paused: false,
    visited: progress?.visited ?? 0,
    downloaded: progress?.downloaded ?? 0,
    errors: progress?.errors ?? 0,
    queueSize: progress?.queueSize ?? 0,
    lastActivityAt: isoOrNull(endedAt ?? startedAt),
    status,
    stage: endedAt === null ? 'queued' : 'ended',
    stageChangedAt: isoOf(endedAt ?? startedAt ?? createdAt),
    args,
    startUrl: url,
    createdAt: isoOf(createdAt),
    endedAt: isoOrNull(endedAt),
    crawlId,
    sourceId,
    problem,
    code: null,
    signal: null,
    metrics: metricsOf(progress, STILL),
    lastProgress: progress,
  }
}

/** Where a job stands, as the feed tells it. Before its process has said anything, nothing has happened yet. */
export function writeProgress({ id, progress, stage, paused }: JobView): Record<string, unknown> {
  return { ...(progress ?? BEFORE), paused, running: true, stage, jobId: id }
}

const BEFORE = { visited: 0, downloaded: 0, found: 0, saved: 0, errors: 0, bytes: 0, queueSize: 0 }

function metricsOf(progress: ProgressFrame | null, rates: JobView['rates']): Record<string, number> {
  const { visited, downloaded, found, saved, errors, queueSize, bytes } = progress ?? BEFORE
  return { visited, downloaded, found, saved, errors, queueSize, bytes, ...rates }
}

/** A job in the list of queues. */
export function queueRecord(job: JobEntry): Record<string, unknown> {
  const { id, url, status, events } = job
  return {
    id,
    url,
    pid: job.process?.pid ?? null,
    startedAt: isoOrNull(job.startedAt),
    endedAt: isoOrNull(job.endedAt),
    status,
    events,
    lastEventAt: isoOrNull(job.lastEventAt),
  }
}
