import { correctClock, type HostClock, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import { FREE_LEASE, type HostLease, revokeHost } from '../../../crawl/hosts/host-lease.ts'
import type { RobotsRecord } from '../../../crawl/ledger.ts'
import type { Sql } from '../database/database.ts'
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

/** The selected columns of hosts h, besides their names. */
export const HOST_COLUMNS = `h.next_at AS "nextAt", h.interval_ms AS "intervalMs", h.floor_ms AS "floorMs",
  h.held_until AS "heldUntil", h.slowed_at AS "slowedAt", h.strikes, h.holder, h.token, h.leased_until AS "leasedUntil",
  h.taken_at AS "takenAt", h.wanted_at AS "wantedAt"`

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
  const clocks = [...states.values()].map(({ clock }) => clock)
  const leases = [...states.values()].map(({ lease }) => lease)
  await sql.run(
    `UPDATE hosts h SET next_at = c.next_at, interval_ms = c.interval_ms, floor_ms = c.floor_ms, held_until = c.held_until,
       slowed_at = c.slowed_at, strikes = c.strikes, holder = c.holder, token = c.token, leased_until = c.leased_until,
       taken_at = c.taken_at, wanted_at = c.wanted_at
     FROM unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::int[], $8::text[],
       $9::bigint[], $10::float8[], $11::float8[], $12::float8[])
       AS c (host, next_at, interval_ms, floor_ms, held_until, slowed_at, strikes, holder, token, leased_until, taken_at, wanted_at)
     WHERE h.host = c.host`,
    [
      [...states.keys()],
      clocks.map(({ nextAt }) => nextAt),
      clocks.map(({ intervalMs }) => intervalMs),
      clocks.map(({ floorMs }) => floorMs),
      clocks.map(({ heldUntil }) => heldUntil),
      clocks.map(({ slowedAt }) => slowedAt),
      clocks.map(({ strikes }) => strikes),
      leases.map(({ holder }) => holder),
      leases.map(({ token }) => token),
      leases.map(({ leasedUntil }) => leasedUntil),
      leases.map(({ takenAt }) => takenAt),
      leases.map(({ wantedAt }) => wantedAt),
    ],
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
  return sql.get<RobotsRecord>(
    'SELECT origin, fetched_at AS "fetchedAt", type, body, status FROM robots WHERE origin = $1',
    [origin],
  )
}

/** Replaces a stored robots.txt file. */
export async function writeRobots(sql: Sql, { origin, fetchedAt, type, status, body }: RobotsRecord): Promise<void> {
  await sql.run(
    `INSERT INTO robots (origin, fetched_at, type, status, body) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (origin) DO UPDATE SET fetched_at = excluded.fetched_at, type = excluded.type, status = excluded.status,
       body = excluded.body`,
    [origin, fetchedAt, type, status, body],
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
