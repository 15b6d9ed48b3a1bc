import type { Alias } from '../../crawl/ledger.ts'
import type { Database } from './database.ts'

/** Other addresses of the same content. */
export interface Aliases {
  write(source: number, alias: Alias, now: number): void
  list(source: number, url: string): Alias[]
}

/** Prepares what is asked about aliases. */
export function createAliases(db: Database): Aliases {
  const upsert = db.prepare<[number, string, string, string, string | null, number]>(
    `INSERT INTO url_aliases (source, url, alias_url, classification, reason, checked_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET classification = excluded.classification, reason = excluded.reason,
       "exists" = 1, checked_at = excluded.checked_at`,
  )
  const select = db.prepare<[{ source: number; url: string }], Alias>(
    `SELECT url, alias_url AS aliasUrl, classification, reason FROM url_aliases WHERE source = @source AND url = @url
     UNION
     SELECT url, alias_url, classification, reason FROM url_aliases WHERE source = @source AND alias_url = @url
     ORDER BY 1, 2`,
  )
  return {
    write: (source, alias, now) => {
      upsert.run(source, alias.url, alias.aliasUrl, alias.classification, alias.reason, now)
    },
    list: (source, url) => select.all({ source, url }),
  }
}
