import type { Analyses } from '../../places/ports/analyses.ts'
import type { Gazetteer } from '../../places/ports/gazetteer.ts'
import type { PlaceHubs } from '../../places/ports/place-hubs.ts'
import type { PlanMemory } from '../../places/ports/plan-memory.ts'
import type { Addresses } from './addresses.ts'
import type { JobLog } from './job-log.ts'
import type { LibraryCopy } from './library-copy.ts'
import type { VectorStore } from './vectors.ts'
import type { Workers } from './workers.ts'

/** A store with the history of jobs and a view of the addresses of all sources. */
export interface LibraryStore extends VectorStore {
  readonly jobLog: JobLog
  readonly addresses: Addresses
  /** How far the store's clock is ahead of this machine's, in milliseconds, for stores shared by several machines. */
  readonly clockOffset?: () => number
  /** Workers that share the jobs; only in stores that several processes can use. */
  readonly workers?: Workers
}

/** Gazetteer, analyses and plans, kept beside the pages by stores on disk. Such stores can also be copied as a whole. */
export interface AnalysisStore {
  readonly gazetteer: Gazetteer
  readonly analyses: Analyses
  readonly placeHubs: PlaceHubs
  readonly planMemory: PlanMemory
  readonly libraryCopy: LibraryCopy
}
