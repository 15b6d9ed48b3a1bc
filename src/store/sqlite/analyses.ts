import type { Analyses } from '../../library/analyses.ts'
import type { Database, Write } from './database.ts'

/** Prepares what is kept there. */
export function createAnalyses(_db: Database, _write: Write): Analyses {
  return {} as Analyses
}
