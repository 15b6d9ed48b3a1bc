import { correctClock, type HostClock, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import { FREE_LEASE, type HostLease, revokeHost } from '../../../crawl/hosts/host-lease.ts'
import type { RobotsRecord } from '../../../crawl/ledger.ts'
import { listColumns, selectColumns, setExcluded, valuesOf } from '../../common/columns.ts'
import { CLOCK_COLUMNS, ROBOTS_COLUMNS } from '../../common/ledger/ledger-sql.ts'
import type { Sql } from '../database/database.ts'
import { namesOf, toArrays, writeUnnest } from '../database/row-arrays.ts'
import type { HostHolder } from './host-holder.ts'

/** The stored state of a host: its clock and its lease. */
export interface HostState {
  readonly clock: HostClock
  readonly lease: HostLease
}

/** A host as it is selected. */
export interface HostColumns extends HostClock, HostLease {
  readonly host: string
}

const LEASE_COLUMNS =
  'holder text, token bigint, leased_until double precision, taken_at double precision, wanted_at double precision'
const WRITTEN_COLUMNS = `host text, ${listColumns(CLOCK_COLUMNS)
  .map((column) => `${column} double precision`)
  .join(', ')}, ${LEASE_COLUMNS}`

/** The selected columns of hosts h, besides their names. */
export const HOST_COLUMNS: string = selectColumns(`${CLOCK_COLUMNS}, ${namesOf(LEASE_COLUMNS)}`, 'h')

const HOSTS = `SELECT h.host, ${HOST_COLUMNS} FROM hosts h WHERE h.host = ANY ($1)`

/** The states of hosts, with repaired clocks; unknown hosts are free. */
export async function readHosts(sql: Sql, hosts: readonly string[], now: number): Promise<Map<string, HostState>> {
  return toStates(await sql.all<HostColumns>(HOSTS, [hosts]), hosts, now)
}

/** Like {@link readHosts}, but locks the rows until the transaction ends. Rows are locked in one fixed order, which prevents deadlocks. */
export async function lockHosts(sql: Sql, hosts: readonly string[], now: number): Promise<Map<string, HostState>> {
  // A missing row cannot be locked, so it is inserted first.
  await sql.run(
    `INSERT INTO hosts (host) SELECT unnest($1::text[]) COLLATE "C" AS host ORDER BY 1 ON CONFLICT DO NOTHING`,
    [hosts],
  )
  return toStates(await sql.all<HostColumns>(`${HOSTS} ORDER BY h.host FOR UPDATE`, [hosts]), hosts, now)
}

/** Writes hosts that the caller has locked. */
export async function writeHosts(sql: Sql, states: ReadonlyMap<string, HostState>): Promise<void> {
  if (states.size === 0) return
  const [, ...columns] = listColumns(namesOf(WRITTEN_COLUMNS))
  const sets = columns.map((column) => `${column} = c.${column}`)
  await sql.run(
    `UPDATE hosts h SET ${sets} FROM ${writeUnnest(WRITTEN_COLUMNS, 'c')} WHERE h.host = c.host`,
    toArrays(
      WRITTEN_COLUMNS,
      [...states].map(([host, { clock, lease }]) => ({ host, ...clock, ...lease })),
    ),
  )
}

/** Releases the hosts whose lease still satisfies `isGone` after their rows are locked. */
export async function freeHosts(
  sql: Sql,
  hosts: readonly string[],
  now: number,
  isGone: (lease: HostLease) => boolean,
): Promise<void> {
  if (hosts.length === 0) return
  const gone = [...(await lockHosts(sql, hosts, now))].filter(([, { lease }]) => isGone(lease))
  await writeHosts(sql, new Map(gone.map(([host, { clock, lease }]) => [host, { clock, lease: revokeHost(lease) }])))
}

// A host that was leased again meanwhile has another expiry, and is not released.
const RENEW_LEASES = `WITH mine AS (
    SELECT host FROM hosts WHERE host = ANY ($1) AND holder = $2 AND leased_until > 0 ORDER BY host FOR UPDATE)
  UPDATE hosts h SET leased_until = CASE WHEN i.host IS NULL THEN greatest(h.leased_until, $3) WHEN h.leased_until = i.until THEN 0
    ELSE h.leased_until END
  FROM mine m LEFT JOIN unnest($4::text[], $5::float8[]) AS i (host, until) ON i.host = m.host WHERE h.host = m.host`

/** Sends a heartbeat: extends the leases of hosts with active visits, and releases all others. */
export async function renewHostLeases(sql: Sql, holder: HostHolder, now: number): Promise<void> {
  const { hosts, name } = holder
  if (hosts.length === 0) return
  const until = holder.leaseExpiryAt(now)
  const idle = hosts.filter((host) => !holder.isBusy(host))
  const busy = hosts.filter((host) => holder.isBusy(host))
  await sql.run(RENEW_LEASES, [hosts, name, until, idle, idle.map((host) => holder.heldUntil(host))])
  holder.extendLeases(busy, until)
  holder.forget(idle)
}

/** Releases all hosts of a process that is ending. */
export async function releaseHosts(sql: Sql, { hosts, name }: HostHolder): Promise<void> {
  if (hosts.length === 0) return
  await sql.run(
    `WITH mine AS (SELECT host FROM hosts WHERE host = ANY ($1) AND holder = $2 ORDER BY host FOR UPDATE)
     UPDATE hosts h SET leased_until = 0 FROM mine m WHERE h.host = m.host`,
    [hosts, name],
  )
}

/** A robots.txt file as it was last fetched. */
export function readRobots(sql: Sql, origin: string): Promise<RobotsRecord | undefined> {
  return sql.get<RobotsRecord>(`SELECT ${selectColumns(ROBOTS_COLUMNS)} FROM robots WHERE origin = $1`, [origin])
}

/** Replaces a stored robots.txt file. */
export async function writeRobots(sql: Sql, record: RobotsRecord): Promise<void> {
  await sql.run(
    `INSERT INTO robots (${ROBOTS_COLUMNS}) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (origin) DO UPDATE SET ${setExcluded(ROBOTS_COLUMNS)}`,
    valuesOf(ROBOTS_COLUMNS, record),
  )
}

const FREE: HostState = { clock: NEW_HOST_CLOCK, lease: FREE_LEASE }

/** Converts selected hosts, with repaired clocks; unknown hosts are free. */
export function toStates(found: readonly HostColumns[], hosts: readonly string[], now: number): Map<string, HostState> {
  const known = new Map(found.map((columns) => [columns.host, toState(columns)]))
  return new Map(
    hosts.map((host) => {
      const { clock, lease } = known.get(host) ?? FREE
      return [host, { clock: correctClock(clock, now), lease }]
    }),
  )
}

function toState(columns: HostColumns): HostState {
  const { nextAt, intervalMs, floorMs, heldUntil, slowedAt, strikes } = columns
  const { holder, token, leasedUntil, takenAt, wantedAt } = columns
  return {
    clock: { nextAt, intervalMs, floorMs, heldUntil, slowedAt, strikes },
    lease: { holder, token, leasedUntil, takenAt, wantedAt },
  }
}
