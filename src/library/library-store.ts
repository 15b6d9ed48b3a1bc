import type { PlanMemory } from '../plan/plan-memory.ts'
import type { Addresses } from './addresses.ts'
import type { Analyses } from './analyses.ts'
import type { Gazetteer } from './gazetteer.ts'
import type { Holdings } from './holdings.ts'
import type { JobLog } from './job-log.ts'
import type { PlaceHubs } from './place-hubs.ts'
import type { VectorStore } from './vectors.ts'
import type { Workers } from './workers.ts'

/** A store with all that is kept for a library: also the history of jobs, and a view of the addresses of all sources. */
export interface LibraryStore extends VectorStore {
  readonly jobLog: JobLog
  readonly addresses: Addresses
  /** How far its own clock is ahead of that of this machine, in milliseconds, where several machines use it. */
  readonly clockOffset?: () => number
  /** Those who share the work; only where many processes can. */
  readonly workers?: Workers
}

/** What is understood of the pages of a library: kept beside them, by stores that are on disk. Those can be copied as a whole, too. */
export interface UnderstandingStore {
  readonly gazetteer: Gazetteer
  readonly analyses: Analyses
  readonly placeHubs: PlaceHubs
  readonly planMemory: PlanMemory
  readonly holdings: Holdings
}
