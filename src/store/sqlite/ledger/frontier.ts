import { randomUUID } from 'node:crypto'
import { type HostClock, MAX_BACK_OFF_MS, MAX_SLOT_AHEAD_MS, nextRequestAt } from '../../../crawl/hosts/host-clock.ts'
import type { LeaseRequest, ListedRows, OpenWork, Visit } from '../../../crawl/ledger.ts'
import type { Reason } from '../../../crawl/ledger-reasons.ts'
import { IS_LISTED, stateAfter } from '../../common/ledger/ledger-sql.ts'
import {
  type Candidate,
  countSlots,
  EXAMINED_PER_VISIT,
  pickByHost,
  pickFirst,
  type ReservedRow,
  reserveSlots,
} from '../../common/ledger/slots.ts'
import { toVisit, VISIT_COLUMNS, type VisitRecord } from '../../common/ledger/visit.ts'
import type { Database } from '../database/database.ts'
import { type StoredHash, unpackHash } from '../database/hash.ts'
import type { Hosts } from './hosts.ts'

/** The part of the ledger that is still to be fetched. */
export interface Frontier {
  /** Leases visits inside the caller's transaction. */
  lease(source: number, request: LeaseRequest): Visit[]
  release(source: number, key: string, lease: string): void
  countOpen(source: number, now: number): OpenWork
  listHeldHosts(source: number, now: number, after: number): string[]
  skipPending(source: number, reason: Reason, pattern: string | null, listed?: ListedRows): number
  failPending(source: number, host: string, reason: Reason, pattern: string | null): number
  clearDelays(source: number, host: string): number
}

/** The position of a crawl that finishes one depth after the other: its depth, and the weights of the rows that are ready there. */
interface Level {
  readonly depth: number
  readonly weights: readonly number[]
}

/**
 * Column `awaits_confirmation`: 1 for rows to be fetched once more to confirm a result, 0 for all others. Rows with 1 are leased only when
 * no row with 0 is open. Every SQL index of the frontier contains this column.
 */
type ConfirmationFlag = 0 | 1

/**
 * `DEPTH_STEP` exceeds every row id and depth is capped at `MAX_DEPTH`, so that weight, depth and id (age) fit into one sortable number.
 */
const DEPTH_STEP = 2 ** 36
const MAX_DEPTH = 2 ** 15 - 1
const RANK = `weight * ${BigInt(DEPTH_STEP) * BigInt(MAX_DEPTH + 1)} + min(depth, ${MAX_DEPTH}) * ${DEPTH_STEP} + id`
/** A number above all ranks and times in use. */
const NEVER = '9e18'
const ANY_DEPTH = Number.MAX_SAFE_INTEGER

/** The parameters for examining all hosts; the last two apply only to a level. */
interface HostsParameters extends Record<'source' | 'flag' | 'now' | 'horizon' | 'limit', number> {
  readonly depth?: number
  readonly weights?: string
}

const READY = `source = ? AND state = 'pending' AND due_at IS NULL AND awaits_confirmation = ?`
const WAITING = `source = ? AND state = 'pending' AND due_at IS NOT NULL AND awaits_confirmation = ?`
const LEASED = `source = ? AND state = 'leased' AND awaits_confirmation = ?`
const JOIN_CLOCK = `LEFT JOIN hosts h ON h.host = o.host`
// A host whose next request or hold is implausibly far ahead counts as free, as in `correctClock`.
const OPENS_AT = `max(iif(ifnull(h.next_at, 0) > @now + ${MAX_SLOT_AHEAD_MS}, @now, ifnull(h.next_at, 0)),
  iif(ifnull(h.held_until, 0) > @now + ${MAX_BACK_OFF_MS}, @now, ifnull(h.held_until, 0)))`
const withNames = (where: string, flag = '@flag') =>
  where.replace('source = ?', 'source = @source').replace('confirmation = ?', `confirmation = ${flag}`)
