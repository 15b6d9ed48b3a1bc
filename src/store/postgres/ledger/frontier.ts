import { type HostClock, MAX_BACK_OFF_MS } from '../../../crawl/hosts/host-clock.ts'
import {
  CONTESTED_LEASE_MS,
  isHostHeld,
  judgeHostOwnership,
  NO_HOST,
  releaseHost,
  takeHost,
  WANT_EXPIRY_MS,
  wantHost,
} from '../../../crawl/hosts/host-lease.ts'
import type { ListedRows, OpenWork, Visit } from '../../../crawl/ledger.ts'
import type { Reason } from '../../../crawl/ledger-reasons.ts'
import { unpackHash } from '../../common/hash.ts'
import { IS_LISTED, stateAfter } from '../../common/ledger/ledger-sql.ts'
import { type ReservedRow, reserveSlots } from '../../common/ledger/slots.ts'
import { toVisit, VISIT_COLUMNS, type VisitRecord } from '../../common/ledger/visit.ts'
import type { Sql } from '../database/database.ts'
import { chooseRows, findLevel, listByHost } from './choose-rows.ts'
import { writeSelectByKey } from './found-addresses.ts'
import type { HostHolder, LeaseResult } from './host-holder.ts'
import { freeHosts, type HostState, lockHosts, writeHosts } from './hosts.ts'
import {
  createClockReader,
  filterUsableHosts,
  type HolderRequest,
  hostsOf,
  LEASED,
  type LeaseContext,
  type States,
  waiting,
  writeIsHeld,
  writeOpenAt,
} from './lease-context.ts'

/** The state of a source's frontier before a lease. */
interface FrontierState {
  /** Whether rows have a dead lease: expired, lost, or never confirmed to the process. */
  readonly hasExpired: boolean
  /** Whether only rows that await confirmation are left. Every SQL index of the frontier contains the column `awaits_confirmation`. */
  readonly isConfirmationPhase: boolean
  /** Hosts with pending rows of this phase: at most one more than the number of wanted visits. */
  readonly hosts: readonly string[]
  /** Hosts that this process holds, without active visits and without work for this source. */
  readonly finished: readonly string[]
}

/**
 * SQL condition for rows whose lease expired by $2. Leases of a running crawl do not expire: the next crawl, or the process that takes
 * over, releases them all.
 */
const EXPIRED = `l.source = $1 AND l.state = 'leased' AND l.leased_until <= $2::float8
  AND NOT EXISTS (SELECT 1 FROM crawls j WHERE j.source = $1 AND j.state = 'running')`

/** SQL condition for hosts whose holder, other than $3, has sent no heartbeat in time at $2. */
const HAS_LATE_HOLDER = `NOT ${writeIsHeld('$2::float8')} AND h.holder <> $3`

/** SQL for leased rows whose host has, or should get, another holder, and for rows that an earlier attempt of the same request leased. */
const LOST_ROWS = `SELECT l.id FROM ledger l JOIN hosts h ON h.host = l.host
  WHERE l.source = $1 AND l.state = 'leased'
    AND (split_part(l.lease, ':', 1) <> h.token::text OR split_part(l.lease, ':', 2) = $4 OR (${HAS_LATE_HOLDER}))`

const POSTPONED = `state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL`

/** Leases visits that are due, each with a slot of its host, together with their hosts. */
export async function lease(sql: Sql, source: number, holderRequest: HolderRequest): Promise<LeaseResult> {
  const { request, holder } = holderRequest
  const { isConfirmationPhase, hosts, finished } = await prepareFrontier(sql, source, holderRequest)
  const { idle } = holder
  if (hosts.length === 0 && idle.length === 0) return { visits: [], taken: [], until: 0, released: [] }
  const level =
    request.isBreadthFirst && !isConfirmationPhase && hosts.length > 0
      ? await findLevel(sql, source, request.firstLevel)
      : null
  const kept = new Set(holder.hosts.filter((host) => !finished.includes(host)))
  const context: LeaseContext = { ...holderRequest, sql, source, isConfirmationPhase, level, kept }
  // Usually there are few hosts. When there are many and none of the chosen ones is available, the first hosts are requested from their
  // holders.
  const chosenRows = hosts.length <= request.limit ? undefined : await chooseRows(context)
  const hostsToLock =
    chosenRows === undefined || chosenRows.length === 0 ? hosts.slice(0, request.limit) : hostsOf(chosenRows)
  const states = await lockHosts(sql, [...new Set([...hostsToLock, ...idle])], request.now)
  const open = filterUsableHosts(states, context)
  const rows = chosenRows?.filter(({ host }) => open.has(host)) ?? (await listByHost(context, open, hosts))
  const { reserved, clocks } = reserveSlots(rows, createClockReader(open), request)
  const isEnough = reserved.length >= request.limit
  const visited = isEnough || holder.isFull ? [] : await listVisited(context, states)
  const changed = changeHosts(states, clocks, { context, frontier: { finished, visited }, isEnough })
  await writeHosts(sql, changed)
  const visits = await leaseRows(sql, reserved, changed, context)
  const released = idle.filter((host) => !clocks.has(host) && !isHeldBy(changed.get(host) ?? states.get(host), holder))
  const { until, hostsUntil = until } = request
  return { visits, taken: [...clocks.keys()].filter((host) => host !== NO_HOST), until: hostsUntil, released }
}

