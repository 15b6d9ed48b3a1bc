import type { Classification, PageClass } from '../../core/model.ts'
import type { Sql } from './database/database.ts'
import { writePostgresJson } from './database/postgres-json.ts'

/**
 * Replaces the classification for new content. Findings about the old content are deleted, even when there is no new classification yet.
 */
export async function replaceClassification(
  sql: Sql,
  source: number,
  page: number,
  classification: Classification | undefined,
): Promise<void> {
  await sql.run(
    `WITH places AS (DELETE FROM article_places WHERE page = $1) DELETE FROM page_analyses WHERE page = $1`,
    [page],
  )
  if (classification !== undefined) await reviseClassification(sql, source, page, classification)
}

/** Writes only the classification of a page; the findings of an analysis stay. */
export async function reviseClassification(
  sql: Sql,
  source: number,
  page: number,
  classification: Classification,
): Promise<void> {
  const { kind, confidence } = classification
  await sql.run(
    `INSERT INTO page_analyses (page, source, kind, confidence, classification)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (page) DO UPDATE SET source = excluded.source, kind = excluded.kind, confidence = excluded.confidence,
       classification = excluded.classification`,
    [page, source, kind, confidence, writePostgresJson(classification)],
  )
}

/** Marks a page for the next analysis run. Its old findings stay visible until then. */
export async function invalidateClassification(sql: Sql, page: number): Promise<void> {
  await sql.run('UPDATE page_analyses SET analysis_version = NULL WHERE page = $1 AND analysis_version IS NOT NULL', [
    page,
  ])
}

/** Reads the class of a page; undefined before it is classified. */
export async function readClass(sql: Sql, sourceId: string, key: string): Promise<PageClass | undefined> {
  const found = await sql.get<{ kind: PageClass }>(
    `SELECT kind FROM page_analyses WHERE page = (SELECT l.id FROM sources s JOIN ledger l
       ON l.source = s.id AND digest_of(l.key) = digest_of($1) AND l.key = $1 WHERE s.uuid = $2)`,
    [key, sourceId],
  )
  return found?.kind
}
