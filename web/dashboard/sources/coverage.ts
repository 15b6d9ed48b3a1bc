import { OUT_OF_SCOPE_REASONS, STATE_LABELS } from '../../../src/core/address-labels.ts'
import type { Balance } from '../api.ts'

/** Addresses that share a state and a reason. */
export interface Segment {
  readonly state: keyof Omit<Balance, 'discovered'>
  /** The group that shows the segment: its state, or `unread` beyond a limit. */
  readonly group: CoverageGroup
  /** Empty if the state is not split by reason, or if no reason is recorded. */
  readonly reason: string
  readonly count: number
}

/** The addresses of a source in its scope, and the links that lead out of it. */
export interface Coverage {
  readonly segments: readonly Segment[]
  readonly outOfScope: readonly Segment[]
  /** The number of addresses in the scope. */
  readonly total: number
}

/** Separates the addresses in the scope of a source from the links that lead out of it. */
export function readCoverage(balance: Balance, reasons: Readonly<Record<string, number>>): Coverage {
  const all = listSegments(balance, reasons)
  const isOutOfScope = ({ state, reason }: Segment) => state === 'skipped' && OUT_OF_SCOPE_REASONS.includes(reason)
  const segments = all.filter((segment) => !isOutOfScope(segment))
  return { segments, outOfScope: all.filter(isOutOfScope), total: sumOf(segments) }
}

/** The total count of some segments. */
export function sumOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0)
}

/** The states in the order of the bar. */
export const STATES = ['indexed', 'unchanged', 'pending', 'skipped', 'failed', 'gone'] as const

/** The groups of a bar in their order. Addresses beyond a limit are not left out for good, so they have a group of their own. */
export const GROUPS = ['indexed', 'unchanged', 'pending', 'unread', 'skipped', 'failed', 'gone'] as const
export type CoverageGroup = (typeof GROUPS)[number]

/** The groups in words. */
export const GROUP_WORDS: Readonly<Record<CoverageGroup, string>> = { ...STATE_LABELS, unread: 'not read' }

/** Reasons of addresses that a limit of pages or depth cut off. */
const LIMIT_REASONS: readonly string[] = ['page-cap', 'max-depth']

/** The segments of a balance in the order of {@link GROUPS}. Skipped and failed addresses are split by reason, most frequent first. */
function listSegments(balance: Balance, reasons: Readonly<Record<string, number>>): Segment[] {
  const segments = STATES.flatMap((state): Segment[] => {
    const total = balance[state]
    if (total === 0) return []
    const known = Object.entries(reasons)
      .flatMap(([name, count]): Segment[] => {
        const [reasonState = '', reason = ''] = name.split('/', 2)
        const group = LIMIT_REASONS.includes(reason) ? 'unread' : state
        return reasonState === state && count > 0 ? [{ state, group, reason, count }] : []
      })
      .sort((a, b) => b.count - a.count)
    if (state !== 'skipped' && state !== 'failed') return [{ state, group: state, reason: '', count: total }]
    const withoutReason = total - sumOf(known)
    return withoutReason > 0 ? [...known, { state, group: state, reason: '', count: withoutReason }] : known
  })
  return segments.sort((a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group))
}

/** The number of addresses that match a state and a reason; an empty value matches any. */
export function countOfFilter(
  balance: Balance,
  reasons: Readonly<Record<string, number>>,
  { state, reason }: { readonly state: string; readonly reason: string },
): number {
  if (reason !== '') {
    const matching = Object.entries(reasons).filter(
      ([name]) => name === `${state}/${reason}` || (state === '' && name.endsWith(`/${reason}`)),
    )
    return matching.reduce((sum, [, count]) => sum + count, 0)
  }
  return state === '' ? balance.discovered : (Object.entries(balance).find(([name]) => name === state)?.[1] ?? 0)
}
