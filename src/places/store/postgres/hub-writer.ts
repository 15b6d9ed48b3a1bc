import { isJsonObject } from '../../../core/json/is-json-object.ts'
import type { Sql } from '../../../store/postgres/database/database.ts'
import type { SeenHub } from '../common/seen-hub.ts'

// The three columns of a place are updated together, and so are those of a topic.
const replaceIfKnown = (column: string, deciding: string) =>
  `${column} = CASE WHEN excluded.${deciding} IS NULL THEN h.${column} ELSE coalesce(excluded.${column}, h.${column}) END`

const INSERT = `INSERT INTO place_hubs AS h (host, url, place_id, place_slug, place_kind, topic_slug, topic_label, topic_kind, title,
     first_seen_at, last_seen_at, nav_links_count, article_links_count, evidence)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $13, $13, $10, $11, $12)
   ON CONFLICT (digest_of(url)) DO UPDATE SET`

const UPSERT = `${INSERT} host = excluded.host,
     ${['place_id', 'place_slug', 'place_kind'].map((column) => replaceIfKnown(column, 'place_slug')).join(', ')},
     ${['topic_slug', 'topic_label', 'topic_kind'].map((column) => replaceIfKnown(column, 'topic_slug')).join(', ')},
     title = coalesce(excluded.title, h.title), first_seen_at = least(h.first_seen_at, excluded.first_seen_at),
     last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at), nav_links_count = excluded.nav_links_count,
     article_links_count = excluded.article_links_count, evidence = excluded.evidence`

/** Adds a hub, or updates it with the new values; a known place, topic or title is never replaced by null. */
export async function writeHub(sql: Sql, hub: SeenHub, now: number): Promise<void> {
  const found = await sql.get<{ evidence: string | null }>(
    'SELECT evidence FROM place_hubs WHERE digest_of(url) = digest_of($1) AND url = $1 FOR UPDATE',
    [hub.url],
  )
  const evidence = found === undefined ? hub.evidence : mergePatch(JSON.parse(found.evidence ?? '{}'), hub.evidence)
  await sql.run(UPSERT, hubValues(hub, evidence, now))
}

/** Adds a hub found through one of its later pages; the facts from its first page stay. */
export async function insertOrTouchHub(sql: Sql, hub: SeenHub, now: number): Promise<void> {
  await sql.run(
    `${INSERT} last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at)`,
    hubValues(hub, hub.evidence, now),
  )
}

function hubValues(hub: SeenHub, evidence: unknown, now: number): unknown[] {
  const { host, url, placeId, placeSlug, placeKind, topicSlug, topicLabel, topicKind, title } = hub
  const placeAndTopic = [placeId, placeSlug, placeKind, topicSlug, topicLabel, topicKind, title]
  return [host, url, ...placeAndTopic, hub.navLinks, hub.articleLinks, JSON.stringify(evidence), now]
}

/** Merges JSON according to RFC 7396: objects by field, and null deletes a field. */
function mergePatch(before: unknown, change: unknown): unknown {
  if (!isJsonObject(change)) return change
  const merged = isJsonObject(before) ? { ...before } : {}
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], value)
  }
  return merged
}