const ofHost = (where: string) => `${withNames(where, 'o.awaits_confirmation')} AND host = o.host`

/** Creates the frontier queries. */
export function createFrontier(db: Database, hosts: Hosts): Frontier {
  const sql = prepareFrontier(db)
  const findLevel = createLevelSearch(db)
  const chooseRows = createRowChoice(db, hosts)
  /** Leases a row and returns its visit. */
  const takeRow = ({ row, slot }: ReservedRow, { sourceId, until }: LeaseRequest, flag: ConfirmationFlag): Visit[] => {
    const { host, depth } = row
    const found = sql.selectVisit.get(row.id)
    if (found === undefined) return []
    const lease = randomUUID()
    sql.leaseRow.run(lease, until, row.id)
    return [
      { sourceId, host, depth, isConfirmation: flag === 1, notBefore: slot, lease, ...toVisit(found, unpackHash) },
    ]
  }

  const lease = (source: number, request: LeaseRequest): Visit[] => {
    const { now, isBreadthFirst, firstLevel } = request
    sql.expire.run(source, now)
    const flag: ConfirmationFlag = sql.selectAny.some((select) => select.get(source, 0) !== undefined) ? 0 : 1
    const level = isBreadthFirst && flag === 0 ? findLevel(source, firstLevel) : null
    const rows = chooseRows(source, request, flag, level)
    const { reserved, clocks } = reserveSlots(rows, (host) => hosts.readClock(host, now), request)
    for (const [host, clock] of clocks) hosts.writeClock(host, clock)
    return reserved.flatMap((reservedRow) => takeRow(reservedRow, request, flag))
  }

  const countOpen = (source: number, now: number): OpenWork => {
    const expired = sql.selectExpired.all(source, now)
    const pending = (sql.selectCount.get(source, 'pending') ?? 0) + expired.length
    const leasedRows = (sql.selectCount.get(source, 'leased') ?? 0) - expired.length
    const moments = expired.map(({ host, dueAt }) => Math.max(dueAt ?? now, nextRequestAt(hosts.readClock(host, now))))
    const first = sql.selectNext.get({ source, now }) ?? null
    if (first !== null) moments.push(first)
    const nextAt = moments.length === 0 ? null : moments.reduce((earliest, moment) => Math.min(earliest, moment))
    return { pending, leased: leasedRows, nextAt }
  }

  return {
    lease,
    release: (source, key, token) => {
      sql.releaseRow.run(source, key, token)
    },
    countOpen,
    // An implausibly long hold comes from a wrong clock and is ignored, as in `correctClock`.
    listHeldHosts: (source, now, after) => sql.selectHeld.all(source, after, now + MAX_BACK_OFF_MS),
    ...createPendingUpdates(db),
  }
}

