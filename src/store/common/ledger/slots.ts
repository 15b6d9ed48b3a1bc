import { type HostClock, nextRequestAt, takeSlot } from '../../../crawl/hosts/host-clock.ts'
import type { LeaseRequest } from '../../../crawl/ledger.ts'

/** A row that can be leased. */
export interface Candidate {
  readonly id: number
  readonly weight: number
  readonly depth: number
  readonly host: string
}

/** A row with the time slot of its host in which it is fetched. */
export interface ReservedRow {
  readonly row: Candidate
  readonly slot: number
}

/** How many of the first rows are examined per requested visit. */
export const EXAMINED_PER_VISIT = 8

/** Compares rows by weight, depth and age, the order in which they are leased. */
export function byWeight(a: Candidate, b: Candidate): number {
  return a.weight - b.weight || a.depth - b.depth || a.id - b.id
}

/** How many visits a host can take up to the horizon. */
export function countSlots(clock: HostClock, { now, horizon, limit }: LeaseRequest): number {
  const windowMs = horizon - Math.max(now, nextRequestAt(clock))
  if (windowMs < 0) return 0
  return clock.intervalMs > 0 ? Math.min(limit, Math.floor(windowMs / clock.intervalMs) + 1) : limit
}

/**
 * Picks rows whose hosts have free slots from the first `maxExamined` rows of all hosts. Undefined when these are too few and there may be
 * more rows.
 */
export function pickFirst(
  first: readonly Candidate[],
  readClock: (host: string) => HostClock,
  request: LeaseRequest,
  maxExamined: number = request.limit * EXAMINED_PER_VISIT,
): Candidate[] | undefined {
  const { limit } = request
  const taken = filterByFreeSlots(first, readClock, request)
  const isEnough = taken.length >= limit || first.length < maxExamined
  return isEnough ? taken.slice(0, limit) : undefined
}

/** Picks rows in order, as far as their hosts have free slots. */
export function pickByHost(
  rows: readonly Candidate[],
  readClock: (host: string) => HostClock,
  request: LeaseRequest,
): Candidate[] {
  return filterByFreeSlots(rows.toSorted(byWeight), readClock, request).slice(0, request.limit)
}

function filterByFreeSlots(
  rows: readonly Candidate[],
  readClock: (host: string) => HostClock,
  request: LeaseRequest,
): Candidate[] {
  const freeSlots = new Map<string, number>()
  return rows.filter(({ host }) => {
    const left = freeSlots.get(host) ?? countSlots(readClock(host), request)
    freeSlots.set(host, left - 1)
    return left > 0
  })
}

/** Reserves a slot of its host for each row, and returns the updated clocks. */
export function reserveSlots(
  rows: readonly Candidate[],
  readClock: (host: string) => HostClock,
  { now, horizon, jitter }: LeaseRequest,
): { readonly reserved: readonly ReservedRow[]; readonly clocks: ReadonlyMap<string, HostClock> } {
  const clocks = new Map<string, HostClock>()
  const reserved = rows.flatMap((row): ReservedRow[] => {
    const { slot, clock } = takeSlot(clocks.get(row.host) ?? readClock(row.host), now, jitter?.())
    // Jitter may have moved the slot beyond the horizon.
    if (slot > horizon) return []
    clocks.set(row.host, clock)
    return [{ row, slot }]
  })
  return { reserved, clocks }
}
