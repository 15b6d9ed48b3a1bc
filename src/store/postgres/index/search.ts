import { type ChunkTests, createChunkTests } from '../../../core/retrieval/chunk-filter.ts'
import type { ContentTypeCounts } from '../../../core/retrieval/content-type.ts'
import { type ChunkIndex, createChunkIndex } from '../../../core/retrieval/index/chunk-index.ts'
import type { ChunkRange, DeadChunkRange } from '../../../core/retrieval/index/index-storage.ts'
import type { IndexProgress, StoreMatch, StoreQuery } from '../../../library/ports/store.ts'
import type { ChunkRef } from '../../../library/ports/vectors.ts'
import type { Database, Sql } from '../database/database.ts'
import { createFilterReader, type FilterReader } from '../ledger/filter-reader.ts'
import { createIndexMaintenance, type IndexMaintenance } from './index-maintenance.ts'
import { createIndexParts, type PinnedBlocks } from './index-parts.ts'
import { createDraft, createIndexStorage, type IndexDraft, NO_INDEX, sortRuns } from './index-storage.ts'
import { countIndexed, type IndexView, readIndex, type StoredIndex } from './index-tables.ts'
import { NAMED_CHUNKS, toChunkParameters } from './refused-chunks.ts'

/** Full-text search over chunks, and the maintenance of its index. */
export interface Search extends Pick<IndexMaintenance, 'announce' | 'close'> {
  search(query: StoreQuery): Promise<StoreMatch[]>
  countContentTypes(): Promise<ReadonlyMap<string, ContentTypeCounts>>
  readState(): Promise<IndexProgress>
  maintain(signal?: AbortSignal): Promise<void>
}

/** From this number on, removed runs are purged from the index before a search. */
const PURGE_THRESHOLD = 64

/** Any run; only its existence matters. */
const SOME_RUN: ChunkRange = { first: 1, last: 1 }

/** Creates the search. Parts of the index stay cached for later searches. */
export function createSearch(db: Database): Search {
  const cached = new CachedIndex()
  const { index } = cached
  const maintenance = createIndexMaintenance(db, async () => cached.isBehind(await cached.readView(db)))

  return {
    search: async ({ query, limit, filter = {}, also: refs = [], explain = false }) => {
      const { sourceIds } = filter
      let view = await cached.readView(db, sourceIds)
      if (cached.isBehind(view)) {
        await maintenance.runBriefly()
        view = await cached.readView(db, sourceIds)
      } else if (index.hasMerges()) {
        maintenance.runLater()
      }
      const tests = createChunkTests(filter)
      const unnumbered = refs.filter(({ number }) => number === undefined)
      const found = unnumbered.length === 0 ? [] : await findNumbers(db, unnumbered)
      const also = [...refs.flatMap(({ number }) => number ?? []), ...found]
      const find =
        (activeTests: ChunkTests) =>
        ({ sources }: IndexView): StoreMatch[] =>
          index.search({
            query,
            limit,
            sources: sources ? new Set(sources) : undefined,
            tests: activeTests,
            also,
            explain,
            isLoaded: cached.isLoaded,
          })
      // Segments are immutable and need no transaction, but pages and chunks must come from one snapshot.
      if (!tests.page && !tests.chunk) return cached.query(db, { sourceIds, view }, find(tests))
      return db.snapshot((sql) => {
        const filterReader = createFilterReader(tests, filter.symbol !== undefined)
        return cached.query(sql, { sourceIds, filterReader }, find(filterReader.tests))
      })
    },
    countContentTypes: async () => {
      const counts = await cached.query(db, {}, () => index.countContentTypes())
      const sources = await db.all<{ uuid: string; id: number }>(
        'SELECT uuid, id FROM sources WHERE NOT is_removed ORDER BY created_at, id',
      )
      return new Map(sources.map(({ uuid, id }) => [uuid, counts.get(id) ?? { prose: 0, code: 0 }]))
    },
    readState: () => measure(db),
    maintain: maintenance.runAll,
    announce: maintenance.announce,
    close: maintenance.close,
  }
}

