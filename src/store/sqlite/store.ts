import { setImmediate as pause } from 'node:timers/promises'
import type { Page } from '../../core/model.ts'
import { createChunkTests } from '../../core/retrieval/chunk-filter.ts'
import { createChunkIndex } from '../../core/retrieval/index/chunk-index.ts'
import {
  type HostRecords,
  NOTHING_REQUEUED,
  NOTHING_SETTLED,
  type OfferResult,
  type RowLedger,
  type SettledCounts,
  type VisitLedger,
} from '../../crawl/ledger.ts'
import { causeOf } from '../../crawl/store-retry.ts'
import type { DiskStore, LibraryStore } from '../../library/ports/library-store.ts'
import type { ContentStore, PageRef, SourceStore, Store, StoreMatch, StoreQuery } from '../../library/ports/store.ts'
import { checkInBatches, removeInBatches } from '../common/batches.ts'
import { decodeStored } from '../common/damage.ts'
import type { CrawlRef } from '../common/ledger/crawl-ref.ts'
import { LOST_RESULT } from '../common/ledger/decide-settlement.ts'
import { NOTHING_OPEN, toCounts } from '../common/ledger/ledger-sql.ts'
import { createClassReader } from './classifications.ts'
import { createContentWriter } from './content.ts'
import { createLibraryCopy } from './copy/library-copy.ts'
import { createBulkUpdates } from './database/bulk-updates.ts'
import {
  createGroupedWrite,
  type Database,
  LOCK_TIMEOUT_MS,
  type Notice,
  openDatabase,
  type Write,
  writeTo,
} from './database/database.ts'
import { createLayouts } from './database/layouts.ts'
import { createEarlierPageReader, createEarlierTextReader } from './earlier-pages.ts'
import { createIndexMaintenance } from './index/index-maintenance.ts'
import { createIndexStorage } from './index/index-storage.ts'
import { createPageSignatures } from './index/page-signatures.ts'
import { createVectors } from './index/vectors.ts'
import { createJobLog } from './job-log.ts'
import { createAddresses } from './ledger/addresses.ts'
import { createAliases } from './ledger/aliases.ts'
import { createCrawls } from './ledger/crawls.ts'
import { createFoundAddresses } from './ledger/found-addresses.ts'
import { createFrontier } from './ledger/frontier.ts'
import { createHosts } from './ledger/hosts.ts'
import { createLists } from './ledger/lists.ts'
import { createPageFacts } from './ledger/page-facts.ts'
import { createRows } from './ledger/rows.ts'
import { createSettlementWriter } from './ledger/settle.ts'
import { createStateKey } from './ledger/state-key.ts'
import { createContentReader } from './read-content.ts'
import { createSources } from './sources.ts'
import { createStats } from './stats.ts'

/** A library in an SQLite file, with access for parts of the program that keep their own tables in it. */
export interface SqliteStore extends LibraryStore, DiskStore {
  readonly access: { readonly type: 'sqlite'; readonly db: Database; readonly write: Write }
}

/**
 * Opens the library in an SQLite file, which is created with its folder if needed; `:memory:` opens a temporary library. Several processes
 * may use one file at once: readers never wait, and writers wait for each other.
 */
export async function openSqliteStore(
  path: string,
  lockTimeoutMs: number = LOCK_TIMEOUT_MS,
  notice?: Notice,
  busyMs?: number,
): Promise<SqliteStore> {
  return createStore(openDatabase(path, notice, busyMs), path, lockTimeoutMs)
}

function createStore(db: Database, location: string, lockTimeoutMs: number): SqliteStore {
  const parts = createParts(db, location, lockTimeoutMs)
  const { sources, index, write, clearRemoved, readClass, readEarlierPages, readEarlierText, readStats } = parts
  return {
    location,
    ...createSourceStore(parts),
    ...createVisitLedger(parts),
    ...createRowLedger(parts),
    ...createHostRecords(parts),
    ...createContentStore(parts),
    vectors: createVectors(db, { sources, write, createTest: (filter) => index.createTest(createChunkTests(filter)) }),
    jobLog: createJobLog(db, write),
    addresses: createAddresses(db),
    readClass: async (sourceId, key) => readClass(sourceId, key),
    readEarlierPages: async (sourceId) => readEarlierPages(sourceId),
    readEarlierText: async (sourceId, key) => readEarlierText(sourceId, key),
    libraryCopy: createLibraryCopy({ db, path: location, write, index, clear: clearRemoved }),
    stats: async () => readStats(),
    access: { type: 'sqlite', db, write },
    close: async () => {
      db.close()
    },
  }
}

/** The parts of a store, and how they write. */
type StoreParts = ReturnType<typeof createParts>

