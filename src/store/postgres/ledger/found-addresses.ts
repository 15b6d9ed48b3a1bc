import type { FoundAddress, OfferResult } from '../../../crawl/ledger.ts'
import type { KnownRow } from '../../../crawl/transitions.ts'
import type { CrawlRef } from '../../common/ledger/crawl-ref.ts'
import { stateAfter, writeReadmission } from '../../common/ledger/ledger-sql.ts'
import {
  applyRowWrite,
  type ExistingRowRecord,
  planRowWrite,
  type RowWrite,
  toFoundRow,
} from '../../common/ledger/row-write.ts'
import type { Sql } from '../database/database.ts'
import { namesOf, toArrays, writeUnnest } from '../database/row-arrays.ts'

/** A find with the change that it makes. */
interface Change {
  readonly find: FoundAddress
  readonly write: RowWrite
}

/** The transaction, source and crawl of a change. */
interface WriteContext {
  readonly sql: Sql
  readonly source: number
  readonly crawl: CrawlRef
  readonly now: number
}

/**
 * Records finds in order. All rows are read at once, and all changes are written at once. When two finds change the same address, the
 * pending changes are written first.
 */
export async function recordFoundAddresses(
  sql: Sql,
  source: number,
  crawl: CrawlRef,
  finds: readonly FoundAddress[],
  now: number,
  maxRows: number = Infinity,
): Promise<OfferResult[]> {
  if (finds.length === 0) return []
  const context = { sql, source, crawl, now }
  const { rows, total } = await readExisting(context, finds)
  let remainingRows = maxRows - total
  const changes = new Map<string, Change>()
  const results: OfferResult[] = []
  for (const find of finds) {
    const row = rows.get(find.key)
    const write = planRowWrite(row, find, crawl, row !== undefined || remainingRows-- > 0)
    results.push(write.result)
    if (write.kind === 'none') continue
    if (changes.has(find.key)) {
      await writeAll(context, [...changes.values()])
      changes.clear()
    }
    changes.set(find.key, { find, write })
    rows.set(find.key, applyRowWrite(row, find, write, crawl))
  }
  await writeAll(context, [...changes.values()])
  return results
}

const TOTAL = '(SELECT coalesce(sum(rows), 0)::bigint FROM ledger_counts WHERE source = $1)'

/** Counts the rows of a source. */
export async function countRows(sql: Sql, source: number): Promise<number> {
  return (await sql.get<{ total: number }>(`SELECT ${TOTAL} AS total`, [source]))?.total ?? 0
}

interface ExistingRowColumns extends ExistingRowRecord {
  readonly key: string
  /** Null when there is no such row. */
  readonly id: number | null
  readonly total: number
}

/**
 * Selects a row of the source $1 by its key. LIMIT makes the planner use one index lookup per key; without statistics it would rather scan
 * the whole source.
 */
export const writeSelectByKey = (columns: string, key: string): string =>
  `SELECT ${columns} FROM ledger r WHERE r.source = $1 AND digest_of(r.key) = digest_of(${key}) AND r.key = ${key} LIMIT 1`

const SELECT_EXISTING = `SELECT k.key, l.id, l.state, l.reason, l.depth, l.weight, l.crawl, l.page_hash IS NOT NULL AS "hasPage", ${TOTAL} AS total
  FROM unnest($2::text[]) AS k (key) LEFT JOIN LATERAL (${writeSelectByKey('*', 'k.key')}) l ON true`

/** The rows that finds refer to, and the number of rows of the source. */
async function readExisting({ sql, source, crawl }: WriteContext, finds: readonly FoundAddress[]) {
  const keys = new Set(finds.map(({ key }) => key))
  const found = await sql.all<ExistingRowColumns>(SELECT_EXISTING, [source, [...keys]])
  const rows = new Map<string, KnownRow>()
  for (const { key, id, ...row } of found) if (id !== null) rows.set(key, toFoundRow(row, crawl))
  return { rows, total: found[0]?.total ?? 0 }
}

