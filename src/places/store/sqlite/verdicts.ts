import type { HubCoverage, HubVerdict } from '../../../library/ports/findings.ts'
import type { Database } from '../../../store/sqlite/database/database.ts'
import { type MissingColumns, toMissing, VERDICTS, writeMissing } from '../common/verdicts.ts'

/** Verdicts on supposed hubs. */
export interface Verdicts {
  /** All verdicts of a host, by address. */
  list(host: string): HubVerdict[]
  /** Verdicts with one state, newest first. */
  listOf(host: string, state: HubVerdict['state'], limit: number): HubVerdict[]
  /** The verdict on an address. */
  find(host: string, url: string): HubVerdict | undefined
  /** Missing hubs that the site names or that a pattern implies: at most `MAX_MISSING` of them, and their total number. */
  listMissing(host: string): Pick<HubCoverage, 'missing' | 'missingCount'>
  /** Adds or replaces the verdict on an address inside the caller's transaction. */
  write(host: string, verdict: HubVerdict): void
}

const MISSING = writeMissing('@host', 'max')

/** Creates the verdict queries. */
export function createVerdicts(db: Database): Verdicts {
  const selectAll = db.prepare<[string], HubVerdict>(`${VERDICTS} WHERE host = ? ORDER BY url`)
  const selectOf = db.prepare<[string, string, number], HubVerdict>(
    `${VERDICTS} WHERE host = ? AND state = ? ORDER BY checked_at DESC, url LIMIT ?`,
  )
  const selectOne = db.prepare<[string, string], HubVerdict>(`${VERDICTS} WHERE host = ? AND url = ?`)
  const selectMissing = db.prepare<[{ host: string }], MissingColumns>(MISSING)
  const upsert = db.prepare<[HubVerdict & { host: string }]>(
    `INSERT OR REPLACE INTO hub_verdicts (host, url, pattern, place_id, place_slug, place_kind, origin, state, status, title,
       nav_links, article_links, checked_at)
     VALUES (@host, @url, @pattern, @placeId, @placeSlug, @placeKind, @origin, @state, @status, @title, @navLinks,
       @articleLinks, @checkedAt)`,
  )
  return {
    list: (host) => selectAll.all(host),
    listOf: (host, state, limit) => selectOf.all(host, state, limit),
    find: (host, url) => selectOne.get(host, url),
    listMissing: (host) => toMissing(selectMissing.all({ host })),
    write: (host, verdict) => {
      upsert.run({ ...verdict, host })
    },
  }
}
