import { ASTRAY_MS, FREE_CLOCK, type HostClock, MOST_HOLD_MS } from '../../crawl/host-clock.ts'
import {
  giveHostBack,
  isHostHeld,
  judgeHost,
  MOST_LEASE_MS,
  NO_HOST,
  TURN_MS,
  takeHost,
  WISH_MS,
  wantHost,
} from '../../crawl/host-lease.ts'
import type { LeaseRequest, ListedRows, OpenWork, Reason, Visit } from '../../crawl/ledger.ts'
import { unpackHash } from '../common/hash.ts'
import { LISTED, stateAfter } from '../common/ledger-sql.ts'
import {
  byWeight,
  type Candidate,
  countSlots,
  FIRST_PER_VISIT,
  type Reserved,
  reserveSlots,
  takeFirst,
  takeOfHosts,
} from '../common/slots.ts'
import { toVisit, type VisitRecord } from '../common/visit.ts'
import type { Sql } from './database.ts'
import { ofKey } from './finds.ts'
import type { HostHolder, Leased } from './host-holder.ts'
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

/** How the frontier of a source stands, before a lease. */
interface Standing {
  /** Whether rows are leased to nobody: what they were taken by ran out, was lost, or never got its answer. */
  readonly hasExpired: boolean
  /** Whether nothing is left but rows that await a confirmation: they are apart from all others, in every index of the frontier. */
  readonly isLast: boolean
  /** Hosts with pending rows of this turn, as many as there are visits wanted and one more. */
  readonly hosts: readonly string[]
  /** Hosts that the process has, with nothing under way and nothing of this source to be done. */
  readonly finished: readonly string[]
}

/** Where a crawl stands that finishes one depth after the other: which it is at, and the weights of rows that are ready there. */
interface Level {
  readonly depth: number
  readonly weights: readonly number[]
}

/** A lease that is asked for, by a process that takes hosts for it. */
export interface Asking {
  readonly request: LeaseRequest
  readonly holder: HostHolder
  /** By which the request is known again when it is made once more, because its answer was lost. */
  readonly id: string
}

/** What is asked of the frontier. */
interface Asked extends Asking {
  readonly sql: Sql
  readonly source: number
  readonly isLast: boolean
  readonly level: Level | null
  /** Hosts of the process that count towards those it may have. */
  readonly kept: ReadonlySet<string>
}

type States = ReadonlyMap<string, HostState>

/*
 * Rows of the source $1, each kind served by a partial index of its own; `isLast` says whether those are meant that await a confirmation.
 */
