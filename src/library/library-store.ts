import type { PlanMemory } from '../plan/plan-memory.ts'
import type { Addresses } from './addresses.ts'
import type { Analyses } from './analyses.ts'
import type { Gazetteer } from './gazetteer.ts'
import type { JobLog } from './job-log.ts'
import type { PlaceHubs } from './place-hubs.ts'
import type { VectorStore } from './vectors.ts'

/** A store with all that is kept for a library: also the history of jobs, and a view of the addresses of all sources. */
export interface LibraryStore extends VectorStore {
  readonly jobLog: JobLog
  readonly addresses: Addresses
}

/** What is understood of the pages of a library: kept beside them, by stores that are on disk. */
export interface UnderstandingStore {
  readonly gazetteer: Gazetteer
  readonly analyses: Analyses
  readonly placeHubs: PlaceHubs
  readonly planMemory: PlanMemory
}
