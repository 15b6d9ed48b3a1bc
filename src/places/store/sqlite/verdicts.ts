import type { HubCoverage, HubVerdict } from '../../../library/ports/findings.ts'
import type { Database } from '../../../store/sqlite/database/database.ts'

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

const VERDICTS = `SELECT url, pattern, place_id AS placeId, place_slug AS placeSlug, place_kind AS placeKind, origin, state,
    status, title, nav_links AS navLinks, article_links AS articleLinks, checked_at AS checkedAt
  FROM hub_verdicts`

/**
 * SQL for patterns whose missing hubs are reported. If most guessed addresses of a pattern fail, the site does not follow the pattern for
 * every place, so a failed guess is not a missing hub. If at least half of the guesses are confirmed, or 90 % of the countries have a
 * confirmed hub, failed guesses are reported as missing.
 */
const REPORTABLE_PATTERNS = `SELECT pattern FROM hub_verdicts WHERE host = @host GROUP BY pattern
  HAVING sum(origin = 'guessed' AND state = 'confirmed') * 2 >= sum(origin = 'guessed')
    OR count(DISTINCT CASE WHEN state = 'confirmed' AND place_kind = 'country' THEN place_slug END) * 10 >= 9 *
      (SELECT max(1, count(*)) FROM places WHERE kind = 'country' AND status = 'current')`

/** Maximum number of reported missing hubs of a host. */
const MAX_MISSING = 500

/**
 * SQL for missing hubs. An address that the site itself names always counts. A guess counts only for a country, under a reportable pattern,
 * if no other spelling of the place has a confirmed hub. Of several spellings of one place only the first counts.
 */
const MISSING = `SELECT url, placeId, placeSlug, checkedAt, count(*) OVER () AS missingCount FROM (
    SELECT url, place_id AS placeId, place_slug AS placeSlug, checked_at AS checkedAt, origin,
      row_number() OVER (PARTITION BY pattern, ifnull(place_id, url) ORDER BY origin DESC, url) AS nth
    FROM hub_verdicts
    WHERE host = @host AND state = 'missing'
      AND (origin = 'listed' OR place_kind = 'country' AND pattern IN (${REPORTABLE_PATTERNS}) AND ifnull(place_id NOT IN
        (SELECT place_id FROM hub_verdicts WHERE host = @host AND state = 'confirmed' AND place_id IS NOT NULL), 1)))
  WHERE origin = 'listed' OR nth = 1 ORDER BY placeSlug, url LIMIT ${MAX_MISSING}`

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
    listMissing: (host) => {
      const found = selectMissing.all({ host })
      return { missing: found.map(({ missingCount: _, ...hub }) => hub), missingCount: found[0]?.missingCount ?? 0 }
    },
    write: (host, verdict) => {
      upsert.run({ ...verdict, host })
    },
  }
}

type MissingColumns = HubCoverage['missing'][number] & Pick<HubCoverage, 'missingCount'>
