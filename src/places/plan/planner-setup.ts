import type { PlannedCrawl } from '../../library/ports/crawl-plans.ts'
import type { PlanMemory } from '../ports/plan-memory.ts'
import type { PlannerGazetteer } from './place-names.ts'

/** Dependencies and settings of a planner. */
export interface PlannerSetup extends PlannedCrawl {
  /** Without it, nothing is remembered between crawls. */
  readonly memory?: PlanMemory | undefined
  readonly places: PlannerGazetteer
}