/** Creates the parts of a store. */
function createParts(db: Database, location: string, lockTimeoutMs: number) {
  const layouts = createLayouts(db)
  const index = createChunkIndex(createIndexStorage(db, layouts))
  const indexMaintenance = createIndexMaintenance(db, index)
  const sources = createSources(db, location, index)
  const crawls = createCrawls(db, sources)
  const hosts = createHosts(db)
  const lists = createLists(db)
  const aliases = createAliases(db)
  const rows = createRows(db)
  const signatures = createPageSignatures(db)
  const readFacts = createPageFacts(db)
  const content = createContentReader(db, layouts, readFacts)
  const contentWriter = createContentWriter(db, { index, layouts, signatures })
  const finds = createFoundAddresses(db)
  const frontier = createFrontier(db, hosts)
  const settlements = createSettlementWriter(db, finds, contentWriter, aliases)
  const bulkUpdates = createBulkUpdates(db, contentWriter)
  const readStats = createStats(db)
  const readClass = createClassReader(db)
  const readEarlierPages = createEarlierPageReader(db)
  const readEarlierText = createEarlierTextReader(db)

  const crawlOf = (source: number, id: string): CrawlRef => ({ id, number: sources.crawlNumber(source, id) })
  const write = <T>(work: () => T): Promise<T> => writeTo(db, work, lockTimeoutMs)
  const writeGrouped = createGroupedWrite(db, lockTimeoutMs)
  /** Writes to an existing source on behalf of a crawl; returns `nothing` when the crawl may no longer write. */
  const writeFor = <T>(
    sourceId: string,
    crawlId: string,
    nothing: T,
    work: (source: number, crawl: CrawlRef) => T,
  ): Promise<T> =>
    write(() => {
      const source = sources.requireNumber(sourceId)
      return crawls.mayWrite(crawlId) ? work(source, crawlOf(source, crawlId)) : nothing
    })
  /** Deletes the data of removed sources, including leftovers of a killed process. */
  const clearRemoved = async (): Promise<void> => {
    while (await write(sources.clear)) await pause()
  }
  /** Queries a source; an unknown source gives `nothing`. */
  const within = <T>(sourceId: string, nothing: T, query: (source: number) => T): T => {
    const source = sources.numberOf(sourceId)
    return source === undefined ? nothing : query(source)
  }

  return {
    ...{ db, index, indexMaintenance, sources, crawls, hosts, lists, aliases, rows, signatures, readFacts, content },
    ...{ finds, frontier, settlements, bulkUpdates, readStats, readClass, readEarlierPages, readEarlierText },
    ...{ crawlOf, write, writeGrouped, writeFor, clearRemoved, within },
  }
}

/** Creates the part of the store for sources and crawls. */
function createSourceStore(parts: StoreParts): SourceStore {
  const { sources, crawls, write, clearRemoved, indexMaintenance, within } = parts
  return {
    addSource: (source) => write(() => sources.add(source)),
    listSources: async () => sources.list(),
    updateSource: (id, change, crawlId) =>
      write(() => {
        if (crawlId === undefined || crawls.mayWrite(crawlId)) sources.update(id, change)
      }),
    removeSource: async (id, { onlyEmpty = false } = {}) => {
      const removed = await write(() => sources.hide(id, onlyEmpty))
      await clearRemoved()
      await indexMaintenance.runAll()
      return removed
    },
    beginCrawl: (crawl, staleMs, resume, goneRunner) => write(() => crawls.begin(crawl, staleMs, resume, goneRunner)),
    touchCrawl: (id, now, runner) => write(() => crawls.touch(id, now, runner)),
    endCrawl: async (id, summary, now, runner) => {
      await write(() => crawls.end(id, summary, now, runner))
      await indexMaintenance.runAll()
    },
    listRunning: async () => crawls.listRunning(),
    listCrawls: async (sourceId, limit) => within(sourceId, [], (source) => crawls.list(source, limit)),
  }
}

