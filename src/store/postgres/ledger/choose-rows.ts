import type { HostClock } from '../../../crawl/hosts/host-clock.ts'
import {
  byWeight,
  type Candidate,
  countSlots,
  EXAMINED_PER_VISIT,
  pickByHost,
  pickFirst,
} from '../../common/ledger/slots.ts'
import type { Sql } from '../database/database.ts'
import { HOST_COLUMNS, type HostColumns, readHosts, toStates } from './hosts.ts'
import {
  CANDIDATES,
  createClockReader,
  filterUsableHosts,
  hostsOf,
  IN_ORDER,
  isNearHostLimit,
  LEASED,
  type LeaseContext,
  type Level,
  ready,
  type States,
  waiting,
  writeIsHeld,
  writeOpenAt,
} from './lease-context.ts'

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
export async function findLevel(sql: Sql, source: number, firstLevel = 0): Promise<Level> {
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
export async function chooseRows(context: LeaseContext): Promise<Candidate[]> {
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
export async function listByHost(
  context: LeaseContext,
  states: States,
  hosts: readonly string[],
): Promise<Candidate[]> {
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