function isHeldBy(state: HostState | undefined, { name }: HostHolder): boolean {
  return state !== undefined && state.lease.holder === name && state.lease.leasedUntil > 0
}

/** The result of a lease, before its hosts are written. */
interface LeaseOutcome {
  readonly context: Pick<LeaseContext, 'holder' | 'request'>
  readonly frontier: Pick<FrontierState, 'finished'> & {
    /** Hosts of other processes with active visits of this source. */
    readonly visited: readonly string[]
  }
  /** Whether as many visits were found as requested. */
  readonly isEnough: boolean
}

/** Hosts of other processes that have active visits of this source. */
async function listVisited({ sql, source, holder, request }: LeaseContext, states: States): Promise<string[]> {
  const others = [...states].filter(([, { lease }]) => judgeHostOwnership(lease, holder.name, request.now) === 'others')
  if (others.length === 0) return []
  return hostsOf(
    await sql.all<{ host: string }>(
      `SELECT DISTINCT l.host FROM ledger l WHERE l.source = $1 AND l.state = 'leased' AND l.host = ANY ($2)`,
      [source, others.map(([host]) => host)],
    ),
  )
}

/** The hosts whose state changes: taken, returned, or requested from their holder. */
export function changeHosts(states: States, clocks: ReadonlyMap<string, HostClock>, outcome: LeaseOutcome): States {
  const changed = new Map<string, HostState>()
  for (const [host, state] of states) {
    const clock = clocks.get(host)
    const lease = host === NO_HOST ? state.lease : changeLease(host, state.lease, clock !== undefined, outcome)
    if (clock !== undefined || lease !== state.lease) changed.set(host, { clock: clock ?? state.clock, lease })
  }
  return changed
}

function changeLease(
  host: string,
  lease: HostState['lease'],
  isTaken: boolean,
  { context, frontier, isEnough }: LeaseOutcome,
): HostState['lease'] {
  const { holder, request } = context
  const { now, until, hostsUntil = until } = request
  if (isTaken) return takeHost(lease, holder.name, now, hostsUntil)
  const ownership = judgeHostOwnership(lease, holder.name, now)
  if (ownership === 'others') {
    // A holder with visits of this source already does this work. Any other host is requested only if too few visits were found.
    const isRequested = !isEnough && !holder.isFull && !frontier.visited.includes(host)
    return isRequested ? wantHost(lease, now) : lease
  }
  if (lease.holder !== holder.name || lease.leasedUntil === 0 || holder.isBusy(host)) return lease
  // Without active visits or work that could start now, the host is more useful to other processes.
  const isUseless = ownership === 'yielded' || !isEnough || frontier.finished.includes(host)
  return isUseless ? releaseHost(lease) : lease
}

/** Returns the rows of visits to the frontier if the visits still hold their leases, even if the host has another holder by now. */
export async function release(sql: Sql, source: number, visits: readonly Visit[]): Promise<void> {
  if (visits.length === 0) return
  await sql.run(
    `UPDATE ledger l SET ${POSTPONED}
     FROM unnest($2::text[], $3::text[]) AS v (key, lease) CROSS JOIN LATERAL (${writeSelectByKey('r.id', 'v.key')}) r
     WHERE l.id = r.id AND l.state = 'leased' AND l.lease = v.lease`,
    [source, visits.map(({ key }) => key), visits.map((visit) => visit.lease)],
  )
}

/** Poll interval for a host that is unavailable now. */
const HOST_POLL_INTERVAL_MS = 500

/**
 * SQL condition for a host that the process $3 cannot have at $2: another process holds it, it is yielded to others, or $4 says that this
 * process is at its maximum.
 */
const IS_UNAVAILABLE = `(h.holder <> $3 AND ${writeIsHeld('$2::float8')}) OR ($4 AND h.holder IS DISTINCT FROM $3)
  OR (h.holder = $3 AND h.wanted_at > greatest(0, $2::float8 - ${WANT_EXPIRY_MS}) AND (h.leased_until = 0 OR h.taken_at <= $2::float8 - ${CONTESTED_LEASE_MS}))`

