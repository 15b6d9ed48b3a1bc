import type { ListedPage, ListRecord } from '../../../crawl/ledger.ts'
import { selectColumns } from '../../common/columns.ts'
import { CAME_FROM_LIST, LIST_COLUMNS, type ListColumns, listValues, toList } from '../../common/ledger/list-record.ts'
import type { Database } from '../database/database.ts'

/** Lists that contain whole pages (llms-full.txt), as they were last read. */
export interface Lists {
  read(source: number, url: string): ListRecord | undefined
  write(source: number, record: ListRecord): void
  listPages(source: number, url: string, key: string): ListedPage[]
  confirm(source: number, crawl: number, url: string, key: string, now: number): number
}

/** Creates the queries for lists. */
export function createLists(db: Database): Lists {
  const select = db.prepare<[number, string], ListColumns>(
    `SELECT ${selectColumns(LIST_COLUMNS)} FROM lists WHERE source = ? AND url = ?`,
  )
  const upsert = db.prepare<unknown[]>(
    `INSERT OR REPLACE INTO lists (source, ${LIST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const isPageOfList = `source = @source AND ${CAME_FROM_LIST} AND (found_on = @url OR key = @key)`
  const selectPages = db.prepare<[{ source: number; url: string; key: string }], ListedPage>(
    `SELECT key, url FROM ledger WHERE ${isPageOfList} ORDER BY key`,
  )
  const confirm = db.prepare<[{ source: number; crawl: number; url: string; key: string; now: number }]>(
    `UPDATE ledger SET state = CASE WHEN state = 'indexed' AND crawl IS @crawl THEN 'indexed' ELSE 'unchanged' END,
       reason = NULL, pattern = NULL, target = NULL, detail = NULL, attempts = 0, due_at = NULL, is_final = 0,
       awaits_confirmation = 0, proven_crawl = NULL, depth = 0, checked_at = @now, crawl = @crawl, lease = NULL,
       leased_until = NULL
     WHERE ${isPageOfList}`,
  )

  return {
    read: (source, url) => {
      const found = select.get(source, url)
      return found && toList(found)
    },
    write: (source, record) => {
      upsert.run(source, ...listValues(record))
    },
    listPages: (source, url, key) => selectPages.all({ source, url, key }),
    confirm: (source, crawl, url, key, now) => confirm.run({ source, crawl, url, key, now }).changes,
  }
}
