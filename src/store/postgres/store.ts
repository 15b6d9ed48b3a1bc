import { randomUUID } from 'node:crypto'
import type { DiskStore, LibraryStore } from '../../library/ports/library-store.ts'
import type { ContentStore, SourceStore } from '../../library/ports/store.ts'
import { readClass } from './classifications.ts'
import { createLibraryCopy } from './copy/library-copy.ts'
import { type Database, type DatabaseOptions, openDatabase } from './database/database.ts'
import { readEarlierPages, readEarlierText } from './earlier-pages.ts'
import { fillPageSignatures, listRelated, readPageSignatures } from './index/page-signatures.ts'
import { createVectors } from './index/vectors.ts'
import { createJobLog } from './job-log.ts'
import { createAddresses } from './ledger/addresses.ts'
import { findShared, listSharable, readHelp, readShared, shareCrawl } from './ledger/crawl-sharing.ts'
import { beginCrawl, endCrawl, listCrawls, listRunning, touchCrawl } from './ledger/crawls.ts'
import { HostHolder } from './ledger/host-holder.ts'
import { releaseHosts, renewHostLeases } from './ledger/hosts.ts'
import { createHostRecords, createRowLedger, createVisitLedger } from './ledger/ledger.ts'
import * as content from './read-content.ts'
import * as sources from './sources.ts'
import { readStats } from './stats.ts'
import { StoreParts } from './store-parts.ts'
import { createWorkers } from './workers.ts'

/** A library in a PostgreSQL database, with access for parts of the program that keep their own tables in it. */
export interface PostgresStore extends LibraryStore, DiskStore {
  readonly access: { readonly type: 'postgres'; readonly db: Database }
}

/**
 * Opens the library in a PostgreSQL database, which must exist; missing tables are created. Any number of processes on any number of
 * machines may use it at once.
 */
export async function openPostgresStore(address: string, options: PostgresOptions = {}): Promise<PostgresStore> {
  return createStore(await openDatabase(address, options), new HostHolder(options.runner ?? randomUUID()))
}

/** Options for opening a library in PostgreSQL. */
export interface PostgresOptions extends DatabaseOptions {
  /** Name of this process, under which it holds hosts. @default a unique name */
  readonly runner?: string | undefined
}

function createStore(db: Database, holder: HostHolder): PostgresStore {
  const parts = new StoreParts(db, holder)
  const { search, clearRemoved } = parts
  return {
    location: db.location,
    ...createSourceStore(parts),
    ...createVisitLedger(parts),
    ...createRowLedger(parts),
    ...createHostRecords(parts),
    ...createContentStore(parts),
    vectors: createVectors(db),
    jobLog: createJobLog(db),
    addresses: createAddresses(db),
    readClass: (sourceId, key) => readClass(db, sourceId, key),
    readEarlierPages: (sourceId) => readEarlierPages(db, sourceId),
    readEarlierText: (sourceId, key) => readEarlierText(db, sourceId, key),
    libraryCopy: createLibraryCopy(db, clearRemoved),
    workers: createWorkers(db),
    stats: () => readStats(db),
    access: { type: 'postgres', db },
    clockOffset: db.clockOffset,
    close: async () => {
      search.close()
      // If this fails, the leases of the hosts expire on their own.
      await releaseHosts(db, holder).catch(() => undefined)
      await db.close()
    },
  }
}

/** Creates the part of the store for sources and crawls. */
function createSourceStore(parts: StoreParts): SourceStore {
  const { terms, joined, within, write, clearRemoved, tidyIndex, db, holder } = parts
  return {
    addSource: (source) => db.transaction((sql) => sources.addSource(sql, source)),
    listSources: () => sources.listSources(db),
    updateSource: (id, change, crawlId) =>
      write(id, crawlId, undefined, (sql) => sources.updateSource(sql, id, change)),
    removeSource: async (id, { onlyEmpty = false } = {}) => {
      const removed = await db.transaction((sql) => sources.hideSource(sql, id, onlyEmpty))
      await clearRemoved()
      await tidyIndex()
      return removed
    },
    beginCrawl: async (crawl, staleMs, resume, goneRunner) => {
      const begun = await db.transaction(async (sql) => {
        const source = await sources.requireNumber(sql, crawl.sourceId, db.location)
        return beginCrawl(sql, source, { crawl, staleMs, resume, endedRunner: goneRunner, holder })
      })
      terms.set(begun.crawl.id, begun.term)
      joined.delete(begun.crawl.id)
      return begun.crawl
    },
    touchCrawl: async (id, now, runner) => {
      await renewHostLeases(db, holder, now)
      return touchCrawl(db, id, now, runner)
    },
    endCrawl: async (id, summary, now, runner) => {
      await db.transaction((sql) => endCrawl(sql, id, summary, now, runner))
      holder.endCrawl(id)
      await renewHostLeases(db, holder, now)
      await tidyIndex()
    },
    listRunning: () => listRunning(db),
    listCrawls: (sourceId, limit) => within(sourceId, [], (source) => listCrawls(db, source, limit)),
    shareCrawl: (id, shared, runner) => shareCrawl(db, id, runner, shared),
    listSharable: (now) => listSharable(db, now),
    joinCrawl: async (id) => {
      const found = await findShared(db, id)
      if (found === undefined) return undefined
      // A helper stays part of the crawl when another process resumes it, so no term is checked.
      terms.delete(id)
      joined.add(id)
      return {
        ...found,
        touch: async (now) => {
          await renewHostLeases(db, holder, now)
          // A process that has just resumed the crawl has not shared it yet.
          const shared = await readShared(db, id)
          return shared === null ? found.shared : shared
        },
        leave: async (now) => {
          joined.delete(id)
          holder.endCrawl(id)
          await renewHostLeases(db, holder, now)
        },
      }
    },
    readHelperCounts: (id) => readHelp(db, id),
  }
}

/** Creates the part of the store for pages, chunks and search. */
function createContentStore({ search, within, db }: StoreParts): ContentStore {
  return {
    readPage: (sourceId, key) => within(sourceId, undefined, (source) => content.readPage(db, source, key)),
    readExcerpt: (sourceId, key, chunkIndex) =>
      within(sourceId, undefined, (source) => content.readExcerpt(db, source, key, chunkIndex)),
    readPageText: (sourceId, key) => within(sourceId, undefined, (source) => content.readPageText(db, source, key)),
    readPageSignatures: (pages) => readPageSignatures(db, pages),
    fillPageSignatures: (describe, signal) => fillPageSignatures(db, describe, signal),
    async *listPageSignatures(sourceId) {
      const source = await sources.numberOf(db, sourceId)
      if (source !== undefined) yield* listRelated(db, source)
    },
    findPages: (sourceId, text) => within(sourceId, [], (source) => content.findPages(db, source, text)),
    async *listPages(sourceId) {
      const source = await sources.numberOf(db, sourceId)
      if (source !== undefined) yield* content.listPages(db, source)
    },
    readChunk: (sourceId, chunkId) => within(sourceId, undefined, (source) => content.readChunk(db, source, chunkId)),
    countContentTypes: () => search.countContentTypes(),
    countContent: (sourceId) => within(sourceId, { pages: 0, chunks: 0 }, (source) => content.countContent(db, source)),
    search: (query) => search.search(query),
    readMatches: (matches) =>
      content.readChunksAt(
        db,
        matches.map(({ number }) => number),
      ),
    readIndexState: () => search.readState(),
    indexMissingChunks: (signal) => search.maintain(signal),
  }
}
