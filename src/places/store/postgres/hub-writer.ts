import { looseKey } from '../../../core/url/key.ts'
import { foldPagination } from '../../../core/url/page-url.ts'
import type { Sql } from '../../../store/postgres/database/database.ts'
import type { StoredHub } from '../../ports/place-hubs.ts'

/** A hub as an analysis or crawl has seen it. */
export type SeenHub = Omit<StoredHub, 'firstSeenAt' | 'lastSeenAt' | 'placeKind'> & {
  readonly placeKind: string | null
}

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

/** Removes an address that is no longer a hub. */
export async function removeHub(sql: Sql, url: string): Promise<void> {
  await sql.run('DELETE FROM place_hubs WHERE digest_of(url) = digest_of($1) AND url = $1', [url])
}

/** Removes the hubs that pages belong to once no page of the hub is stored. */
export async function removeEmptyHubs(sql: Sql, urls: readonly string[]): Promise<void> {
  const hubUrls = [...new Set(urls.map(foldPagination))]
  if (hubUrls.length === 0) return
  const hubs = await sql.all<{ url: string }>(
    `SELECT h.url FROM unnest($1::text[]) AS a (url) JOIN place_hubs h ON digest_of(h.url) = digest_of(a.url) AND h.url = a.url`,
    [hubUrls],
  )
  for (const { url } of hubs) {
    if (!(await hasPages(sql, url))) await removeHub(sql, url)
  }
}

/** Batch size for addresses of a source; nearly always the first address is the match. */
const ADDRESSES_AT_ONCE = 100

/** Whether a stored page belongs to a hub. Uses the address index, because the addresses of its pages share the hub's prefix. */
async function hasPages(sql: Sql, hub: string): Promise<boolean> {
  const urlWithoutQuery = hub.replace(/[?#].*$/, '')
  const keyPrefix = looseKey(urlWithoutQuery).replace(/(?:\.[a-z]{3,5})?$/i, '')
  let unfinished = await sql.all<{ source: number; last: string }>(
    `SELECT id AS source, '' AS last FROM sources WHERE NOT is_removed`,
  )
  while (unfinished.length > 0) {
    const found = await sql.all<{ source: number; key: string; url: string }>(
      `SELECT o.source, f.key, f.url FROM unnest($1::bigint[], $2::text[]) AS o (source, last) CROSS JOIN LATERAL (
         SELECT l.key, l.url FROM ledger l JOIN pages p ON p.id = l.id
         WHERE l.source = o.source AND left(l.key, 512) >= left(greatest($3, o.last COLLATE "C"), 512)
           AND left(l.key, 512) < left($3, 512) || chr(1114111)
           AND l.key >= $3 AND l.key > o.last AND l.key < $3 || chr(1114111)
         ORDER BY left(l.key, 512), l.key LIMIT ${ADDRESSES_AT_ONCE}) f`,
      [unfinished.map(({ source }) => source), unfinished.map(({ last }) => last), keyPrefix],
    )
    if (found.some(({ url }) => foldPagination(url) === hub)) return true
    const bySource = [...Map.groupBy(found, ({ source }) => source)]
    unfinished = bySource.flatMap(([source, rows]) =>
      rows.length < ADDRESSES_AT_ONCE ? [] : [{ source, last: rows.at(-1)?.key ?? '' }],
    )
  }
  return false
}

function hubValues(hub: SeenHub, evidence: unknown, now: number): unknown[] {
  const { host, url, placeId, placeSlug, placeKind, topicSlug, topicLabel, topicKind, title } = hub
  const placeAndTopic = [placeId, placeSlug, placeKind, topicSlug, topicLabel, topicKind, title]
  return [host, url, ...placeAndTopic, hub.navLinks, hub.articleLinks, JSON.stringify(evidence), now]
}

/** Merges JSON according to RFC 7396: objects by field, and null deletes a field. */
function mergePatch(before: unknown, change: unknown): unknown {
  if (!isObject(change)) return change
  const merged = isObject(before) ? { ...before } : {}
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], value)
  }
  return merged
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
