import type { ListedPage, ListRecord } from '../../../crawl/ledger.ts'
import { parseStored } from '../../common/damage.ts'
import type { Database } from '../database/database.ts'

/** Lists that contain whole pages (llms-full.txt), as they were last read. */
export interface Lists {
  read(source: number, url: string): ListRecord | undefined
  write(source: number, record: ListRecord): void
  listPages(source: number, url: string, key: string): ListedPage[]
  confirm(source: number, crawl: number, url: string, key: string, now: number): number
}

interface ListColumns extends Omit<ListRecord, 'named'> {
  readonly named: string
}

/** Creates the queries for lists. */
export function createLists(db: Database): Lists {
  const select = db.prepare<[number, string], ListColumns>(
    `SELECT url, etag, last_modified AS lastModified, content_hash AS contentHash, context_hash AS contextHash, pages, named
     FROM lists WHERE source = ? AND url = ?`,
  )
  const upsert = db.prepare<unknown[]>(
    `INSERT OR REPLACE INTO lists (source, url, etag, last_modified, content_hash, context_hash, pages, named)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // Excludes pages that were fetched from their own address since: these have an HTTP status.
  const isPageOfList = `source = @source AND discovery = 'llms-full' AND status IS NULL AND page_hash IS NOT NULL
    AND (found_on = @url OR key = @key)`
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
      // The JSON was written by this file.
      return found === undefined ? undefined : { ...found, named: parseStored<string[]>(found.named) }
    },
    write: (source, { url, etag, lastModified, contentHash, contextHash, pages, named }) => {
      upsert.run(source, url, etag, lastModified, contentHash, contextHash, pages, JSON.stringify(named))
    },
    listPages: (source, url, key) => selectPages.all({ source, url, key }),
    confirm: (source, crawl, url, key, now) => confirm.run({ source, crawl, url, key, now }).changes,
  }
}
