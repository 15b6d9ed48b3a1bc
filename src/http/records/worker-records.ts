import { maskSecretFields } from '../../core/secrets.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import type { JobView } from '../../library/jobs/dispatcher.ts'
import { createWorkerView, type WorkerRecord, type WorkerView } from '../../library/ports/workers.ts'

/** A worker in an API response. */
export interface WorkerItem
  extends Pick<WorkerView, 'id' | 'name' | 'version' | 'isServer' | 'state' | 'slots'>,
    Pick<WorkerView, 'visits' | 'bytes' | 'visitsPerSec'> {
  readonly jobs: readonly { readonly id: string; readonly url: string | null }[]
  /** Crawls of other workers that this worker has joined. */
  readonly helps: WorkerItem['jobs']
  /** Number of hosts that its processes have leased. */
  readonly leases: number
  readonly startedAt: string
  readonly silentMs: number
}

/** A worker with the start URLs of its jobs, as far as they are known. */
export function workerItem(worker: WorkerRecord, jobs: readonly JobView[]): WorkerItem {
  const view = createWorkerView(worker)
  const { id, name, version, isServer, state, slots, leases, visits, bytes, visitsPerSec, startedAt, silentMs } = view
  const describe = (jobId: string) => ({ id: jobId, url: jobs.find((job) => job.id === jobId)?.url ?? null })
  return {
    ...{ id, name: maskSecretFields(name), version, isServer, state, slots },
    jobs: view.jobs.map(describe),
    helps: view.helps.map(describe),
    ...{ leases, visits, bytes, visitsPerSec, startedAt: isoOf(startedAt), silentMs },
  }
}
