import { type ChunkTests, createChunkTests } from '../../core/retrieval/chunk-filter.ts'
import { type ChunkRange, createChunkIndex, type DeadChunkRange } from '../../core/retrieval/chunk-index.ts'
import type { ContentTypeCounts } from '../../core/retrieval/content-type.ts'
import type { IndexProgress, StoreMatch, StoreQuery } from '../../library/store.ts'
import type { ChunkRef } from '../../library/vectors.ts'
import type { Database, Sql } from './database.ts'
import { createFilterReader, type FilterReader } from './filter-reader.ts'
import { createIndexMaintenance, type IndexMaintenance } from './index-maintenance.ts'
import { createIndexParts, type PinnedBlocks } from './index-parts.ts'
import { createDraft, createIndexStorage, type IndexDraft, NO_INDEX, sortRuns } from './index-storage.ts'
import { countIndexed, type IndexView, readIndex, type StoredIndex } from './index-tables.ts'
import { NAMED_CHUNKS, toChunkParameters } from './refused-chunks.ts'

/** Full-text search over chunks, and the maintenance of its index. */
export interface Search extends Pick<IndexMaintenance, 'tidy' | 'announce' | 'close'> {
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
  const parts = createIndexParts()
  const numberOf = createNumbering()
  let known: StoredIndex | undefined
  let draft: IndexDraft = createDraft(NO_INDEX)
  const index = createChunkIndex(createIndexStorage(parts, () => draft))

  /** Reads the current index. Concurrent reads may finish in another order, so the cache is replaced only if it has not changed. */
  const see = async (sql: Sql, sourceIds?: readonly string[]): Promise<IndexView> => {
    const before = known
    const seen = await readIndex(sql, before, sourceIds)
    if (known === before) known = seen
    return seen
  }
  const isBehind = (seen: IndexView): boolean => {
    draft = createDraft({ ...seen, generation: numberOf(seen), stale: seen.isStale ? [SOME_RUN] : [] })
    return index.isBehind() || seen.gone.length >= PURGE_THRESHOLD
  }
  const tending = createIndexMaintenance(db, async () => isBehind(await see(db)))

  /** Queries the index as it was read; undefined when parts of it were replaced before they could be loaded. */
  const ask = async <T>(
    sql: Sql,
    seen: IndexView,
    look: FilterReader | undefined,
    work: () => T,
  ): Promise<T | undefined> => {
    const held: PinnedBlocks = new Map()
    const listed = seen.segments.map(({ id }) => id)
    const dead = addGone(seen)
    for (;;) {
      const segments = parts.listMissing(listed)
      if (segments.length > 0) {
        if (!(await parts.load(sql, { segments: new Set(segments), blocks: new Map() }, held))) return undefined
        // A concurrent search of a newer index may have evicted segments, so they are loaded again.
        continue
      }
      draft = createDraft({ ...seen, dead, generation: numberOf(seen), looked: look })
      look?.begin()
      const { result, lacking } = parts.run(held, work)
      if (lacking === undefined && look?.isIncomplete() !== true) {
        if (known?.generation === seen.generation) parts.keepOnly(listed)
        return result
      }
      if (lacking !== undefined && !(await parts.load(sql, lacking, held))) return undefined
      await look?.load(sql)
    }
  }
  /** Repeats a query while the index is replaced during it. */
  const askOften = async <T>(
    sql: Sql,
    {
      sourceIds,
      look,
      seen,
    }: { sourceIds?: readonly string[] | undefined; look?: FilterReader | undefined; seen?: IndexView },
    work: (seen: IndexView) => T,
  ): Promise<T> => {
    for (let current = seen ?? (await see(sql, sourceIds)); ; current = await see(sql, sourceIds)) {
      const shown = current
      const answer = await ask(sql, shown, look, () => ({ result: work(shown) }))
      if (answer !== undefined) return answer.result
    }
  }

  return {
    search: async ({ query, limit, filter = {}, also: names = [], explain = false }) => {
      const { sourceIds } = filter
      let seen = await see(db, sourceIds)
      if (isBehind(seen)) {
        await tending.runBriefly()
        seen = await see(db, sourceIds)
      }
      const tests = createChunkTests(filter)
      const unknown = names.filter(({ number }) => number === undefined)
      const found = unknown.length === 0 ? [] : await findNumbers(db, unknown)
      const also = [...names.flatMap(({ number }) => number ?? []), ...found]
      const find =
        (passed: ChunkTests) =>
        ({ sources }: IndexView): StoreMatch[] =>
          index.search({ query, limit, sources: sources ? new Set(sources) : undefined, tests: passed, also, explain })
      // Segments are immutable and need no transaction, but pages and chunks must come from one snapshot.
      if (!tests.page && !tests.chunk) return askOften(db, { sourceIds, seen }, find(tests))
      return db.snapshot((sql) => {
        const look = createFilterReader(tests, filter.symbol !== undefined)
        return askOften(sql, { sourceIds, look }, find(look.tests))
      })
    },
    countContentTypes: async () => {
      const counts = await askOften(db, {}, () => index.countContentTypes())
      const sources = await db.all<{ uuid: string; id: number }>(
        'SELECT uuid, id FROM sources WHERE NOT is_removed ORDER BY created_at, id',
      )
      return new Map(sources.map(({ uuid, id }) => [uuid, counts.get(id) ?? { prose: 0, code: 0 }]))
    },
    readState: () => measure(db),
    maintain: tending.runAll,
    tidy: tending.tidy,
    announce: tending.announce,
    close: tending.close,
  }
}

/** The numbers of chunks by their names. */
async function findNumbers(sql: Sql, names: readonly ChunkRef[]): Promise<number[]> {
  const found = await sql.all<{ id: number }>(
    `SELECT DISTINCT ON (n.place) n.id FROM (${NAMED_CHUNKS}) AS n ORDER BY n.place, n.id`,
    toChunkParameters(names),
  )
  return found.map(({ id }) => id)
}

/** Assigns a new number to each distinct state of the index, including the removed chunks. */
function createNumbering(): (seen: IndexView) => number {
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
  const shelf = createIndexStorage(createIndexParts(), () => draft)
  const counted = {
    ...shelf,
    // An infinite newest number makes the index count its chunks.
    newestChunk: () => Number.POSITIVE_INFINITY,
    countChunks: () => ({ upTo: chunks, all: chunks }),
  }
  return createChunkIndex(counted).countIndexed()
}
