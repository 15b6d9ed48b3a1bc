import { randomUUID } from 'node:crypto'
import { PharosError } from '../../core/errors.ts'
import { NOTHING_REQUEUED, type OfferResult } from '../../crawl/ledger.ts'
import { Semaphore } from '../../crawl/semaphore.ts'
import { causeOf } from '../../crawl/store-retry.ts'
import type { DiskStore, LibraryStore } from '../../library/ports/library-store.ts'
import { checkInBatches, removeInBatches } from '../common/batches.ts'
import type { CheckedAliases } from '../common/ledger/alias-record.ts'
import type { CrawlRef } from '../common/ledger/crawl-ref.ts'
import { LOST_RESULT } from '../common/ledger/decide-settlement.ts'
import { NOTHING_OPEN, toCounts } from '../common/ledger/ledger-sql.ts'
import { readClass } from './classifications.ts'
import { createLibraryCopy } from './copy/library-copy.ts'
import * as bulkUpdates from './database/bulk-updates.ts'
import { type Database, type DatabaseOptions, openDatabase, type Sql } from './database/database.ts'
import { type LockedSource, lockForCrawl } from './database/lock-for-crawl.ts'
import { fillPageSignatures, listRelated, readPageSignatures } from './index/page-signatures.ts'
import { createSearch } from './index/search.ts'
import { createVectors } from './index/vectors.ts'
import { createJobLog } from './job-log.ts'
import { createAddresses } from './ledger/addresses.ts'
import { checkAliases, listAliases, writeAliases } from './ledger/aliases.ts'
import {
  findShared,
  type Helper,
  listSharable,
  readHelp,
  readShared,
  shareCrawl,
  writeHelp,
} from './ledger/crawl-sharing.ts'
import { beginCrawl, type CrawlTerms, endCrawl, listCrawls, listRunning, touchCrawl } from './ledger/crawls.ts'
import { recordFoundAddresses } from './ledger/found-addresses.ts'
import * as frontier from './ledger/frontier.ts'
import { HostHolder, type LeaseResult } from './ledger/host-holder.ts'
import {
  lockHosts,
  readHosts,
  readRobots,
  releaseHosts,
  renewHostLeases,
  writeHosts,
  writeRobots,
} from './ledger/hosts.ts'
import { confirmPagesOf, listPagesOf, readList, writeList } from './ledger/lists.ts'
import * as rows from './ledger/rows.ts'
import { adopt, settle } from './ledger/settle.ts'
import * as content from './read-content.ts'
import * as sources from './sources.ts'
import { readStats } from './stats.ts'
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
  const terms: CrawlTerms = new Map()
  /** Crawls that this process has only joined. */
  const joined = new Set<string>()
  /** Semaphores for writes to a source, by source id. */
  const semaphores = new Map<string, Semaphore<symbol>>()
  const search = createSearch(db)

  /** Queries a source; an unknown source gives `nothing`. */
  const within = async <T>(sourceId: string, nothing: T, query: (source: number) => Promise<T>): Promise<T> => {
    const source = await sources.numberOf(db, sourceId)
    return source === undefined ? nothing : query(source)
  }
  /** Runs a transaction that writes to a source, within the semaphore of this process. */
  const writeInTurn = async <T>(sourceId: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
    const semaphore = semaphores.get(sourceId) ?? new Semaphore<symbol>(MAX_LOCK_WAITERS)
    semaphores.set(sourceId, semaphore)
    const permit = Symbol()
    await semaphore.acquire(permit)
    try {
      return await db.transaction(work)
    } finally {
      semaphore.release(permit)
    }
  }
  /** Writes to a source on behalf of a crawl; returns `nothing` when the source does not exist or the crawl may no longer write. */
  const write = <T>(
    sourceId: string,
    crawlId: string | undefined,
    nothing: T,
    work: (sql: Sql, locked: LockedSource) => Promise<T>,
  ): Promise<T> =>
    writeInTurn(sourceId, async (sql) => {
      const locked = await lockForCrawl(sql, sourceId, crawlId, terms)
      return locked?.mayWrite ? work(sql, locked) : nothing
    })
  /** Like `write`, but throws when the source does not exist. */
  const writeFor = <T>(
    sourceId: string,
    crawlId: string,
    nothing: T,
    work: (sql: Sql, source: number, crawl: CrawlRef) => Promise<T>,
  ): Promise<T> =>
    writeInTurn(sourceId, async (sql) => {
      const locked = await lockForCrawl(sql, sourceId, crawlId, terms)
      if (locked === undefined) throw new PharosError('SOURCE_UNKNOWN', { source: sourceId, library: db.location })
      return locked.mayWrite ? work(sql, locked.source, await toCrawlRef(sql, locked, crawlId)) : nothing
    })
  const removeProven = async (sourceId: string, crawlId: string, withUnseen: boolean): Promise<number> => {
    const removable = await writeFor<number[]>(sourceId, crawlId, [], (sql, source, { number: crawl }) =>
      bulkUpdates.listRemovable(sql, source, { crawl, withUnseen }),
    )
    const removed = await removeInBatches(removable, (batch) =>
      writeFor(sourceId, crawlId, 0, (sql, _, { number: crawl }) =>
        bulkUpdates.removePages(sql, batch, { crawl, withUnseen }),
      ),
    )
    if (withUnseen) {
      await writeFor(sourceId, crawlId, undefined, (sql, source, { number }) =>
        bulkUpdates.markFailedGone(sql, source, number),
      )
    }
    return removed
  }
  /** Deletes the data of removed sources, including leftovers of a killed process. */
  const clearRemoved = async (): Promise<void> => {
    while (await db.transaction(sources.clearHidden));
  }
  /** This process as a helper, when it has only joined the crawl. */
  const helperOf = ({ id, number }: CrawlRef): Helper | undefined =>
    joined.has(id) ? { crawl: number, name: holder.name } : undefined
  /** Merges the index. If it cannot be written now, the next index update does the work. */
  const tidyIndex = (): Promise<void> =>
    search.tidy().catch((error: unknown) => {
      if (causeOf(error) === undefined) throw error
    })

  return {
    location: db.location,

    addSource: (source) => db.transaction((sql) => sources.addSource(sql, source)),
    listSources: () => sources.listSources(db),
    updateSource: (id, change, crawlId) =>
      write(id, crawlId, undefined, (sql) => sources.updateSource(sql, id, change)),
    removeSource: async (id) => {
      const removed = await db.transaction((sql) => sources.hideSource(sql, id))
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

    offer: (sourceId, crawlId, found, now, newAliases = [], maxRows) =>
      writeFor<OfferResult[]>(
        sourceId,
        crawlId,
        found.map(() => 'known'),
        async (sql, source, crawl) => {
          await writeAliases(sql, source, newAliases, now)
          return recordFoundAddresses(sql, source, crawl, found, now, maxRows)
        },
      ),
    lease: async (request) => {
      // The id is created outside the transaction, so that a retry recognizes the rows that it had already leased.
      const holderRequest = { request, holder, id: request.id ?? randomUUID() }
      holder.beginRequest(request)
      try {
        const leased = await write<LeaseResult | undefined>(
          request.sourceId,
          request.crawlId,
          undefined,
          (sql, { source }) => frontier.lease(sql, source, holderRequest),
        )
        if (leased !== undefined) holder.recordResult(leased, request.crawlId)
        return leased?.visits ?? []
      } finally {
        holder.endRequest()
      }
    },
    settle: async (settlement) => {
      const { visit, crawlId, record } = settlement
      const settled = await write(visit.sourceId, crawlId, LOST_RESULT, async (sql, locked) => {
        const crawl = await toCrawlRef(sql, locked, crawlId)
        return settle(sql, locked.source, crawl, settlement, helperOf(crawl))
      })
      holder.endVisits([visit])
      search.announce(record?.chunks.length ?? 0)
      return settled
    },
    adopt: async (adoption) => {
      const { sourceId, crawlId, record } = adoption
      const settled = await writeFor(sourceId, crawlId, LOST_RESULT, (sql, source, crawl) =>
        adopt(sql, source, crawl, adoption),
      )
      search.announce(record.chunks.length)
      return settled
    },
    release: async (visits) => {
      for (const [sourceId, batch] of Map.groupBy(visits, (visit) => visit.sourceId)) {
        await write(sourceId, undefined, undefined, (sql, { source }) => frontier.release(sql, source, batch))
        holder.endVisits(batch)
      }
    },
    countOpen: (sourceId, now) =>
      within(sourceId, NOTHING_OPEN, (source) => frontier.countOpen(db, source, now, holder)),
    listHeldHosts: (sourceId, now, after) =>
      within<readonly string[]>(sourceId, [], (source) => frontier.listHeldHosts(db, source, now, after)),
    countPages: (sourceId, crawlId) => within(sourceId, 0, (source) => rows.countPages(db, source, crawlId)),
    skipPending: (sourceId, reason, pattern, _now, crawlId, listed) =>
      write(sourceId, crawlId, 0, (sql, { source }) => frontier.skipPending(sql, source, reason, pattern, listed)),
    failPending: (sourceId, crawlId, host, reason, pattern) =>
      writeFor(sourceId, crawlId, 0, async (sql, source, crawl) => {
        const failed = await frontier.failPending(sql, source, host, reason, pattern)
        const helper = helperOf(crawl)
        const parked = [{ host, detail: pattern ?? reason }]
        if (helper !== undefined) await writeHelp(sql, helper, { visited: failed, failed, parked })
        return failed
      }),
    requeue: (sourceId, crawlId, which) =>
      writeFor(sourceId, crawlId, 0, (sql, source, { number }) => bulkUpdates.requeue(sql, source, number, which)),
    requeueOrphanedAliases: (sourceId, crawlId, since, withUnseen = false) =>
      writeFor(sourceId, crawlId, NOTHING_REQUEUED, (sql, source, { number: crawl }) =>
        bulkUpdates.requeueOrphanedAliases(sql, source, { crawl, withUnseen }, since),
      ),
    countRemovable: (sourceId, crawlId, withUnseen) =>
      db.transaction(async (sql) => {
        const source = await sources.requireNumber(sql, sourceId, db.location)
        const crawl = await sources.crawlNumber(sql, source, crawlId)
        return bulkUpdates.countRemovable(sql, source, { crawl, withUnseen })
      }),
    removeProven,

    findRow: (sourceId, key) => within(sourceId, undefined, (source) => rows.findRow(db, source, key)),
    readList: (sourceId, url) => within(sourceId, undefined, (source) => readList(db, source, url)),
    writeList: (sourceId, crawlId, record) =>
      writeFor(sourceId, crawlId, undefined, (sql, source) => writeList(sql, source, record)),
    listPagesOf: (sourceId, url, key) => within(sourceId, [], (source) => listPagesOf(db, source, url, key)),
    confirmPagesOf: (sourceId, crawlId, url, key, now) =>
      writeFor(sourceId, crawlId, 0, (sql, source, { number: crawl }) =>
        confirmPagesOf(sql, source, { crawl, url, key, now }),
      ),
    listUnseenLists: (sourceId, crawlId, discovery) =>
      within(sourceId, [], (source) => rows.listUnseenLists(db, source, crawlId, discovery)),
    listRows: (sourceId, filter) => within(sourceId, [], (source) => rows.listRows(db, source, filter)),
    findUnread: (sourceId, crawlId, reasons) =>
      within(sourceId, undefined, (source) => rows.findUnread(db, source, crawlId, reasons)),
    checkAliases: (sourceId, now) =>
      checkInBatches((after) =>
        write<CheckedAliases | undefined>(sourceId, undefined, undefined, (sql, { source }) =>
          checkAliases(sql, source, after, now),
        ),
      ),
    countLedger: (sourceId) => within(sourceId, toCounts([]), (source) => rows.countLedger(db, source)),
    listAliases: (sourceId, url) => within(sourceId, [], (source) => listAliases(db, source, url)),

    readClock: async (host, now) => stateOf(await readHosts(db, [host], now), host).clock,
    readClockFor: async (visit, now) => {
      const state = stateOf(await readHosts(db, [visit.host], now), visit.host)
      return frontier.isHostKept(visit, state) ? state.clock : undefined
    },
    changeClock: (host, now, change) =>
      db.transaction(async (sql) => {
        const { clock, lease } = stateOf(await lockHosts(sql, [host], now), host)
        const changed = change(clock)
        await writeHosts(sql, new Map([[host, { clock: changed, lease }]]))
        return changed
      }),
    readRobots: (origin) => readRobots(db, origin),
    writeRobots: (record) => writeRobots(db, record),

    readLinks: (sourceId, key) =>
      within<readonly string[]>(sourceId, [], (source) => content.readLinks(db, source, key)),
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
    countContent: (sourceId) => within(sourceId, { pages: 0, chunks: 0 }, (source) => content.countContent(db, source)),
    countContentTypes: () => search.countContentTypes(),
    search: (query) => search.search(query),
    readMatches: (matches) =>
      content.readChunksAt(
        db,
        matches.map(({ number }) => number),
      ),
    readIndexState: () => search.readState(),
    indexMissingChunks: (signal) => search.maintain(signal),
    vectors: createVectors(db),
    jobLog: createJobLog(db),
    addresses: createAddresses(db),
    readClass: (sourceId, key) => readClass(db, sourceId, key),
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

async function toCrawlRef(sql: Sql, { source, crawl }: LockedSource, id: string): Promise<CrawlRef> {
  return { id, number: crawl ?? (await sources.crawlNumber(sql, source, id)) }
}

function stateOf<T>(states: ReadonlyMap<string, T>, host: string): T {
  const state = states.get(host)
  if (state === undefined) throw new TypeError(`${host} was not read`)
  return state
}

/**
 * Transactions of this process that may wait at the lock of a source: the holder and the next one. If the process stalls, each of them
 * blocks all other writers in turn until the server ends it.
 */
const MAX_LOCK_WAITERS = 2
