import { type HostClock, MAX_BACK_OFF_MS, MAX_SLOT_AHEAD_MS, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import { judgeHostOwnership, MAX_LEASE_MS, NO_HOST } from '../../../crawl/hosts/host-lease.ts'
import type { LeaseRequest } from '../../../crawl/ledger.ts'
import type { Sql } from '../database/database.ts'
import type { HostHolder } from './host-holder.ts'
import type { HostState } from './hosts.ts'

/** The position of a crawl that finishes one depth after the other: its depth, and the weights of the rows that are ready there. */
export interface Level {
  readonly depth: number
  readonly weights: readonly number[]
}

/** A lease request of a process that leases hosts. */
export interface HolderRequest {
  readonly request: LeaseRequest
  readonly holder: HostHolder
  /** Identifies a request that is repeated because its response was lost. */
  readonly id: string
}

/** The context of a frontier query. */
export interface LeaseContext extends HolderRequest {
  readonly sql: Sql
  readonly source: number
  readonly isConfirmationPhase: boolean
  readonly level: Level | null
  /** Hosts of this process that count towards its maximum. */
  readonly kept: ReadonlySet<string>
}

export type States = ReadonlyMap<string, HostState>

/*
 * SQL conditions for rows of the source $1, each served by its own partial index. `isConfirmationPhase` selects rows that await
 * confirmation.
 */
export const ready = (isConfirmationPhase = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NULL AND l.awaits_confirmation = ${isConfirmationPhase}`
export const waiting = (isConfirmationPhase = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NOT NULL AND l.awaits_confirmation = ${isConfirmationPhase}`
/** Leased rows that do not await confirmation. */
export const LEASED: string = `l.source = $1 AND l.state = 'leased' AND NOT l.awaits_confirmation`
export const IN_ORDER = 'ORDER BY l.weight, l.depth, l.id'
export const CANDIDATES = 'SELECT l.id, l.weight, l.depth, l.host FROM ledger l'

/** SQL for the time at which a host opens. A clock that is implausibly far ahead counts as free, as in `correctClock`. */
export const writeOpenAt = (now: string): string => `greatest(0,
    CASE WHEN h.next_at > ${now} + ${MAX_SLOT_AHEAD_MS} THEN ${now} ELSE h.next_at END,
    CASE WHEN h.held_until > ${now} + ${MAX_BACK_OFF_MS} THEN ${now} ELSE h.held_until END)`

/** SQL for whether a process holds a host, as in `isHostHeld`. */
export function writeIsHeld(now: string): string {
  return `(h.leased_until > ${now} AND h.leased_until <= ${now} + ${MAX_LEASE_MS})`
}

/** The hosts that this process may use. */
export function filterUsableHosts(
  states: States,
  { holder, request }: Pick<LeaseContext, 'holder' | 'request'>,
): States {
  return new Map([...states].filter(([host, { lease }]) => canUseHost(host, lease, holder, request.now)))
}

function canUseHost(host: string, lease: HostState['lease'], { name }: HostHolder, now: number): boolean {
  const ownership = judgeHostOwnership(lease, name, now)
  return host === NO_HOST || ownership === 'ours' || ownership === 'free'
}

/** Whether a lease could exceed the maximum number of hosts of this process. */
export function isNearHostLimit({ request: { maxHosts = Infinity, limit }, kept }: LeaseContext): boolean {
  return kept.size + limit > maxHosts
}

export function hostsOf(rows: readonly { readonly host: string }[]): string[] {
  return [...new Set(rows.map(({ host }) => host))]
}

/** Reads the clocks of available hosts; all other hosts have no free slots. */
export function createClockReader(open: States): (host: string) => HostClock {
  return (host) => open.get(host)?.clock ?? CLOSED
}

const CLOSED: HostClock = { ...NEW_HOST_CLOCK, nextAt: Infinity }
