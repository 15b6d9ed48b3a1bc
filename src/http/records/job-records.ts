import { maskSecretFields } from '../../core/secrets.ts'
import { isoOf, isoOrNull } from '../../core/text/iso-time.ts'
import type { Dispatcher, JobView } from '../../library/jobs/dispatcher.ts'
import type { ProgressFrame } from '../../library/jobs/events/frames.ts'
import { writeJobItem } from '../../library/jobs/job-item.ts'
import type { JobEntry } from '../../library/ports/job-log.ts'
import type { ExternalCrawl } from '../external-crawls.ts'

/** A job in all its details. */
export function jobRecord(job: JobView): Record<string, unknown> {
  return {
    ...writeJobItem(job),
    args: job.args,
    startUrl: job.url,
    createdAt: isoOf(job.createdAt),
    endedAt: isoOrNull(job.endedAt),
    crawlId: job.crawlId,
    problem: job.problem,
    code: job.code,
    signal: job.signal,
    metrics: metricsOf(job.progress, job.rates),
    lastProgress: job.progress,
  }
}

const NO_RATES: JobView['rates'] = {
  requestsPerSec: 0,
  downloadsPerSec: 0,
  errorRatePerMin: 0,
  bytesPerSec: 0,
  cacheHitRatio: 0,
}

/** A job that only the history knows, in the form of {@link jobRecord}. */
export function endedRecord(job: JobEntry): Record<string, unknown> {
  const { id, status, createdAt, startedAt, endedAt, crawlId, sourceId, problem, code, signal, progress } = job
  const [url = '', ...args] = [job.url, ...job.args].map(maskSecretFields)
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
    code,
    signal,
    metrics: metricsOf(progress, NO_RATES),
    lastProgress: progress,
  }
}

/** A crawl of another process in the form of {@link jobRecord}, as far as the library knows the crawl. */
export function externalCrawlRecord(item: ExternalCrawl): Record<string, unknown> {
  const { id, url, startedAt, visited, downloaded, saved, errors, queueSize } = item
  return {
    ...item,
    args: [],
    startUrl: url,
    createdAt: startedAt,
    endedAt: null,
    crawlId: id,
    problem: null,
    code: null,
    signal: null,
    metrics: { ...metricsOf(null, NO_RATES), visited, downloaded, saved, errors, queueSize },
    lastProgress: null,
  }
}

/** The progress of a job as the feed reports it. Before its process has reported anything, all counts are 0. */
export function progressRecord({ id, progress, stage, paused }: JobView): Record<string, unknown> {
  return { ...(progress ?? NO_COUNTS), paused, running: true, stage, jobId: id }
}

const NO_COUNTS = { visited: 0, downloaded: 0, found: 0, saved: 0, errors: 0, bytes: 0, queueSize: 0, unread: 0 }

function metricsOf(progress: ProgressFrame | null, rates: JobView['rates']): Record<string, number> {
  const { visited, downloaded, found, saved, errors, queueSize, unread = 0, bytes } = progress ?? NO_COUNTS
  return { visited, downloaded, found, saved, errors, queueSize, unread, bytes, ...rates }
}

/** A job in the list of queues. */
export function queueRecord(job: JobEntry, dispatcher: Pick<Dispatcher, 'find'>): Record<string, unknown> {
  const { id, url, status, events, sourceId, problem, progress } = job
  return {
    id,
    url: maskSecretFields(url),
    pid: job.process?.pid ?? null,
    startedAt: isoOrNull(job.startedAt),
    endedAt: isoOrNull(job.endedAt),
    status,
    saved: progress?.saved ?? 0,
    unchanged: progress?.unchanged ?? 0,
    errors: progress?.errors ?? 0,
    unread: progress?.unread ?? 0,
    sourceId,
    problem,
    paused: dispatcher.find(id)?.paused ?? false,
    events,
    lastEventAt: isoOrNull(job.lastEventAt),
  }
}
