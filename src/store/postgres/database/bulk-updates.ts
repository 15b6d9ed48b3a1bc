import type { RequeueResult, RequeueSelection } from '../../../crawl/ledger.ts'
import { stateAfter, statesFor, writeReadmission } from '../../common/ledger/ledger-sql.ts'
import { removeContent } from '../content.ts'
import type { Sql } from './database.ts'

/** The crawl that removes pages, and whether pages that it did not see are included. */
export interface Removal {
  readonly crawl: number
  readonly withUnseen: boolean
}

// A page that moved counts as gone only once its target holds a page.
const isProven = (row: string) => `(
    ${row}.proven_crawl = $2 AND (${row}.reason IS NULL OR ${row}.reason NOT IN ('redirect', 'canonical', 'duplicate') OR EXISTS (
      SELECT 1 FROM ledger m WHERE m.source = ${row}.source AND digest_of(m.key) = digest_of(${row}.target)
        AND m.key = ${row}.target AND m.page_hash IS NOT NULL)))`

const holds = (row: string) =>
  `${row}.source = a.source AND ${row}.page_hash = a.content_hash AND NOT coalesce(${isProven(row)}, false)`
const FIND_HOLDER = `SELECT h.key FROM ledger h WHERE ${holds('h')} ORDER BY h.key LIMIT 1`
const isTarget = (row: string) => `digest_of(${row}.key) = digest_of(a.target) AND ${row}.key = a.target`

/** SQL that retargets duplicates whose content has moved to a third address. */
export const RETARGET_DUPLICATES: string = `UPDATE ledger AS a SET target = (${FIND_HOLDER})
   WHERE a.source = $1 AND a.state = 'skipped' AND a.reason = 'duplicate' AND EXISTS (${FIND_HOLDER})
     AND NOT EXISTS (SELECT 1 FROM ledger t WHERE ${isTarget('t')} AND ${holds('t')})`

const REQUEUED: Readonly<Record<RequeueSelection, string>> = {
  pages: 'page_hash IS NOT NULL',
  unlinked: 'page_hash IS NOT NULL AND crawl IS DISTINCT FROM $2',
  failed: `state = 'failed'`,
}

/** Makes rows pending again. */
export function requeue(
  sql: Sql,
  source: number,
  crawl: number,
  which: RequeueSelection,
  maxDepth: number | null,
): Promise<number> {
  return sql.run(
    `UPDATE ledger SET state = ${stateAfter('requeue')}, crawl = $2, ${writeReadmission('false')}, is_final = false
     WHERE source = $1 AND state IN ${statesFor('requeue')} AND depth <= coalesce($3, depth)
       AND ${REQUEUED[which]}`,
    [source, crawl, maxDepth],
  )
}

/** Requeues rows whose target does not hold their content (any more), marks them as final, and counts them. */
export async function requeueOrphanedAliases(
  sql: Sql,
  source: number,
  crawl: number,
  since: number,
): Promise<RequeueResult> {
  await sql.run(RETARGET_DUPLICATES, [source, crawl])
  const orphans = await sql.all<{ id: number; settledAt: number | null }>(
    `SELECT a.id, CASE WHEN a.crawl IS NOT DISTINCT FROM $2 THEN a.checked_at END AS "settledAt" FROM ledger a LEFT JOIN ledger t ON t.source = a.source AND ${isTarget('t')}
       WHERE a.source = $1 AND a.state = 'skipped' AND a.final_crawl IS DISTINCT FROM $2
         AND (
         a.reason = 'duplicate' AND (t.page_hash IS NULL OR a.content_hash IS NULL OR t.page_hash <> a.content_hash
           OR ${isProven('t')})
         OR a.reason IN ('canonical', 'spelling') AND (t.page_hash IS NULL OR ${isProven('t')}) AND NOT coalesce(
           t.state = 'skipped' AND t.reason IN ('duplicate', 'redirect', 'canonical', 'spelling') AND EXISTS (
             SELECT 1 FROM ledger o WHERE o.source = t.source AND digest_of(o.key) = digest_of(t.target)
               AND o.key = t.target AND o.page_hash IS NOT NULL), false))`,
    [source, crawl],
  )
  await sql.run(
    `UPDATE ledger SET state = ${stateAfter('requeue')}, ${writeReadmission('false')}, is_final = true, final_crawl = $1
     WHERE id = ANY ($2)`,
    [crawl, orphans.map(({ id }) => id)],
  )
  return { requeued: orphans.length, settled: orphans.filter(({ settledAt }) => (settledAt ?? -1) >= since).length }
}

