import { maskSecretFields } from '../../core/secrets.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import type { JobRecord } from '../../library/ports/job-log.ts'
import { createWorkerView, isLost, type WorkerRecord } from '../../library/ports/workers.ts'
import type { SourceReport } from '../../library/sources/source-status.ts'
import type { Hint } from '../library.ts'
import { countOf, printableLine, writeNumber } from '../terminal.ts'

/** The workers of a shared library, and the queued crawls. */
export interface SharedWork {
  readonly workers: readonly WorkerRecord[]
  /** Crawls that no worker has started. */
  readonly waiting: readonly JobRecord[]
}

/** Writes the current work of each worker, one per line. */
export function writeWorkerLines(workers: readonly WorkerRecord[]): string[] {
  const lostCount = workers.filter(isLost).length
  const liveCount = workers.length - lostCount
  const facts = [
    liveCount === 0 ? 'none' : writeNumber(liveCount),
    ...(lostCount === 0 ? [] : [`${writeNumber(lostCount)} lost`]),
  ]
  const width = Math.max(0, ...workers.map(({ name }) => printableLine(name).length))
  return ['', `Workers: ${facts.join(', ')}`, ...workers.map((worker) => writeWorker(worker, width))]
}

/** Writes the queued crawls, one per line. */
export function writeWaitingLines({ workers, waiting }: SharedWork, hint: Hint): string[] {
  if (waiting.length === 0) return []
  return [
    `Waiting: ${countOf(waiting.length, 'crawl')}`,
    ...waiting.slice(0, MAX_LISTED).map(({ id, url }) => `  ${printableLine(maskSecretFields(url))}, job ${id}`),
    ...(waiting.length > MAX_LISTED ? [`  and ${writeNumber(waiting.length - MAX_LISTED)} more`] : []),
    ...(workers.every(isLost) ? [writeNoWorkers(waiting.length, hint)] : []),
  ]
}

/** Number of queued crawls listed. */
const MAX_LISTED = 10

/** Says that no worker is running to take the queued crawls. */
export function writeNoWorkers(waiting: number, hint: Hint): string {
  return `no worker is running for the ${waiting === 1 ? 'waiting crawl' : `${writeNumber(waiting)} waiting crawls`}; start one with: ${hint('worker')}`
}

/** Describes the last job of a source if the job is queued, or if it failed and the last crawl does not show the failure. */
export function writeJobLines(jobs: readonly JobRecord[], { source, crawl }: SourceReport): string[] {
  const job = jobs.findLast(({ sourceId }) => sourceId === source.id)
  if (job?.status === 'queued') return [`Job: ${job.id} is queued`]
  if (job?.status !== 'failed' || job.crawlId === crawl?.id) return []
  return [`Job: ${job.id} failed: ${printableLine(job.problem ?? 'no reason was given')}`]
}

/** `  db-1/412  2 of 4 crawls, 18 hosts, 12.4 visits/s, 1,204 visits, 8.1 MB` */
function writeWorker(worker: WorkerRecord, width: number): string {
  const { name, isServer, state, jobs, helps, slots, leases, visits, bytes, visitsPerSec } = createWorkerView(worker)
  const facts = [
    `${jobs.length} of ${countOf(slots, 'crawl')}`,
    ...(helps.length === 0 ? [] : [`helps with ${writeNumber(helps.length)}`]),
    countOf(leases, 'host'),
    `${visitsPerSec.toFixed(1)} visits/s`,
    countOf(visits, 'visit'),
    writeBytes(bytes),
    ...(isServer ? ['server'] : []),
    ...(state === 'working' ? [] : [state]),
  ]
  return `  ${printableLine(name).padEnd(width)}  ${facts.join(', ')}`
}

/** A worker as JSON. */
export function workerRecord(worker: WorkerRecord): Record<string, unknown> {
  const view = createWorkerView(worker)
  const { id, name, version, isServer, state, slots, jobs, helps, leases, visits, bytes, visitsPerSec } = view
  return {
    ...{ id, name, version, is_server: isServer, state, slots, jobs, helps, leases, visits, bytes },
    ...{ visits_per_sec: visitsPerSec, started_at: isoOrNull(view.startedAt), silent_ms: view.silentMs },
  }
}