/** The statements of the frontier. */
function prepareFrontier(db: Database) {
  // Leases of a running crawl do not expire: the next crawl, or the process that takes over, releases them all.
  const expired = `state = 'leased' AND leased_until <= ?
    AND NOT EXISTS (SELECT 1 FROM crawls j WHERE j.source = ledger.source AND j.state = 'running')`
  return {
    expire: db.prepare<[number, number]>(
      `UPDATE ledger INDEXED BY ledger_leased SET state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL
       WHERE source = ? AND ${expired}`,
    ),
    selectNext: db
      .prepare<[Record<'source' | 'now', number>], number | null>(
        `SELECT min(max(${OPENS_AT}, min(
         CASE WHEN o.ready > 0 THEN @now ELSE ${NEVER} END,
         ifnull(CASE WHEN o.waiting > 0 THEN (SELECT min(due_at) FROM ledger WHERE ${ofHost(WAITING)}) END, ${NEVER}))))
       FROM open_hosts o ${JOIN_CLOCK} WHERE o.source = @source`,
      )
      .pluck(),
    selectHeld: db
      .prepare<[number, number, number], string>(
        `SELECT DISTINCT o.host FROM open_hosts o JOIN hosts h ON h.host = o.host
         WHERE o.source = ? AND h.held_until > ? AND h.held_until <= ? ORDER BY o.host`,
      )
      .pluck(),
    selectAny: [READY, WAITING, LEASED].map((where) =>
      db.prepare<[number, ConfirmationFlag]>(`SELECT 1 FROM ledger WHERE ${where} LIMIT 1`),
    ),
    leaseRow: db.prepare<[string, number, number]>(
      `UPDATE ledger SET state = ${stateAfter('lease')}, lease = ?, leased_until = ? WHERE id = ?`,
    ),
    selectVisit: db.prepare<[number], VisitRecord<StoredHash>>(
      `SELECT ${VISIT_COLUMNS}, EXISTS (SELECT 1 FROM links k WHERE k.id = l.id) AS hasLinks, t.id IS NOT NULL AS isRepeated,
         ifnull(l.content_hash = l.page_hash, 1) AS isAsStored
       FROM ledger l LEFT JOIN ledger t ON t.source = l.source AND t.key = l.target AND t.page_hash = l.content_hash
       WHERE l.id = ?`,
    ),
    releaseRow: db.prepare<[number, string, string]>(
      `UPDATE ledger SET state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL
       WHERE source = ? AND key = ? AND state = 'leased' AND lease = ?`,
    ),
    selectCount: db
      .prepare<[number, string], number | null>('SELECT sum(rows) FROM ledger_counts WHERE source = ? AND state = ?')
      .pluck(),
    selectExpired: db.prepare<[number, number], { host: string; dueAt: number | null }>(
      `SELECT host, due_at AS dueAt FROM ledger INDEXED BY ledger_leased WHERE source = ? AND ${expired}`,
    ),
  }
}

/** Creates the function that finds the lowest depth with pending or leased rows. */
function createLevelSearch(db: Database): (source: number, firstLevel?: number) => Level {
  const selectMinDepth = (where: string) =>
    db.prepare<[number, ConfirmationFlag], number | null>(`SELECT min(depth) FROM ledger WHERE ${where}`).pluck()
  const selectMinWaiting = selectMinDepth(WAITING)
  const selectMinLeased = selectMinDepth(LEASED)
  // Steps from one weight to the next instead of scanning all rows, because there are few distinct weights.
  const nextWeight = (where: string) =>
    `SELECT min(weight) FROM ledger INDEXED BY ledger_by_weight WHERE ${withNames(READY)} ${where}`
  const selectWeights = db.prepare<[{ source: number; flag: ConfirmationFlag }], { weight: number; depth: number }>(
    `WITH RECURSIVE w (weight) AS (
       ${nextWeight('')} UNION ALL
       SELECT (${nextWeight('AND weight > w.weight')}) FROM w WHERE w.weight IS NOT NULL)
     SELECT weight, (SELECT min(depth) FROM ledger INDEXED BY ledger_by_weight
         WHERE ${withNames(READY)} AND weight = w.weight) AS depth
     FROM w WHERE weight IS NOT NULL`,
  )
  return (source, firstLevel = 0) => {
    const ready = selectWeights.all({ source, flag: 0 })
    const others = [selectMinWaiting, selectMinLeased].map((select) => select.get(source, 0) ?? Infinity)
    const minDepth = ready.reduce((depth, row) => Math.min(depth, row.depth), Math.min(...others))
    const depth = Math.max(minDepth, firstLevel)
    return { depth, weights: ready.filter((row) => row.depth <= depth).map(({ weight }) => weight) }
  }
}

/** Picks rows by weight, depth and age from hosts with free slots. */
type RowChoice = (source: number, request: LeaseRequest, flag: ConfirmationFlag, level: Level | null) => Candidate[]

