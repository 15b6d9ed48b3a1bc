import type { FoundAddress, OfferResult } from '../../../crawl/ledger.ts'
import type { LedgerState, Reason } from '../../../crawl/ledger-reasons.ts'
import type { CrawlRef } from '../../common/ledger/crawl-ref.ts'
import { writeReadmission } from '../../common/ledger/ledger-sql.ts'
import { type ExistingRowRecord, planRowWrite, toFoundRow } from '../../common/ledger/row-write.ts'
import type { Database } from '../database/database.ts'

/** Records finds. */
export interface FoundAddresses {
  /** Records finds in order, inside the caller's transaction. */
  record(source: number, crawl: CrawlRef, finds: readonly FoundAddress[], now: number, maxRows?: number): OfferResult[]
  /** Whether a source may get another row. */
  hasRoom(source: number, maxRows?: number): boolean
}

interface ExistingRowColumns extends ExistingRowRecord {
  readonly id: number
}

/** Creates the statements for finds. */
export function createFoundAddresses(db: Database): FoundAddresses {
  const select = db.prepare<[number, string], ExistingRowColumns>(
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
    `UPDATE ledger SET state = ?, depth = ?, weight = ?, crawl = ?, ${writeReadmission('0')}, is_final = 0 WHERE id = ?`,
  )
  const refuse = db.prepare<[LedgerState, number, number, number, Reason | null, string | null, string | null, number]>(
    'UPDATE ledger SET state = ?, depth = ?, weight = ?, crawl = ?, reason = ?, pattern = ?, target = ? WHERE id = ?',
  )
  const replaceDiscovery = db.prepare<[string, string, string, string | null, number]>(
    'UPDATE ledger SET url = ?, host = ?, discovery = ?, found_on = ? WHERE id = ?',
  )

  const failMissedGuess = db.prepare<[string, string | null, number]>(
    `UPDATE ledger SET state = 'failed', reason = 'not-found', discovery = ?, found_on = ? WHERE id = ?`,
  )

  const selectTotal = db
    .prepare<[number], number | null>('SELECT sum(rows) FROM ledger_counts WHERE source = ?')
    .pluck()
  const countRoom = (source: number, maxRows: number): number => maxRows - (selectTotal.get(source) ?? 0)

  const offerOne = (
    source: number,
    crawl: CrawlRef,
    find: FoundAddress,
    now: number,
    takeRoom: () => boolean,
  ): OfferResult => {
    const { key, url, host, discovery, foundOn, refusal } = find
    const { reason = null, pattern = null, target = null } = refusal ?? {}
    const found = select.get(source, key)
    const row = found && toFoundRow(found, crawl)
    const { result, kind, state, depth, weight, isFirst } = planRowWrite(
      row,
      find,
      crawl,
      row !== undefined || takeRoom(),
    )
    if (kind === 'insert') {
      const discoveryValues = [key, url, host, discovery, foundOn, now]
      insert.run(source, state, reason, pattern, target, depth, crawl.number, ...discoveryValues, weight)
    }
    if (found === undefined) return result
    if (kind === 'touch') touch.run(depth, weight, crawl.number, found.id)
    else if (kind === 'name') failMissedGuess.run(discovery, foundOn, found.id)
    else if (kind === 'refuse') refuse.run(state, depth, weight, crawl.number, reason, pattern, target, found.id)
    else if (kind === 'admit') admit.run(state, depth, weight, crawl.number, found.id)
    if (isFirst) replaceDiscovery.run(url, host, discovery, foundOn, found.id)
    return result
  }

  return {
    record: (source, crawl, finds, now, maxRows = Infinity) => {
      // The remaining rows are counted lazily and once, because most finds add no row.
      let remainingRows = maxRows === Infinity ? Infinity : undefined
      const takeRoom = (): boolean => {
        remainingRows ??= countRoom(source, maxRows)
        return remainingRows-- > 0
      }
      return finds.map((find) => offerOne(source, crawl, find, now, takeRoom))
    },
    hasRoom: (source, maxRows = Infinity) => maxRows === Infinity || countRoom(source, maxRows) > 0,
  }
}