const REMOVABLE = `l.source = $1 AND l.page_hash IS NOT NULL AND (${isProven('l')} OR $3 AND l.crawl IS DISTINCT FROM $2)`

/** Counts the removable pages, and all pages. */
export async function countRemovable(
  sql: Sql,
  source: number,
  { crawl, withUnseen }: Removal,
): Promise<{ removable: number; pages: number }> {
  const found = await sql.get<{ removable: number; pages: number }>(
    `SELECT (SELECT count(*) FROM ledger l WHERE ${REMOVABLE}) AS removable,
       (SELECT count(*) FROM ledger WHERE source = $1 AND page_hash IS NOT NULL) AS pages`,
    [source, crawl, withUnseen],
  )
  return found ?? { removable: 0, pages: 0 }
}

/** Rows whose pages are to be removed. */
export async function listRemovable(sql: Sql, source: number, { crawl, withUnseen }: Removal): Promise<number[]> {
  const found = await sql.all<{ id: number }>(`SELECT l.id FROM ledger l WHERE ${REMOVABLE} ORDER BY l.id`, [
    source,
    crawl,
    withUnseen,
  ])
  return found.map(({ id }) => id)
}

/** Removes the pages of these rows, as far as they are still removable, and returns their number. */
export async function removePages(sql: Sql, rows: readonly number[], { crawl, withUnseen }: Removal): Promise<number> {
  const found = await sql.all<{ id: number }>(
    `SELECT id FROM ledger WHERE id = ANY ($1) AND page_hash IS NOT NULL
       AND (proven_crawl = $2 OR $3 AND crawl IS DISTINCT FROM $2)`,
    [rows, crawl, withUnseen],
  )
  const removable = found.map(({ id }) => id)
  if (removable.length === 0) return 0
  const isProven = 'proven_crawl IS NOT DISTINCT FROM $2'
  await sql.run(
    `UPDATE ledger SET state = CASE WHEN state IN ${statesFor('remove')} THEN ${stateAfter('remove')} ELSE state END,
       reason = CASE WHEN state IN ${statesFor('remove')} AND NOT ${isProven} THEN 'unlinked' ELSE reason END,
       pattern = CASE WHEN state IN ${statesFor('remove')} AND NOT ${isProven} THEN NULL ELSE pattern END,
       target = CASE WHEN state IN ${statesFor('remove')} AND NOT ${isProven} THEN NULL ELSE target END,
       page_hash = NULL, proven_crawl = NULL
     WHERE id = ANY ($1)`,
    [removable, crawl],
  )
  await removeContent(sql, removable)
  // A skipped row that was read keeps its links, unless it is a redirect.
  await sql.run(
    `DELETE FROM links WHERE id IN (
       SELECT id FROM ledger WHERE id = ANY ($1) AND (state <> 'skipped' OR reason IS NOT DISTINCT FROM 'redirect'))`,
    [removable],
  )
  return removable.length
}

/** Marks failed addresses as gone that a complete crawl did not see. */
export async function markFailedGone(sql: Sql, source: number, crawl: number): Promise<void> {
  await sql.run(
    `UPDATE ledger SET state = ${stateAfter('remove')}, reason = 'unlinked', pattern = NULL, target = NULL
     WHERE source = $1 AND state = 'failed' AND page_hash IS NULL AND crawl IS DISTINCT FROM $2`,
    [source, crawl],
  )
}
