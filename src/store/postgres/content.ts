import type { Chunk, Page, Section } from '../../core/model.ts'
import { planExcerpt, readLayout, writeLayout } from '../../core/retrieval/page-layout.ts'
import { createPageSignature } from '../../core/retrieval/page-signature.ts'
import type { PageRecord } from '../../crawl/ledger.ts'
import type { ChunkSpan, PageExcerpt, PageText, StoredChunk, StoredPage } from '../../library/ports/store.ts'
import { packHash, unpackHash } from '../common/hash.ts'
import {
  ANALYSED_FACTS,
  COPIED_FACTS,
  compareMetadata,
  type StoredMetadata,
  writeFacts,
} from '../common/metadata-diff.ts'
import {
  type ChunkColumns,
  type ChunkOrigin,
  type PageColumns,
  parseIdPrefix,
  type SpanColumns,
  toSpans,
  toStoredChunk,
  toStoredPage,
} from '../common/stored-content.ts'
import { invalidateClassification, replaceClassification, reviseClassification } from './classifications.ts'
import type { Sql } from './database/database.ts'
import { removeEmptyHubs } from './empty-hubs.ts'

/*
 * Pages with their chunks, stored under the id of their ledger row. Everything that writes runs inside the transaction of the caller, who
 * has locked the source. Nothing here writes to the index: it only records new and removed chunks.
 */

/** A chunk with packed hashes. */
type HashedColumns = Omit<ChunkColumns, 'id' | 'contentHash'> & {
  readonly chunkId: Uint8Array
  readonly contentHash: Uint8Array
}

/** The stored metadata of a page, before it is replaced. */
interface MetadataColumns {
  readonly title: string
  readonly meta: string
  readonly sections: string
  readonly markdown: string | null
  readonly first: number
  readonly count: number
}

interface TextColumns extends Omit<PageText, 'sections' | 'chunks'> {
  readonly sections: string
  readonly first: number
  readonly count: number
}

const ORIGIN_COLUMNS = 's.uuid AS "sourceId", l.url, p.title'
const CHUNK_COLUMNS = `c.chunk_id AS "chunkId", c.content_hash AS "contentHash", c.position AS "chunkIndex", c.kind,
  c.start_line AS "startLine", c.end_line AS "endLine", c.token_estimate AS "tokenEstimate", c.slug, c.path,
  c.heading_path AS "headingPath", c.symbol, c.address, c.asset_path AS "assetPath", c.content`
const PAGE_COLUMNS = `SELECT s.uuid AS "sourceId", l.key, p.meta, p.markdown, l.checked_at AS "checkedAt",
    l.changed_at AS "changedAt"
  FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source`
const IS_ROW = 'l.source = $1 AND digest_of(l.key) = digest_of($2) AND l.key = $2'

