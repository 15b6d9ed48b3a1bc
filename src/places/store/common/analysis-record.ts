import type { Classification } from '../../../core/model.ts'
import type { PageAnalysis, StoredAnalysis } from '../../../library/ports/findings.ts'
import { parseStored } from '../../../store/common/damage.ts'

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
