import type { ChunkIndex } from '../../core/retrieval/index/chunk-index.ts'
import type { PageRecord } from '../../crawl/settlement.ts'
import { listColumns, valuesOf } from '../common/columns.ts'
import { ANALYSED_FACTS, COPIED_FACTS, compareMetadata, type StoredMetadata } from '../common/metadata-diff.ts'
import { STORED_CHUNK_COLUMNS, toChunkRecord } from '../common/stored-content.ts'
import { createClassifications } from './classifications.ts'
import { createCopiedVectors } from './copy/copied-vectors.ts'
import type { Database } from './database/database.ts'
import { packHash } from './database/hash.ts'
import type { Layouts } from './database/layouts.ts'
import { createEarlierPageKeeper } from './earlier-pages.ts'
import { createEmptyHubRemoval } from './empty-hubs.ts'
import type { PageSignatures } from './index/page-signatures.ts'

/** Writes pages with their chunks and index entries under the id of their ledger row. */
export interface ContentWriter {
  /** Replaces the page and chunks of a row. */
  write(source: number, row: number, record: PageRecord): void
  /** Replaces the metadata of a page; its content stays. */
  writeMetadata(source: number, row: number, record: PageRecord): void
  /** Writes the classification of a page, if there is one. */
  writeClassification(source: number, row: number, record: PageRecord): void
  /** Removes the page of a row. Its links stay, because a duplicate still leads to the same addresses. */
  remove(row: number): void
  writeLinks(row: number, links: readonly string[]): void
}

/** Parts of the store that content needs. */
interface WriterParts {
  readonly index: ChunkIndex
  readonly layouts: Layouts
  readonly signatures: PageSignatures
}

/** Creates the statements that write content. */
export function createContentWriter(db: Database, { index, layouts, signatures }: WriterParts): ContentWriter {
  const classifications = createClassifications(db)
  const removeChunks = createChunkRemoval(db, index)
  const selectRange = db.prepare<[number], { first: number; count: number }>(SELECT_RANGE)
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
  const insertChunk = db.prepare<unknown[]>(
    `INSERT INTO chunks (source, page, ${STORED_CHUNK_COLUMNS})
     VALUES (?, ?, ${listColumns(STORED_CHUNK_COLUMNS).map(() => '?')})`,
  )
  const writeLinks = db.prepare<[number, string]>('INSERT OR REPLACE INTO links (id, links) VALUES (?, ?)')
  const classify = (source: number, row: number, { classification }: PageRecord): void => {
    if (classification !== undefined) classifications.revise(source, row, classification)
  }

  return {
    write: (source, row, record) => {
      const { page, chunks } = record
      removeChunks(row, page.markdown)
      let first = 0
      for (const chunk of chunks) {
        const values = valuesOf(STORED_CHUNK_COLUMNS, toChunkRecord(chunk, packHash))
        const { lastInsertRowid } = insertChunk.run(source, row, ...values)
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
      removeChunks(row, null)
      if (deletePage.run(row).changes > 0) removeEmptyHub(selectUrl.get(row) ?? '')
    },
    writeLinks: (row, links) => {
      writeLinks.run(row, JSON.stringify(links))
    },
  }
}

/** Creates the function that removes the chunks of a page that is about to be replaced by another text, or removed (null). */
function createChunkRemoval(db: Database, index: ChunkIndex): (row: number, newText: string | null) => void {
  const selectRange = db.prepare<[number], { first: number; count: number }>(SELECT_RANGE)
  const deleteChunks = db.prepare<[number, number]>('DELETE FROM chunks WHERE id BETWEEN ? AND ?')
  const keepEarlier = createEarlierPageKeeper(db)
  return (row, newText) => {
    const range = selectRange.get(row)
    if (range === undefined) return
    keepEarlier(row, newText)
    if (range.count === 0) return
    index.remove(range.first, range.count)
    deleteChunks.run(range.first, range.first + range.count - 1)
  }
}

const SELECT_RANGE = 'SELECT first_chunk AS first, chunk_count AS count FROM pages WHERE id = ?'
