import { countOf } from '../../core/text/count.ts'
import { writeList } from '../../core/text/list.ts'
import type { CheckedPlace } from '../ports/code-checker.ts'
import { quoteSpaced } from '../search/display-text.ts'

/** How many reasons for unknown names are listed. */
const MAX_REASONS = 5

/** Describes a place in one line, without its position in the code. */
export function describePlace(place: CheckedPlace): string {
  const { name, verdict, package: label, declaredAt, nearest, inVersions, why } = place
  const citation = [label, declaredAt].flatMap((part) => (part === null ? [] : [quoteSpaced(part)])).join(' ')
  const hints = [
    ...(nearest === null ? [] : [`did you mean ${quoteSpaced(nearest)}?`]),
    ...(inVersions.length === 0 ? [] : [`${writeList(inVersions)} ${inVersions.length === 1 ? 'has' : 'have'} it`]),
  ]
  const parts = [`${quoteSpaced(name)}: ${verdict}`, ...(why === '' ? [] : [why]), ...hints]
  return `${parts.join(', ')}${citation === '' ? '' : ` (${citation})`}`
}

/** Counts the verdicts: `12 exist, 1 not in this version, 3 unknown`. */
export function countVerdicts(places: readonly CheckedPlace[]): {
  readonly exists: number
  readonly missing: number
  readonly unknown: number
} {
  const count = (verdict: CheckedPlace['verdict']) => places.filter((place) => place.verdict === verdict).length
  return { exists: count('exists'), missing: count('not in this version'), unknown: count('unknown') }
}

/** Sums up a check. */
export function writeSummary(places: readonly CheckedPlace[]): string {
  const { exists, missing, unknown } = countVerdicts(places)
  return `${countOf(places.length, 'name')} looked up: ${exists} exist, ${missing} not in this version, ${unknown} unknown`
}

/** The reasons why names are unknown, the most frequent first. */
export function listReasons(places: readonly CheckedPlace[]): string[] {
  const counts = new Map<string, number>()
  for (const { verdict, why } of places) if (verdict === 'unknown') counts.set(why, (counts.get(why) ?? 0) + 1)
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return sorted.slice(0, MAX_REASONS).map(([why, count]) => `${count} unknown: ${why}`)
}
