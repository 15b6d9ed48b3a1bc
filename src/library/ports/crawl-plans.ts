import type { LedgerRow } from '../../crawl/ledger.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import type { CrawlPlanner } from '../../crawl/planning/planner.ts'
import type { Clock, PageKind } from '../../crawl/ports.ts'

/** A crawl to plan. */
export interface PlannedCrawl {
  readonly crawlId: string
  readonly sourceId: string
  /** When the crawl began; a resumed crawl keeps its original time. */
  readonly startedAt: number
  readonly clock: Pick<Clock, 'now'>
  /** Lists the addresses that an interrupted run visited; called only for a resumed crawl. */
  readonly listVisited?: (() => AsyncIterable<VisitedRow>) | undefined
  /** Follows pagination and archives of hubs to their ends, before sections and articles. @default false */
  readonly isHistory?: boolean
  readonly options?: PlannerOptions | undefined
}

/** An address that an interrupted run of the crawl visited. */
export interface VisitedRow extends Pick<LedgerRow, 'url' | 'discovery' | 'state' | 'reason' | 'status'> {
  readonly kind: PageKind
  /** Reads the links of its page. */
  readonly readLinks: () => Promise<readonly string[]>
}

/** Plans crawls of the types `intelligent` and `history`, and remembers the milestones that crawls reach. */
export interface CrawlPlans {
  createPlanner(crawl: PlannedCrawl): Promise<CrawlPlanner>
  /** Whether plans know places; without them, a plan guesses fewer hubs. */
  hasPlaces(): Promise<boolean>
  /** Kinds of milestones that a crawl has reached. */
  readMilestones(crawlId: string): Promise<readonly string[]>
  writeMilestones(crawlId: string, kinds: readonly string[]): Promise<void>
}
