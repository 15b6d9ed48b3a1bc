import type { Addresses } from './addresses.ts'
import type { JobLog } from './job-log.ts'
import type { VectorStore } from './vectors.ts'

/** A store with all that is kept for a library: also the history of jobs, and a view of the addresses of all sources. */
export interface LibraryStore extends VectorStore {
  readonly jobLog: JobLog
  readonly addresses: Addresses
}
