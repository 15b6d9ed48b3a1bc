import type { Discovery, LedgerState, Reason } from '../../crawl/ledger.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import type { Clock, PageKind } from '../../crawl/ports.ts'
import type { PlanMemory } from '../ports/plan-memory.ts'
import type { PlannerGazetteer } from './place-names.ts'

/** Dependencies and settings of a planner. */
export interface PlannerSetup {
  readonly crawlId: string
  readonly sourceId: string
  /** When the crawl began; a resumed crawl keeps its original time. */
  readonly startedAt: number
  readonly clock: Pick<Clock, 'now'>
  /** Without it, nothing is remembered between crawls. */
  readonly memory?: PlanMemory | undefined
  readonly places: PlannerGazetteer
  /** Lists the addresses that an interrupted run visited; called only for a resumed crawl. */
  readonly listVisited?: (() => AsyncIterable<VisitedRow>) | undefined
  /** Follows pagination and archives of hubs to their ends, before sections and articles. @default false */
  readonly isHistory?: boolean
  readonly options?: PlannerOptions | undefined
}

/** An address that an interrupted run of the crawl visited. */
export interface VisitedRow {
  readonly url: string
  readonly discovery: Discovery
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  readonly kind: PageKind
  /** Reads the links of its page. */
  readonly readLinks: () => Promise<readonly string[]>
}
