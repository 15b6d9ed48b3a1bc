import { type Find, type FindResult, isGateReason, type LedgerState, type Reason } from '../../crawl/ledger.ts'
import { applyFind, type FoundRow } from '../../crawl/transitions.ts'
import type { Database } from './database.ts'
import { READMITTED } from './rows.ts'

/** Records what was found. */
export interface Finds {
  /** Records finds in their order, inside the transaction of the caller. */
  offer(source: number, crawl: CrawlOf, finds: readonly Find[], now: number, maxRows?: number): FindResult[]
  /** Whether a source may have another row. */
  hasRoom(source: number, maxRows?: number): boolean
}

/** A crawl by its id and by its number. */
export interface CrawlOf {
  readonly id: string
  readonly number: number
}

interface FoundColumns {
  readonly id: number
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly depth: number
  readonly weight: number
  readonly crawl: number | null
  readonly hasPage: 0 | 1
}

/** Prepares what is done with finds. */
export function createFinds(db: Database): Finds {
  const select = db.prepare<[number, string], FoundColumns>(
    `SELECT id, state, reason, depth, weight, crawl, page_hash IS NOT NULL AS hasPage FROM ledger WHERE source = ? AND key = ?`,
  )
  const insert = db.prepare<unknown[]>(
    `INSERT INTO ledger (source, state, reason, pattern, target, depth, crawl, key, url, host, discovery, found_on,
       first_seen_at, weight) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const touch = db.prepare<[number, number, number, number]>(
    'UPDATE ledger SET depth = ?, weight = ?, crawl = ? WHERE id = ?',
  )
  const admit = db.prepare<[LedgerState, number, number, number, number]>(
    `UPDATE ledger SET state = ?, depth = ?, weight = ?, crawl = ?, ${READMITTED}, is_final = 0 WHERE id = ?`,
  )
  const refuse = db.prepare<[LedgerState, number, number, number, Reason, string | null, string | null, number]>(
    'UPDATE ledger SET state = ?, depth = ?, weight = ?, crawl = ?, reason = ?, pattern = ?, target = ? WHERE id = ?',
  )
  const findAgain = db.prepare<[string, string, string, string | null, number]>(
    'UPDATE ledger SET url = ?, host = ?, discovery = ?, found_on = ? WHERE id = ?',
  )

  const name = db.prepare<[string, string | null, number]>(
    `UPDATE ledger SET state = 'failed', reason = 'not-found', discovery = ?, found_on = ? WHERE id = ?`,
  )

  const selectTotal = db
    .prepare<[number], number | null>('SELECT sum(rows) FROM ledger_counts WHERE source = ?')
    .pluck()
  const countRoom = (source: number, maxRows: number): number => maxRows - (selectTotal.get(source) ?? 0)

  const offerOne = (source: number, crawl: CrawlOf, find: Find, now: number, takeRoom: () => boolean): FindResult => {
    const { key, url, host, discovery, foundOn, refusal } = find
    const found = select.get(source, key)
    const row = found && toFoundRow(found, crawl)
    const { result, write, state, depth, weight } = applyFind(row, find, crawl.id, row !== undefined || takeRoom())
    if (write === 'insert') {
      const { reason = null, pattern = null, target = null } = refusal ?? {}
      const how = [key, url, host, discovery, foundOn, now]
      insert.run(source, state, reason, pattern, target, depth, crawl.number, ...how, weight)
    } else if (found === undefined || row === undefined) {
      return result
    } else if (write === 'touch') {
      touch.run(depth, weight, crawl.number, found.id)
    } else if (write === 'name') {
      name.run(discovery, foundOn, found.id)
    } else if (result === 'refused' && refusal !== null) {
      refuse.run(state, depth, weight, crawl.number, refusal.reason, refusal.pattern, refusal.target, found.id)
    } else if (write === 'update') {
      admit.run(state, depth, weight, crawl.number, found.id)
      if (wasRefused(row)) findAgain.run(url, host, discovery, foundOn, found.id)
    }
    return result
  }

  return {
    offer: (source, crawl, finds, now, maxRows = Infinity) => {
      // Counted once, and only for those that bring something new.
      let room = maxRows === Infinity ? Infinity : undefined
      const takeRoom = (): boolean => {
        room ??= countRoom(source, maxRows)
        return room-- > 0
      }
      return finds.map((find) => offerOne(source, crawl, find, now, takeRoom))
    },
    hasRoom: (source, maxRows = Infinity) => maxRows === Infinity || countRoom(source, maxRows) > 0,
  }
}

function toFoundRow(found: FoundColumns, crawl: CrawlOf): FoundRow {
  const { state, reason, depth, weight } = found
  return {
    state,
    reason,
    depth,
    weight,
    crawlId: found.crawl === crawl.number ? crawl.id : OTHER,
    hasPage: found.hasPage === 1,
  }
}

/** Stands for any other crawl: which one it was matters to nobody here. */
const OTHER = ''

/**
 * Whether the gate refused a row, or a plan only supposed it: the find that admits it is, in effect, its first. A refused one is
 * admitted even by the crawl that refused it.
 */
function wasRefused({ state, reason }: FoundRow): boolean {
  return state === 'skipped' && (isGateReason(reason) || reason === 'guess-missed')
}
