import { randomUUID } from 'node:crypto'
import type { Discovery, LeaseRequest, OpenWork, Reason, Visit } from '../../crawl/ledger.ts'
import type { Database } from './database.ts'
import { type StoredHash, unpackHash } from './hash.ts'
import type { Hosts } from './hosts.ts'
import { stateAfter } from './rows.ts'

/** The part of the ledger that is to be fetched. */
export interface Frontier {
  /** Leases visits inside the transaction of the caller. */
  lease(source: number, request: LeaseRequest): Visit[]
  release(source: number, key: string, lease: string): void
  countOpen(source: number, now: number): OpenWork
  skipPending(source: number, reason: Reason, pattern: string | null): number
}

/** A row that may be leased. */
interface Candidate {
  readonly id: number
  readonly depth: number
  readonly host: string
}

interface VisitColumns {
  readonly key: string
  readonly url: string
  readonly discovery: Discovery
  readonly attempts: number
  readonly etag: string | null
  readonly lastModified: string | null
  readonly contentHash: StoredHash | null
  readonly pageHash: StoredHash | null
  readonly checkedAt: number | null
  readonly target: string | null
  readonly isFinal: 0 | 1
  readonly isRepeated: 0 | 1
}

/** Rows that await a confirmation are apart from all others, in every index of the frontier. */
type Turn = 0 | 1

