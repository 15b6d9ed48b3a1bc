import { compareUtf8 } from '../../src/core/text/order.ts'
import { nextRequestAt, takeSlot } from '../../src/crawl/hosts/host-clock.ts'
import type { LeaseRequest, OpenWork, Visit } from '../../src/crawl/ledger.ts'
import type { Reason } from '../../src/crawl/ledger-reasons.ts'
import { MAX_DELAY_MS } from '../../src/crawl/transitions.ts'
import type { Hosts } from './hosts.ts'
import { applyAction, type Row, toVisit } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/**
 * Returns rows with an expired lease to the frontier. Leases of a running crawl do not expire: the next crawl, or the process that takes
 * over, releases them all.
 */
export function expireLeases(ledger: SourceLedger, now: number): void {
  ledger.putEach((row) => isExpired(row, now), postpone)
}

/** Leases visits that are due, each with a slot of its host. */
export function leaseVisits(
  ledger: SourceLedger,
  hosts: Hosts,
  request: LeaseRequest,
  issueToken: () => string,
): Visit[] {
  const { limit, now, until, horizon, jitter } = request
  const visits: Visit[] = []
  for (const row of listDue(ledger, request)) {
    if (visits.length >= limit) break
    // A host that is busy beyond the horizon is skipped, so that the next host gets its turn.
    const hostClock = hosts.readClock(row.host, now)
    if (Math.max(now, nextRequestAt(hostClock)) > horizon) continue
    const token = issueToken()
    const { slot, clock } = takeSlot(hostClock, now, jitter?.())
    hosts.writeClock(row.host, clock)
    const leased = ledger.put({ ...applyAction(row, 'lease'), lease: { token, until } })
    visits.push(toVisit(leased, token, slot, ledger.holds(row.target, row.contentHash)))
  }
  return visits
}

/** Returns the row of a visit to the frontier, if the visit still holds the lease. */
export function releaseVisit(ledger: SourceLedger, { key, lease }: Visit): void {
  const row = ledger.get(key)
  if (row?.lease?.token === lease) ledger.put(postpone(row))
}

/** Releases all leases, because their holder has ended. */
export function releaseAll(ledger: SourceLedger): void {
  ledger.putEach((row) => row.lease !== null, postpone)
}

/** Makes rows due whose delay is implausibly long. */
export function clearLongDelays(ledger: SourceLedger, now: number): void {
  ledger.putEach(
    (row) => row.state === 'pending' && row.dueAt !== null && row.dueAt > now + MAX_DELAY_MS,
    (row) => ({ ...row, dueAt: null }),
  )
}

/** Resets the attempts and flags that an interrupted crawl left on pending rows. Due times stay, because the server asked for them. */
export function resetAttempts(ledger: SourceLedger): void {
  ledger.putEach(
    (row) => row.state === 'pending',
    (row) => ({ ...row, attempts: 0, isFinal: false, awaitsConfirmation: false }),
  )
}

/** Fails every pending row of a host; stored pages stay. */
export function failPending(ledger: SourceLedger, host: string, reason: Reason, pattern: string | null): number {
  return ledger.putEach(
    (row) => row.host === host && row.state === 'pending',
    (row) => ({ ...applyAction(row, 'fail'), reason, pattern, target: null, dueAt: null, awaitsConfirmation: false }),
  )
}

/** Makes the pending rows of a host due now. */
export function clearDelays(ledger: SourceLedger, host: string): number {
  return ledger.putEach(
    (row) => row.host === host && row.state === 'pending' && row.dueAt !== null,
    (row) => ({ ...row, dueAt: null }),
  )
}

/** Counts the open work. A row with an expired lease counts as pending unless its crawl is running. */
export function countOpen(ledger: SourceLedger, hosts: Hosts, now: number, isRunning: boolean): OpenWork {
  const open = ledger.rows().filter(isOpen)
  const pending = open.filter((row) => row.state === 'pending' || (!isRunning && isExpired(row, now)))
  const moments = pending.map(({ host, dueAt }) => Math.max(dueAt ?? now, nextRequestAt(hosts.readClock(host, now))))
  return {
    pending: pending.length,
    leased: open.length - pending.length,
    nextAt: moments.length === 0 ? null : moments.reduce((first, moment) => Math.min(first, moment)),
  }
}

/** Hosts that pending rows wait for and that stay blocked beyond a point in time. */
export function listHeldHosts(ledger: SourceLedger, hosts: Hosts, now: number, after: number): string[] {
  const waiting = ledger.rows().filter((row) => row.state === 'pending')
  const names = new Set(waiting.map(({ host }) => host))
  return [...names].filter((host) => hosts.readClock(host, now).heldUntil > after).sort(compareUtf8)
}

/** Rows that may be fetched now, in order. */
function listDue(ledger: SourceLedger, { now, isBreadthFirst, firstLevel = 0 }: LeaseRequest): Row[] {
  const open = ledger.rows().filter(isOpen)
  const regularRows = open.filter((row) => !row.awaitsConfirmation)
  const isDue = (row: Row): boolean => row.state === 'pending' && (row.dueAt === null || row.dueAt <= now)
  // The sort is stable, so rows of equal weight and depth stay ordered by age.
  if (regularRows.length === 0) return open.filter(isDue).sort(byWeight)
  const minDepth = regularRows.reduce((depth, row) => Math.min(depth, row.depth), Number.POSITIVE_INFINITY)
  const level = Math.max(minDepth, firstLevel)
  return regularRows.filter((row) => isDue(row) && (!isBreadthFirst || row.depth <= level)).sort(byWeight)
}

function postpone(row: Row): Row {
  return { ...applyAction(row, 'postpone'), lease: null }
}

function byWeight(a: Row, b: Row): number {
  return a.weight - b.weight || a.depth - b.depth
}

function isOpen(row: Row): boolean {
  return row.state === 'pending' || row.state === 'leased'
}

function isExpired(row: Row, now: number): boolean {
  return row.lease !== null && row.lease.until <= now
}
