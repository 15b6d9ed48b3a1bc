import { looseKey } from '../../core/url/key.ts'
import { foldPagination } from '../../core/url/page-url.ts'
import type { Database } from './database/database.ts'

/** Creates the function that removes the hub that a page belongs to once no page of the hub is stored. */
export function createEmptyHubRemoval(db: Database): (url: string) => void {
  const remove = db.prepare<[string]>('DELETE FROM place_hubs WHERE url = ?')
  const selectHub = db.prepare<[string], 1>('SELECT 1 FROM place_hubs WHERE url = ?').pluck()
  // Uses the address index, because the addresses of a hub's pages share its prefix.
  const selectByPrefix = db
    .prepare<[{ begin: string; end: string }], string>(
      `SELECT l.url FROM sources s CROSS JOIN ledger l ON l.source = s.id AND l.key >= @begin AND l.key < @end
       JOIN pages p ON p.id = l.id WHERE s.is_removed = 0`,
    )
    .pluck()
  const hasPages = (hub: string): boolean => {
    const hubWithoutQuery = hub.replace(/[?#].*$/, '')
    const begin = looseKey(hubWithoutQuery).replace(/(?:\.[a-z]{3,5})?$/i, '')
    for (const url of selectByPrefix.iterate({ begin, end: `${begin}\u{10ffff}` }))
      if (foldPagination(url) === hub) return true
    return false
  }
  return (url) => {
    const hub = foldPagination(url)
    if (selectHub.get(hub) !== undefined && !hasPages(hub)) remove.run(hub)
  }
}
