import type { Balance } from '../api.ts'

/** Addresses that share a state and a reason. */
export interface Segment {
  readonly state: keyof Omit<Balance, 'discovered'>
  /** Empty where the state says it all. */
  readonly reason: string
  readonly count: number
}

/** Reasons of addresses that the source is not about: a page may link to as many of them as it likes. */
const ELSEWHERE: readonly string[] = ['off-site', 'out-of-scope', 'scheme']

/** The addresses of a source that are in its scope, and those that lead out of it. */
export interface Coverage {
  readonly segments: readonly Segment[]
  readonly elsewhere: readonly Segment[]
  /** How many are in its scope. */
  readonly total: number
}

/** Tells apart what a source is about, and what its pages only link to. */
export function readCoverage(balance: Balance, reasons: Readonly<Record<string, number>>): Coverage {
  const all = listSegments(balance, reasons)
  const isElsewhere = ({ state, reason }: Segment) => state === 'skipped' && ELSEWHERE.includes(reason)
  const segments = all.filter((segment) => !isElsewhere(segment))
  return { segments, elsewhere: all.filter(isElsewhere), total: sumOf(segments) }
}

/** How many addresses there are of all of them together. */
export function sumOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0)
}

const ORDER = ['indexed', 'unchanged', 'pending', 'skipped', 'failed', 'gone'] as const

/** The parts of a balance, in the order of a bar; what is skipped or failed is told apart by its reason, the most frequent first. */
function listSegments(balance: Balance, reasons: Readonly<Record<string, number>>): Segment[] {
  return ORDER.flatMap((state): Segment[] => {
    const total = balance[state]
    if (total === 0) return []
    const known = Object.entries(reasons)
      .flatMap(([name, count]): Segment[] => {
        const [of = '', reason = ''] = name.split('/', 2)
        return of === state && count > 0 ? [{ state, reason, count }] : []
      })
      .sort((a, b) => b.count - a.count)
    if (state !== 'skipped' && state !== 'failed') return [{ state, reason: '', count: total }]
    const rest = total - sumOf(known)
    return rest > 0 ? [...known, { state, reason: '', count: rest }] : known
  })
}

/** `robots-disallow` → `robots disallow`. */
export function writeReason(reason: string): string {
  return reason.replaceAll('-', ' ')
}

/** How many addresses have a state and a reason; empty ones stand for any. */
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
