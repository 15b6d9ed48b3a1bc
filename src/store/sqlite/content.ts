import type { Chunk, Section } from '../../core/model.ts'
import type { ChunkIndex } from '../../core/retrieval/chunk-index.ts'
import { type PageLayout, planExcerpt, readLayout, writeLayout } from '../../core/retrieval/page-layout.ts'
import type { PageRecord } from '../../crawl/ledger.ts'
import type { PageExcerpt, PageText, StoredChunk, StoredPage, StoreMatch } from '../../library/ports/store.ts'
import { parseStored } from '../common/damage.ts'
import { ANALYSED_FACTS, COPIED_FACTS, compareMetadata, type StoredMetadata } from '../common/metadata-diff.ts'
import {
  type ChunkColumns,
  type ChunkOrigin,
  LazyChunk,
  type PageColumns,
  parseIdPrefix,
  toStoredChunk,
  toStoredPage,
} from '../common/stored-content.ts'
import { createClassifications } from './classifications.ts'
import { createCopiedVectors } from './copy/copied-vectors.ts'
import type { Database } from './database/database.ts'
import { packHash, type StoredHash, unpackHash } from './database/hash.ts'
import type { Layouts } from './database/layouts.ts'
import { LruCache } from './database/lru-cache.ts'
import { createEmptyHubRemoval } from './empty-hubs.ts'
import type { PageSignatures } from './index/page-signatures.ts'
import type { createPageFacts } from './ledger/page-facts.ts'
import { createStateKey } from './ledger/state-key.ts'

/** Pages with their chunks and index entries, stored under the id of their ledger row. */
export interface Content {
  /** Replaces the page and chunks of a row. */
  write(source: number, row: number, record: PageRecord): void
  /** Replaces the metadata of a page; its content stays. */
  writeMetadata(source: number, row: number, record: PageRecord): void
  /** Writes the classification of a page, if there is one. */
  writeClassification(source: number, row: number, record: PageRecord): void
  /** Removes the page of a row. Its links stay, because a duplicate still leads to the same addresses. */
  remove(row: number): void
  writeLinks(row: number, links: readonly string[]): void
  readLinks(source: number, key: string): readonly string[]
  readPage(source: number, key: string): StoredPage | undefined
  readText(source: number, key: string): PageText | undefined
  readExcerpt(source: number, key: string, chunkIndex: number): PageExcerpt | undefined
  find(source: number, text: string): string[]
  listPages(source: number): AsyncIterable<StoredPage>
  readChunk(source: number, chunkId: string): StoredChunk | undefined
  /** The number of a chunk by its full id. */
  findNumber(source: number, chunkId: string): number | undefined
  /** The chunks of matches, in order; `isUnchanged` when nothing was written since the search. */
  readMatches(
    matches: readonly Pick<StoreMatch, 'number' | 'page'>[],
    isUnchanged: boolean,
  ): (StoredChunk | undefined)[]
  count(source: number): { readonly pages: number; readonly chunks: number }
}

/** A row with the times of its last check and change. */
interface TimeColumns {
  readonly row: number
  readonly checkedAt: number
  readonly changedAt: number
}

interface TextColumns extends Omit<PageText, 'markdown' | 'sections' | 'chunks'> {
  readonly markdown: Buffer
  readonly sections: string
  readonly first: number
  readonly count: number
}

/** A chunk with packed hashes. */
type HashedColumns = Omit<ChunkColumns, 'id' | 'contentHash'> & {
  readonly chunkId: StoredHash
  readonly contentHash: StoredHash
}

const ORIGIN_COLUMNS = 's.uuid AS sourceId, l.url, p.title'
const CHUNK_COLUMNS = `c.chunk_id AS chunkId, c.content_hash AS contentHash, c.position AS chunkIndex, c.kind,
  c.start_line AS startLine, c.end_line AS endLine, c.token_estimate AS tokenEstimate, c.slug, c.path,
  c.heading_path AS headingPath, c.symbol, c.address, c.asset_path AS assetPath`

/** Size of the layout cache in characters; parsed layouts take about five times as much memory. */
const LAYOUT_CACHE_CHARS = 2 ** 18

/** Batch size for reading pages, so that no statement stays open while the consumer works. */
const PAGES_AT_ONCE = 32