const ready = (isLast = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NULL AND l.awaits_confirmation = ${isLast}`
const waiting = (isLast = '$2'): string =>
  `l.source = $1 AND l.state = 'pending' AND l.due_at IS NOT NULL AND l.awaits_confirmation = ${isLast}`
/** Those that await none. */
const LEASED = `l.source = $1 AND l.state = 'leased' AND NOT l.awaits_confirmation`
const IN_ORDER = 'ORDER BY l.weight, l.depth, l.id'
const CANDIDATES = 'SELECT l.id, l.weight, l.depth, l.host FROM ledger l'

/** When a host opens, at a moment. A clock further ahead than anybody reserves is as good as free, as for `mendClock`. */
export const openAt = (now: string): string => `greatest(0,
    CASE WHEN h.next_at > ${now} + ${ASTRAY_MS} THEN ${now} ELSE h.next_at END,
    CASE WHEN h.held_until > ${now} + ${MOST_HOLD_MS} THEN ${now} ELSE h.held_until END)`

/** Whether somebody has a host at a moment, as for `isHostHeld`. */
export function heldAt(now: string): string {
  return `(h.leased_until > ${now} AND h.leased_until <= ${now} + ${MOST_LEASE_MS})`
}

/** Whose lease has run out at $2. What a running crawl has leased is its own as long as it runs: whoever begins another, or takes it over, takes all back. */
const EXPIRED = `l.source = $1 AND l.state = 'leased' AND l.leased_until <= $2::float8
  AND NOT EXISTS (SELECT 1 FROM crawls j WHERE j.source = $1 AND j.state = 'running')`

/** Of rows l and their hosts h: the process that has the host, which is not $3, has given no sign of life for too long at $2. */
const LATE = `NOT ${heldAt('$2::float8')} AND h.holder <> $3`

/** Leased rows whose host has changed hands since, or should, and those that this very request has taken before. */
const LOST_ROWS = `SELECT l.id FROM ledger l JOIN hosts h ON h.host = l.host
  WHERE l.source = $1 AND l.state = 'leased'
    AND (split_part(l.lease, ':', 1) <> h.token::text OR split_part(l.lease, ':', 2) = $4 OR (${LATE}))`

const POSTPONED = `state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL`

/** Takes visits that are due, each with a slot of its host, and the hosts with them. */
export async function lease(sql: Sql, source: number, asking: Asking): Promise<Leased> {
  const { request, holder } = asking
  const { isLast, hosts, finished } = await stand(sql, source, asking)
  const { idle } = holder
  if (hosts.length === 0 && idle.length === 0) return { visits: [], taken: [], until: 0, left: [] }
  const level =
    request.isLevelled && !isLast && hosts.length > 0 ? await findLevel(sql, source, request.firstLevel) : null
  const kept = new Set(holder.hosts.filter((host) => !finished.includes(host)))
  const asked: Asked = { ...asking, sql, source, isLast, level, kept }
  // Mostly there are few hosts. Where there are many, and all that could be had are others', those are asked for that come first.
  const chosen = hosts.length <= request.limit ? undefined : await choose(asked)
  const wanted = chosen === undefined || chosen.length === 0 ? hosts.slice(0, request.limit) : hostsOf(chosen)
  const states = await lockHosts(sql, [...new Set([...wanted, ...idle])], request.now)
  const open = openOf(states, asked)
  const rows = chosen?.filter(({ host }) => open.has(host)) ?? (await listOfHosts(asked, open, hosts))
  const { reserved, clocks } = reserveSlots(rows, readFrom(open), request)
  const isEnough = reserved.length >= request.limit
  const visited = isEnough || holder.isFull ? [] : await listVisited(asked, states)
  const changed = changeHosts(states, clocks, { asked, standing: { finished, visited }, isEnough })
  await writeHosts(sql, changed)
  const visits = await take(sql, reserved, changed, asked)
  const left = idle.filter((host) => !clocks.has(host) && !isKept(changed.get(host) ?? states.get(host), holder))
  const { until, hostsUntil = until } = request
  return { visits, taken: [...clocks.keys()].filter((host) => host !== NO_HOST), until: hostsUntil, left }
}

/** Hosts that visits may be made of. */
export function openOf(states: States, { holder, request }: Pick<Asked, 'holder' | 'request'>): States {
  return new Map([...states].filter(([host, { lease }]) => mayUse(host, lease, holder, request.now)))
}

function mayUse(host: string, lease: HostState['lease'], { name }: HostHolder, now: number): boolean {
  const standing = judgeHost(lease, name, now)
  return host === NO_HOST || standing === 'ours' || standing === 'free'
}

function isKept(state: HostState | undefined, { name }: HostHolder): boolean {
  return state !== undefined && state.lease.holder === name && state.lease.leasedUntil > 0
}

/** What a lease came to, before its hosts are written. */
interface Outcome {
  readonly asked: Pick<Asked, 'holder' | 'request'>
  readonly standing: Pick<Standing, 'finished'> & {
    /** Of hosts that others have, those with visits of this source under way. */
    readonly visited: readonly string[]
  }
  /** Whether as many visits were found as were asked for. */
  readonly isEnough: boolean
}

/** Hosts of others where visits of this source are under way. */
async function listVisited({ sql, source, holder, request }: Asked, states: States): Promise<string[]> {
  const others = [...states].filter(([, { lease }]) => judgeHost(lease, holder.name, request.now) === 'others')
  if (others.length === 0) return []
  return hostsOf(
    await sql.all<{ host: string }>(
      `SELECT DISTINCT l.host FROM ledger l WHERE l.source = $1 AND l.state = 'leased' AND l.host = ANY ($2)`,
      [source, others.map(([host]) => host)],
    ),
  )
}

/** Hosts that change: those that are taken, those that are given back, those that are wanted. */
export function changeHosts(states: States, clocks: ReadonlyMap<string, HostClock>, outcome: Outcome): States {
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
  { asked, standing, isEnough }: Outcome,
): HostState['lease'] {
  const { holder, request } = asked
  const { now, until, hostsUntil = until } = request
  if (isTaken) return takeHost(lease, holder.name, now, hostsUntil)
  const judged = judgeHost(lease, holder.name, now)
  if (judged === 'others') {
    // Whoever has it may do this very work, which is as good. Others are asked for it where there is nothing else to do.
    const isAsked = !isEnough && !holder.isFull && !standing.visited.includes(host)
    return isAsked ? wantHost(lease, now) : lease
  }
  if (lease.holder !== holder.name || lease.leasedUntil === 0 || holder.isBusy(host)) return lease
  // With nothing under way, and nothing that could be begun now, it is of more use to others.
  const isUseless = judged === 'yielded' || !isEnough || standing.finished.includes(host)
  return isUseless ? giveHostBack(lease) : lease
}

/** Whether a lease might take more hosts than the process may have. */
function isCapped({ request: { maxHosts = Infinity, limit }, kept }: Asked): boolean {
  return kept.size + limit > maxHosts
}

/** Puts rows back as they were, which are leased by nobody else: of a host that has changed hands they would be put back anyway. */
export async function release(sql: Sql, source: number, visits: readonly Visit[]): Promise<void> {
  if (visits.length === 0) return
  await sql.run(
    `UPDATE ledger l SET ${POSTPONED}
     FROM unnest($2::text[], $3::text[]) AS v (key, lease) CROSS JOIN LATERAL (${ofKey('r.id', 'v.key')}) r
     WHERE l.id = r.id AND l.state = 'leased' AND l.lease = v.lease`,
    [source, visits.map(({ key }) => key), visits.map((visit) => visit.lease)],
  )
}

/** How soon to look again at a host that cannot be had now. */
const LOOK_MS = 500

/** Whether a host cannot be had at $2 by the process $3: another has it, others are to have it, or $4 says that it has enough. */
const TAKEN = `(h.holder <> $3 AND ${heldAt('$2::float8')}) OR ($4 AND h.holder IS DISTINCT FROM $3)
  OR (h.holder = $3 AND h.wanted_at > greatest(0, $2::float8 - ${WISH_MS}) AND (h.leased_until = 0 OR h.taken_at <= $2::float8 - ${TURN_MS}))`

const COUNT_OPEN = `SELECT
    (SELECT coalesce(sum(rows), 0)::bigint FROM ledger_counts WHERE source = $1 AND state = 'pending') + e.rows AS pending,
    (SELECT coalesce(sum(rows), 0)::bigint FROM ledger_counts WHERE source = $1 AND state = 'leased') - e.rows AS leased,
    least(e.next, o.next) AS "nextAt"
  FROM (
    SELECT count(*) AS rows, min(greatest(coalesce(l.due_at, $2::float8), ${openAt('$2::float8')})) AS next
    FROM ledger l LEFT JOIN hosts h ON h.host = l.host WHERE ${EXPIRED}) e
  CROSS JOIN (
    SELECT min(greatest(${openAt('$2::float8')}, CASE WHEN ${TAKEN} THEN $2::float8 + ${LOOK_MS} END, least(
      CASE WHEN o.ready > 0 THEN $2::float8 END,
      CASE WHEN o.waiting > 0 THEN (
        SELECT min(l.due_at) FROM ledger l
        WHERE ${waiting('o.awaits_confirmation')} AND l.host = o.host) END))) AS next
    FROM open_hosts o LEFT JOIN hosts h ON h.host = o.host WHERE o.source = $1) o`

/** Counts what is still to be done, and tells when a process may go on with it. */
export async function countOpen(sql: Sql, source: number, now: number, holder: HostHolder): Promise<OpenWork> {
  const open = await sql.get<OpenWork>(COUNT_OPEN, [source, now, holder.name, holder.isFull])
  return open ?? { pending: 0, leased: 0, nextAt: null }
}

/** Hosts that pending rows wait for and that are left alone until after a moment, in the order of their names. */
export async function listHeldHosts(sql: Sql, source: number, now: number, after: number): Promise<string[]> {
  // What a clock wrote that was wrong is no hold, as for `mendClock`.
  const held = await sql.all<{ host: string }>(
    `SELECT DISTINCT o.host FROM open_hosts o JOIN hosts h ON h.host = o.host
     WHERE o.source = $1 AND h.held_until > $2::float8 AND h.held_until <= $3::float8 ORDER BY o.host`,
    [source, after, now + MOST_HOLD_MS],
  )
  return held.map(({ host }) => host)
}

/** Takes every pending row out of the frontier. One with a page was not looked at, so that nothing speaks against what it holds. */
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
       WHERE source = $1 AND state = 'pending' AND page_hash IS NULL AND found_on = $4 AND ${LISTED}
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

/** Gives up every pending row of a host. What their pages hold stays. */
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

// The first host of the source is one whose rows await no confirmation, if there is such a one.
const firstOpen = (column: string): string =>
  `SELECT ${column} FROM open_hosts o WHERE o.source = $1 ORDER BY o.awaits_confirmation, o.host LIMIT 1`

const STANDING = `WITH turn AS MATERIALIZED (
    SELECT coalesce((${firstOpen('o.awaits_confirmation')}), true)
      AND NOT EXISTS (SELECT 1 FROM ledger l WHERE ${LEASED}) AS "isLast")
  SELECT t."isLast",
    EXISTS (SELECT 1 FROM ledger l WHERE ${EXPIRED})
      OR (($7 OR (${firstOpen('o.host')}) IS NULL) AND EXISTS (${LOST_ROWS})) AS "hasExpired",
    ARRAY(SELECT o.host FROM open_hosts o WHERE o.source = $1 AND o.awaits_confirmation = t."isLast"
      ORDER BY o.host LIMIT $5) AS hosts,
    ARRAY(SELECT i.host FROM unnest($6::text[]) AS i (host)
      WHERE NOT EXISTS (SELECT 1 FROM open_hosts o WHERE o.source = $1 AND o.host = i.host)) AS finished
  FROM turn t`

/** Tells how the frontier stands, once rows that are leased to nobody are pending again. */
async function stand(sql: Sql, source: number, { request, holder, id }: Asking): Promise<Standing> {
  const { now, limit } = request
  const whose = [source, now, holder.name, id]
  // All that is leased is looked at for what is lost: where there is nothing else to do, where this very request was made before, and now
  // and then.
  const ask = (isLooking: boolean) => sql.get<Standing>(STANDING, [...whose, limit + 1, holder.idle, isLooking])
  const isAgain = holder.isAgain(request)
  const found = await ask(holder.looks(source, now) || isAgain)
  if (found?.hasExpired !== true) return found ?? EMPTY
  await takeBack(sql, whose, now)
  return (await ask(false)) ?? EMPTY
}

/** Makes rows pending that are leased to nobody. Whoever had their hosts loses them first, so that it cannot settle them any more. */
async function takeBack(sql: Sql, whose: readonly unknown[], now: number): Promise<void> {
  const late = await sql.all<{ host: string }>(
    `SELECT DISTINCT l.host FROM ledger l JOIN hosts h ON h.host = l.host
    WHERE l.source = $1 AND l.state = 'leased' AND ${LATE}`,
    whose.slice(0, 3),
  )
  await freeHosts(sql, hostsOf(late), now, (lease) => !isHostHeld(lease, now))
  await sql.run(`UPDATE ledger l SET ${POSTPONED} WHERE ${EXPIRED}`, whose.slice(0, 2))
  await sql.run(`UPDATE ledger SET ${POSTPONED} WHERE id IN (${LOST_ROWS})`, whose)
}

const EMPTY: Standing = {
  hasExpired: false,
  isLast: false,
  hosts: [],
  finished: [],
}

// Goes from one weight to the next instead of through all rows: there are few of them.
const nextWeight = (where: string): string => `SELECT min(l.weight) FROM ledger l WHERE ${ready('false')} ${where}`

const LEVELS = `WITH RECURSIVE w (weight) AS (
    (${nextWeight('')}) UNION ALL
    SELECT (${nextWeight('AND l.weight > w.weight')}) FROM w WHERE w.weight IS NOT NULL)
  SELECT w.weight, (SELECT min(l.depth) FROM ledger l WHERE ${ready('false')} AND l.weight = w.weight) AS depth
  FROM w WHERE w.weight IS NOT NULL
  UNION ALL SELECT NULL, min(l.depth) FROM ledger l WHERE ${waiting('false')}
  UNION ALL SELECT NULL, min(l.depth) FROM ledger l WHERE ${LEASED}`

/** The level of the least depth of rows that are pending or leased. */
async function findLevel(sql: Sql, source: number, firstLevel = 0): Promise<Level> {
  const found = await sql.all<{ weight: number | null; depth: number | null }>(LEVELS, [source])
  const least = found.reduce((depth, row) => Math.min(depth, row.depth ?? depth), Infinity)
  const depth = Math.max(least, firstLevel)
  const isOfLevel = (row: (typeof found)[number]) => row.depth !== null && row.depth <= depth
  return { depth, weights: found.flatMap((row) => (row.weight !== null && isOfLevel(row) ? [row.weight] : [])) }
}

/** The ready rows of a level, of one weight after the other; `rest` says of which host and how many of each. */
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

/** So many times more of the first rows are looked at before all hosts are. */
const MORE_FIRST = 8

/**
 * Rows to take where there are many hosts. Mostly the first of all will do; where they belong to hosts that cannot be had now, more of
 * them; and only where those do as well, all hosts are looked at.
 */
async function choose(asked: Asked): Promise<Candidate[]> {
  const { sql, request, kept } = asked
  const { limit, now, maxHosts = Infinity } = request
  const found = kept.size < maxHosts ? await chooseFirst(asked) : []
  if (found === undefined) return chooseOfHosts(asked)
  if (!isCapped(asked)) return found
  // Of those it has it may have more rows than are among the first.
  const others = hostsOf(found).filter((host) => !kept.has(host))
  const hosts = [...kept, ...others.slice(0, Math.max(0, Math.min(limit, maxHosts - kept.size)))]
  return listOfHosts(asked, openOf(await readHosts(sql, hosts, now), asked), hosts)
}

/** Rows to take of the first of all hosts, if these are enough; with a most of hosts, one at least of each further host that it may have. */
async function chooseFirst(asked: Asked): Promise<Candidate[] | undefined> {
  const { request } = asked
  for (const most of [1, MORE_FIRST].map((times) => times * FIRST_PER_VISIT * request.limit)) {
    const first = await listFirst(asked, most)
    const known = first.flatMap((row) => (row.token === null ? [] : [{ ...row, token: row.token }]))
    const states = toStates(known, hostsOf(first), request.now)
    const readClock = readFrom(openOf(states, asked))
    const taken = isCapped(asked)
      ? takeFurther(first, readClock, asked, most)
      : takeFirst(first, readClock, request, most)
    if (taken !== undefined) return taken
  }
  return undefined
}

/** The first row of each host that the process does not have yet and may have; undefined where these are too few, and there may be others. */
function takeFurther(
  first: readonly Candidate[],
  readClock: (host: string) => HostClock,
  { request, kept }: Asked,
  most: number,
): Candidate[] | undefined {
  const { maxHosts = Infinity, limit } = request
  const further = new Map<string, Candidate>()
  for (const row of first) {
    const isOpen = !kept.has(row.host) && !further.has(row.host) && countSlots(readClock(row.host), request) > 0
    if (isOpen) further.set(row.host, row)
  }
  const isEnough = further.size >= Math.min(limit, maxHosts - kept.size) || first.length < most
  return isEnough ? [...further.values()] : undefined
}

/** A row with its host, if that is known. */
type FirstRow = Candidate & Omit<HostColumns, 'token'> & { readonly token: number | null }

function listFirst({ sql, source, request, isLast, level }: Asked, most: number): Promise<FirstRow[]> {
  const values = [source, isLast, request.now, most]
  return level === null
    ? sql.all<FirstRow>(FIRST, values)
    : sql.all<FirstRow>(FIRST_AT, [...values, level.weights, level.depth])
}

// Rows are taken by weight, depth and age; every host that is free has room for one, so that as many hosts as there are visits are enough:
// those whose first rows come first. Hosts in order are those of the source alone, which an index has; what is done with them costs so much more
// that reading all others as well would not matter otherwise.
const openHosts = (first: string, due: string): string => `SELECT o.host
  FROM (
    SELECT * FROM open_hosts WHERE source = $1 AND awaits_confirmation = $2 ORDER BY host) o
  LEFT JOIN hosts h ON h.host = o.host CROSS JOIN LATERAL (
    SELECT f.weight, f.depth, f.id FROM ((${first}) UNION ALL (${due})) f ORDER BY f.weight, f.depth, f.id LIMIT 1) f
  WHERE ${openAt('$3::float8')} <= $4::float8 AND (h.holder IS NULL OR h.holder = $6 OR NOT ${heldAt('$3::float8')})
  ORDER BY ($7 AND o.host = ANY ($8)) DESC, f.weight, f.depth, f.id LIMIT $5`

const OPEN_HOSTS = openHosts(
  `${CANDIDATES} WHERE ${ready()} AND o.ready > 0 AND l.host = o.host ${IN_ORDER} LIMIT 1`,
  `${DUE} AND o.waiting > 0 AND l.host = o.host ${IN_ORDER} LIMIT 1`,
)
const OPEN_HOSTS_AT = openHosts(
  readyAt('$9', '$10', 'AND o.ready > 0 AND l.host = o.host ORDER BY l.depth, l.id LIMIT 1'),
  `${DUE} AND o.waiting > 0 AND l.host = o.host AND l.depth <= $10 ${IN_ORDER} LIMIT 1`,
)

/** Rows to take of those hosts of all that have room and come first. */
async function chooseOfHosts(asked: Asked): Promise<Candidate[]> {
  const { sql, source, request, isLast, level, holder, kept } = asked
  const { now, horizon, limit } = request
  const values = [source, isLast, now, horizon, limit, holder.name, isCapped(asked), [...kept]]
  const open =
    level === null
      ? await sql.all<{ host: string }>(OPEN_HOSTS, values)
      : await sql.all<{ host: string }>(OPEN_HOSTS_AT, [...values, level.weights, level.depth])
  const hosts = hostsOf(open)
  return listOfHosts(asked, openOf(await readHosts(sql, hosts, now), asked), hosts)
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

/** Rows to take of hosts, as far as their clocks have room. */
async function listOfHosts(asked: Asked, states: States, hosts: readonly string[]): Promise<Candidate[]> {
  const { sql, source, request, isLast, level } = asked
  const open = hosts.flatMap((host) => {
    const state = states.get(host)
    const slots = state === undefined ? 0 : countSlots(state.clock, request)
    return slots === 0 ? [] : [{ host, slots }]
  })
  if (open.length === 0) return []
  const values = [source, isLast, request.now, open.map(({ host }) => host), open.map(({ slots }) => slots)]
  const rows =
    level === null
      ? await sql.all<Candidate>(OF_HOSTS, values)
      : await sql.all<Candidate>(OF_HOSTS_AT, [...values, level.weights, level.depth])
  return takeOfHosts(isCapped(asked) ? withinCap(rows, asked) : rows, readFrom(states), request)
}

/** Rows of no more hosts than the process may have: first those it has, then those whose rows come first. */
export function withinCap(
  rows: readonly Candidate[],
  { kept, request }: Pick<Asked, 'kept' | 'request'>,
): readonly Candidate[] {
  const hosts = new Set(kept)
  return rows.toSorted(byWeight).filter(({ host }) => {
    if (!hosts.has(host) && hosts.size < (request.maxHosts ?? Infinity)) hosts.add(host)
    return hosts.has(host)
  })
}

interface Taken extends VisitRecord<Uint8Array> {
  readonly id: number
}

// What is asked of one row each is no EXISTS: that might be answered by reading the whole table.
const TAKE = `UPDATE ledger l SET state = ${stateAfter('lease')}, lease = v.lease, leased_until = $3::float8
  FROM unnest($1::bigint[], $2::text[]) AS v (id, lease) WHERE l.id = v.id
  RETURNING l.id, l.key, l.url, l.discovery, l.found_on AS "foundOn", l.attempts, l.etag, l.last_modified AS "lastModified",
    l.content_url AS "contentUrl", coalesce((SELECT true FROM links k WHERE k.id = l.id), false) AS "hasLinks", l.is_shell AS "isShell",
    l.content_hash AS "contentHash", l.page_hash AS "pageHash", l.checked_at AS "checkedAt", l.target, l.is_final AS "isFinal",
    coalesce((SELECT true FROM ledger t WHERE t.source = l.source AND digest_of(t.key) = digest_of(l.target) AND t.key = l.target
      AND t.page_hash = l.content_hash), false) AS "isRepeated",
    coalesce(l.content_hash = l.page_hash, true) AS "isAsStored"`

/** Whether the host of a visit has not changed hands since. */
export function isHostKept({ host, lease }: Pick<Visit, 'host' | 'lease'>, state: HostState): boolean {
  return host === NO_HOST || lease.startsWith(`${state.lease.token}:`)
}

/** Takes rows, as the visits they are to become. */
async function take(
  sql: Sql,
  reserved: readonly Reserved[],
  hosts: States,
  { request, isLast: isConfirmation, id: asked }: Asked,
): Promise<Visit[]> {
  if (reserved.length === 0) return []
  const { sourceId, until } = request
  const leases = reserved.map(({ row }, place) => `${hosts.get(row.host)?.lease.token ?? 0}:${asked}:${place}`)
  const taken = await sql.all<Taken>(TAKE, [reserved.map(({ row }) => row.id), leases, until])
  const found = new Map(taken.map((row) => [row.id, row]))
  return reserved.flatMap(({ row: { id, host, depth }, slot }, place) => {
    const row = found.get(id)
    const token = leases[place]
    if (row === undefined || token === undefined) return []
    return [{ sourceId, host, depth, isConfirmation, notBefore: slot, lease: token, ...toVisit(row, unpackHash) }]
  })
}

function hostsOf(rows: readonly { readonly host: string }[]): string[] {
  return [...new Set(rows.map(({ host }) => host))]
}

/** The clocks of hosts that may be used; others have no room. */
function readFrom(open: States): (host: string) => HostClock {
  return (host) => open.get(host)?.clock ?? CLOSED
}

const CLOSED: HostClock = { ...FREE_CLOCK, nextAt: Infinity }
