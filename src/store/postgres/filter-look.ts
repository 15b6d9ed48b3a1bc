import { type ChunkTests, createChunkTests, type FilteredPage, type Test } from '../../core/retrieval/chunk-filter.ts'
import { createChunkIndex } from '../../core/retrieval/chunk-index.ts'
import type { ChunkFilter } from '../../library/store.ts'
import type { Sql } from './database.ts'
import { createIndexParts } from './index-parts.ts'
import { createDraft, createIndexShelf, type Looked, type LookedChunk, NO_INDEX } from './index-shelf.ts'
import { readFilteredChunks, readFilteredPages } from './index-tables.ts'

/**
 * What a search looks at besides the index. What was not read yet is noted, and the search is run again once it is there: until it has seen
 * all that it asked for, what it finds means nothing.
 */
export interface Look extends Looked {
  /** The tests, which let pass what was not read yet; what was read is there only where it passes. */
  readonly tests: ChunkTests
  begin(): void
  isLacking(): boolean
  /** Reads all that was lacking. */
  load(sql: Sql): Promise<void>
}

/** So many that were not read are passed over in the first go, to see what comes after them, and so many times as many in each that follows. */
const PASSED_OVER = 50
const MORE = 4

const UNKNOWN_PAGE: FilteredPage = { url: '', key: '', language: null }
const UNKNOWN_CHUNK: LookedChunk = { page: 0, kind: 'unknown', headingPath: [], symbol: null, content: '' }

/** Looks at what the tests of a filter ask for. Headings can be tested without the text of chunks. */
export function createLook({ traits, page, chunk }: ChunkTests, withContent: boolean): Look {
  /** Only what is asked for: each is tested once, however often the search is run. */
  const pages = new Map<number, FilteredPage | undefined>()
  const chunks = new Map<number, LookedChunk | undefined>()
  const lackingPages = new Set<number>()
  const lackingChunks = new Set<number>()
  let passedOver = PASSED_OVER
  /** What stands for something that was not read: the first of them as something that is not asked for, those after them as if they were. */
  const takeUnknown = <T>(lacking: Set<number>, number: number, unknown: T): T | undefined => {
    lacking.add(number)
    return lacking.size > passedOver ? unknown : undefined
  }
  return {
    tests: {
      traits,
      page: page && (() => true),
      chunk: chunk && (() => true),
    },
    begin: () => {
      lackingPages.clear()
      lackingChunks.clear()
    },
    readPage: (number) => (pages.has(number) ? pages.get(number) : takeUnknown(lackingPages, number, UNKNOWN_PAGE)),
    readChunk: (number) =>
      chunks.has(number) ? chunks.get(number) : takeUnknown(lackingChunks, number, UNKNOWN_CHUNK),
    isLacking: () => lackingPages.size + lackingChunks.size > 0,
    load: async (sql) => {
      passedOver *= MORE
      const [askedPages, askedChunks] = [[...lackingPages], [...lackingChunks]]
      const foundPages = await readFilteredPages(sql, askedPages)
      for (const number of askedPages) pages.set(number, pass(page, foundPages.get(number)))
      const foundChunks = await readFilteredChunks(sql, askedChunks, withContent)
      for (const number of askedChunks) chunks.set(number, pass(chunk, foundChunks.get(number)))
    },
  }
}

function pass<T>(test: Test<T>, found: T | undefined): T | undefined {
  return found !== undefined && (test?.(found) ?? true) ? found : undefined
}

/** Which of some chunks, by their numbers, are what a filter asks for besides their sources: for those who find them otherwise. */
export async function testChunks(sql: Sql, filter: ChunkFilter, numbers: readonly number[]): Promise<boolean[]> {
  const tests = createChunkTests(filter)
  if (!tests.traits && !tests.page && !tests.chunk) return numbers.map(() => true)
  const chunks = await readFilteredChunks(sql, numbers, true)
  const asked = tests.page ? [...new Set([...chunks.values()].map(({ page }) => page))] : []
  const pages = await readFilteredPages(sql, asked)
  const draft = createDraft({
    ...NO_INDEX,
    looked: { readPage: (page) => pages.get(page), readChunk: (number) => chunks.get(number) },
  })
  return numbers.map(createChunkIndex(createIndexShelf(createIndexParts(), () => draft)).createTest(tests))
}
