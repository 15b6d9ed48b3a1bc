import type { PlanMemory } from '../../plan/plan-memory.ts'
import type { Database, Write } from './database.ts'

/** Prepares what is kept there. */
export function createPlanMemory(_db: Database, _write: Write): PlanMemory {
  return {} as PlanMemory
}