/** Prepares what is asked about the frontier. */
export function createFrontier(db: Database, hosts: Hosts): Frontier {
  const expire = db.prepare<[number, number]>(
    `UPDATE ledger SET state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL
     WHERE source = ? AND state = 'leased' AND leased_until <= ?`,
  )
  const ready = `source = ? AND state = 'pending' AND due_at IS NULL AND awaits_confirmation = ?`
  const waiting = `source = ? AND state = 'pending' AND due_at IS NOT NULL AND awaits_confirmation = ?`
  const leased = `source = ? AND state = 'leased' AND awaits_confirmation = ?`
  const selectHostAfter = (where: string) =>
    db
      .prepare<[number, Turn, string], string | null>(`SELECT min(host) FROM ledger WHERE ${where} AND host > ?`)
      .pluck()
  const selectReadyHost = selectHostAfter(ready)
  const selectWaitingHost = selectHostAfter(waiting)
  const selectReady = db.prepare<[number, Turn, string, number, number], Candidate>(
    `SELECT id, depth, host FROM ledger WHERE ${ready} AND host = ? AND depth <= ? ORDER BY depth, id LIMIT ?`,
  )
  const selectDue = db.prepare<[number, Turn, string, number, number, number], Candidate>(
    `SELECT id, depth, host FROM ledger WHERE ${waiting} AND host = ? AND due_at <= ? AND depth <= ?
     ORDER BY depth, id LIMIT ?`,
  )
  const selectFirstDue = db
    .prepare<[number, Turn, string], number | null>(`SELECT min(due_at) FROM ledger WHERE ${waiting} AND host = ?`)
    .pluck()
  const selectLeastReady = db
    .prepare<[number, Turn, string], number | null>(`SELECT min(depth) FROM ledger WHERE ${ready} AND host = ?`)
    .pluck()
  const selectLeast = (where: string) =>
    db.prepare<[number, Turn], number | null>(`SELECT min(depth) FROM ledger WHERE ${where}`).pluck()
  const selectLeastWaiting = selectLeast(waiting)
  const selectLeastLeased = selectLeast(leased)
  const selectAny = [ready, waiting, leased].map((where) =>
    db.prepare<[number, Turn]>(`SELECT 1 FROM ledger WHERE ${where} LIMIT 1`),
  )
  const take = db.prepare<[string, number, number]>(
    `UPDATE ledger SET state = ${stateAfter('lease')}, lease = ?, leased_until = ? WHERE id = ?`,
  )
  const selectVisit = db.prepare<[number], VisitColumns>(
    `SELECT l.key, l.url, l.discovery, l.attempts, l.etag, l.last_modified AS lastModified,
       l.content_hash AS contentHash, l.page_hash AS pageHash, l.checked_at AS checkedAt, l.target,
       l.is_final AS isFinal, t.id IS NOT NULL AS isRepeated
     FROM ledger l LEFT JOIN ledger t ON t.source = l.source AND t.key = l.target AND t.page_hash = l.content_hash
     WHERE l.id = ?`,
  )
  const putBack = db.prepare<[number, string, string]>(
    `UPDATE ledger SET state = ${stateAfter('postpone')}, lease = NULL, leased_until = NULL
     WHERE source = ? AND key = ? AND state = 'leased' AND lease = ?`,
  )
  const selectCount = db
    .prepare<[number, string], number | null>('SELECT sum(rows) FROM ledger_counts WHERE source = ? AND state = ?')
    .pluck()
  const selectExpired = db.prepare<[number, number], { host: string; dueAt: number | null }>(
    `SELECT host, due_at AS dueAt FROM ledger
     WHERE source = ? AND state = 'leased' AND leased_until <= ?`,
  )
  const skip = db.prepare<[Reason, string | null, number]>(
    `UPDATE ledger SET state = 'skipped', reason = ?, pattern = ?, target = NULL WHERE source = ? AND state = 'pending'`,
  )

  /** Hosts with pending rows: one step in an index for each, however many rows it has. */
  const listHosts = (source: number, turn: Turn): Set<string> => {
    const names = new Set<string>()
    for (const select of [selectReadyHost, selectWaitingHost]) {
      for (let host = select.get(source, turn, ''); typeof host === 'string'; host = select.get(source, turn, host)) {
        names.add(host)
      }
    }
    return names
  }

  /** The least depth of rows that are pending or leased. */
  const findLevel = (source: number, names: Iterable<string>): number => {
    const depths = [selectLeastWaiting.get(source, 0), selectLeastLeased.get(source, 0)]
    for (const host of names) depths.push(selectLeastReady.get(source, 0, host))
    return depths.reduce<number>((least, depth) => Math.min(least, depth ?? DEEPEST), DEEPEST)
  }

  /** Takes a row, as the visit it is to become. */
  const takeRow = (
    sourceId: string,
    row: Candidate,
    turn: Turn,
    notBefore: number,
    until: number,
  ): Visit | undefined => {
    const found = selectVisit.get(row.id)
    if (found === undefined) return undefined
    const lease = randomUUID()
    take.run(lease, until, row.id)
    return {
      sourceId,
      host: row.host,
      depth: row.depth,
      isConfirmation: turn === 1,
      notBefore,
      lease,
      ...toVisit(found),
    }
  }

  const lease = (source: number, request: LeaseRequest): Visit[] => {
    const { sourceId, limit, now, until, horizon, isLevelled } = request
    expire.run(source, now)
    const turn: Turn = selectAny.some((select) => select.get(source, 0) !== undefined) ? 0 : 1
    const names = listHosts(source, turn)
    const level = isLevelled && turn === 0 ? findLevel(source, names) : DEEPEST
    const candidates: Candidate[] = []
    for (const host of names) {
      const slots = countSlots(hosts.readClock(host), now, horizon, limit)
      if (slots === 0) continue
      const rows = [
        ...selectReady.all(source, turn, host, level, slots),
        ...selectDue.all(source, turn, host, now, level, slots),
      ]
      candidates.push(...rows.sort(byAge).slice(0, slots))
    }
    const visits: Visit[] = []
    for (const row of candidates.sort(byAge).slice(0, limit)) {
      const { nextAt, intervalMs } = hosts.readClock(row.host)
      const slot = Math.max(now, nextAt)
      const visit = takeRow(sourceId, row, turn, slot, until)
      if (visit === undefined) continue
      hosts.moveClock(row.host, slot + intervalMs)
      visits.push(visit)
    }
    return visits
  }

  const countOpen = (source: number, now: number): OpenWork => {
    const expired = selectExpired.all(source, now)
    const pending = (selectCount.get(source, 'pending') ?? 0) + expired.length
    const leasedRows = (selectCount.get(source, 'leased') ?? 0) - expired.length
    const moments: number[] = []
    for (const turn of [0, 1] as const) {
      for (const host of listHosts(source, turn)) {
        const isReady = selectLeastReady.get(source, turn, host) !== null
        const dueAt = selectFirstDue.get(source, turn, host) ?? now
        moments.push(Math.max(isReady ? Math.min(now, dueAt) : dueAt, hosts.readClock(host).nextAt))
      }
    }
    for (const { host, dueAt } of expired) moments.push(Math.max(dueAt ?? now, hosts.readClock(host).nextAt))
    const nextAt = moments.length === 0 ? null : moments.reduce((a, b) => Math.min(a, b))
    return { pending, leased: leasedRows, nextAt }
  }

  return {
    lease,
    release: (source, key, token) => {
      putBack.run(source, key, token)
    },
    countOpen,
    skipPending: (source, reason, pattern) => skip.run(reason, pattern, source).changes,
  }
}

const DEEPEST = Number.MAX_SAFE_INTEGER

function byAge(a: Candidate, b: Candidate): number {
  return a.depth - b.depth || a.id - b.id
}

/** How many visits a host has room for up to the horizon. */
function countSlots(
  clock: { nextAt: number; intervalMs: number },
  now: number,
  horizon: number,
  limit: number,
): number {
  const room = horizon - Math.max(now, clock.nextAt)
  if (room < 0) return 0
  return clock.intervalMs > 0 ? Math.min(limit, Math.floor(room / clock.intervalMs) + 1) : limit
}

/** Validators are only worth sending where an answer that nothing changed would be enough. */
function toVisit(found: VisitColumns) {
  const { key, url, discovery, attempts, checkedAt, target } = found
  const hasPage = found.pageHash !== null
  const isFinal = found.isFinal === 1
  const isConditional = !isFinal && (hasPage || found.isRepeated === 1)
  const hash = found.pageHash ?? (isConditional ? found.contentHash : null)
  return {
    key,
    url,
    discovery,
    attempts,
    etag: isConditional ? found.etag : null,
    lastModified: isConditional ? found.lastModified : null,
    contentHash: hash === null ? null : unpackHash(hash),
    checkedAt,
    hasPage,
    target,
    isFinal,
  }
}
