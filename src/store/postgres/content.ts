import type { Page } from '../../core/model.ts'
import { writeLayout } from '../../core/retrieval/page-layout.ts'
import { createPageSignature } from '../../core/retrieval/page-signature.ts'
import type { PageRecord } from '../../crawl/settlement.ts'
import type { ChunkSpan } from '../../library/ports/store.ts'
import { setExcluded } from '../common/columns.ts'
import { packHash, unpackHash } from '../common/hash.ts'
import {
  ANALYSED_FACTS,
  COPIED_FACTS,
  compareMetadata,
  type StoredMetadata,
  writeFacts,
} from '../common/metadata-diff.ts'
import { type SpanColumns, toChunkRecord, toSpans } from '../common/stored-content.ts'
import { invalidateClassification, replaceClassification, reviseClassification } from './classifications.ts'
import type { Sql } from './database/database.ts'
import { namesOf, toArrays, writeUnnest } from './database/row-arrays.ts'
import { keepEarlierPages } from './earlier-pages.ts'
import { removeEmptyHubs } from './empty-hubs.ts'

/*
 * Pages with their chunks, stored under the id of their ledger row. Everything that writes runs inside the transaction of the caller, who
 * has locked the source. Nothing here writes to the index: it only records new and removed chunks.
 */

/** The stored metadata of a page, before it is replaced. */
interface MetadataColumns {
  readonly title: string
  readonly meta: string
  readonly sections: string
  readonly markdown: string | null
  readonly first: number
  readonly count: number
}

const PAGE_COLUMNS = 'first_chunk, chunk_count, title, language, meta, sections, markdown, layout'
const WRITTEN_CHUNK_COLUMNS = `chunk_id bytea, content_hash bytea, position integer, kind text, start_line integer, end_line integer,
  token_estimate integer, slug text, path text, heading_path text, symbol text, address text, asset_path text, content text`

/** SQL that writes the signature of a page: three values, starting at the parameter `first`. */
function writeSignatureSql(first: number): string {
  return `INSERT INTO likenesses (page, fingerprint, language, family)
       VALUES ($1, $${first}, $${first + 1}, $${first + 2})
       ON CONFLICT (page) DO UPDATE SET fingerprint = excluded.fingerprint, language = excluded.language,
         family = excluded.family`
}

function toSignatureValues(page: Page): (string | null)[] {
  const { fingerprint, language, family } = createPageSignature(page)
  return [fingerprint, language, family]
}

/** Replaces the page and chunks of a row. */
export async function writeContent(sql: Sql, source: number, row: number, record: PageRecord): Promise<void> {
  const { page, chunks } = withoutNul(record)
  const { first, isNew } = await replaceChunks(sql, row, chunks.length)
  if (!isNew) await keepEarlierPages(sql, [row], page.markdown)
  const { markdown, ...meta } = page
  const columns = namesOf(WRITTEN_CHUNK_COLUMNS)
  await sql.run(
    `WITH new_page AS (
       INSERT INTO pages (id, ${PAGE_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (id) DO UPDATE SET ${setExcluded(PAGE_COLUMNS)}),
     likeness AS (${writeSignatureSql(11)}),
     stale AS (INSERT INTO index_stale (first, last) SELECT $2::bigint, $2::bigint + $3::integer - 1 WHERE $3::integer > 0)
     INSERT INTO chunks (id, source, page, ${columns}) SELECT $2::bigint + c.place - 1, $10::bigint, $1, ${columns}
     FROM ${writeUnnest(WRITTEN_CHUNK_COLUMNS, 'c', 14)}`,
    [
      row,
      first,
      chunks.length,
      page.title,
      page.language,
      JSON.stringify(meta),
      JSON.stringify(page.sections),
      markdown,
      writeLayout(page, chunks),
      source,
      ...toSignatureValues(page),
      ...toArrays(
        WRITTEN_CHUNK_COLUMNS,
        chunks.map((chunk) => toChunkRecord(chunk, packHash)),
      ),
    ],
  )
  // A row without a page has no previous classification.
  if (isNew) await writeClassification(sql, source, row, record)
  else await replaceClassification(sql, source, row, record.classification)
}