/** Writes all changes; each kind changes different rows. */
async function writeAll({ sql, source, crawl, now }: WriteContext, changes: readonly Change[]): Promise<void> {
  const changesByKind = Map.groupBy(changes, ({ write }) => write.kind)
  const write = async (kind: RowWrite['kind'], text: string, columns: string, values: readonly number[]) => {
    const rows = changesByKind.get(kind)?.map(toRow) ?? []
    if (rows.length > 0) await sql.run(text, [source, ...values, ...toArrays(columns, rows)])
  }
  await write('insert', INSERT, INSERTED, [crawl.number, now])
  await write('admit', ADMIT, ADMITTED, [crawl.number])
  await write('refuse', REFUSE, REFUSED, [crawl.number])
  await write('touch', TOUCH, TOUCHED, [crawl.number])
  await write('name', MARK_NOT_FOUND, NAMED, [])
}

const TOUCHED = 'key text, depth integer, weight integer'
const REFUSED = `${TOUCHED}, reason text, pattern text, target text`
const ADMITTED = `${TOUCHED}, new_url text, new_host text, new_discovery text, new_found_on text`
const NAMED = 'key text, discovery text, found_on text'
const INSERTED = `${REFUSED}, state text, url text, host text, discovery text, found_on text`

/** The values of a change. The new URL, host and discovery are null if an admitted row keeps its own. */
function toRow({ find, write }: Change) {
  const { key, url, host, discovery, foundOn, refusal } = find
  const { reason = null, pattern = null, target = null } = refusal ?? {}
  const { state, depth, weight, isFirst } = write
  const first = { newUrl: url, newHost: host, newDiscovery: discovery, newFoundOn: foundOn }
  const own = { newUrl: null, newHost: null, newDiscovery: null, newFoundOn: null }
  const values = { key, url, host, discovery, foundOn, reason, pattern, target, state, depth, weight }
  return { ...values, ...(isFirst ? first : own) }
}

// Rows are numbered in the order of the finds.
const INSERT = `INSERT INTO ledger (source, crawl, first_seen_at, ${namesOf(INSERTED)})
  SELECT $1, $2, $3, ${namesOf(INSERTED)} FROM ${writeUnnest(INSERTED, 'f', 4)} ORDER BY place`

/** SQL that follows `UPDATE ledger l … FROM`: the changes as rows `f`, each joined to its ledger row by key. */
const joinRowIds = (columns: string, first: number): string =>
  `(SELECT f.*, r.id FROM ${writeUnnest(columns, 'f', first)} CROSS JOIN LATERAL (${writeSelectByKey('r.id', 'f.key')}) r) f WHERE l.id = f.id`

const ADMIT = `UPDATE ledger l SET state = ${stateAfter('admit')}, crawl = $2, depth = f.depth, weight = f.weight,
    ${writeReadmission('false')}, is_final = false, url = coalesce(f.new_url, l.url), host = coalesce(f.new_host, l.host),
    discovery = coalesce(f.new_discovery, l.discovery),
    found_on = CASE WHEN f.new_url IS NULL THEN l.found_on ELSE f.new_found_on END
  FROM ${joinRowIds(ADMITTED, 3)}`

const REFUSE = `UPDATE ledger l SET state = ${stateAfter('refuse')}, crawl = $2, reason = f.reason, pattern = f.pattern,
    target = f.target, depth = f.depth, weight = f.weight
  FROM ${joinRowIds(REFUSED, 3)}`

const TOUCH = `UPDATE ledger l SET crawl = $2, depth = f.depth, weight = f.weight FROM ${joinRowIds(TOUCHED, 3)}`

const MARK_NOT_FOUND = `UPDATE ledger l SET state = 'failed', reason = 'not-found', discovery = f.discovery, found_on = f.found_on
  FROM ${joinRowIds(NAMED, 2)}`
