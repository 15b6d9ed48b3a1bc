import {
  type LedgerCounts,
  type LedgerRow,
  NOTHING_SETTLED,
  type RowFilter,
  type SettledCounts,
} from '../../../crawl/ledger.ts'
import type { Discovery, Reason } from '../../../crawl/ledger-reasons.ts'
import { unpackHash } from '../../common/hash.ts'
import { HAS_UNREAD_LINKS, type LedgerRowRecord, SELECT_ROWS, toLedgerRow } from '../../common/ledger/ledger-row.ts'
import { type CountedRows, toCounts } from '../../common/ledger/ledger-sql.ts'
import type { Sql } from '../database/database.ts'

type RowColumns = LedgerRowRecord<Uint8Array>

/** The row of an address; undefined when there is none. */
export async function findRow(sql: Sql, source: number, key: string): Promise<LedgerRow | undefined> {
  const found = await sql.get<RowColumns>(
    `${SELECT_ROWS} WHERE l.source = $1 AND digest_of(l.key) = digest_of($2) AND l.key = $2`,
    [source, key],
  )
  return found && toRow(found)
}

const AFTER = `l.source = $1 AND left(l.key, 512) >= left($2, 512) AND l.key > $2`
const IN_ORDER = 'ORDER BY left(l.key, 512), l.key LIMIT $3'

const BEFORE = `left(l.key, 512) <= left($6, 512) AND l.key < $6`

/** The rows of a source that match a filter, in the order of keys. */
export async function listRows(sql: Sql, source: number, filter: RowFilter): Promise<LedgerRow[]> {
  const { state, reason, after = '', before, limit } = filter
  const values = [source, after, limit, state ?? null, reason ?? null, ...(before === undefined ? [] : [before])]
  const between = before === undefined ? AFTER : `${AFTER} AND ${BEFORE}`
  const found =
    reason !== undefined && state !== undefined
      ? await sql.all<RowColumns>(
          `${SELECT_ROWS} WHERE ${between} AND l.state = $4 AND l.reason = $5 ${IN_ORDER}`,
          values,
        )
      : await sql.all<RowColumns>(
          `${SELECT_ROWS} WHERE ${between} AND ($4::text IS NULL OR l.state = $4) AND ($5::text IS NULL OR l.reason = $5) ${IN_ORDER}`,
          values,
        )
  return found.map(toRow)
}

/** Counts rows by state and reason. */
export async function countLedger(sql: Sql, source: number): Promise<LedgerCounts> {
  const counted = await sql.all<CountedRows>(
    'SELECT state, reason, rows FROM ledger_counts WHERE source = $1 AND rows > 0 ORDER BY state, reason',
    [source],
  )
  return toCounts(counted)
}

/** The lists of one kind with at least one row that has content or a target and that the crawl has not seen, sorted. */
export async function listUnseenLists(
  sql: Sql,
  source: number,
  crawlId: string,
  discovery: Discovery,
): Promise<string[]> {
  const found = await sql.all<{ list: string }>(
    `SELECT DISTINCT found_on AS list FROM ledger WHERE source = $1 AND discovery = $2 AND found_on IS NOT NULL
       AND (page_hash IS NOT NULL OR target IS NOT NULL)
       AND crawl IS DISTINCT FROM (SELECT id FROM crawl_ids WHERE uuid = $3) ORDER BY 1`,
    [source, discovery, crawlId],
  )
  return found.map(({ list }) => list)
}

/** Counts the addresses that a crawl has settled. */
export async function countSettled(sql: Sql, source: number, crawlId: string): Promise<SettledCounts> {
  const found = await sql.get<SettledCounts>(
    `SELECT count(*) FILTER (WHERE state = 'indexed') AS indexed,
       count(*) FILTER (WHERE state = 'unchanged') AS unchanged, count(*) FILTER (WHERE state = 'failed') AS failed
     FROM ledger WHERE source = $1 AND crawl = (SELECT id FROM crawl_ids WHERE uuid = $2)`,
    [source, crawlId],
  )
  return found ?? NOTHING_SETTLED
}

/** The first row that a crawl settled for one of these reasons and whose stored links are missing or incomplete. */
export async function findUnread(
  sql: Sql,
  source: number,
  crawlId: string,
  reasons: readonly Reason[],
): Promise<LedgerRow | undefined> {
  const found = await sql.get<RowColumns>(
    `${SELECT_ROWS} WHERE l.source = $1 AND l.crawl = (SELECT id FROM crawl_ids WHERE uuid = $2)
       -- Usually there is no such row, and the counts show that without a scan of the source.
       AND EXISTS (SELECT 1 FROM ledger_counts n WHERE n.source = $1 AND n.rows > 0 AND n.reason = ANY ($3))
       AND l.reason = ANY ($3) AND ${HAS_UNREAD_LINKS}
     ORDER BY l.key LIMIT 1`,
    [source, crawlId, reasons],
  )
  return found && toRow(found)
}

function toRow(found: RowColumns): LedgerRow {
  return toLedgerRow(found, unpackHash)
}
