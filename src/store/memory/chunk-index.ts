import type { Chunk } from '../../core/model.ts'
import { SearchIndex } from '../../core/search/search-index.ts'
import { textAnalyzer } from '../../core/text/analyzer.ts'
import type { StoredChunk, StoreHit, StoreQuery } from '../../library/store.ts'
import type { Row } from './row.ts'

/** What is indexed of a chunk, with the weight of a match in each: as in a pack. */
const FIELDS = { title: 0.5, headings: 1, body: 1 } as const

/** The chunks of all sources, to be searched together. */
export class ChunkIndex {
  readonly #index = new SearchIndex({ fields: FIELDS, analyzer: textAnalyzer })
  readonly #chunks = new Map<string, StoredChunk>()

  /** Adds the chunks of a row that holds a page. */
  add(row: Row): void {
    for (const stored of listChunks(row)) {
      const { chunk, title } = stored
      const document = documentOf(row, chunk)
      this.#chunks.set(document, stored)
      this.#index.add(document, { title, headings: [...chunk.headingPath, chunk.symbol ?? ''], body: chunk.content })
    }
  }

  /** Removes the chunks of a row as it was when they were added. */
  remove(row: Row): void {
    for (const { chunk } of listChunks(row)) {
      const document = documentOf(row, chunk)
      this.#chunks.delete(document)
      this.#index.remove(document)
    }
  }

  search({ query, limit, sourceIds }: StoreQuery): StoreHit[] {
    const filter = (document: string): boolean => {
      const stored = this.#chunks.get(document)
      return stored !== undefined && (sourceIds === undefined || sourceIds.includes(stored.sourceId))
    }
    return this.#index.search(query, { limit, filter }).flatMap(({ key, score }) => {
      const stored = this.#chunks.get(key)
      return stored ? [{ ...stored, score }] : []
    })
  }
}

/** The chunks of the page that a row holds. */
export function listChunks({ sourceId, url, record }: Row): StoredChunk[] {
  if (record === null) return []
  const { page, chunks } = record
  return chunks.map((chunk) => ({ sourceId, url, title: page.title, chunk }))
}

/** Begins with the id of the chunk, because equal scores are put in the order of these. */
function documentOf({ sourceId, key }: Row, chunk: Chunk): string {
  return JSON.stringify([chunk.id, sourceId, key])
}
