import { compareUtf8 } from '../../../core/text/order.ts'
import {
  type LedgerCounts,
  type LedgerRow,
  NOTHING_SETTLED,
  type RowFilter,
  type SettledCounts,
} from '../../../crawl/ledger.ts'
import type { Discovery, Reason } from '../../../crawl/ledger-reasons.ts'
import { HAS_UNREAD_LINKS, type LedgerRowRecord, SELECT_ROWS, toLedgerRow } from '../../common/ledger/ledger-row.ts'
import { type CountedRows, toCounts } from '../../common/ledger/ledger-sql.ts'
import type { Database } from '../database/database.ts'
import { type StoredHash, unpackHash } from '../database/hash.ts'

/** Queries of ledger rows. */
export interface Rows {
  find(source: number, key: string): LedgerRow | undefined
  list(source: number, filter: RowFilter): LedgerRow[]
  count(source: number): LedgerCounts
  listUnseenLists(source: number, crawlId: string, discovery: Discovery): string[]
  countSettled(source: number, crawlId: string): SettledCounts
  /** The first row that a crawl settled for one of these reasons and whose stored links are missing or incomplete. */
  findUnread(source: number, crawlId: string, reasons: readonly Reason[]): LedgerRow | undefined
}

type RowColumns = LedgerRowRecord<StoredHash>

const listRows = (where: string): string =>
  `${SELECT_ROWS} WHERE l.source = @source AND l.key > @after AND l.key < @before AND ${where} ORDER BY l.key LIMIT @limit`

/** Sorts after every key, because SQLite sorts blobs after text. */
const AFTER_ALL_KEYS = Uint8Array.of(0)

/** Rows of one state and reason, in the order of keys. */
export const ROWS_BY_REASON: string = listRows('l.state = @state AND l.reason = @reason')

/** Creates the row queries. */
export function createRows(db: Database): Rows {
  const selectOne = db.prepare<[number, string], RowColumns>(`${SELECT_ROWS} WHERE l.source = ? AND l.key = ?`)
  type ListParameters = [
    { source: number; after: string; before: string | Uint8Array; state: string; reason: string; limit: number },
  ]
  const prepareList = (sql: string) => db.prepare<ListParameters, RowColumns>(sql)
  const selectAll = prepareList(listRows('@state IS NOT NULL AND @reason IS NOT NULL'))
  const selectByReason = prepareList(ROWS_BY_REASON)
  const selectWithoutReason = prepareList(listRows('l.state = @state AND l.reason IS NULL AND @reason IS NOT NULL'))
  const selectCounts = db.prepare<[number], CountedRows>(
    'SELECT state, reason, rows FROM ledger_counts WHERE source = ? AND rows > 0 ORDER BY state, reason',
  )
  const selectSettled = db.prepare<[number, string], SettledCounts>(
    `SELECT count(*) FILTER (WHERE state = 'indexed') AS indexed,
       count(*) FILTER (WHERE state = 'unchanged') AS unchanged, count(*) FILTER (WHERE state = 'failed') AS failed
     FROM ledger WHERE source = ? AND crawl = (SELECT id FROM crawl_ids WHERE uuid = ?)`,
  )

  const selectAnyReason = db.prepare<[number, string]>(
    'SELECT 1 FROM ledger_counts WHERE source = ? AND rows > 0 AND reason IN (SELECT value FROM json_each(?)) LIMIT 1',
  )
  const selectUnread = db.prepare<[number, string, string], RowColumns>(
    `${SELECT_ROWS} WHERE l.source = ? AND l.crawl = (SELECT id FROM crawl_ids WHERE uuid = ?)
       AND l.reason IN (SELECT value FROM json_each(?)) AND ${HAS_UNREAD_LINKS}
     ORDER BY l.key LIMIT 1`,
  )

  const selectLists = db
    .prepare<[number, string, string], string>(
      `SELECT DISTINCT found_on FROM ledger WHERE source = ? AND discovery = ? AND found_on IS NOT NULL
         AND (page_hash IS NOT NULL OR target IS NOT NULL)
         AND crawl IS NOT (SELECT id FROM crawl_ids WHERE uuid = ?) ORDER BY found_on`,
    )
    .pluck()

  return {
    listUnseenLists: (source, crawlId, discovery) => selectLists.all(source, discovery, crawlId),
    find: (source, key) => {
      const found = selectOne.get(source, key)
      return found === undefined ? undefined : toRow(found)
    },
    list: (source, { state, reason, after = '', before = AFTER_ALL_KEYS, limit }) => {
      const parameters = { source, after, before, state: '', reason: '', limit }
      if (state === undefined && reason === undefined) return selectAll.all(parameters).map(toRow)
      // The index returns rows of one state and reason in key order; rows of several states or reasons are merged here.
      const kinds = selectCounts
        .all(source)
        .filter((kind) => kind.state === (state ?? kind.state) && kind.reason === (reason ?? kind.reason))
      return kinds
        .flatMap((kind) => (kind.reason === '' ? selectWithoutReason : selectByReason).all({ ...parameters, ...kind }))
        .sort((a, b) => compareUtf8(a.key, b.key))
        .slice(0, limit)
        .map(toRow)
    },
    count: (source) => toCounts(selectCounts.all(source)),
    countSettled: (source, crawlId) => selectSettled.get(source, crawlId) ?? NOTHING_SETTLED,
    findUnread: (source, crawlId, reasons) => {
      const reasonList = JSON.stringify(reasons)
      // Usually there is no such row, which this check finds without scanning the source.
      if (selectAnyReason.get(source, reasonList) === undefined) return undefined
      const found = selectUnread.get(source, crawlId, reasonList)
      return found === undefined ? undefined : toRow(found)
    },
  }
}

function toRow(found: RowColumns): LedgerRow {
  return toLedgerRow(found, unpackHash)
}