/** Creates the part of the ledger for finds and visits. */
function createVisitLedger(parts: StoreParts): VisitLedger {
  const { sources, crawls, aliases, rows, finds, frontier, settlements, bulkUpdates, crawlOf, write } = parts
  const { writeGrouped, writeFor, within } = parts
  const removeProven = async (sourceId: string, crawlId: string, withUnseen: boolean): Promise<number> => {
    const removable = await writeFor<number[]>(sourceId, crawlId, [], (source, crawl) =>
      bulkUpdates.listRemovable(source, crawl.number, withUnseen),
    )
    const removed = await removeInBatches(removable, (batch) =>
      writeFor(sourceId, crawlId, 0, (_, crawl) => bulkUpdates.remove(batch, crawl.number, withUnseen)),
    )
    if (withUnseen) {
      await writeFor(sourceId, crawlId, undefined, (source, crawl) => bulkUpdates.markFailedGone(source, crawl.number))
    }
    return removed
  }
  return {
    offer: (sourceId, crawlId, found, now, newAliases = [], maxRows) =>
      writeFor<OfferResult[]>(
        sourceId,
        crawlId,
        found.map(() => 'known'),
        (source, crawl) => {
          for (const alias of newAliases) aliases.write(source, alias, now)
          return finds.record(source, crawl, found, now, maxRows)
        },
      ),
    lease: (request) =>
      write(() => {
        const { sourceId, crawlId } = request
        if (crawlId !== undefined && !crawls.mayWrite(crawlId)) return []
        return within(sourceId, [], (source) => frontier.lease(source, request))
      }),
    settle: (settlement) =>
      writeGrouped(() => {
        const { visit, crawlId } = settlement
        if (!crawls.mayWrite(crawlId)) return LOST_RESULT
        return within(visit.sourceId, LOST_RESULT, (source) =>
          settlements.settle(source, () => crawlOf(source, crawlId), settlement),
        )
      }),
    adopt: (adoption) =>
      writeFor(adoption.sourceId, adoption.crawlId, LOST_RESULT, (source, crawl) =>
        settlements.adopt(source, crawl, adoption),
      ),
    release: (visits) =>
      write(() => {
        for (const { sourceId, key, lease } of visits) {
          within(sourceId, undefined, (source) => frontier.release(source, key, lease))
        }
      }),
    countOpen: async (sourceId, now) => within(sourceId, NOTHING_OPEN, (source) => frontier.countOpen(source, now)),
    listHeldHosts: async (sourceId, now, after) =>
      within(sourceId, [], (source) => frontier.listHeldHosts(source, now, after)),
    countSettled: async (sourceId, crawlId) =>
      within<SettledCounts>(sourceId, NOTHING_SETTLED, (source) => rows.countSettled(source, crawlId)),
    skipPending: (sourceId, reason, pattern, _now, crawlId, listed) =>
      write(() => {
        if (crawlId !== undefined && !crawls.mayWrite(crawlId)) return 0
        return within(sourceId, 0, (source) => frontier.skipPending(source, reason, pattern, listed))
      }),
    failPending: (sourceId, crawlId, host, reason, pattern) =>
      writeFor(sourceId, crawlId, 0, (source) => frontier.failPending(source, host, reason, pattern)),
    clearDelays: (sourceId, host) => write(() => within(sourceId, 0, (source) => frontier.clearDelays(source, host))),
    requeue: (sourceId, crawlId, which, _now, maxDepth = null) =>
      writeFor(sourceId, crawlId, 0, (source, crawl) => bulkUpdates.requeue(source, crawl.number, which, maxDepth)),
    requeueOrphanedAliases: (sourceId, crawlId, since) =>
      writeFor(sourceId, crawlId, NOTHING_REQUEUED, (source, crawl) =>
        bulkUpdates.requeueOrphanedAliases(source, crawl.number, since),
      ),
    countRemovable: (sourceId, crawlId, withUnseen) =>
      write(() => {
        const source = sources.requireNumber(sourceId)
        return bulkUpdates.countRemovable(source, sources.crawlNumber(source, crawlId), withUnseen)
      }),
    removeProven,
  }
}

/** Creates the part of the ledger for rows and lists. */
function createRowLedger(parts: StoreParts): RowLedger & Pick<Store, 'listAliases'> {
  const { lists, aliases, rows, content, write, writeFor, within } = parts
  return {
    readLinks: async (sourceId, key) => within(sourceId, [], (source) => content.readLinks(source, key)),
    findRow: async (sourceId, key) => within(sourceId, undefined, (source) => rows.find(source, key)),
    listRows: async (sourceId, filter) => within(sourceId, [], (source) => rows.list(source, filter)),
    readList: async (sourceId, url) => within(sourceId, undefined, (source) => lists.read(source, url)),
    writeList: (sourceId, crawlId, record) =>
      writeFor(sourceId, crawlId, undefined, (source) => lists.write(source, record)),
    listPagesOf: async (sourceId, url, key) => within(sourceId, [], (source) => lists.listPages(source, url, key)),
    confirmPagesOf: (sourceId, crawlId, url, key, now) =>
      writeFor(sourceId, crawlId, 0, (source, crawl) => lists.confirm(source, crawl.number, url, key, now)),
    listUnseenLists: async (sourceId, crawlId, discovery) =>
      within(sourceId, [], (source) => rows.listUnseenLists(source, crawlId, discovery)),
    findUnread: async (sourceId, crawlId, reasons) =>
      within(sourceId, undefined, (source) => rows.findUnread(source, crawlId, reasons)),
    checkAliases: (sourceId, now) =>
      checkInBatches((after) =>
        write(() => within(sourceId, undefined, (source) => aliases.check(source, after, now))),
      ),
    countLedger: async (sourceId) => within(sourceId, toCounts([]), (source) => rows.count(source)),
    listAliases: async (sourceId, url) => within(sourceId, [], (source) => aliases.list(source, url)),
  }
}

