import { looseKey } from '../../core/url/key.ts'
import { foldPagination } from '../../core/url/page-url.ts'
import type { Sql } from './database/database.ts'

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

/** Removes an address that is no longer a hub. */
export async function removeHub(sql: Sql, url: string): Promise<void> {
  await sql.run('DELETE FROM place_hubs WHERE digest_of(url) = digest_of($1) AND url = $1', [url])
}