/** Batch size for reading pages, so that no transaction stays open while the consumer works. */
const PAGES_AT_ONCE = 32

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
  const { markdown, ...meta } = page
  const { length: count } = chunks
  await sql.run(
    `WITH new_page AS (
       INSERT INTO pages (id, first_chunk, chunk_count, title, language, meta, sections, markdown, layout)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (id) DO UPDATE SET first_chunk = excluded.first_chunk, chunk_count = excluded.chunk_count,
         title = excluded.title, language = excluded.language, meta = excluded.meta, sections = excluded.sections,
         markdown = excluded.markdown, layout = excluded.layout),
     likeness AS (${writeSignatureSql(25)}),
     stale AS (INSERT INTO index_stale (first, last) SELECT $2::bigint, $2::bigint + $3::integer - 1 WHERE $3::integer > 0)
     INSERT INTO chunks (id, source, page, chunk_id, content_hash, position, kind, start_line, end_line, token_estimate, slug,
       path, heading_path, symbol, address, asset_path, content)
     SELECT $2::bigint + c.place - 1, $10::bigint, $1, c.chunk_id, c.content_hash, c.position, c.kind, c.start_line,
       c.end_line, c.token_estimate, c.slug, c.path, c.heading_path, c.symbol, c.address, c.asset_path, c.content
     FROM unnest($11::bytea[], $12::bytea[], $13::integer[], $14::text[], $15::integer[], $16::integer[], $17::integer[],
         $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[]) WITH ORDINALITY
       AS c (chunk_id, content_hash, position, kind, start_line, end_line, token_estimate, slug, path, heading_path, symbol,
         address, asset_path, content, place)`,
    [
      row,
      first,
      count,
      page.title,
      page.language,
      JSON.stringify(meta),
      JSON.stringify(page.sections),
      markdown,
      writeLayout(page, chunks),
      source,
      chunks.map(({ id }) => packHash(id)),
      chunks.map(({ contentHash }) => packHash(contentHash)),
      chunks.map(({ chunkIndex }) => chunkIndex),
      chunks.map(({ kind }) => kind),
      chunks.map(({ startLine }) => startLine),
      chunks.map(({ endLine }) => endLine),
      chunks.map(({ tokenEstimate }) => tokenEstimate),
      chunks.map(({ slug }) => slug),
      chunks.map(({ path }) => path),
      chunks.map(({ headingPath }) => JSON.stringify(headingPath)),
      chunks.map(({ symbol }) => symbol),
      chunks.map(({ address }) => address),
      chunks.map(({ assetPath }) => assetPath),
      chunks.map(({ content }) => content),
      ...toSignatureValues(page),
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

/** The links of a row, in their original order. */
export async function readLinks(sql: Sql, source: number, key: string): Promise<readonly string[]> {
  const found = await sql.get<{ links: string }>(
    `SELECT k.links FROM ledger l JOIN links k ON k.id = l.id WHERE ${IS_ROW}`,
    [source, key],
  )
  return found === undefined ? [] : (JSON.parse(found.links) as string[])
}

export async function readPage(sql: Sql, source: number, key: string): Promise<StoredPage | undefined> {
  const found = await sql.get<PageColumns>(`${PAGE_COLUMNS} WHERE ${IS_ROW}`, [source, key])
  return found && toStoredPage(found)
}

/** A page with the positions of its chunks. */
export async function readPageText(sql: Sql, source: number, key: string): Promise<PageText | undefined> {
  const found = await sql.get<TextColumns & { spans: readonly SpanRow[] }>(
    `SELECT s.uuid AS "sourceId", l.key, l.url, p.title, p.language, p.markdown, p.sections, l.checked_at AS "checkedAt",
       l.changed_at AS "changedAt", (
         SELECT coalesce(json_agg(json_build_array(encode(c.chunk_id, 'hex'), c.start_line, c.end_line, c.heading_path, c.symbol)
           ORDER BY c.id), '[]')
         FROM chunks c WHERE c.id BETWEEN p.first_chunk AND p.first_chunk + p.chunk_count - 1) AS spans
     FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source WHERE ${IS_ROW}`,
    [source, key],
  )
  if (found === undefined) return undefined
  const { spans, sections, ...text } = found
  return { ...text, sections: JSON.parse(sections) as Section[], chunks: toSpans(spans.map(toSpanColumns)) }
}

type SpanRow = readonly [id: string, startLine: number, endLine: number, headingPath: string, symbol: string | null]

function toSpanColumns([id, startLine, endLine, headingPath, symbol]: SpanRow): SpanColumns {
  return { id: unpackHash(Buffer.from(id, 'hex')), startLine, endLine, headingPath, symbol }
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

/** The part of a page around one of its chunks. */
export async function readExcerpt(
  sql: Sql,
  source: number,
  key: string,
  chunkIndex: number,
): Promise<PageExcerpt | undefined> {
  const found = await sql.get<{ layout: string; checkedAt: number; changedAt: number }>(
    `SELECT p.layout, l.checked_at AS "checkedAt", l.changed_at AS "changedAt"
     FROM ledger l JOIN pages p ON p.id = l.id WHERE ${IS_ROW}`,
    [source, key],
  )
  if (found === undefined) return undefined
  const { layout, ...times } = found
  const plan = planExcerpt(readLayout(layout), chunkIndex)
  if (plan === undefined) return undefined
  const { offset, length, ...excerpt } = plan
  // A page that was rewritten meanwhile has another layout.
  const part = await sql.get<{ markdown: Buffer; isSame: boolean }>(
    `SELECT substring(convert_to(p.markdown, 'UTF8') FROM $3 FOR $4) AS markdown, p.layout = $5 AS "isSame"
     FROM ledger l JOIN pages p ON p.id = l.id WHERE ${IS_ROW}`,
    [source, key, offset + 1, length, layout],
  )
  if (part?.isSame !== true) return readExcerpt(sql, source, key, chunkIndex)
  return { ...times, ...excerpt, markdown: part.markdown.toString() }
}

/** Keys of the pages that contain a text, ignoring the case of A to Z, in order. */
export async function findPages(sql: Sql, source: number, text: string): Promise<string[]> {
  // Stored texts never contain NUL.
  if (text.includes('\0')) return []
  const found = await sql.all<{ key: string }>(
    `SELECT l.key FROM ledger l JOIN pages p ON p.id = l.id
     WHERE l.source = $1 AND l.page_hash IS NOT NULL
       AND strpos(lower(p.markdown COLLATE "C"), lower($2::text COLLATE "C")) > 0
     ORDER BY left(l.key, 512), l.key`,
    [source, text],
  )
  return found.map(({ key }) => key)
}

/** All pages of a source, in the order of keys. */
export async function* listPages(sql: Sql, source: number): AsyncIterable<StoredPage> {
  let after = ''
  for (;;) {
    const found = await sql.all<PageColumns>(
      `${PAGE_COLUMNS} WHERE l.source = $1 AND left(l.key, 512) >= left($2, 512) AND l.key > $2 AND l.page_hash IS NOT NULL
       ORDER BY left(l.key, 512), l.key LIMIT $3`,
      [source, after, PAGES_AT_ONCE],
    )
    yield* found.map(toStoredPage)
    const last = found.at(-1)
    if (last === undefined) return
    after = last.key
  }
}

/** The chunk with this id or id prefix; undefined when there is none, or more than one. */
export async function readChunk(sql: Sql, source: number, chunkId: string): Promise<StoredChunk | undefined> {
  const [from, to] = (parseIdPrefix(chunkId) ?? [chunkId, chunkId]).map(packHash)
  const found = await sql.all<HashedColumns & ChunkOrigin & Pick<Chunk, 'content'>>(
    `SELECT DISTINCT ON (c.chunk_id) ${ORIGIN_COLUMNS}, ${CHUNK_COLUMNS}
     FROM chunks c JOIN ledger l ON l.id = c.page JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     WHERE c.source = $1 AND c.chunk_id BETWEEN $2 AND $3 ORDER BY c.chunk_id, left(l.key, 512), l.key LIMIT 2`,
    [source, from, to],
  )
  const [only, another] = found
  return only === undefined || another !== undefined ? undefined : toChunk(only)
}

/** Chunks by number, in the given order. */
export async function readChunksAt(sql: Sql, numbers: readonly number[]): Promise<(StoredChunk | undefined)[]> {
  if (numbers.length === 0) return []
  const found = await sql.all<HashedColumns & ChunkOrigin & Pick<Chunk, 'content'> & { number: number }>(
    `SELECT c.id AS number, ${ORIGIN_COLUMNS}, ${CHUNK_COLUMNS}
     FROM chunks c JOIN ledger l ON l.id = c.page JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     WHERE c.id = ANY ($1::bigint[])`,
    [numbers],
  )
  const chunks = new Map(found.map(({ number, ...columns }) => [number, toChunk(columns)]))
  return numbers.map((number) => chunks.get(number))
}

function toChunk({
  sourceId,
  url,
  title,
  content,
  chunkId,
  contentHash,
  ...rest
}: HashedColumns & ChunkOrigin & Pick<Chunk, 'content'>): StoredChunk {
  const columns = { ...rest, id: unpackHash(chunkId), contentHash: unpackHash(contentHash) }
  return toStoredChunk(columns, { sourceId, url, title }, () => content)
}

export async function countContent(sql: Sql, source: number): Promise<{ pages: number; chunks: number }> {
  const counts = await sql.get<{ pages: number; chunks: number }>(
    `SELECT (SELECT count(*) FROM ledger WHERE source = $1 AND page_hash IS NOT NULL) AS pages,
       (SELECT count(*) FROM chunks WHERE source = $1) AS chunks`,
    [source],
  )
  return counts ?? { pages: 0, chunks: 0 }
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
