import {
  type ChunkTests,
  createChunkTests,
  type FilteredPage,
  type Test,
} from '../../../core/retrieval/chunk-filter.ts'
import { createChunkIndex } from '../../../core/retrieval/index/chunk-index.ts'
import type { ChunkFilter } from '../../../library/ports/store.ts'
import type { Sql } from '../database/database.ts'
import { createIndexParts } from '../index/index-parts.ts'
import {
  createDraft,
  createIndexStorage,
  type FilterData,
  type FilterInputChunk,
  NO_INDEX,
} from '../index/index-storage.ts'
import { readFilteredChunks, readFilteredPages } from '../index/index-tables.ts'

/**
 * The pages and chunks that a search reads besides the index. Missing ones are noted and loaded, and the search is repeated. The result is
 * valid only once nothing was missing.
 */
export interface FilterReader extends FilterData {
  /** Tests that accept every page and chunk, because `readPage` and `readChunk` return only matching entries and placeholders. */
  readonly tests: ChunkTests
  begin(): void
  isIncomplete(): boolean
  /** Loads everything that was missing. */
  load(sql: Sql): Promise<void>
}

/**
 * Number of unread entries that count as non-matching in the first pass, so that later candidates are seen too; each further pass
 * multiplies it by `SKIPPED_GROWTH`.
 */
const INITIAL_SKIPPED = 50
const SKIPPED_GROWTH = 4

const UNKNOWN_PAGE: FilteredPage = { url: '', key: '', language: null }
const UNKNOWN_CHUNK: FilterInputChunk = { page: 0, kind: 'unknown', headingPath: [], symbol: null, content: '' }

/** Creates the reader for the tests of a filter. `withContent` tells whether the tests need the text of chunks. */
export function createFilterReader({ traits, page, chunk }: ChunkTests, withContent: boolean): FilterReader {
  /** Results of the tests: each entry is tested once, however often the search is repeated. */
  const pages = new Map<number, FilteredPage | undefined>()
  const chunks = new Map<number, FilterInputChunk | undefined>()
  const unreadPages = new Set<number>()
  const unreadChunks = new Set<number>()
  let skippedCount = INITIAL_SKIPPED
  /** The placeholder for an unread entry: the first ones count as non-matching, later ones as matching. */
  const noteUnread = <T>(unread: Set<number>, number: number, unknown: T): T | undefined => {
    unread.add(number)
    return unread.size > skippedCount ? unknown : undefined
  }
  return {
    tests: {
      traits,
      page: page && (() => true),
      chunk: chunk && (() => true),
    },
    begin: () => {
      unreadPages.clear()
      unreadChunks.clear()
    },
    readPage: (number) => (pages.has(number) ? pages.get(number) : noteUnread(unreadPages, number, UNKNOWN_PAGE)),
    readChunk: (number) => (chunks.has(number) ? chunks.get(number) : noteUnread(unreadChunks, number, UNKNOWN_CHUNK)),
    isIncomplete: () => unreadPages.size + unreadChunks.size > 0,
    load: async (sql) => {
      skippedCount *= SKIPPED_GROWTH
      const [missingPages, missingChunks] = [[...unreadPages], [...unreadChunks]]
      const foundPages = await readFilteredPages(sql, missingPages)
      for (const number of missingPages) pages.set(number, keepMatch(page, foundPages.get(number)))
      const foundChunks = await readFilteredChunks(sql, missingChunks, withContent)
      for (const number of missingChunks) chunks.set(number, keepMatch(chunk, foundChunks.get(number)))
    },
  }
}

function keepMatch<T>(test: Test<T>, found: T | undefined): T | undefined {
  return found !== undefined && (test?.(found) ?? true) ? found : undefined
}

/** Which of these chunks match all conditions of a filter except the sources; for chunks that were not found through the index. */
export async function testChunks(sql: Sql, filter: ChunkFilter, numbers: readonly number[]): Promise<boolean[]> {
  const tests = createChunkTests(filter)
  if (!tests.traits && !tests.page && !tests.chunk) return numbers.map(() => true)
  const chunks = await readFilteredChunks(sql, numbers, true)
  const pageNumbers = tests.page ? [...new Set([...chunks.values()].map(({ page }) => page))] : []
  const pages = await readFilteredPages(sql, pageNumbers)
  const draft = createDraft({
    ...NO_INDEX,
    filterData: { readPage: (page) => pages.get(page), readChunk: (number) => chunks.get(number) },
  })
  return numbers.map(createChunkIndex(createIndexStorage(createIndexParts(), () => draft)).createTest(tests))
}