function createRowChoice(db: Database, hosts: Hosts): RowChoice {
  const { listFirst, listReady, listHosts, selectDue, selectWaitingHost } = createRowLists(db)
  return (source, request, flag, level) => {
    const { now, limit } = request
    const readClock = (host: string): HostClock => hosts.readClock(host, now)
    // Usually the first rows suffice. When too many of them belong to busy hosts, or delayed rows have become due, all hosts are examined.
    if (selectWaitingHost.get(source, flag) === undefined) {
      const picked = pickFirst(listFirst(source, flag, level, limit * EXAMINED_PER_VISIT), readClock, request)
      if (picked !== undefined) return picked
    }
    const depth = level?.depth ?? ANY_DEPTH
    const rows = listHosts(source, flag, level, request).flatMap((host) => {
      const slots = countSlots(readClock(host), request)
      return [...listReady(source, flag, host, level, slots), ...selectDue.all(source, flag, host, now, depth, slots)]
    })
    return pickByHost(rows, readClock, request)
  }
}

/** Creates the lists of rows and hosts from which visits are chosen. */
function createRowLists(db: Database) {
  // Rows are leased by weight, depth and age. Every free host can take at least one visit, so for `limit` visits it is enough to look at
  // `limit` hosts: those with the lowest-ranked first row.
  const firstReady = `SELECT ${RANK} FROM ledger WHERE ${ofHost(READY)} ORDER BY weight, depth, id LIMIT 1`
  const firstReadyAt = `SELECT min((SELECT ${RANK} FROM ledger
      WHERE ${ofHost(READY)} AND weight = w.value AND depth <= @depth ORDER BY depth, id LIMIT 1))
    FROM json_each(@weights) w`
  const firstDue = `SELECT min(${RANK}) FROM ledger WHERE ${ofHost(WAITING)} AND due_at <= @now`
  const prepareHosts = (readyFirst: string, dueFirst: string) =>
    db
      .prepare<[HostsParameters], string>(
        `SELECT host FROM (
         SELECT o.host, min(
           ifnull(CASE WHEN o.ready > 0 THEN (${readyFirst}) END, ${NEVER}),
           ifnull(CASE WHEN o.waiting > 0 THEN (${dueFirst}) END, ${NEVER})) AS first
         FROM open_hosts o ${JOIN_CLOCK}
         WHERE o.source = @source AND o.awaits_confirmation = @flag AND ${OPENS_AT} <= @horizon)
       WHERE first < ${NEVER} ORDER BY first LIMIT @limit`,
      )
      .pluck()
  const selectHosts = prepareHosts(firstReady, firstDue)
  const selectHostsAt = prepareHosts(firstReadyAt, `${firstDue} AND depth <= @depth`)
  const candidates = 'SELECT id, weight, depth, host FROM ledger'
  const selectFirst = db.prepare<[number, ConfirmationFlag, number], Candidate>(
    `${candidates} INDEXED BY ledger_by_weight WHERE ${READY} ORDER BY weight, depth, id LIMIT ?`,
  )
  const selectFirstAt = db.prepare<[number, ConfirmationFlag, number, number, number], Candidate>(
    `${candidates} INDEXED BY ledger_by_weight WHERE ${READY} AND weight = ? AND depth <= ? ORDER BY depth, id LIMIT ?`,
  )
  const selectWaitingHost = db.prepare<[number, ConfirmationFlag]>(
    'SELECT 1 FROM open_hosts WHERE source = ? AND awaits_confirmation = ? AND waiting > 0 LIMIT 1',
  )
  const selectReady = db.prepare<[number, ConfirmationFlag, string, number], Candidate>(
    `${candidates} WHERE ${READY} AND host = ? ORDER BY weight, depth, id LIMIT ?`,
  )
  const selectReadyAt = db.prepare<[number, ConfirmationFlag, string, number, number, number], Candidate>(
    `${candidates} WHERE ${READY} AND host = ? AND weight = ? AND depth <= ? ORDER BY depth, id LIMIT ?`,
  )
  const selectDue = db.prepare<[number, ConfirmationFlag, string, number, number, number], Candidate>(
    `${candidates} WHERE ${WAITING} AND host = ? AND due_at <= ? AND depth <= ?
     ORDER BY weight, depth, id LIMIT ?`,
  )
  /** The first rows of a level, one weight after the other, until there are enough. */
  const collect = (level: Level, limit: number, list: (weight: number, left: number) => Candidate[]): Candidate[] => {
    const rows: Candidate[] = []
    for (const weight of level.weights) {
      if (rows.length >= limit) break
      rows.push(...list(weight, limit - rows.length))
    }
    return rows
  }
  const listFirst = (source: number, flag: ConfirmationFlag, level: Level | null, limit: number): Candidate[] =>
    level === null
      ? selectFirst.all(source, flag, limit)
      : collect(level, limit, (weight, left) => selectFirstAt.all(source, flag, weight, level.depth, left))
  const listReady = (
    source: number,
    flag: ConfirmationFlag,
    host: string,
    level: Level | null,
    limit: number,
  ): Candidate[] =>
    level === null
      ? selectReady.all(source, flag, host, limit)
      : collect(level, limit, (weight, left) => selectReadyAt.all(source, flag, host, weight, level.depth, left))
  const listHosts = (source: number, flag: ConfirmationFlag, level: Level | null, request: LeaseRequest): string[] => {
    const { now, horizon, limit } = request
    const parameters = { source, flag, now, horizon, limit }
    if (level === null) return selectHosts.all(parameters)
    return selectHostsAt.all({ ...parameters, depth: level.depth, weights: JSON.stringify(level.weights) })
  }
  return { listFirst, listReady, listHosts, selectDue, selectWaitingHost }
}

