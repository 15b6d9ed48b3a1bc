import type { Balance } from '../api.ts'

/** Addresses that share a state and a reason. */
export interface Segment {
  readonly state: keyof Omit<Balance, 'discovered'>
  /** Empty where the state says it all. */
  readonly reason: string
  readonly count: number
}

const ORDER = ['indexed', 'unchanged', 'pending', 'skipped', 'failed', 'gone'] as const

/** The parts of a balance, in the order of a bar; what is skipped or failed is told apart by its reason, the most frequent first. */
export function listSegments(balance: Balance, reasons: Readonly<Record<string, number>>): Segment[] {
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
    const rest = total - known.reduce((sum, { count }) => sum + count, 0)
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
