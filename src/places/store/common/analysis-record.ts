import type { Classification } from '../../../core/model.ts'
import { parseStored } from '../../../store/common/damage.ts'
import type { PageAnalysis } from '../../analysis/page-analysis.ts'
import type { StoredAnalysis } from '../../ports/analyses.ts'

/** The analysis of a page as it is stored. */
export interface AnalysisRecord {
  readonly classification: string
  readonly analysis: string | null
  readonly analysedAt: number | null
}

/** Converts a stored analysis. */
export function toAnalysis({ classification, analysis, analysedAt }: AnalysisRecord): StoredAnalysis {
  // Both JSON texts were written by this program.
  return {
    classification: parseStored<Classification>(classification),
    analysis: analysis === null ? null : parseStored<PageAnalysis>(analysis),
    analysedAt,
  }
}