/** Creates the statements that take pending rows out of the frontier, or end their waiting. */
function createPendingUpdates(db: Database): Pick<Frontier, 'skipPending' | 'failPending' | 'clearDelays'> {
  const skip = db.prepare<[Reason, string | null, number]>(
    `UPDATE ledger SET state = 'skipped', reason = ?, pattern = ?, target = NULL
     WHERE source = ? AND state = 'pending' AND page_hash IS NULL`,
  )
  const skipListed = db.prepare<[Reason, string | null, number, string, string]>(
    `UPDATE ledger SET state = 'skipped', reason = ?, pattern = ?, target = NULL
     WHERE source = ? AND state = 'pending' AND page_hash IS NULL AND found_on = ? AND ${IS_LISTED}
       AND host NOT IN (SELECT value FROM json_each(?))`,
  )
  const failRows = db.prepare<[Reason, string | null, number, string]>(
    `UPDATE ledger SET state = ${stateAfter('fail')}, reason = ?, pattern = ?, target = NULL, due_at = NULL,
       awaits_confirmation = 0
     WHERE source = ? AND host = ? AND state = 'pending'`,
  )
  const clearDelays = db.prepare<[number, string]>(
    `UPDATE ledger SET due_at = NULL WHERE source = ? AND host = ? AND state = 'pending' AND due_at IS NOT NULL`,
  )
  // The row was not visited, so its page stays valid.
  const confirmUnvisited = db.prepare<[number]>(
    `UPDATE ledger SET state = 'unchanged', reason = NULL, pattern = NULL, target = NULL
     WHERE source = ? AND state = 'pending' AND page_hash IS NOT NULL`,
  )

  return {
    failPending: (source, host, reason, pattern) => failRows.run(reason, pattern, source, host).changes,
    clearDelays: (source, host) => clearDelays.run(source, host).changes,
    skipPending: (source, reason, pattern, listed) =>
      listed === undefined
        ? skip.run(reason, pattern, source).changes + confirmUnvisited.run(source).changes
        : skipListed.run(reason, pattern, source, listed.list, JSON.stringify(listed.exceptHosts)).changes,
  }
}
