import { createChunkTests, type FilteredPage } from '../../src/core/retrieval/chunk-filter.ts'
import type { ContentTypeCounts } from '../../src/core/retrieval/content-type.ts'
import { createChunkIndex, type ChunkIndex as Index } from '../../src/core/retrieval/index/chunk-index.ts'
import type { NewChunk } from '../../src/core/retrieval/index/index-storage.ts'
import type { ChunkFilter, IndexProgress, StoredChunk, StoreMatch, StoreQuery } from '../../src/library/ports/store.ts'
import type { ChunkRef } from '../../src/library/ports/vectors.ts'
import { createIndexStorage } from './index-storage.ts'
import type { Row } from './row.ts'

/** A chunk with its number. */
interface NumberedChunk extends NewChunk {
  readonly stored: StoredChunk
}

/** The search index over the chunks of all sources. */
export class ChunkIndex {
  readonly #chunks = new Map<number, NumberedChunk>()
  readonly #pages = new Map<number, FilteredPage>()
  readonly #sources = new Map<string, number>()
  /** The first chunk number of each row. */
  readonly #firstNumbers = new Map<string, number>()
  #newest = 0
  readonly #index: Index

  constructor() {
    this.#index = createChunkIndex(
      createIndexStorage({ chunks: this.#chunks, pages: this.#pages, newest: () => this.#newest }),
    )
  }

  /** Adds the chunks of a row that holds a page. */
  add(row: Row): void {
    const { sourceId, url, key, record } = row
    const first = this.#newest + 1
    const source = this.#sources.get(sourceId) ?? this.#sources.size + 1
    this.#sources.set(sourceId, source)
    this.#firstNumbers.set(rowKeyOf(row), first)
    this.#pages.set(first, { url, key, language: record?.page.language ?? null })
    for (const stored of listChunks(row)) {
      const number = ++this.#newest
      const { chunk, title } = stored
      this.#chunks.set(number, { ...chunk, title, number, source, page: first, stored })
    }
    this.#index.notifyNewChunks(this.#newest)
  }

  /** Removes the chunks of a row. `row` must be the row as it was when its chunks were added. */
  remove(row: Row): void {
    const first = this.#firstNumbers.get(rowKeyOf(row))
    const { length: count } = listChunks(row)
    if (first === undefined) return
    this.#index.remove(first, count)
    for (let number = first; number < first + count; number++) this.#chunks.delete(number)
    this.#firstNumbers.delete(rowKeyOf(row))
    this.#pages.delete(first)
  }

  /** All chunks, in the order in which they were added. */
  list(): StoredChunk[] {
    return [...this.#chunks.values()].map(({ stored }) => stored)
  }

  /** The languages of the pages of all chunks, as far as they are known. */
  languages(): ReadonlyMap<StoredChunk, string | null> {
    return new Map(
      [...this.#chunks.values()].map(({ stored, page }) => [stored, this.#pages.get(page)?.language ?? null]),
    )
  }

  /** Counts the chunks of each source by content type. */
  countContentTypes(): Map<string, ContentTypeCounts> {
    this.indexNew()
    const counts = this.#index.countContentTypes()
    return new Map([...this.#sources].map(([id, number]) => [id, counts.get(number) ?? { prose: 0, code: 0 }]))
  }

  /** Creates a predicate for all conditions of a filter except the sources. */
  createTest(filter: ChunkFilter): (chunk: StoredChunk) => boolean {
    const passes = this.#index.createTest(createChunkTests(filter))
    const numbers = new Map([...this.#chunks.values()].map(({ stored, number }) => [stored, number]))
    return (stored) => passes(numbers.get(stored) ?? 0)
  }

  /** How much is searchable: everything, because each search indexes new chunks first. */
  measure(): IndexProgress {
    return { chunks: this.#chunks.size, indexed: this.#chunks.size }
  }

  /** Indexes all new chunks. */
  indexNew(): void {
    while (this.#index.isBehind() && this.#index.advance());
  }

  search({ query, limit, filter = {}, also = [], explain = false }: StoreQuery): StoreMatch[] {
    this.indexNew()
    const sources = filter.sourceIds && new Set(filter.sourceIds.flatMap((id) => this.#sources.get(id) ?? []))
    const tests = createChunkTests(filter)
    return this.#index.search({ query, limit, sources, explain, tests, also: this.#findNumbers(also) })
  }

  #findNumbers(refs: readonly ChunkRef[]): number[] {
    if (refs.length === 0) return []
    const numbers = new Map<string, number>()
    for (const { stored, number } of this.#chunks.values()) {
      const name = `${stored.sourceId} ${stored.chunk.id}`
      if (!numbers.has(name)) numbers.set(name, number)
    }
    return refs.flatMap(({ sourceId, chunkId }) => numbers.get(`${sourceId} ${chunkId}`) ?? [])
  }

  /** The chunks of matches, in their order. */
  read(matches: readonly StoreMatch[]): (StoredChunk | undefined)[] {
    return matches.map(({ number }) => this.#chunks.get(number)?.stored)
  }
}

/** The chunks of the page that a row holds. */
export function listChunks({ sourceId, url, record }: Row): StoredChunk[] {
  if (record === null) return []
  const { page, chunks } = record
  return chunks.map((chunk) => ({ sourceId, url, title: page.title, chunk }))
}

function rowKeyOf({ sourceId, key }: Row): string {
  return JSON.stringify([sourceId, key])
}