/** The chunk numbers drawn for a page. */
interface DrawnNumbers {
  readonly first: number | null
  readonly last: number | null
  /** Whether the row had no page before. */
  readonly isNew: boolean
}

/** Removes the chunks of a row, and returns the first of `count` consecutive numbers for new ones; 0 when `count` is 0. */
async function replaceChunks(sql: Sql, row: number, count: number): Promise<{ first: number; isNew: boolean }> {
  const drawn = await sql.get<DrawnNumbers>(
    `WITH old AS (SELECT first_chunk AS first, first_chunk + chunk_count - 1 AS last FROM pages WHERE id = $2),
     gone AS (INSERT INTO index_gone (first, last) SELECT first, last FROM old WHERE last >= first),
     removed AS (DELETE FROM chunks c USING old WHERE c.id BETWEEN old.first AND old.last)
     SELECT d.first, d.last, NOT EXISTS (SELECT 1 FROM old) AS "isNew" FROM (${DRAW_NUMBERS}) AS d`,
    [count, row],
  )
  const { first = null, last = null, isNew = true } = drawn ?? {}
  return { first: await findConsecutive(sql, count, { first, last }), isNew }
}

/*
 * Draws numbers one by one from a sequence. When another transaction has drawn some in between, they are drawn again until they are
 * consecutive. A lock or a counter row would make sources wait for each other until the transaction ends. Preallocated blocks would mix the
 * numbers of all writers, so that a removed chunk could be in any part of the index.
 */
const DRAW_NUMBERS = `SELECT min(n) AS first, max(n) AS last
  FROM (SELECT nextval('chunk_numbers') AS n FROM generate_series(1, $1::integer)) AS numbers`

async function findConsecutive(sql: Sql, count: number, drawn: Pick<DrawnNumbers, 'first' | 'last'>): Promise<number> {
  let { first, last } = drawn
  while (first !== null && last !== null && last - first + 1 !== count) {
    ;({ first, last } = (await sql.get<DrawnNumbers>(DRAW_NUMBERS, [count])) ?? { first: null, last: null })
  }
  return first ?? 0
}

/** Replaces the metadata of a page; its content stays. */
export async function writeMetadata(sql: Sql, source: number, row: number, record: PageRecord): Promise<void> {
  const { page } = withoutNul(record)
  const found = await readMetadata(sql, row, JSON.stringify(page.sections))
  const diff = compareMetadata(found && toStoredMetadata(found), page)
  const { markdown, ...meta } = page
  const { first = 0, count = 0 } = found ?? {}
  const layout =
    diff.hasNewSections && count > 0
      ? writeLayout(
          { markdown: found?.markdown ?? markdown, sections: page.sections },
          await listSpans(sql, first, count),
        )
      : null
  await sql.run(
    `WITH updated_page AS (
       UPDATE pages SET title = $2, language = $3, meta = $4, sections = $5, layout = coalesce($6, layout) WHERE id = $1),
     likeness AS (${writeSignatureSql(11)}),
     gone AS (INSERT INTO index_gone (first, last) SELECT $7::bigint, $8::bigint WHERE $9 AND $8::bigint >= $7::bigint),
     stale AS (INSERT INTO index_stale (first, last) SELECT $7::bigint, $8::bigint WHERE $9 AND $8::bigint >= $7::bigint)
     DELETE FROM copied_vectors WHERE $10 AND chunk BETWEEN $7::bigint AND $8::bigint`,
    [
      row,
      page.title,
      page.language,
      JSON.stringify(meta),
      JSON.stringify(page.sections),
      layout,
      first,
      first + count - 1,
      diff.hasNewTitle,
      diff.isVectorCopyOutdated,
      ...toSignatureValues(page),
    ],
  )
  await writeClassification(sql, source, row, record)
  if (diff.isAnalysisOutdated) await invalidateClassification(sql, row)
}

