import { isoOf } from '../../core/text/iso-time.ts'
import type { SearchAnswer } from '../search.ts'
import { labelOf } from '../source.ts'

/** Converts a search answer to the JSON that the HTTP API and the CLI return. */
export function answerRecord({ partial, passages, ...answer }: SearchAnswer): Record<string, unknown> {
  return {
    ...answer,
    passages: passages.map(({ checkedAt, changedAt, ...passage }) => {
      return { ...passage, checkedAt: isoOf(checkedAt), changedAt: isoOf(changedAt) }
    }),
    partial: partial.map(({ source, shortfall: { gaps: _, ...counts } }) => ({ source: labelOf(source), ...counts })),
  }
}