const COUNT_OPEN = `SELECT
    (SELECT coalesce(sum(rows), 0)::bigint FROM ledger_counts WHERE source = $1 AND state = 'pending') + e.rows AS pending,
    (SELECT coalesce(sum(rows), 0)::bigint FROM ledger_counts WHERE source = $1 AND state = 'leased') - e.rows AS leased,
    least(e.next, o.next) AS "nextAt"
  FROM (
    SELECT count(*) AS rows, min(greatest(coalesce(l.due_at, $2::float8), ${writeOpenAt('$2::float8')})) AS next
    FROM ledger l LEFT JOIN hosts h ON h.host = l.host WHERE ${EXPIRED}) e
  CROSS JOIN (
    SELECT min(greatest(${writeOpenAt('$2::float8')}, CASE WHEN ${IS_UNAVAILABLE} THEN $2::float8 + ${HOST_POLL_INTERVAL_MS} END, least(
      CASE WHEN o.ready > 0 THEN $2::float8 END,
      CASE WHEN o.waiting > 0 THEN (
        SELECT min(l.due_at) FROM ledger l
        WHERE ${waiting('o.awaits_confirmation')} AND l.host = o.host) END))) AS next
    FROM open_hosts o LEFT JOIN hosts h ON h.host = o.host WHERE o.source = $1) o`

/** Counts the open work, and tells when this process may continue with it. */
export async function countOpen(sql: Sql, source: number, now: number, holder: HostHolder): Promise<OpenWork> {
  const open = await sql.get<OpenWork>(COUNT_OPEN, [source, now, holder.name, holder.isFull])
  return open ?? { pending: 0, leased: 0, nextAt: null }
}

/** Hosts that pending rows wait for and that stay blocked beyond a point in time, by name. */
export async function listHeldHosts(sql: Sql, source: number, now: number, after: number): Promise<string[]> {
  // An implausibly long hold comes from a wrong clock and is ignored, as in `correctClock`.
  const held = await sql.all<{ host: string }>(
    `SELECT DISTINCT o.host FROM open_hosts o JOIN hosts h ON h.host = o.host
     WHERE o.source = $1 AND h.held_until > $2::float8 AND h.held_until <= $3::float8 ORDER BY o.host`,
    [source, after, now + MAX_BACK_OFF_MS],
  )
  return held.map(({ host }) => host)
}

/** Takes pending rows out of the frontier: all, or those of a list. A row with a page was not visited, so its page stays valid. */
export function skipPending(
  sql: Sql,
  source: number,
  reason: Reason,
  pattern: string | null,
  listed?: ListedRows,
): Promise<number> {
  if (listed !== undefined) {
    return sql.run(
      `UPDATE ledger SET state = 'skipped', reason = $2, pattern = $3, target = NULL
       WHERE source = $1 AND state = 'pending' AND page_hash IS NULL AND found_on = $4 AND ${IS_LISTED}
         AND host <> ALL($5::text[])`,
      [source, reason, pattern, listed.list, listed.exceptHosts],
    )
  }
  return sql.run(
    `UPDATE ledger SET state = CASE WHEN page_hash IS NULL THEN 'skipped' ELSE 'unchanged' END,
       reason = CASE WHEN page_hash IS NULL THEN $2::text END, pattern = CASE WHEN page_hash IS NULL THEN $3::text END, target = NULL
     WHERE source = $1 AND state = 'pending'`,
    [source, reason, pattern],
  )
}

/** Fails every pending row of a host; stored pages stay. */
export function failPending(
  sql: Sql,
  source: number,
  host: string,
  reason: Reason,
  pattern: string | null,
): Promise<number> {
  return sql.run(
    `UPDATE ledger SET state = ${stateAfter('fail')}, reason = $3, pattern = $4, target = NULL, due_at = NULL,
       awaits_confirmation = false
     WHERE source = $1 AND host = $2 AND state = 'pending'`,
    [source, host, reason, pattern],
  )
}

/** Makes the pending rows of a host due now. */
export function clearDelays(sql: Sql, source: number, host: string): Promise<number> {
  return sql.run(
    `UPDATE ledger SET due_at = NULL WHERE source = $1 AND host = $2 AND state = 'pending' AND due_at IS NOT NULL`,
    [source, host],
  )
}

// The first open host of the source; hosts whose rows await no confirmation come first.
const firstOpen = (column: string): string =>
  `SELECT ${column} FROM open_hosts o WHERE o.source = $1 ORDER BY o.awaits_confirmation, o.host LIMIT 1`

