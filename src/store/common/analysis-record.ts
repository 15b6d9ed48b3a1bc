import type { PageAnalysis } from '../../analysis/page-analysis.ts'
import type { Classification } from '../../core/model.ts'
import type { KeptAnalysis } from '../../library/analyses.ts'
import { parseStored } from './damage.ts'

/** What is understood of a page, as it is kept. */
export interface AnalysisRecord {
  readonly classification: string
  readonly analysis: string | null
  readonly analysedAt: number | null
}

/** What was kept. */
export function toAnalysis({ classification, analysis, analysedAt }: AnalysisRecord): KeptAnalysis {
  // Both were written by this program.
  return {
    classification: parseStored<Classification>(classification),
    analysis: analysis === null ? null : parseStored<PageAnalysis>(analysis),
    analysedAt,
  }
}