/** Reads the stored metadata of a page. Its text is included only when the sections differ. */
function readMetadata(sql: Sql, row: number, sections: string): Promise<MetadataColumns | undefined> {
  return sql.get<MetadataColumns>(
    `SELECT title, meta, sections, CASE WHEN sections <> $2 THEN markdown END AS markdown, first_chunk AS first,
       chunk_count AS count
     FROM pages WHERE id = $1`,
    [row, sections],
  )
}

function toStoredMetadata({ title, meta, sections }: MetadataColumns): StoredMetadata {
  // All JSON that this file parses was written by a store.
  const page = JSON.parse(meta) as Page
  return {
    title,
    sections,
    url: page.url,
    links: JSON.stringify(page.links),
    analysed: writeFacts(page, ANALYSED_FACTS),
    copied: writeFacts(page, COPIED_FACTS),
  }
}

/** Writes the classification of a page, if there is one. */
export async function writeClassification(
  sql: Sql,
  source: number,
  row: number,
  { classification }: PageRecord,
): Promise<void> {
  if (classification !== undefined) await reviseClassification(sql, source, row, classification)
}

/** Removes the pages of rows. Links stay, because a duplicate still leads to the same addresses. */
export async function removeContent(sql: Sql, rows: readonly number[]): Promise<void> {
  if (rows.length === 0) return
  await keepEarlierPages(sql, rows, null)
  const removed = await sql.all<{ url: string }>(
    `WITH old AS (DELETE FROM pages WHERE id = ANY ($1::bigint[]) RETURNING id, first_chunk, chunk_count),
     runs AS (SELECT first_chunk AS first, first_chunk + chunk_count - 1 AS last FROM old WHERE chunk_count > 0),
     gone AS (INSERT INTO index_gone (first, last) SELECT first, last FROM runs),
     removed AS (DELETE FROM chunks c USING runs r WHERE c.id BETWEEN r.first AND r.last)
     SELECT l.url FROM old JOIN ledger l ON l.id = old.id`,
    [rows],
  )
  if (removed.length > 0) {
    await removeEmptyHubs(
      sql,
      removed.map(({ url }) => url),
    )
  }
}

/** Replaces the links of a row. */
export async function writeLinks(sql: Sql, row: number, links: readonly string[]): Promise<void> {
  await sql.run('INSERT INTO links (id, links) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET links = excluded.links', [
    row,
    JSON.stringify(links),
  ])
}

/** The positions of chunks with consecutive numbers. */
async function listSpans(sql: Sql, first: number, count: number): Promise<ChunkSpan[]> {
  const found = await sql.all<Omit<SpanColumns, 'id'> & { chunkId: Uint8Array }>(
    `SELECT chunk_id AS "chunkId", start_line AS "startLine", end_line AS "endLine", heading_path AS "headingPath", symbol
     FROM chunks WHERE id BETWEEN $1 AND $2 ORDER BY id`,
    [first, first + count - 1],
  )
  return toSpans(found.map(({ chunkId, ...span }) => ({ ...span, id: unpackHash(chunkId) })))
}

/** PostgreSQL cannot store U+0000, which only broken files contain, so it becomes U+FFFD. Hashes stay those of the original text. */
function withoutNul({ page, chunks }: PageRecord): Pick<PageRecord, 'page' | 'chunks'> {
  return { page: replaceNul(page), chunks: chunks.map(replaceNul) }
}

function replaceNul<T extends object>(texts: T): T {
  const hasNul = Object.values(texts).some((value) => typeof value === 'string' && value.includes('\0'))
  if (!hasNul) return texts
  const replaced = Object.entries(texts).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
  ])
  return Object.fromEntries(replaced) as T
}
