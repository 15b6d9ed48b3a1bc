import type { HubCoverage } from '../../library/place-hubs.ts'
import type { HubVerdict } from '../../plan/plan-memory.ts'
import type { Database } from './database.ts'

/** What became of addresses that were supposed to be hubs. */
export interface Verdicts {
  /** All of a host, in the order of addresses. */
  list(host: string): HubVerdict[]
  /** Those of a state, the newest first. */
  listOf(host: string, state: HubVerdict['state'], limit: number): HubVerdict[]
  /** Hubs that the site names, or that its pattern implies, and that are not there. */
  listMissing(host: string): HubCoverage['missing']
  /** Adds a verdict, or replaces that of the same address, inside the transaction of the caller. */
  write(host: string, verdict: HubVerdict): void
}

const VERDICTS = `SELECT url, pattern, place_id AS placeId, place_slug AS placeSlug, place_kind AS placeKind, origin, state,
    status, title, nav_links AS navLinks, article_links AS articleLinks, checked_at AS checkedAt
  FROM hub_verdicts`

/**
 * A site lists what it has where most guesses by a pattern fail: what is not there was then only supposed. Where at least half of them
 * hold, or nearly all countries have a hub, those that are left out are missing.
 */
const OPEN_PATTERNS = `SELECT pattern FROM hub_verdicts WHERE host = @host GROUP BY pattern
  HAVING sum(origin = 'guessed' AND state = 'confirmed') * 2 >= sum(origin = 'guessed')
    OR count(DISTINCT CASE WHEN state = 'confirmed' AND place_kind = 'country' THEN place_slug END) * 10 >= 9 *
      (SELECT max(1, count(*)) FROM places WHERE kind = 'country' AND status = 'current')`

/** Prepares what is asked about verdicts. */
export function createVerdicts(db: Database): Verdicts {
  const selectAll = db.prepare<[string], HubVerdict>(`${VERDICTS} WHERE host = ? ORDER BY url`)
  const selectOf = db.prepare<[string, string, number], HubVerdict>(
    `${VERDICTS} WHERE host = ? AND state = ? ORDER BY checked_at DESC, url LIMIT ?`,
  )
  const selectMissing = db.prepare<[{ host: string }], HubCoverage['missing'][number]>(
    `SELECT url, place_slug AS placeSlug, checked_at AS checkedAt FROM hub_verdicts
     WHERE host = @host AND state = 'missing'
       AND (origin = 'listed' OR place_kind = 'country' AND pattern IN (${OPEN_PATTERNS}))
     ORDER BY place_slug, url`,
  )
  const upsert = db.prepare<[HubVerdict & { host: string }]>(
    `INSERT OR REPLACE INTO hub_verdicts (host, url, pattern, place_id, place_slug, place_kind, origin, state, status, title,
       nav_links, article_links, checked_at)
     VALUES (@host, @url, @pattern, @placeId, @placeSlug, @placeKind, @origin, @state, @status, @title, @navLinks,
       @articleLinks, @checkedAt)`,
  )
  return {
    list: (host) => selectAll.all(host),
    listOf: (host, state, limit) => selectOf.all(host, state, limit),
    listMissing: (host) => selectMissing.all({ host }),
    write: (host, verdict) => {
      upsert.run({ ...verdict, host })
    },
  }
}
