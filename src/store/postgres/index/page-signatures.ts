import type { Page } from '../../../core/model.ts'
import { createPageSignature, type PageSignature } from '../../../core/retrieval/page-signature.ts'
import type { PageRef, PageWithSignature } from '../../../library/ports/store.ts'
import { listByKey } from '../../common/batches.ts'
import { toPage } from '../../common/stored-content.ts'
import type { Sql } from '../database/database.ts'

/** Batch size for reading pages, so that no transaction stays open while the consumer works. */
const PAGES_AT_ONCE = 500

/** The signatures of pages, in the given order; undefined for a page without one. */
export async function readPageSignatures(sql: Sql, pages: readonly PageRef[]): Promise<(PageSignature | undefined)[]> {
  const found = await sql.all<PageSignature & { place: number }>(
    `SELECT a.place::integer AS place, k.fingerprint, k.language, k.family
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (uuid, key, place)
     JOIN sources s ON s.uuid = a.uuid AND NOT s.is_removed
     JOIN ledger l ON l.source = s.id AND digest_of(l.key) = digest_of(a.key) AND l.key = a.key
     JOIN likenesses k ON k.page = l.id`,
    [pages.map(({ sourceId }) => sourceId), pages.map(({ key }) => key)],
  )
  const signatures = new Map(found.map(({ place, ...signature }) => [place - 1, signature]))
  return pages.map((_, i) => signatures.get(i))
}

/** Batch sizes of the search for pages without a signature, and of the computation. */
const ROWS_AT_ONCE = 10_000
const FILLED_AT_ONCE = 20

/** Computes missing signatures, and returns their number. */
export async function fillPageSignatures(
  sql: Sql,
  describe: (page: Page) => Page,
  signal: AbortSignal | undefined,
): Promise<number> {
  let filled = 0
  const { end = 0 } = (await sql.get<{ end: number }>('SELECT coalesce(max(id), 0) AS end FROM ledger')) ?? {}
  for (let last = 0; last < end && signal?.aborted !== true; ) {
    const rows = await sql.all<{ readonly row: number; readonly meta: string; readonly markdown: string }>(
      `SELECT p.id AS row, p.meta, p.markdown FROM ledger l JOIN pages p ON p.id = l.id
       WHERE l.id > $1 AND l.id <= $2 AND l.page_hash IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM likenesses k WHERE k.page = l.id)
       ORDER BY l.id LIMIT $3`,
      [last, last + ROWS_AT_ONCE, FILLED_AT_ONCE],
    )
    for (const { row, ...columns } of rows) {
      filled += await insertSignature(sql, row, createPageSignature(describe(toPage(columns))))
    }
    last = rows.length < FILLED_AT_ONCE ? last + ROWS_AT_ONCE : (rows.at(-1)?.row ?? end)
  }
  return filled
}

/** Inserts a signature. If a concurrent write of the page has stored a newer one, that one stays. */
function insertSignature(sql: Sql, row: number, { fingerprint, language, family }: PageSignature): Promise<number> {
  return sql.run(
    `INSERT INTO likenesses (page, fingerprint, language, family)
     SELECT p.id, $2, $3, $4 FROM pages p WHERE p.id = $1 FOR KEY SHARE OF p
     ON CONFLICT (page) DO NOTHING`,
    [row, fingerprint, language, family],
  )
}

/** The pages of a source with their signatures, in the order of keys. */
export function listRelated(sql: Sql, source: number): AsyncGenerator<PageWithSignature> {
  return listByKey((after) =>
    sql.all<PageWithSignature>(
      `SELECT s.uuid AS "sourceId", l.key, l.url, p.title, k.fingerprint, k.language, k.family
       FROM ledger l JOIN likenesses k ON k.page = l.id JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source
       WHERE l.source = $1 AND left(l.key, 512) >= left($2, 512) AND l.key > $2 AND l.page_hash IS NOT NULL
       ORDER BY left(l.key, 512), l.key LIMIT $3`,
      [source, after, PAGES_AT_ONCE],
    ),
  )
}
