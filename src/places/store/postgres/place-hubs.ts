import type { HubCoverage, StoredHub } from '../../../library/ports/findings.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import type { HubQuery, PlaceHubs } from '../../ports/place-hubs.ts'
import { writeHub } from './hub-writer.ts'
import { listPatterns } from './patterns.ts'
import { findVerdict, listMissing, listVerdictsOf } from './verdicts.ts'

interface HubColumns extends Omit<StoredHub, 'evidence'> {
  readonly evidence: string | null
}

const HUBS = `SELECT url, host, place_id AS "placeId", place_slug AS "placeSlug", place_kind AS "placeKind",
    topic_slug AS "topicSlug", topic_label AS "topicLabel", topic_kind AS "topicKind", title,
    coalesce(nav_links_count, 0) AS "navLinks", coalesce(article_links_count, 0) AS "articleLinks", evidence,
    first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt"
  FROM place_hubs`

const IS_MATCH = `($1::text IS NULL OR host = $1) AND ($2::bigint IS NULL OR place_id = $2)
  AND ($3::text IS NULL OR place_kind = $3) AND ($4::text IS NULL OR topic_slug = $4)`

/** Queries hubs. */
export function createPlaceHubs(db: Database): PlaceHubs {
  return {
    write: (hubs, now) =>
      db.transaction(async (sql) => {
        for (const hub of hubs) await writeHub(sql, hub, now)
      }),
    list: (query) => db.snapshot((sql) => listHubs(sql, query)),
    find: async (url) => {
      const found = await db.get<HubColumns>(`${HUBS} WHERE digest_of(url) = digest_of($1) AND url = $1`, [url])
      return found && toHub(found)
    },
    listHosts: (limit) =>
      db.all<{ host: string; hubs: number }>(
        `SELECT host, sum(hubs)::bigint AS hubs FROM (
           SELECT host, count(*) AS hubs FROM place_hubs GROUP BY host UNION ALL SELECT DISTINCT host, 0 FROM url_patterns) h
         GROUP BY host ORDER BY 2 DESC, host LIMIT $1`,
        [limit],
      ),
    // One snapshot keeps all figures consistent.
    coverage: (host) => db.snapshot((sql) => measure(sql, host)),
    findVerdict: (url) => findVerdict(db, URL.parse(url)?.host ?? '', url),
    listVerdicts: (host, state, limit) => listVerdictsOf(db, host, state, limit),
  }
}

async function listHubs(sql: Sql, { offset, limit, ...filter }: HubQuery) {
  const { host = null, placeId = null, placeKind = null, topicSlug = null } = filter
  const values = [host, placeId, placeKind, topicSlug]
  const counted = await sql.get<{ total: number }>(`SELECT count(*) AS total FROM place_hubs WHERE ${IS_MATCH}`, values)
  const found = await sql.all<HubColumns>(
    `${HUBS} WHERE ${IS_MATCH} ORDER BY host, place_kind NULLS FIRST, place_slug NULLS FIRST, url LIMIT $5 OFFSET $6`,
    [...values, limit, offset],
  )
  return { total: counted?.total ?? 0, items: found.map(toHub) }
}

async function measure(sql: Sql, host: string): Promise<HubCoverage> {
  const counts = await sql.get<Pick<HubCoverage, 'hubs' | 'countries' | 'countriesCovered'>>(
    `SELECT (SELECT count(*) FROM place_hubs WHERE host = $1) AS hubs,
       (SELECT count(*) FROM places WHERE kind = 'country' AND status = 'current') AS countries,
       (SELECT count(DISTINCT h.place_id) FROM place_hubs h JOIN places p ON p.id = h.place_id
        WHERE h.host = $1 AND h.place_kind = 'country' AND p.kind = 'country' AND p.status = 'current') AS "countriesCovered"`,
    [host],
  )
  const topics = await sql.all<HubCoverage['topics'][number]>(
    `SELECT topic_slug AS slug, coalesce(max(topic_label COLLATE "C"), topic_slug) AS label, count(*) AS hubs FROM place_hubs
     WHERE host = $1 AND topic_slug IS NOT NULL GROUP BY topic_slug ORDER BY 3 DESC, 1`,
    [host],
  )
  return {
    host,
    ...(counts ?? { hubs: 0, countries: 0, countriesCovered: 0 }),
    ...(await listMissing(sql, host)),
    patterns: await listPatterns(sql, host),
    topics,
  }
}

/** Converts a stored hub, whose JSON was written by hub-writer.ts. */
function toHub({ evidence, ...hub }: HubColumns): StoredHub {
  return { ...hub, evidence: JSON.parse(evidence ?? '{}') as StoredHub['evidence'] }
}
