import { type HostClock, MAX_BACK_OFF_MS, MAX_SLOT_AHEAD_MS, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import {
  CONTESTED_LEASE_MS,
  isHostHeld,
  judgeHostOwnership,
  MAX_LEASE_MS,
  NO_HOST,
  releaseHost,
  takeHost,
  WANT_EXPIRY_MS,
  wantHost,
} from '../../../crawl/hosts/host-lease.ts'
import type { LeaseRequest, ListedRows, OpenWork, Reason, Visit } from '../../../crawl/ledger.ts'
import { unpackHash } from '../../common/hash.ts'
import { IS_LISTED, stateAfter } from '../../common/ledger-sql.ts'
import {
  byWeight,
  type Candidate,
  countSlots,
  EXAMINED_PER_VISIT,
  pickByHost,
  pickFirst,
  type ReservedRow,
  reserveSlots,
} from '../../common/slots.ts'
import { toVisit, VISIT_COLUMNS, type VisitRecord } from '../../common/visit.ts'
import type { Sql } from '../database/database.ts'
import { writeSelectByKey } from './found-addresses.ts'
import type { HostHolder, LeaseResult } from './host-holder.ts'
import {
  freeHosts,
  HOST_COLUMNS,
  type HostColumns,
  type HostState,
  lockHosts,
  readHosts,
  toStates,
  writeHosts,
} from './hosts.ts'

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

/** The position of a crawl that finishes one depth after the other: its depth, and the weights of the rows that are ready there. */
interface Level {
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
interface LeaseContext extends HolderRequest {
  readonly sql: Sql
  readonly source: number
  readonly isConfirmationPhase: boolean
  readonly level: Level | null
  /** Hosts of this process that count towards its maximum. */
  readonly kept: ReadonlySet<string>
}

type States = ReadonlyMap<string, HostState>

/*
 * SQL conditions for rows of the source $1, each served by its own partial index. `isConfirmationPhase` selects rows that await
 * confirmation.
 */
const ready = (isConfirmationPhase = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NULL AND l.awaits_confirmation = ${isConfirmationPhase}`
const waiting = (isConfirmationPhase = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NOT NULL AND l.awaits_confirmation = ${isConfirmationPhase}`
/** Leased rows that do not await confirmation. */
const LEASED = `l.source = $1 AND l.state = 'leased' AND NOT l.awaits_confirmation`
const IN_ORDER = 'ORDER BY l.weight, l.depth, l.id'
const CANDIDATES = 'SELECT l.id, l.weight, l.depth, l.host FROM ledger l'

/** SQL for the time at which a host opens. A clock that is implausibly far ahead counts as free, as in `correctClock`. */
export const writeOpenAt = (now: string): string => `greatest(0,
    CASE WHEN h.next_at > ${now} + ${MAX_SLOT_AHEAD_MS} THEN ${now} ELSE h.next_at END,
    CASE WHEN h.held_until > ${now} + ${MAX_BACK_OFF_MS} THEN ${now} ELSE h.held_until END)`

/** SQL for whether a process holds a host, as in `isHostHeld`. */
export function writeIsHeld(now: string): string {
  return `(h.leased_until > ${now} AND h.leased_until <= ${now} + ${MAX_LEASE_MS})`
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

/** Whether a lease could exceed the maximum number of hosts of this process. */
function isNearHostLimit({ request: { maxHosts = Infinity, limit }, kept }: LeaseContext): boolean {
  return kept.size + limit > maxHosts
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

// Steps from one weight to the next instead of scanning all rows, because there are few distinct weights.
const nextWeight = (where: string): string => `SELECT min(l.weight) FROM ledger l WHERE ${ready('false')} ${where}`

const LEVELS = `WITH RECURSIVE w (weight) AS (
    (${nextWeight('')}) UNION ALL
    SELECT (${nextWeight('AND l.weight > w.weight')}) FROM w WHERE w.weight IS NOT NULL)
  SELECT w.weight, (SELECT min(l.depth) FROM ledger l WHERE ${ready('false')} AND l.weight = w.weight) AS depth
  FROM w WHERE w.weight IS NOT NULL
  UNION ALL SELECT NULL, min(l.depth) FROM ledger l WHERE ${waiting('false')}
  UNION ALL SELECT NULL, min(l.depth) FROM ledger l WHERE ${LEASED}`

/** The lowest depth with pending or leased rows. */
async function findLevel(sql: Sql, source: number, firstLevel = 0): Promise<Level> {
  const found = await sql.all<{ weight: number | null; depth: number | null }>(LEVELS, [source])
  const minDepth = found.reduce((depth, row) => Math.min(depth, row.depth ?? depth), Infinity)
  const depth = Math.max(minDepth, firstLevel)
  const isOfLevel = (row: (typeof found)[number]) => row.depth !== null && row.depth <= depth
  return { depth, weights: found.flatMap((row) => (row.weight !== null && isOfLevel(row) ? [row.weight] : [])) }
}

/** SQL for the ready rows of a level, one weight after the other; `rest` limits hosts and number. */
const readyAt = (weights: string, depth: string, rest: string): string =>
  `SELECT r.* FROM unnest(${weights}::integer[]) AS w (weight) CROSS JOIN LATERAL (
     ${CANDIDATES} WHERE ${ready()} AND l.weight = w.weight AND l.depth <= ${depth} ${rest}) r`

const DUE = `${CANDIDATES} WHERE ${waiting()} AND l.due_at <= $3::float8`

const firstOf = (first: string, due: string): string => `SELECT f.*, ${HOST_COLUMNS}
  FROM (SELECT c.* FROM ((${first}) UNION ALL (${due})) c ORDER BY c.weight, c.depth, c.id LIMIT $4) f
  LEFT JOIN hosts h ON h.host = f.host ORDER BY f.weight, f.depth, f.id`

const FIRST = firstOf(`${CANDIDATES} WHERE ${ready()} ${IN_ORDER} LIMIT $4`, `${DUE} ${IN_ORDER} LIMIT $4`)
const FIRST_AT = firstOf(
  readyAt('$5', '$6', 'ORDER BY l.depth, l.id LIMIT $4'),
  `${DUE} AND l.depth <= $6 ${IN_ORDER} LIMIT $4`,
)

/** Factor for the number of first rows in the second attempt, before all hosts are examined. */
const FIRST_ROWS_GROWTH = 8

/**
 * Picks rows when there are many hosts. Usually the first rows suffice. If their hosts are unavailable, more rows are read, and only then
 * all hosts are examined.
 */
async function chooseRows(context: LeaseContext): Promise<Candidate[]> {
  const { sql, request, kept } = context
  const { limit, now, maxHosts = Infinity } = request
  const found = kept.size < maxHosts ? await chooseFirst(context) : []
  if (found === undefined) return chooseByHost(context)
  if (!isNearHostLimit(context)) return found
  // Hosts that this process holds may have more rows than those among the first.
  const others = hostsOf(found).filter((host) => !kept.has(host))
  const hosts = [...kept, ...others.slice(0, Math.max(0, Math.min(limit, maxHosts - kept.size)))]
  return listByHost(context, filterUsableHosts(await readHosts(sql, hosts, now), context), hosts)
}

/**
 * Picks from the first rows of all hosts, if these are enough. Near the host limit, picks only the first row of each host that this process
 * does not hold yet.
 */
async function chooseFirst(context: LeaseContext): Promise<Candidate[] | undefined> {
  const { request } = context
  for (const maxExamined of [1, FIRST_ROWS_GROWTH].map((times) => times * EXAMINED_PER_VISIT * request.limit)) {
    const first = await listFirst(context, maxExamined)
    const known = first.flatMap((row) => (row.token === null ? [] : [{ ...row, token: row.token }]))
    const states = toStates(known, hostsOf(first), request.now)
    const readClock = createClockReader(filterUsableHosts(states, context))
    const picked = isNearHostLimit(context)
      ? takeNewHosts(first, readClock, context, maxExamined)
      : pickFirst(first, readClock, request, maxExamined)
    if (picked !== undefined) return picked
  }
  return undefined
}

/** The first row of each host that the process may still take; undefined when these are too few and there may be others. */
function takeNewHosts(
  first: readonly Candidate[],
  readClock: (host: string) => HostClock,
  { request, kept }: LeaseContext,
  maxExamined: number,
): Candidate[] | undefined {
  const { maxHosts = Infinity, limit } = request
  const newHosts = new Map<string, Candidate>()
  for (const row of first) {
    const isOpen = !kept.has(row.host) && !newHosts.has(row.host) && countSlots(readClock(row.host), request) > 0
    if (isOpen) newHosts.set(row.host, row)
  }
  const isEnough = newHosts.size >= Math.min(limit, maxHosts - kept.size) || first.length < maxExamined
  return isEnough ? [...newHosts.values()] : undefined
}

/** A row with the columns of its host, if the host is known. */
type FirstRow = Candidate & Omit<HostColumns, 'token'> & { readonly token: number | null }

function listFirst(
  { sql, source, request, isConfirmationPhase, level }: LeaseContext,
  maxExamined: number,
): Promise<FirstRow[]> {
  const values = [source, isConfirmationPhase, request.now, maxExamined]
  return level === null
    ? sql.all<FirstRow>(FIRST, values)
    : sql.all<FirstRow>(FIRST_AT, [...values, level.weights, level.depth])
}

// Rows are leased by weight, depth and age. Every free host takes at least one visit, so as many hosts as wanted visits are enough: those
// whose first rows come first. The inner ORDER BY keeps the scan on the index of this source; otherwise the planner would read the hosts of
// all sources.
const openHosts = (first: string, due: string): string => `SELECT o.host
  FROM (
    SELECT * FROM open_hosts WHERE source = $1 AND awaits_confirmation = $2 ORDER BY host) o
  LEFT JOIN hosts h ON h.host = o.host CROSS JOIN LATERAL (
    SELECT f.weight, f.depth, f.id FROM ((${first}) UNION ALL (${due})) f ORDER BY f.weight, f.depth, f.id LIMIT 1) f
  WHERE ${writeOpenAt('$3::float8')} <= $4::float8 AND (h.holder IS NULL OR h.holder = $6 OR NOT ${writeIsHeld('$3::float8')})
  ORDER BY ($7 AND o.host = ANY ($8)) DESC, f.weight, f.depth, f.id LIMIT $5`

const OPEN_HOSTS = openHosts(
  `${CANDIDATES} WHERE ${ready()} AND o.ready > 0 AND l.host = o.host ${IN_ORDER} LIMIT 1`,
  `${DUE} AND o.waiting > 0 AND l.host = o.host ${IN_ORDER} LIMIT 1`,
)
const OPEN_HOSTS_AT = openHosts(
  readyAt('$9', '$10', 'AND o.ready > 0 AND l.host = o.host ORDER BY l.depth, l.id LIMIT 1'),
  `${DUE} AND o.waiting > 0 AND l.host = o.host AND l.depth <= $10 ${IN_ORDER} LIMIT 1`,
)

/** Picks rows from the available hosts whose first rows come first. */
async function chooseByHost(context: LeaseContext): Promise<Candidate[]> {
  const { sql, source, request, isConfirmationPhase, level, holder, kept } = context
  const { now, horizon, limit } = request
  const values = [source, isConfirmationPhase, now, horizon, limit, holder.name, isNearHostLimit(context), [...kept]]
  const open =
    level === null
      ? await sql.all<{ host: string }>(OPEN_HOSTS, values)
      : await sql.all<{ host: string }>(OPEN_HOSTS_AT, [...values, level.weights, level.depth])
  const hosts = hostsOf(open)
  return listByHost(context, filterUsableHosts(await readHosts(sql, hosts, now), context), hosts)
}

const ofHosts = (first: string, due: string): string =>
  `SELECT r.* FROM unnest($4::text[], $5::integer[]) AS c (host, slots) CROSS JOIN LATERAL ((${first}) UNION ALL (${due})) r`

const OF_HOSTS = ofHosts(
  `${CANDIDATES} WHERE ${ready()} AND l.host = c.host ${IN_ORDER} LIMIT c.slots`,
  `${DUE} AND l.host = c.host ${IN_ORDER} LIMIT c.slots`,
)
const OF_HOSTS_AT = ofHosts(
  readyAt('$6', '$7', 'AND l.host = c.host ORDER BY l.depth, l.id LIMIT c.slots'),
  `${DUE} AND l.host = c.host AND l.depth <= $7 ${IN_ORDER} LIMIT c.slots`,
)

/** Picks rows of the given hosts, as far as their clocks have free slots. */
async function listByHost(context: LeaseContext, states: States, hosts: readonly string[]): Promise<Candidate[]> {
  const { sql, source, request, isConfirmationPhase, level } = context
  const open = hosts.flatMap((host) => {
    const state = states.get(host)
    const slots = state === undefined ? 0 : countSlots(state.clock, request)
    return slots === 0 ? [] : [{ host, slots }]
  })
  if (open.length === 0) return []
  const values = [
    source,
    isConfirmationPhase,
    request.now,
    open.map(({ host }) => host),
    open.map(({ slots }) => slots),
  ]
  const rows =
    level === null
      ? await sql.all<Candidate>(OF_HOSTS, values)
      : await sql.all<Candidate>(OF_HOSTS_AT, [...values, level.weights, level.depth])
  return pickByHost(isNearHostLimit(context) ? limitHosts(rows, context) : rows, createClockReader(states), request)
}

/** Limits rows to the maximum number of hosts: first those that the process holds, then those whose rows come first. */
export function limitHosts(
  rows: readonly Candidate[],
  { kept, request }: Pick<LeaseContext, 'kept' | 'request'>,
): readonly Candidate[] {
  const hosts = new Set(kept)
  return rows.toSorted(byWeight).filter(({ host }) => {
    if (!hosts.has(host) && hosts.size < (request.maxHosts ?? Infinity)) hosts.add(host)
    return hosts.has(host)
  })
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

function hostsOf(rows: readonly { readonly host: string }[]): string[] {
  return [...new Set(rows.map(({ host }) => host))]
}

/** Reads the clocks of available hosts; all other hosts have no free slots. */
function createClockReader(open: States): (host: string) => HostClock {
  return (host) => open.get(host)?.clock ?? CLOSED
}

const CLOSED: HostClock = { ...NEW_HOST_CLOCK, nextAt: Infinity }
