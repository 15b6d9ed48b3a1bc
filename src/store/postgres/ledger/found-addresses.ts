import type { FoundAddress, OfferResult } from '../../../crawl/ledger.ts'
import type { KnownRow } from '../../../crawl/transitions.ts'
import type { CrawlRef } from '../../common/crawl-ref.ts'
import { stateAfter, writeReadmission } from '../../common/ledger-sql.ts'
import {
  applyRowWrite,
  type ExistingRowRecord,
  planRowWrite,
  type RowWrite,
  toFoundRow,
} from '../../common/row-write.ts'
import type { Sql } from '../database/database.ts'

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
async function writeAll(context: WriteContext, changes: readonly Change[]): Promise<void> {
  const changesByKind = Map.groupBy(changes, ({ write }) => write.kind)
  await insertRows(context, changesByKind.get('insert') ?? [])
  await admitRows(context, changesByKind.get('admit') ?? [])
  await refuseRows(context, changesByKind.get('refuse') ?? [])
  await touchRows(context, changesByKind.get('touch') ?? [])
  await markNotFound(context, changesByKind.get('name') ?? [])
}

const INSERT = `INSERT INTO ledger (source, crawl, first_seen_at, state, reason, pattern, target, depth, weight, key, url, host,
    discovery, found_on)
  SELECT $1, $2, $3, f.state, f.reason, f.pattern, f.target, f.depth, f.weight, f.key, f.url, f.host, f.discovery, f.found_on
  FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::integer[], $10::text[], $11::text[], $12::text[],
      $13::text[], $14::text[]) WITH ORDINALITY
    AS f (state, reason, pattern, target, depth, weight, key, url, host, discovery, found_on, place)
  ORDER BY f.place`

/** Inserts rows, numbered in the order of the finds. */
async function insertRows({ sql, source, crawl, now }: WriteContext, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  await sql.run(INSERT, [
    source,
    crawl.number,
    now,
    changes.map(({ write }) => write.state),
    ...refusalsOf(changes),
    ...ranksOf(changes),
    keysOf(changes),
    changes.map(({ find }) => find.url),
    changes.map(({ find }) => find.host),
    changes.map(({ find }) => find.discovery),
    changes.map(({ find }) => find.foundOn),
  ])
}

/**
 * SQL that follows `UPDATE ledger l … FROM`: the parameter arrays as rows `f`, each joined to its ledger row by key. `columns` must include
 * `key`.
 */
const joinRowIds = (values: string, columns: string): string =>
  `(SELECT f.*, r.id FROM unnest(${values}) AS f (${columns}) CROSS JOIN LATERAL (${writeSelectByKey('r.id', 'f.key')}) r) f WHERE l.id = f.id`

// The new URL, host and discovery are null if the row keeps its own.
const ADMIT = `UPDATE ledger l SET state = ${stateAfter('admit')}, crawl = $2, depth = f.new_depth, weight = f.new_weight,
    ${writeReadmission('false')}, is_final = false, url = coalesce(f.new_url, l.url), host = coalesce(f.new_host, l.host),
    discovery = coalesce(f.new_discovery, l.discovery),
    found_on = CASE WHEN f.new_url IS NULL THEN l.found_on ELSE f.new_found_on END
  FROM ${joinRowIds(
    '$3::integer[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]',
    'new_depth, new_weight, key, new_url, new_host, new_discovery, new_found_on',
  )}`

async function admitRows({ sql, source, crawl }: WriteContext, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const firstFinds = changes.map(({ find, write }) => (write.isFirst ? find : undefined))
  await sql.run(ADMIT, [
    source,
    crawl.number,
    ...ranksOf(changes),
    keysOf(changes),
    firstFinds.map((find) => find?.url ?? null),
    firstFinds.map((find) => find?.host ?? null),
    firstFinds.map((find) => find?.discovery ?? null),
    firstFinds.map((find) => find?.foundOn ?? null),
  ])
}

const REFUSE = `UPDATE ledger l SET state = ${stateAfter('refuse')}, crawl = $2, reason = f.new_reason, pattern = f.new_pattern,
    target = f.new_target, depth = f.new_depth, weight = f.new_weight
  FROM ${joinRowIds(
    '$3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[], $8::text[]',
    'new_reason, new_pattern, new_target, new_depth, new_weight, key',
  )}`

async function refuseRows({ sql, source, crawl }: WriteContext, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  await sql.run(REFUSE, [source, crawl.number, ...refusalsOf(changes), ...ranksOf(changes), keysOf(changes)])
}

const TOUCH = `UPDATE ledger l SET crawl = $2, depth = f.new_depth, weight = f.new_weight
  FROM ${joinRowIds('$3::integer[], $4::integer[], $5::text[]', 'new_depth, new_weight, key')}`

async function touchRows({ sql, source, crawl }: WriteContext, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  await sql.run(TOUCH, [source, crawl.number, ...ranksOf(changes), keysOf(changes)])
}

const MARK_NOT_FOUND = `UPDATE ledger l SET state = 'failed', reason = 'not-found', discovery = f.new_discovery, found_on = f.new_found_on
  FROM ${joinRowIds('$2::text[], $3::text[], $4::text[]', 'new_discovery, new_found_on, key')}`

async function markNotFound({ sql, source }: WriteContext, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const finds = changes.map(({ find }) => find)
  await sql.run(MARK_NOT_FOUND, [
    source,
    finds.map(({ discovery }) => discovery),
    finds.map(({ foundOn }) => foundOn),
    keysOf(changes),
  ])
}

function keysOf(changes: readonly Change[]): string[] {
  return changes.map(({ find }) => find.key)
}

/** Depths and weights. */
function ranksOf(changes: readonly Change[]): [number[], number[]] {
  return [changes.map(({ write }) => write.depth), changes.map(({ write }) => write.weight)]
}

/** The reasons, patterns and targets of refused finds. */
function refusalsOf(changes: readonly Change[]): (string | null)[][] {
  const refusals = changes.map(({ find }) => find.refusal)
  return [
    refusals.map((refusal) => refusal?.reason ?? null),
    refusals.map((refusal) => refusal?.pattern ?? null),
    refusals.map((refusal) => refusal?.target ?? null),
  ]
}
