import { maskFields } from '../core/secrets.ts'
import type { JobView } from '../library/dispatch/dispatcher.ts'
import { type ShownWorker, showWorker, type WorkerRecord } from '../library/workers.ts'
import { isoOf } from './time.ts'

/** A worker as the API tells of it. */
export interface WorkerItem {
  readonly id: string
  readonly name: string
  readonly version: string
  /** Whether it is a server that works itself. */
  readonly isServer: boolean
  /** `lost`: it has given no sign of life, and what it ran goes on with others. */
  readonly state: ShownWorker['state']
  readonly slots: number
  readonly jobs: readonly { readonly id: string; readonly url: string | null }[]
  /** Crawls that others run, and in which it takes part. */
  readonly helps: WorkerItem['jobs']
  /** Hosts that its processes hold. */
  readonly leases: number
  readonly visits: number
  readonly bytes: number
  readonly visitsPerSec: number
  readonly startedAt: string
  readonly silentMs: number
}

/** Writes one, with what its jobs are about as far as that is known. */
export function workerItem(worker: WorkerRecord, jobs: readonly JobView[]): WorkerItem {
  const shown = showWorker(worker)
  const { id, name, version, isServer, state, slots, leases, visits, bytes, visitsPerSec, startedAt, silentMs } = shown
  const describe = (job: string) => ({ id: job, url: jobs.find((one) => one.id === job)?.url ?? null })
  return {
    ...{ id, name: maskFields(name), version, isServer, state, slots },
    jobs: shown.jobs.map(describe),
    helps: shown.helps.map(describe),
    ...{ leases, visits, bytes, visitsPerSec, startedAt: isoOf(startedAt), silentMs },
  }
}
