import type { HubCoverage, HubVerdict } from '../../../library/ports/findings.ts'
import type { Sql } from '../../../store/postgres/database/database.ts'
import { type MissingColumns, toMissing, VERDICTS, writeMissing } from '../common/verdicts.ts'

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

const MISSING = writeMissing('$1', 'greatest')

/** Missing hubs that the site names or that a pattern implies: at most `MAX_MISSING` of them, and their total number. */
export async function listMissing(sql: Sql, host: string): Promise<Pick<HubCoverage, 'missing' | 'missingCount'>> {
  return toMissing(await sql.all<MissingColumns>(MISSING, [host]))
}

/** Adds or replaces the verdict on an address inside the caller's transaction. */
export async function writeVerdict(sql: Sql, host: string, verdict: HubVerdict): Promise<void> {
  const { url, pattern, placeId, placeSlug, placeKind, origin, state, status, title } = verdict
  const { navLinks, articleLinks, checkedAt } = verdict
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
      navLinks,
      articleLinks,
      checkedAt,
    ],
  )
}