/** The index as last read, and the parts of it that are loaded. */
class CachedIndex {
  readonly #parts = createIndexParts()
  readonly #numberOf = createNumbering()
  #stored: StoredIndex | undefined
  #draft: IndexDraft = createDraft(NO_INDEX)
  readonly index: ChunkIndex = createChunkIndex(createIndexStorage(this.#parts, () => this.#draft))

  /** Reads the current index. Concurrent reads may finish in another order, so the cache is replaced only if it has not changed. */
  async readView(sql: Sql, sourceIds?: readonly string[]): Promise<IndexView> {
    const before = this.#stored
    const view = await readIndex(sql, before, sourceIds)
    if (this.#stored === before) this.#stored = view
    return view
  }

  /** Whether the current query has found all blocks so far. */
  readonly isLoaded = (): boolean => this.#parts.isComplete()

  isBehind(view: IndexView): boolean {
    this.#draft = createDraft({ ...view, generation: this.#numberOf(view), stale: view.isStale ? [SOME_RUN] : [] })
    return this.index.isBehind() || view.gone.length >= PURGE_THRESHOLD
  }

  /** Repeats a query as long as the index is replaced while the query runs. */
  async query<T>(
    sql: Sql,
    {
      sourceIds,
      filterReader,
      view,
    }: { sourceIds?: readonly string[] | undefined; filterReader?: FilterReader | undefined; view?: IndexView },
    work: (view: IndexView) => T,
  ): Promise<T> {
    for (let current = view ?? (await this.readView(sql, sourceIds)); ; current = await this.readView(sql, sourceIds)) {
      const currentView = current
      const outcome = await this.#queryView(sql, currentView, filterReader, () => ({ result: work(currentView) }))
      if (outcome !== undefined) return outcome.result
    }
  }

  /** Queries the index as it was read; undefined when parts of it were replaced before they could be loaded. */
  async #queryView<T>(
    sql: Sql,
    view: IndexView,
    filterReader: FilterReader | undefined,
    work: () => T,
  ): Promise<T | undefined> {
    const pinned: PinnedBlocks = new Map()
    const segmentIds = view.segments.map(({ id }) => id)
    const dead = addGone(view)
    for (;;) {
      const segments = this.#parts.listMissing(segmentIds)
      if (segments.length > 0) {
        if (!(await this.#parts.load(sql, { segments: new Set(segments), blocks: new Map() }, pinned))) return undefined
        // A concurrent search of a newer index may have evicted segments, so they are loaded again.
        continue
      }
      this.#draft = createDraft({ ...view, dead, generation: this.#numberOf(view), filterData: filterReader })
      filterReader?.begin()
      const { result, missing } = this.#parts.run(pinned, work)
      if (missing === undefined && filterReader?.isIncomplete() !== true) {
        if (this.#stored?.generation === view.generation) this.#parts.keepOnly(segmentIds)
        return result
      }
      if (missing !== undefined && !(await this.#parts.load(sql, missing, pinned))) return undefined
      await filterReader?.load(sql)
    }
  }
}

/** The numbers of chunks by source and chunk id. */
async function findNumbers(sql: Sql, refs: readonly ChunkRef[]): Promise<number[]> {
  const found = await sql.all<{ id: number }>(
    `SELECT DISTINCT ON (n.place) n.id FROM (${NAMED_CHUNKS}) AS n ORDER BY n.place, n.id`,
    toChunkParameters(refs),
  )
  return found.map(({ id }) => id)
}

/** Assigns a new number to each distinct state of the index, including the removed chunks. */
function createNumbering(): (view: IndexView) => number {
  let last = ''
  let number = 0
  return ({ generation, gone }) => {
    const state = JSON.stringify([generation, gone])
    if (state !== last) number++
    last = state
    return number
  }
}

/** The dead chunks of all segments, including removed chunks that are still in the index. */
function addGone({ segments, dead, gone }: IndexView): readonly DeadChunkRange[] {
  if (gone.length === 0) return dead
  const added = segments.flatMap(({ id, first, last }) =>
    gone.filter((run) => run.first <= last && run.last >= first).map((run) => ({ ...run, segment: id })),
  )
  return sortRuns([...dead, ...added])
}

/** Counts all chunks and the searchable ones, without reading the index. */
async function measure(sql: Sql): Promise<IndexProgress> {
  const { format, chunks, stale } = await countIndexed(sql)
  const draft = createDraft({ ...NO_INDEX, format, stale: stale === 0 ? [] : [{ first: 1, last: stale }] })
  const storage = createIndexStorage(createIndexParts(), () => draft)
  const countingStorage = {
    ...storage,
    // An infinite newest number makes the index count its chunks.
    newestChunk: () => Number.POSITIVE_INFINITY,
    countChunks: () => ({ upTo: chunks, all: chunks }),
  }
  return createChunkIndex(countingStorage).countIndexed()
}