/** Parts of the store that content needs. */
interface ContentNeeds {
  readonly index: ChunkIndex
  readonly layouts: Layouts
  readonly signatures: PageSignatures
  readonly readFacts: ReturnType<typeof createPageFacts>
}

/** Creates the content queries. */
export function createContent(db: Database, { index, layouts, signatures, readFacts }: ContentNeeds): Content {
  const classifications = createClassifications(db)
  const selectRange = db.prepare<[number], { first: number; count: number }>(
    'SELECT first_chunk AS first, chunk_count AS count FROM pages WHERE id = ?',
  )
  const insertPage = db.prepare<[number, number, number, string, string, string]>(
    `INSERT OR REPLACE INTO pages (id, first_chunk, chunk_count, title, meta, markdown)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const arrayOf = (facts: readonly string[]): string =>
    `json_array(${facts.map((name) => `json_extract(meta, '$.${name}')`).join(', ')})`
  const selectMetadata = db.prepare<[number], StoredMetadata>(
    `SELECT title, json_extract(meta, '$.url') AS url, json_extract(meta, '$.sections') AS sections,
       json_extract(meta, '$.links') AS links, ${arrayOf(ANALYSED_FACTS)} AS analysed,
       ${arrayOf(COPIED_FACTS)} AS copied
     FROM pages WHERE id = ?`,
  )
  const updatePage = db.prepare<[string, string, number]>('UPDATE pages SET title = ?, meta = ? WHERE id = ?')
  const deletePage = db.prepare<[number]>('DELETE FROM pages WHERE id = ?')
  const selectUrl = db.prepare<[number], string>('SELECT url FROM ledger WHERE id = ?').pluck()
  const removeEmptyHub = createEmptyHubRemoval(db)
  const copied = createCopiedVectors(db)
  const deleteChunks = db.prepare<[number, number]>('DELETE FROM chunks WHERE id BETWEEN ? AND ?')
  const insertChunk = db.prepare<unknown[]>(
    `INSERT INTO chunks (source, page, chunk_id, content_hash, position, kind, start_line, end_line, token_estimate,
       slug, path, heading_path, symbol, address, asset_path, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const writeLinks = db.prepare<[number, string]>('INSERT OR REPLACE INTO links (id, links) VALUES (?, ?)')
  const selectLinks = db
    .prepare<[number, string], string>(
      'SELECT k.links FROM ledger l JOIN links k ON k.id = l.id WHERE l.source = ? AND l.key = ?',
    )
    .pluck()

  const pageColumns = `SELECT s.uuid AS sourceId, l.key, p.meta, p.markdown, l.checked_at AS checkedAt,
      l.changed_at AS changedAt
    FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source`
  const selectPage = db.prepare<[number, string], PageColumns>(`${pageColumns} WHERE l.source = ? AND l.key = ?`)
  const selectPages = db.prepare<[number, string, number], PageColumns>(
    `${pageColumns} WHERE l.source = ? AND l.key > ? AND l.page_hash IS NOT NULL ORDER BY l.key LIMIT ?`,
  )

  const selectKeysWithText = db
    .prepare<[number, string], string>(
      `SELECT l.key FROM ledger l JOIN pages p ON p.id = l.id
       WHERE l.source = ? AND l.page_hash IS NOT NULL AND instr(lower(p.markdown), lower(?)) > 0 ORDER BY l.key`,
    )
    .pluck()

  // Text is read as bytes, which Node decodes twice as fast. SQLite extracts two fields from the metadata much faster than JavaScript can
  // parse all of it.
  const selectText = db.prepare<[number, string], TextColumns>(
    `SELECT s.uuid AS sourceId, l.key, l.url, p.title, json_extract(p.meta, '$.language') AS language,
       CAST(p.markdown AS BLOB) AS markdown,
       json_extract(p.meta, '$.sections') AS sections, p.first_chunk AS first, p.chunk_count AS count,
       l.checked_at AS checkedAt, l.changed_at AS changedAt
     FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source WHERE l.source = ? AND l.key = ?`,
  )
  const selectTimes = db.prepare<[number, string], TimeColumns>(
    'SELECT id AS row, checked_at AS checkedAt, changed_at AS changedAt FROM ledger WHERE source = ? AND key = ?',
  )
  const selectLayout = db.prepare<[number], string>('SELECT layout FROM layouts WHERE id = ?').pluck()
  const selectBytes = db
    .prepare<[number, number, number], Buffer>('SELECT substr(CAST(markdown AS BLOB), ?, ?) FROM pages WHERE id = ?')
    .pluck()

  const selectExisting = db
    .prepare<[string], number>('SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))')
    .pluck()
  const selectNumber = db
    .prepare<[number, StoredHash], number | null>('SELECT min(id) FROM chunks WHERE source = ? AND chunk_id = ?')
    .pluck()
  const selectChunk = db.prepare<[number, StoredHash], HashedColumns & ChunkOrigin & Pick<Chunk, 'content'>>(
    `SELECT ${ORIGIN_COLUMNS}, ${CHUNK_COLUMNS}, c.content
     FROM chunks c JOIN ledger l ON l.id = c.page JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     WHERE c.source = ? AND c.chunk_id = ? ORDER BY l.key LIMIT 1`,
  )
  const selectChunkIds = db
    .prepare<[number, Uint8Array, Uint8Array], StoredHash>(
      'SELECT DISTINCT chunk_id FROM chunks WHERE source = ? AND chunk_id BETWEEN ? AND ? LIMIT 2',
    )
    .pluck()
  const selectColumnsAt = db.prepare<[number], HashedColumns>(`SELECT ${CHUNK_COLUMNS} FROM chunks c WHERE c.id = ?`)
  const selectContentAt = db.prepare<[number], string>('SELECT content FROM chunks WHERE id = ?').pluck()
  const countPages = db
    .prepare<[number], number>('SELECT count(*) FROM ledger WHERE source = ? AND page_hash IS NOT NULL')
    .pluck()
  const countChunks = db.prepare<[number], number>('SELECT count(*) FROM chunks WHERE source = ?').pluck()

  const recentLayouts = new LruCache<PageLayout>(LAYOUT_CACHE_CHARS)
  const stateKey = createStateKey(db)
  let cachedState = ''
  /** The layout of a page. Recent layouts stay cached until something is written to the library, because parsing is slow. */
  const layoutOf = (row: number, source: number, key: string): PageLayout | undefined => {
    const currentState = stateKey()
    if (currentState !== cachedState) recentLayouts.clear()
    cachedState = currentState
    const known = recentLayouts.get(row)
    if (known !== undefined) return known
    const layoutText = selectLayout.get(row) ?? computeLayout(source, key)
    if (layoutText === undefined) return undefined
    const layout = readLayout(layoutText)
    recentLayouts.set(row, layout, layoutText.length)
    return layout
  }
  /** Computes the layout of a page that was stored before layouts existed and whose chunks are not indexed yet. */
  const computeLayout = (source: number, key: string): string | undefined => {
    const text = readText(source, key)
    return text && writeLayout(text, text.chunks)
  }
  const readText = (source: number, key: string): PageText | undefined => {
    const found = selectText.get(source, key)
    if (found === undefined) return undefined
    const { first, count, sections, markdown, ...text } = found
    return {
      ...text,
      markdown: markdown.toString(),
      sections: parseStored<Section[]>(sections),
      chunks: layouts.listSpans(first, count),
    }
  }
  const readColumns = (number: number): ChunkColumns | undefined => {
    const found = selectColumnsAt.get(number)
    return found && unpackIds(found)
  }
  const classify = (source: number, row: number, { classification }: PageRecord): void => {
    if (classification !== undefined) classifications.revise(source, row, classification)
  }
  const removeChunks = (row: number): void => {
    const range = selectRange.get(row)
    if (range === undefined || range.count === 0) return
    index.remove(range.first, range.count)
    deleteChunks.run(range.first, range.first + range.count - 1)
  }

  return {
    write: (source, row, record) => {
      const { page, chunks } = record
      removeChunks(row)
      let first = 0
      for (const chunk of chunks) {
        const { lastInsertRowid } = insertChunk.run(
          source,
          row,
          packHash(chunk.id),
          packHash(chunk.contentHash),
          chunk.chunkIndex,
          chunk.kind,
          chunk.startLine,
          chunk.endLine,
          chunk.tokenEstimate,
          chunk.slug,
          chunk.path,
          JSON.stringify(chunk.headingPath),
          chunk.symbol,
          chunk.address,
          chunk.assetPath,
          chunk.content,
        )
        first ||= Number(lastInsertRowid)
      }
      const { markdown, ...meta } = page
      insertPage.run(row, first, chunks.length, page.title, JSON.stringify(meta), markdown)
      layouts.write(row, page, chunks)
      signatures.write(row, page)
      classifications.replace(source, row, record.classification)
      if (chunks.length > 0) index.notifyNewChunks(first + chunks.length - 1)
    },
    writeMetadata: (source, row, record) => {
      const { page } = record
      const { markdown, ...meta } = page
      const diff = compareMetadata(selectMetadata.get(row), page)
      updatePage.run(page.title, JSON.stringify(meta), row)
      signatures.write(row, page)
      classify(source, row, record)
      if (diff.isAnalysisOutdated) classifications.invalidate(row)
      const { first = 0, count = 0 } = selectRange.get(row) ?? {}
      if (count === 0) return
      if (diff.hasNewTitle) index.reindex(first, count)
      if (diff.hasNewSections) layouts.write(row, page, layouts.listSpans(first, count))
      if (diff.isVectorCopyOutdated) copied.deleteRange(first, count)
    },
    writeClassification: classify,
    remove: (row) => {
      removeChunks(row)
      if (deletePage.run(row).changes > 0) removeEmptyHub(selectUrl.get(row) ?? '')
    },
    writeLinks: (row, links) => {
      writeLinks.run(row, JSON.stringify(links))
    },
    // All JSON that is parsed below was written by a store.
    readLinks: (source, key) => parseStored<string[]>(selectLinks.get(source, key) ?? '[]'),
    readPage: (source, key) => {
      const found = selectPage.get(source, key)
      return found === undefined ? undefined : toStoredPage(found)
    },
    readText,
    readExcerpt: (source, key, chunkIndex) => {
      const found = selectTimes.get(source, key)
      if (found === undefined) return undefined
      const { row, ...times } = found
      const layout = layoutOf(row, source, key)
      const plan = layout === undefined ? undefined : planExcerpt(layout, chunkIndex)
      if (plan === undefined) return undefined
      const { offset, length, ...excerpt } = plan
      const markdown = selectBytes.get(offset + 1, length, row)?.toString() ?? ''
      return { ...times, ...excerpt, markdown }
    },
    find: (source, text) => selectKeysWithText.all(source, text),
    async *listPages(source) {
      let after = ''
      for (;;) {
        const found = selectPages.all(source, after, PAGES_AT_ONCE)
        yield* found.map(toStoredPage)
        const last = found.at(-1)
        if (last === undefined) return
        after = last.key
      }
    },
    findNumber: (source, chunkId) => selectNumber.get(source, packHash(chunkId)) ?? undefined,
    readChunk: (source, chunkId) => {
      const id = findChunkId(chunkId, (from, to) => selectChunkIds.all(source, from, to))
      const found = id === undefined ? undefined : selectChunk.get(source, id)
      if (found === undefined) return undefined
      const { sourceId, url, title, content, ...columns } = found
      return toStoredChunk(unpackIds(columns), { sourceId, url, title }, () => content)
    },
    readMatches: (matches, isUnchanged) => {
      const facts = readFacts(matches.map(({ page }) => page))
      const existing = isUnchanged
        ? undefined
        : new Set(selectExisting.all(JSON.stringify(matches.map((match) => match.number))))
      return matches.map(({ number }, i) => {
        const page = facts[i]
        if (page === undefined || existing?.has(number) === false) return undefined
        const { sourceId, url, title, key } = page
        const chunk = new LazyChunk(
          key,
          () => readColumns(number),
          () => selectContentAt.get(number),
        )
        return { sourceId, url, title, chunk }
      })
    },
    count: (source) => ({ pages: countPages.get(source) ?? 0, chunks: countChunks.get(source) ?? 0 }),
  }
}

/** The full id for an id or id prefix; undefined when there is none, or more than one. */
function findChunkId(
  chunkId: string,
  select: (from: Uint8Array, to: Uint8Array) => StoredHash[],
): StoredHash | undefined {
  const range = parseIdPrefix(chunkId)
  if (range === undefined) return packHash(chunkId)
  const [from, to] = range
  const found = select(Buffer.from(from, 'hex'), Buffer.from(to, 'hex'))
  return found.length === 1 ? found[0] : undefined
}

function unpackIds({ chunkId, contentHash, ...rest }: HashedColumns): ChunkColumns {
  return { ...rest, id: unpackHash(chunkId), contentHash: unpackHash(contentHash) }
}
