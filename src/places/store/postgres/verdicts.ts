import type { HubCoverage, HubVerdict } from '../../../library/ports/findings.ts'
import type { Sql } from '../../../store/postgres/database/database.ts'

const VERDICTS = `SELECT url, pattern, place_id AS "placeId", place_slug AS "placeSlug", place_kind AS "placeKind", origin, state,
    status, title, nav_links AS "navLinks", article_links AS "articleLinks", checked_at AS "checkedAt"
  FROM hub_verdicts`

/** Verdicts on the supposed hubs of a host, by address. */
export function listVerdicts(sql: Sql, host: string): Promise<HubVerdict[]> {
  return sql.all<HubVerdict>(`${VERDICTS} WHERE host = $1 ORDER BY url`, [host])
}

/** Verdicts with one state, newest first. */
export function listVerdictsOf(
  sql: Sql,
  host: string,
  state: HubVerdict['state'],
  limit: number,
): Promise<HubVerdict[]> {
  return sql.all<HubVerdict>(`${VERDICTS} WHERE host = $1 AND state = $2 ORDER BY checked_at DESC, url LIMIT $3`, [
    host,
    state,
    limit,
  ])
}

/** The verdict on an address. */
export function findVerdict(sql: Sql, host: string, url: string): Promise<HubVerdict | undefined> {
  return sql.get<HubVerdict>(`${VERDICTS} WHERE host = $1 AND digest_of(url) = digest_of($2) AND url = $2`, [host, url])
}

/**
 * SQL for patterns whose missing hubs are reported. If most guessed addresses of a pattern fail, the site does not follow the pattern for
 * every place, so a failed guess is not a missing hub. If at least half of the guesses are confirmed, or 90 % of the countries have a
 * confirmed hub, failed guesses are reported as missing.
 */
const REPORTABLE_PATTERNS = `SELECT pattern FROM hub_verdicts WHERE host = $1 GROUP BY pattern
  HAVING count(*) FILTER (WHERE origin = 'guessed' AND state = 'confirmed') * 2 >= count(*) FILTER (WHERE origin = 'guessed')
    OR count(DISTINCT CASE WHEN state = 'confirmed' AND place_kind = 'country' THEN place_slug END) * 10 >= 9 *
      (SELECT greatest(1, count(*)) FROM places WHERE kind = 'country' AND status = 'current')`

/** Maximum number of reported missing hubs of a host. */
const MAX_MISSING = 500

/**
 * SQL for missing hubs. An address that the site itself names always counts. A guess counts only for a country, under a reportable pattern,
 * if no other spelling of the place has a confirmed hub. Of several spellings of one place only the first counts.
 */
const MISSING = `SELECT url, "placeId", "placeSlug", "checkedAt", count(*) OVER () AS "missingCount" FROM (
    SELECT url, place_id AS "placeId", place_slug AS "placeSlug", checked_at AS "checkedAt", origin,
      row_number() OVER (PARTITION BY pattern, place_id, CASE WHEN place_id IS NULL THEN url END
        ORDER BY origin DESC, url) AS nth
    FROM hub_verdicts
    WHERE host = $1 AND state = 'missing'
      AND (origin = 'listed' OR place_kind = 'country' AND pattern IN (${REPORTABLE_PATTERNS}) AND coalesce(place_id NOT IN
        (SELECT place_id FROM hub_verdicts WHERE host = $1 AND state = 'confirmed' AND place_id IS NOT NULL), true))) m
  WHERE origin = 'listed' OR nth = 1 ORDER BY "placeSlug" NULLS FIRST, url LIMIT ${MAX_MISSING}`

type MissingColumns = HubCoverage['missing'][number] & Pick<HubCoverage, 'missingCount'>

/** Missing hubs that the site names or that a pattern implies: at most `MAX_MISSING` of them, and their total number. */
export async function listMissing(sql: Sql, host: string): Promise<Pick<HubCoverage, 'missing' | 'missingCount'>> {
  const found = await sql.all<MissingColumns>(MISSING, [host])
  return { missing: found.map(({ missingCount: _, ...hub }) => hub), missingCount: found[0]?.missingCount ?? 0 }
}

/** Adds or replaces the verdict on an address inside the caller's transaction. */
export async function writeVerdict(sql: Sql, host: string, verdict: HubVerdict): Promise<void> {
  const { url, pattern, placeId, placeSlug, placeKind, origin, state, status, title } = verdict
  await sql.run(
    `INSERT INTO hub_verdicts (host, url, pattern, place_id, place_slug, place_kind, origin, state, status, title, nav_links,
       article_links, checked_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (host, digest_of(url)) DO UPDATE SET pattern = excluded.pattern, place_id = excluded.place_id,
       place_slug = excluded.place_slug, place_kind = excluded.place_kind, origin = excluded.origin, state = excluded.state,
       status = excluded.status, title = excluded.title, nav_links = excluded.nav_links,
       article_links = excluded.article_links, checked_at = excluded.checked_at`,
    [
      host,
      url,
      pattern,
      placeId,
      placeSlug,
      placeKind,
      origin,
      state,
      status,
      title,
      verdict.navLinks,
      verdict.articleLinks,
      verdict.checkedAt,
    ],
  )
}