/** Creates the part of the ledger for hosts. */
function createHostRecords({ hosts, write }: StoreParts): HostRecords {
  return {
    readClock: async (host, now) => hosts.readClock(host, now),
    changeClock: (host, now, change) =>
      write(() => {
        const clock = change(hosts.readClock(host, now))
        hosts.writeClock(host, clock)
        return clock
      }),
    readRobots: async (origin) => hosts.readRobots(origin),
    writeRobots: (record) => write(() => hosts.writeRobots(record)),
  }
}

/** Creates the part of the store for pages, chunks and search. */
function createContentStore(parts: StoreParts): ContentStore {
  const { index, indexMaintenance, sources, signatures, readFacts, content, write, within, db } = parts
  const stateKey = createStateKey(db)
  /** The state of the library at the last search. */
  let stateAtSearch = ''
  // One transaction gives the search a consistent snapshot.
  const search = db.transaction(
    ({ query, limit, filter = {}, also = [], explain = false }: StoreQuery): StoreMatch[] => {
      stateAtSearch = stateKey()
      const numbers = filter.sourceIds?.flatMap((id) => sources.numberOf(id) ?? []) ?? sources.listVisible()
      const tests = createChunkTests(filter)
      const alsoNumbers = also.flatMap(({ sourceId, chunkId, number }) => {
        return number ?? within(sourceId, undefined, (source) => content.findNumber(source, chunkId)) ?? []
      })
      return decodeStored(() =>
        index.search({ query, limit, sources: numbers && new Set(numbers), tests, also: alsoNumbers, explain }),
      )
    },
  )
  const readMatches = db.transaction((matches: readonly StoreMatch[]) =>
    content.readMatches(matches, stateKey() === stateAtSearch),
  )
  const readSignatures = db.transaction((pages: readonly PageRef[]) => {
    const facts = readFacts(pages.map(({ page }) => page ?? NO_PAGE))
    return pages.map(({ sourceId, key, page }, i) =>
      page === undefined ? within(sourceId, undefined, (source) => signatures.read(source, key)) : facts[i]?.signature,
    )
  })
  const fillSignatures = async (describe: (page: Page) => Page, signal?: AbortSignal): Promise<number> => {
    let filled = 0
    for (let last = 0; signal?.aborted !== true; await pause()) {
      const missing = signatures.findMissing(last)
      if (missing === undefined) break
      const { rows } = missing
      const newCount = rows.length === 0 ? 0 : await write(() => signatures.fill(rows, describe)).catch(ignoreBlocked)
      if (newCount === false) break
      filled += newCount
      last = missing.last
    }
    return filled
  }
  const measureIndex = db.transaction(index.countIndexed)
  return {
    readPage: async (sourceId, key) => within(sourceId, undefined, (source) => content.readPage(source, key)),
    readExcerpt: async (sourceId, key, chunkIndex) =>
      within(sourceId, undefined, (source) => decodeStored(() => content.readExcerpt(source, key, chunkIndex))),
    readPageText: async (sourceId, key) => within(sourceId, undefined, (source) => content.readText(source, key)),
    readPageSignatures: async (pages) => readSignatures(pages),
    fillPageSignatures: fillSignatures,
    async *listPageSignatures(sourceId) {
      const source = sources.numberOf(sourceId)
      if (source !== undefined) yield* signatures.list(source)
    },
    findPages: async (sourceId, text) => within(sourceId, [], (source) => content.find(source, text)),
    async *listPages(sourceId) {
      const source = sources.numberOf(sourceId)
      if (source !== undefined) yield* content.listPages(source)
    },
    readChunk: async (sourceId, chunkId) => within(sourceId, undefined, (source) => content.readChunk(source, chunkId)),
    countContentTypes: async () => {
      const counts = index.countContentTypes()
      return new Map(
        sources.list().map(({ id }) => [id, counts.get(sources.numberOf(id) ?? 0) ?? { prose: 0, code: 0 }]),
      )
    },
    countContent: async (sourceId) => within(sourceId, { pages: 0, chunks: 0 }, (source) => content.count(source)),
    search: async (query) => {
      await indexMaintenance.runBriefly()
      return search(query)
    },
    readMatches: async (matches) => readMatches(matches),
    readIndexState: async () => ({ ...measureIndex(), problem: indexMaintenance.readProblem() }),
    indexMissingChunks: (signal) => indexMaintenance.runAll(signal),
  }
}

/** Returns false for an error that blocks writing for now, and throws any other error. */
function ignoreBlocked(error: unknown): false {
  if (causeOf(error) === undefined) throw error
  return false
}

/** Never the id of a row. */
const NO_PAGE = 0
