import { writeBytes } from '../core/text/bytes.ts'
import { isLost, showWorker, type WorkerRecord } from '../library/workers.ts'
import { timeRecord } from './library.ts'
import { countOf, printableLine, writeNumber } from './terminal.ts'

/** What each worker of a library does, a line each; nothing where there are none. */
export function writeWorkerLines(workers: readonly WorkerRecord[]): string[] {
  if (workers.length === 0) return []
  const lost = workers.filter(isLost).length
  const there = workers.length - lost
  const facts = [there === 0 ? 'none' : writeNumber(there), ...(lost === 0 ? [] : [`${writeNumber(lost)} lost`])]
  return ['', `Workers: ${facts.join(', ')}`, ...workers.map(writeWorker)]
}

/** `  db-1/412  2 of 4 crawls, 18 hosts, 12.4 visits/s, 1,204 visits, 8.1 MB` */
function writeWorker(worker: WorkerRecord): string {
  const { name, isServer, state, jobs, helps, slots, leases, visits, bytes, visitsPerSec } = showWorker(worker)
  const facts = [
    `${jobs.length} of ${countOf(slots, 'crawl')}`,
    ...(helps.length === 0 ? [] : [`helps with ${writeNumber(helps.length)}`]),
    countOf(leases, 'host'),
    `${visitsPerSec.toFixed(1)} visits/s`,
    `${writeNumber(visits)} visits`,
    writeBytes(bytes),
    ...(isServer ? ['server'] : []),
    ...(state === 'working' ? [] : [state]),
  ]
  return `  ${printableLine(name)}  ${facts.join(', ')}`
}

/** The same for JSON. */
export function workerRecord(worker: WorkerRecord): Record<string, unknown> {
  const shown = showWorker(worker)
  const { id, name, version, isServer, state, slots, jobs, helps, leases, visits, bytes, visitsPerSec } = shown
  return {
    ...{ id, name, version, is_server: isServer, state, slots, jobs, helps, leases, visits, bytes },
    ...{ visits_per_sec: visitsPerSec, started_at: timeRecord(shown.startedAt), silent_ms: shown.silentMs },
  }
}
