import type { RequeueResult, RequeueSelection } from '../../../crawl/ledger.ts'
import { stateAfter, statesFor, writeReadmission } from '../../common/ledger/ledger-sql.ts'
import type { ContentWriter } from '../content.ts'
import type { Database } from './database.ts'

/** Bulk changes of rows. Everything that writes runs inside the caller's transaction. */
export interface BulkUpdates {
  requeue(source: number, crawl: number, which: RequeueSelection, maxDepth: number | null): number
  requeueOrphanedAliases(source: number, crawl: number, since: number): RequeueResult
  countRemovable(source: number, crawl: number, withUnseen: boolean): { removable: number; pages: number }
  /** Rows whose pages are to be removed. */
  listRemovable(source: number, crawl: number, withUnseen: boolean): number[]
  /** Removes the pages of these rows, as far as they are still removable, and returns their number. */
  remove(ids: readonly number[], crawl: number, withUnseen: boolean): number
  /** Marks failed addresses as gone that a complete crawl did not see. */
  markFailedGone(source: number, crawl: number): void
}

// A page that moved counts as gone only once its target holds a page.
const isProven = (row: string) => `(
    ${row}.proven_crawl = @crawl AND (${row}.reason IS NULL OR ${row}.reason NOT IN ('redirect', 'canonical', 'duplicate') OR EXISTS (
      SELECT 1 FROM ledger m WHERE m.source = ${row}.source AND m.key = ${row}.target AND m.page_hash IS NOT NULL)))`

const holds = (row: string) =>
  `${row}.source = a.source AND ${row}.page_hash = a.content_hash AND NOT ifnull(${isProven(row)}, 0)`
// The `+` keeps SQLite from scanning the whole source in key order for each row.
const findHolder = `SELECT h.key FROM ledger h WHERE ${holds('h')} ORDER BY +h.key LIMIT 1`

/** SQL that retargets duplicates whose content has moved to a third address. */
export const RETARGET_DUPLICATES: string = `UPDATE ledger AS a SET target = (${findHolder})
     WHERE a.source = @source AND a.state = 'skipped' AND a.reason = 'duplicate' AND EXISTS (${findHolder})
       AND NOT EXISTS (SELECT 1 FROM ledger t WHERE t.key = a.target AND ${holds('t')})`

type OfCrawl = [{ source: number; crawl: number }]
type Removable = [{ source: number; crawl: number; withUnseen: 0 | 1 }]

/** Creates the statements for bulk changes. */
export function createBulkUpdates(db: Database, content: ContentWriter): BulkUpdates {
  const requeueWhere = (where: string) =>
    db.prepare<[{ source: number; crawl: number; maxDepth: number | null }]>(
      `UPDATE ledger SET state = ${stateAfter('requeue')}, crawl = @crawl, ${writeReadmission('0')}, is_final = 0
       WHERE source = @source AND state IN ${statesFor('requeue')} AND depth <= ifnull(@maxDepth, depth) AND ${where}`,
    )
  const requeues = {
    pages: requeueWhere('page_hash IS NOT NULL'),
    unlinked: requeueWhere('page_hash IS NOT NULL AND crawl IS NOT @crawl'),
    failed: requeueWhere(`state = 'failed'`),
  }

  const retarget = db.prepare<OfCrawl>(RETARGET_DUPLICATES)
  const selectOrphans = db.prepare<OfCrawl, { id: number; settledAt: number | null }>(
    `SELECT a.id, CASE WHEN a.crawl IS @crawl THEN a.checked_at END AS settledAt FROM ledger a LEFT JOIN ledger t ON t.source = a.source AND t.key = a.target
       WHERE a.source = @source AND a.state = 'skipped' AND a.final_crawl IS NOT @crawl
         AND (
         a.reason = 'duplicate' AND (t.page_hash IS NULL OR a.content_hash IS NULL OR t.page_hash <> a.content_hash
           OR ${isProven('t')})
         OR a.reason IN ('canonical', 'spelling') AND (t.page_hash IS NULL OR ${isProven('t')}) AND NOT (
           t.state IS 'skipped' AND t.reason IN ('duplicate', 'redirect', 'canonical', 'spelling') AND EXISTS (
             SELECT 1 FROM ledger o WHERE o.source = t.source AND o.key = t.target AND o.page_hash IS NOT NULL)))`,
  )
  const requeueFinal = db.prepare<[number, number]>(
    `UPDATE ledger SET state = ${stateAfter('requeue')}, ${writeReadmission('0')}, is_final = 1, final_crawl = ? WHERE id = ?`,
  )

  return {
    requeue: (source, crawl, which, maxDepth) => requeues[which].run({ source, crawl, maxDepth }).changes,
    requeueOrphanedAliases: (source, crawl, since) => {
      retarget.run({ source, crawl })
      const orphans = selectOrphans.all({ source, crawl })
      for (const { id } of orphans) requeueFinal.run(crawl, id)
      return { requeued: orphans.length, settled: orphans.filter(({ settledAt }) => (settledAt ?? -1) >= since).length }
    },
    ...createRemoval(db, content),
  }
}