const FRONTIER_STATE = `WITH phase AS MATERIALIZED (
    SELECT coalesce((${firstOpen('o.awaits_confirmation')}), true)
      AND NOT EXISTS (SELECT 1 FROM ledger l WHERE ${LEASED}) AS "isConfirmationPhase")
  SELECT t."isConfirmationPhase",
    EXISTS (SELECT 1 FROM ledger l WHERE ${EXPIRED})
      OR (($7 OR (${firstOpen('o.host')}) IS NULL) AND EXISTS (${LOST_ROWS})) AS "hasExpired",
    ARRAY(SELECT o.host FROM open_hosts o WHERE o.source = $1 AND o.awaits_confirmation = t."isConfirmationPhase"
      ORDER BY o.host LIMIT $5) AS hosts,
    ARRAY(SELECT i.host FROM unnest($6::text[]) AS i (host)
      WHERE NOT EXISTS (SELECT 1 FROM open_hosts o WHERE o.source = $1 AND o.host = i.host)) AS finished
  FROM phase t`

/** Reads the state of the frontier, after rows with a dead lease were returned to it. */
async function prepareFrontier(
  sql: Sql,
  source: number,
  { request, holder, id }: HolderRequest,
): Promise<FrontierState> {
  const { now, limit } = request
  const parameters = [source, now, holder.name, id]
  // Scans all leased rows for lost ones when there is nothing else to do, when this request is repeated, and at intervals.
  const readState = (scansLostRows: boolean) =>
    sql.get<FrontierState>(FRONTIER_STATE, [...parameters, limit + 1, holder.idle, scansLostRows])
  const isRepeated = holder.isRepeated(request)
  const found = await readState(holder.isScanDue(source, now) || isRepeated)
  if (found?.hasExpired !== true) return found ?? EMPTY
  await reclaimLeases(sql, parameters, now)
  return (await readState(false)) ?? EMPTY
}

/**
 * Returns rows with a dead lease to the frontier. Their hosts are released first, so that the previous holder can no longer settle them.
 */
async function reclaimLeases(sql: Sql, parameters: readonly unknown[], now: number): Promise<void> {
  const late = await sql.all<{ host: string }>(
    `SELECT DISTINCT l.host FROM ledger l JOIN hosts h ON h.host = l.host
    WHERE l.source = $1 AND l.state = 'leased' AND ${HAS_LATE_HOLDER}`,
    parameters.slice(0, 3),
  )
  await freeHosts(sql, hostsOf(late), now, (lease) => !isHostHeld(lease, now))
  await sql.run(`UPDATE ledger l SET ${POSTPONED} WHERE ${EXPIRED}`, parameters.slice(0, 2))
  await sql.run(`UPDATE ledger SET ${POSTPONED} WHERE id IN (${LOST_ROWS})`, parameters)
}

const EMPTY: FrontierState = {
  hasExpired: false,
  isConfirmationPhase: false,
  hosts: [],
  finished: [],
}

interface LeasedRow extends VisitRecord<Uint8Array> {
  readonly id: number
}

// Uses scalar subqueries instead of EXISTS, which the planner might answer with a full table scan.
const LEASE_ROWS = `UPDATE ledger l SET state = ${stateAfter('lease')}, lease = v.lease, leased_until = $3::float8
  FROM unnest($1::bigint[], $2::text[]) AS v (id, lease) WHERE l.id = v.id
  RETURNING l.id, ${VISIT_COLUMNS}, coalesce((SELECT true FROM links k WHERE k.id = l.id), false) AS "hasLinks",
    coalesce((SELECT true FROM ledger t WHERE t.source = l.source AND digest_of(t.key) = digest_of(l.target) AND t.key = l.target
      AND t.page_hash = l.content_hash), false) AS "isRepeated",
    coalesce(l.content_hash = l.page_hash, true) AS "isAsStored"`

/** Whether the host of a visit still has the same holder. */
export function isHostKept({ host, lease }: Pick<Visit, 'host' | 'lease'>, state: HostState): boolean {
  return host === NO_HOST || lease.startsWith(`${state.lease.token}:`)
}

/** Leases rows and returns their visits. */
async function leaseRows(
  sql: Sql,
  reserved: readonly ReservedRow[],
  hosts: States,
  { request, isConfirmationPhase: isConfirmation, id: requestId }: LeaseContext,
): Promise<Visit[]> {
  if (reserved.length === 0) return []
  const { sourceId, until } = request
  const leases = reserved.map(({ row }, i) => `${hosts.get(row.host)?.lease.token ?? 0}:${requestId}:${i}`)
  const leasedRows = await sql.all<LeasedRow>(LEASE_ROWS, [reserved.map(({ row }) => row.id), leases, until])
  const found = new Map(leasedRows.map((row) => [row.id, row]))
  return reserved.flatMap(({ row: { id, host, depth }, slot }, i) => {
    const row = found.get(id)
    const token = leases[i]
    if (row === undefined || token === undefined) return []
    return [{ sourceId, host, depth, isConfirmation, notBefore: slot, lease: token, ...toVisit(row, unpackHash) }]
  })
}
