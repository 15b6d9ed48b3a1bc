import type { Chunk, Section } from '../../core/model.ts'
import { planExcerpt, readLayout } from '../../core/retrieval/page-layout.ts'
import type { PageExcerpt, PageText, StoredChunk, StoredPage } from '../../library/ports/store.ts'
import { listByKey } from '../common/batches.ts'
import { packHash, unpackHash } from '../common/hash.ts'
import * as stored from '../common/stored-content.ts'
import type { Sql } from './database/database.ts'

/* Reads pages and chunks. */

type SelectedChunk = stored.HashedChunkColumns<Uint8Array> & stored.ChunkOrigin & Pick<Chunk, 'content'>

interface TextColumns extends Omit<PageText, 'sections' | 'chunks'> {
  readonly sections: string
  readonly first: number
  readonly count: number
}

const IS_ROW = 'l.source = $1 AND digest_of(l.key) = digest_of($2) AND l.key = $2'

/** Batch size for reading pages, so that no transaction stays open while the consumer works. */
const PAGES_AT_ONCE = 32

/** The links of a row, in their original order. */
export async function readLinks(sql: Sql, source: number, key: string): Promise<readonly string[]> {
  const found = await sql.get<{ links: string }>(
    `SELECT k.links FROM ledger l JOIN links k ON k.id = l.id WHERE ${IS_ROW}`,
    [source, key],
  )
  return found === undefined ? [] : (JSON.parse(found.links) as string[])
}

export async function readPage(sql: Sql, source: number, key: string): Promise<StoredPage | undefined> {
  const found = await sql.get<stored.PageColumns>(`${stored.SELECT_PAGES} WHERE ${IS_ROW}`, [source, key])
  return found && stored.toStoredPage(found)
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
  return { ...text, sections: JSON.parse(sections) as Section[], chunks: stored.toSpans(spans.map(toSpanColumns)) }
}

type SpanRow = readonly [id: string, startLine: number, endLine: number, headingPath: string, symbol: string | null]

function toSpanColumns([id, startLine, endLine, headingPath, symbol]: SpanRow): stored.SpanColumns {
  return { id: unpackHash(Buffer.from(id, 'hex')), startLine, endLine, headingPath, symbol }
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
export function listPages(sql: Sql, source: number): AsyncIterable<StoredPage> {
  return listByKey(async (after) => {
    const found = await sql.all<stored.PageColumns>(
      `${stored.SELECT_PAGES} WHERE l.source = $1 AND left(l.key, 512) >= left($2, 512) AND l.key > $2 AND l.page_hash IS NOT NULL
       ORDER BY left(l.key, 512), l.key LIMIT $3`,
      [source, after, PAGES_AT_ONCE],
    )
    return found.map(stored.toStoredPage)
  })
}

/** The chunk with this id or id prefix; undefined when there is none, or more than one. */
export async function readChunk(sql: Sql, source: number, chunkId: string): Promise<StoredChunk | undefined> {
  const [from, to] = (stored.parseIdPrefix(chunkId) ?? [chunkId, chunkId]).map(packHash)
  const found = await sql.all<SelectedChunk>(
    `SELECT DISTINCT ON (c.chunk_id) ${stored.ORIGIN_COLUMNS}, ${stored.CHUNK_COLUMNS}, c.content
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
  const found = await sql.all<SelectedChunk & { number: number }>(
    `SELECT c.id AS number, ${stored.ORIGIN_COLUMNS}, ${stored.CHUNK_COLUMNS}, c.content
     FROM chunks c JOIN ledger l ON l.id = c.page JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     WHERE c.id = ANY ($1::bigint[])`,
    [numbers],
  )
  const chunks = new Map(found.map(({ number, ...columns }) => [number, toChunk(columns)]))
  return numbers.map((number) => chunks.get(number))
}

function toChunk({ sourceId, url, title, content, ...columns }: SelectedChunk): StoredChunk {
  return stored.toStoredChunk(stored.unpackChunk(columns, unpackHash), { sourceId, url, title }, () => content)
}

export async function countContent(sql: Sql, source: number): Promise<{ pages: number; chunks: number }> {
  const counts = await sql.get<{ pages: number; chunks: number }>(
    `SELECT (SELECT count(*) FROM ledger WHERE source = $1 AND page_hash IS NOT NULL) AS pages,
       (SELECT count(*) FROM chunks WHERE source = $1) AS chunks`,
    [source],
  )
  return counts ?? { pages: 0, chunks: 0 }
}