/** Creates the statements that remove pages. */
function createRemoval(
  db: Database,
  content: ContentWriter,
): Pick<BulkUpdates, 'countRemovable' | 'listRemovable' | 'remove' | 'markFailedGone'> {
  const removable = `l.source = @source AND l.page_hash IS NOT NULL AND (${isProven('l')} OR @withUnseen AND l.crawl IS NOT @crawl)`
  const countRemovableRows = db.prepare<Removable, number>(`SELECT count(*) FROM ledger l WHERE ${removable}`).pluck()
  const countPages = db
    .prepare<[number], number>('SELECT count(*) FROM ledger WHERE source = ? AND page_hash IS NOT NULL')
    .pluck()
  const selectRemovable = db.prepare<Removable, number>(`SELECT l.id FROM ledger l WHERE ${removable}`).pluck()
  const setGone = `state = ${stateAfter('remove')}`
  const setUnlinked = `reason = 'unlinked', pattern = NULL, target = NULL`
  const selectStillRemovable = db
    .prepare<[{ id: number; crawl: number; withUnseen: 0 | 1 }], number>(
      `SELECT id FROM ledger WHERE id = @id AND page_hash IS NOT NULL
         AND (proven_crawl = @crawl OR @withUnseen AND crawl IS NOT @crawl)`,
    )
    .pluck()
  const markUnprovenGone = db.prepare<[number, number]>(
    `UPDATE ledger SET ${setGone}, ${setUnlinked} WHERE id = ? AND state IN ${statesFor('remove')}
       AND proven_crawl IS NOT ?`,
  )
  const markProvenGone = db.prepare<[number, number]>(
    `UPDATE ledger SET ${setGone} WHERE id = ? AND state IN ${statesFor('remove')} AND proven_crawl = ?`,
  )
  const forgetPage = db.prepare<[number]>('UPDATE ledger SET page_hash = NULL, proven_crawl = NULL WHERE id = ?')
  // A skipped row that was read keeps its links, unless it is a redirect.
  const forgetLinks = db.prepare<[number]>(
    `DELETE FROM links WHERE id = (SELECT id FROM ledger WHERE id = ? AND (state <> 'skipped' OR reason IS 'redirect'))`,
  )
  const setFailedGone = db.prepare<[number, number]>(
    `UPDATE ledger SET ${setGone}, ${setUnlinked}
     WHERE source = ? AND state = 'failed' AND page_hash IS NULL AND crawl IS NOT ?`,
  )

  return {
    countRemovable: (source, crawl, withUnseen) => ({
      removable: countRemovableRows.get({ source, crawl, withUnseen: withUnseen ? 1 : 0 }) ?? 0,
      pages: countPages.get(source) ?? 0,
    }),
    listRemovable: (source, crawl, withUnseen) =>
      selectRemovable.all({ source, crawl, withUnseen: withUnseen ? 1 : 0 }),
    remove: (ids, crawl, withUnseen) => {
      const flag = withUnseen ? 1 : 0
      const stillRemovable = ids.filter((id) => selectStillRemovable.get({ id, crawl, withUnseen: flag }) !== undefined)
      for (const id of stillRemovable) {
        markUnprovenGone.run(id, crawl)
        markProvenGone.run(id, crawl)
        forgetPage.run(id)
        content.remove(id)
        forgetLinks.run(id)
      }
      return stillRemovable.length
    },
    markFailedGone: (source, crawl) => {
      setFailedGone.run(source, crawl)
    },
  }
}
