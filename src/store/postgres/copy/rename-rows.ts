import { currentKey, currentUrl } from '../../common/current-key.ts'
import type { Sql } from '../database/database.ts'

/** Batch size for reading rows. */
const ROWS_AT_ONCE = 5000

/** Gives each row of an earlier version its current address and key. Earlier keys had no trailing slash and no display parameters. */
export async function renameRows(sql: Sql): Promise<void> {
  await sql.run('CREATE TEMP TABLE renamed (id bigint, source bigint, url text, old text, new text) ON COMMIT DROP')
  await fillRenamed(sql)
  await sql.run('CREATE INDEX renamed_by_key ON renamed (source, digest_of(old))')
  await sql.run(
    `UPDATE ledger l SET target = t.new FROM renamed t
     WHERE t.source = l.source AND digest_of(t.old) = digest_of(l.target) AND t.old = l.target`,
  )
  await sql.run('UPDATE ledger l SET url = t.url FROM renamed t WHERE t.id = l.id')
  // A row keeps its old key if another row already has the new one.
  await sql.run(
    `UPDATE ledger l SET key = t.new FROM (SELECT DISTINCT ON (source, new) * FROM renamed ORDER BY source, new, id) t
     WHERE t.id = l.id AND NOT EXISTS (
       SELECT 1 FROM ledger o WHERE o.source = t.source AND digest_of(o.key) = digest_of(t.new) AND o.key = t.new)`,
  )
  // The path of a chunk is the key of its page.
  await sql.run('UPDATE chunks c SET path = l.key FROM renamed t JOIN ledger l ON l.id = t.id WHERE c.page = t.id')
}

interface EarlierRow {
  readonly id: number
  readonly source: number
  readonly key: string
  readonly url: string
  readonly contentUrl: string | null
  readonly sourceUrl: string
  readonly scope: string
}

/** Fills the table of rows that get another address or key. */
async function fillRenamed(sql: Sql): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await sql.all<EarlierRow>(
      `SELECT l.id, l.source, l.key, l.url, l.content_url AS "contentUrl", s.url AS "sourceUrl", s.scope
       FROM ledger l JOIN sources s ON s.id = l.source
       WHERE l.id > $1 AND (l.key <> l.url OR l.content_url <> l.url) ORDER BY l.id LIMIT ${ROWS_AT_ONCE}`,
      [after],
    )
    const renamed = rows.flatMap((row) => {
      const url = currentUrl(row.url, row.contentUrl)
      const key = currentKey(row.sourceUrl, row.scope, url)
      return key === null || (url === row.url && key === row.key) ? [] : [[row.id, row.source, url, row.key, key]]
    })
    const columns = [0, 1, 2, 3, 4].map((i) => renamed.map((row) => row[i]))
    await sql.run(
      'INSERT INTO renamed SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])',
      columns,
    )
    if (rows.length < ROWS_AT_ONCE) return
    after = rows.at(-1)?.id ?? after
  }
}
