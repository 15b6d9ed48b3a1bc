import type { HubCoverage } from '../../../library/ports/findings.ts'

/** SQL that selects verdicts. */
export const VERDICTS = `SELECT url, pattern, place_id AS "placeId", place_slug AS "placeSlug", place_kind AS "placeKind", origin, state,
    status, title, nav_links AS "navLinks", article_links AS "articleLinks", checked_at AS "checkedAt"
  FROM hub_verdicts`

/** Maximum number of reported missing hubs of a host. */
const MAX_MISSING = 500

/** A missing hub, and the number of all missing hubs of its host. */
export type MissingColumns = HubCoverage['missing'][number] & Pick<HubCoverage, 'missingCount'>

/**
 * SQL for missing hubs; `host` is the parameter, `greatest` the function for the larger of two numbers. An address that the site itself names
 * always counts. A guess counts only for a country, under a reportable pattern, if no other spelling of the place has a confirmed hub. Of
 * several spellings of one place only the first counts.
 */
export function writeMissing(host: '$1' | '@host', greatest: 'greatest' | 'max'): string {
  return `SELECT url, "placeId", "placeSlug", "checkedAt", count(*) OVER () AS "missingCount" FROM (
    SELECT url, place_id AS "placeId", place_slug AS "placeSlug", checked_at AS "checkedAt", origin,
      row_number() OVER (PARTITION BY pattern, place_id, CASE WHEN place_id IS NULL THEN url END
        ORDER BY origin DESC, url) AS nth
    FROM hub_verdicts
    WHERE host = ${host} AND state = 'missing'
      AND (origin = 'listed' OR place_kind = 'country' AND pattern IN (${writeReportable(host, greatest)}) AND coalesce(place_id NOT IN
        (SELECT place_id FROM hub_verdicts WHERE host = ${host} AND state = 'confirmed' AND place_id IS NOT NULL), true))) m
  WHERE origin = 'listed' OR nth = 1 ORDER BY "placeSlug" NULLS FIRST, url LIMIT ${MAX_MISSING}`
}

/**
 * SQL for patterns whose missing hubs are reported. If most guessed addresses of a pattern fail, the site does not follow the pattern for
 * every place, so a failed guess is not a missing hub. If at least half of the guesses are confirmed, or 90 % of the countries have a
 * confirmed hub, failed guesses are reported as missing.
 */
function writeReportable(host: string, greatest: string): string {
  return `SELECT pattern FROM hub_verdicts WHERE host = ${host} GROUP BY pattern
  HAVING count(*) FILTER (WHERE origin = 'guessed' AND state = 'confirmed') * 2 >= count(*) FILTER (WHERE origin = 'guessed')
    OR count(DISTINCT CASE WHEN state = 'confirmed' AND place_kind = 'country' THEN place_slug END) * 10 >= 9 *
      (SELECT ${greatest}(1, count(*)) FROM places WHERE kind = 'country' AND status = 'current')`
}

/** Converts the rows of {@link writeMissing}. */
export function toMissing(found: readonly MissingColumns[]): Pick<HubCoverage, 'missing' | 'missingCount'> {
  return { missing: found.map(({ missingCount: _, ...hub }) => hub), missingCount: found[0]?.missingCount ?? 0 }
}
