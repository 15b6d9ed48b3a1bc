import type { LeaseRequest, OpenWork, Visit } from '../../crawl/ledger.ts'
import type { Hosts } from './hosts.ts'
import { moveRow, type Row, toVisit } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/**
 * Puts rows back whose lease ran out. What a running crawl has leased is its own as long as it runs: whoever begins another, or
 * takes it over, takes all back.
 */
export function expireLeases(ledger: SourceLedger, now: number): void {
  ledger.putEach((row) => isExpired(row, now), postpone)
}

/** Takes visits that are due out of the frontier, each with a slot of its host. */
export function leaseVisits(ledger: SourceLedger, hosts: Hosts, request: LeaseRequest, issue: () => string): Visit[] {
  const { limit, now, until, horizon } = request
  const visits: Visit[] = []
  for (const row of listDue(ledger, request)) {
    if (visits.length >= limit) break
    // A host that is busy beyond the horizon is passed over, so that the next one gets its turn.
    if (Math.max(now, hosts.nextAt(row.host, now)) > horizon) continue
    const token = issue()
    const slot = hosts.reserveSlot(row.host, now)
    const leased = ledger.put({ ...moveRow(row, 'lease'), lease: { token, until } })
    visits.push(toVisit(leased, token, slot, ledger.holds(row.target, row.contentHash)))
  }
  return visits
}

/** Puts the row of a visit back as it was, if it is still the visit's. */
export function releaseVisit(ledger: SourceLedger, { key, lease }: Visit): void {
  const row = ledger.get(key)
  if (row?.lease?.token === lease) ledger.put(postpone(row))
}

/** Puts all leased rows back: whoever had them is gone. */
export function releaseAll(ledger: SourceLedger): void {
  ledger.putEach((row) => row.lease !== null, postpone)
}

/** Forgets what an interrupted crawl was about to do with its rows; when they are due is the server's wish, and stays. */
export function startOver(ledger: SourceLedger): void {
  ledger.putEach(
    (row) => row.state === 'pending',
    (row) => ({ ...row, attempts: 0, isFinal: false, awaitsConfirmation: false }),
  )
}

/**
 * Counts what is still to be done. A lease that ran out is pending, whether or not anybody has noticed, unless its crawl is
 * running.
 */
export function countOpen(ledger: SourceLedger, hosts: Hosts, now: number, isRunning: boolean): OpenWork {
  const open = ledger.rows().filter(isOpen)
  const pending = open.filter((row) => row.state === 'pending' || (!isRunning && isExpired(row, now)))
  const moments = pending.map((row) => Math.max(row.dueAt ?? now, hosts.nextAt(row.host, now)))
  return {
    pending: pending.length,
    leased: open.length - pending.length,
    nextAt: moments.length === 0 ? null : moments.reduce((a, b) => Math.min(a, b)),
  }
}

/** Rows that may be fetched now, in the order they should be. */
function listDue(ledger: SourceLedger, { now, isLevelled }: LeaseRequest): Row[] {
  const open = ledger.rows().filter(isOpen)
  const first = open.filter((row) => !row.awaitsConfirmation)
  const isDue = (row: Row): boolean => row.state === 'pending' && (row.dueAt === null || row.dueAt <= now)
  // Sorting keeps the order of age among rows of one depth.
  if (first.length === 0) return open.filter(isDue).sort(byDepth)
  const level = first.reduce((least, row) => Math.min(least, row.depth), Number.POSITIVE_INFINITY)
  return first.filter((row) => isDue(row) && (!isLevelled || row.depth === level)).sort(byDepth)
}

function postpone(row: Row): Row {
  return { ...moveRow(row, 'postpone'), lease: null }
}

function byDepth(a: Row, b: Row): number {
  return a.depth - b.depth
}

function isOpen(row: Row): boolean {
  return row.state === 'pending' || row.state === 'leased'
}

function isExpired(row: Row, now: number): boolean {
  return row.lease !== null && row.lease.until <= now
}
