import type { Discovery, LedgerState, Reason } from '../crawl/ledger.ts'
import type { Clock, PageKind } from '../crawl/ports.ts'
import type { PlanPlaces } from './places.ts'
import type { PlanMemory } from './plan-memory.ts'
import type { PlannerOptions } from './planner-options.ts'

/** What a planner works with. */
export interface PlannerSetup {
  readonly crawlId: string
  readonly sourceId: string
  /** When the crawl began, also one that was interrupted since. */
  readonly startedAt: number
  readonly clock: Pick<Clock, 'now'>
  /** Without it, nothing is remembered from one crawl to the next. */
  readonly memory?: PlanMemory | undefined
  readonly places: PlanPlaces
  /** What an interrupted run of the crawl has visited; asked only where there was one. */
  readonly listVisited?: (() => AsyncIterable<VisitedRow>) | undefined
  /** Follows the further pages and archives of hubs to their ends, before anything else. @default false */
  readonly isHistory?: boolean
  readonly options?: PlannerOptions | undefined
}

/** An address that an interrupted run of the crawl has visited. */
export interface VisitedRow {
  readonly url: string
  readonly discovery: Discovery
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  readonly kind: PageKind
  /** Where it leads. */
  readonly readLinks: () => Promise<readonly string[]>
}
