import { NOTHING_REQUEUED } from '../../src/crawl/ledger.ts'
import type { SettlementResult } from '../../src/crawl/settlement.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { createMemoryAddresses } from './addresses.ts'
import { ChunkIndex } from './chunk-index.ts'
import {
  computeStats,
  countContent,
  findChunk,
  holdsText,
  toExcerpt,
  toPageSignature,
  toPageText,
  toPageWithSignature,
  toStoredPage,
} from './content.ts'
import { Crawls } from './crawls.ts'
import { recordFoundAddresses } from './found-addresses.ts'
import {
  clearDelays,
  clearLongDelays,
  countOpen,
  expireLeases,
  failPending,
  leaseVisits,
  listHeldHosts,
  releaseAll,
  releaseVisit,
  resetAttempts,
} from './frontier.ts'
import { Hosts } from './hosts.ts'
import { createMemoryJobLog } from './job-log.ts'
import { listRemovable, removeProven } from './removal.ts'
import { requeueOrphans, requeueRows, skipPending } from './requeue.ts'
import { toLedgerRow } from './row.ts'
import { adoptPage, settleVisit } from './settle.ts'
import { SourceLedger } from './source-ledger.ts'
import { LOCATION, Sources } from './sources.ts'
import { createMemoryVectors } from './vectors.ts'

/**
 * An in-memory store, for tests and for jobs that keep nothing. It also serves as the readable reference for all stores. Each operation
 * runs synchronously, so no caller sees a partial change; every check comes before the first change.
 */
export function createMemoryStore(): LibraryStore {
  const sources = new Sources()
  const crawls = new Crawls()
  const hosts = new Hosts()
  const index = new ChunkIndex()
  const ledgers = new Map<string, SourceLedger>()
  let leaseCount = 0
  const issueLease = (): string => `lease-${++leaseCount}`
  let rowCount = 0
  const createLedger = (sourceId: string): SourceLedger => new SourceLedger(sourceId, index, () => ++rowCount)

  /** The ledger for writing; the source must exist. */
  const openLedger = (sourceId: string): SourceLedger => {
    const ledger = ledgers.get(sources.get(sourceId).id) ?? createLedger(sourceId)
    ledgers.set(sourceId, ledger)
    return ledger
  }
  /** The ledger for reading; an unknown source has an empty one. */
  const ledgerOf = (sourceId: string): SourceLedger => ledgers.get(sourceId) ?? createLedger(sourceId)

  return {
    location: LOCATION,

    addSource: async (source) => {
      sources.add(source)
      openLedger(source.id)
    },
    listSources: async () => sources.list(),
    updateSource: async (id, change, crawlId) => {
      if (crawlId === undefined || crawls.mayWrite(crawlId)) sources.update(id, change)
    },
    removeSource: async (id, { onlyEmpty = false } = {}) => {
      const ledger = ledgerOf(id)
      const removed = countContent(ledger)
      if (onlyEmpty && removed.pages > 0) return { pages: 0, chunks: 0 }
      ledger.clear()
      ledgers.delete(id)
      crawls.removeSource(id)
      sources.remove(id)
      return removed
    },

    beginCrawl: async (crawl, staleMs, resume, goneRunner) => {
      const begun = crawls.begin(sources.get(crawl.sourceId), crawl, staleMs, resume, goneRunner)
      const ledger = ledgerOf(crawl.sourceId)
      releaseAll(ledger)
      clearLongDelays(ledger, resume === undefined ? crawl.startedAt : crawl.heartbeatAt)
      if (resume === undefined) resetAttempts(ledger)
      return begun
    },
    touchCrawl: async (id, now, runner) => crawls.touch(id, now, runner),
    endCrawl: async (id, summary, now, runner) => crawls.end(id, summary, now, runner),
    listRunning: async () => crawls.listRunning(),
    listCrawls: async (sourceId, limit) => crawls.list(sourceId, limit),

    offer: async (sourceId, crawlId, finds, now, aliases = [], maxRows) => {
      const ledger = openLedger(sourceId)
      if (!crawls.mayWrite(crawlId)) return finds.map(() => 'known')
      for (const alias of aliases) ledger.putAlias(alias)
      return recordFoundAddresses(ledger, crawlId, finds, now, maxRows)
    },
    lease: async (request) => {
      const { sourceId, crawlId, now } = request
      if (crawlId !== undefined && !crawls.mayWrite(crawlId)) return []
      const ledger = ledgerOf(sourceId)
      if (!crawls.isRunning(sourceId)) expireLeases(ledger, now)
      return leaseVisits(ledger, hosts, request, issueLease)
    },
    settle: async (settlement) =>
      crawls.mayWrite(settlement.crawlId) ? settleVisit(ledgerOf(settlement.visit.sourceId), settlement) : LOST_RESULT,
    adopt: async (adoption) => {
      const ledger = openLedger(adoption.sourceId)
      return crawls.mayWrite(adoption.crawlId) ? adoptPage(ledger, adoption) : LOST_RESULT
    },
    release: async (visits) => {
      for (const visit of visits) releaseVisit(ledgerOf(visit.sourceId), visit)
    },
    countOpen: async (sourceId, now) => countOpen(ledgerOf(sourceId), hosts, now, crawls.isRunning(sourceId)),
    listHeldHosts: async (sourceId, now, after) => listHeldHosts(ledgerOf(sourceId), hosts, now, after),
    countSettled: async (sourceId, crawlId) => ledgerOf(sourceId).countSettled(crawlId),
    skipPending: async (sourceId, reason, pattern, _now, crawlId, listed) =>
      crawlId === undefined || crawls.mayWrite(crawlId) ? skipPending(ledgerOf(sourceId), reason, pattern, listed) : 0,
    failPending: async (sourceId, crawlId, host, reason, pattern) =>
      crawls.mayWrite(crawlId) ? failPending(ledgerOf(sourceId), host, reason, pattern) : 0,
    clearDelays: async (sourceId, host) => clearDelays(ledgerOf(sourceId), host),
    requeue: async (sourceId, crawlId, which, _now, maxDepth) =>
      crawls.mayWrite(crawlId) ? requeueRows(openLedger(sourceId), crawlId, which, maxDepth ?? Infinity) : 0,
    requeueOrphanedAliases: async (sourceId, crawlId, since) =>
      crawls.mayWrite(crawlId) ? requeueOrphans(openLedger(sourceId), crawlId, since) : NOTHING_REQUEUED,
    countRemovable: async (sourceId, crawlId, withUnseen) => {
      const ledger = ledgerOf(sourceId)
      return {
        removable: listRemovable(ledger, crawlId, withUnseen).length,
        pages: countContent(ledger).pages,
      }
    },
    removeProven: async (sourceId, crawlId, withUnseen) =>
      crawls.mayWrite(crawlId) ? removeProven(openLedger(sourceId), crawlId, withUnseen) : 0,

    findRow: async (sourceId, key) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toLedgerRow(row)
    },
    readList: async (sourceId, url) => ledgerOf(sourceId).readList(url),
    writeList: async (sourceId, crawlId, record) => {
      const ledger = openLedger(sourceId)
      if (crawls.mayWrite(crawlId)) ledger.writeList(record)
    },
    listPagesOf: async (sourceId, url, key) => ledgerOf(sourceId).listPagesOf(url, key),
    confirmPagesOf: async (sourceId, crawlId, url, key, now) => {
      const ledger = openLedger(sourceId)
      return crawls.mayWrite(crawlId) ? ledger.confirmPagesOf(crawlId, url, key, now) : 0
    },
    listUnseenLists: async (sourceId, crawlId, discovery) => ledgerOf(sourceId).listUnseenLists(crawlId, discovery),
    listRows: async (sourceId, filter) => ledgerOf(sourceId).list(filter).map(toLedgerRow),
    findUnread: async (sourceId, crawlId, reasons) => {
      const row = ledgerOf(sourceId).findUnread(crawlId, reasons)
      return row && toLedgerRow(row)
    },
    checkAliases: async (sourceId, now) => ledgerOf(sourceId).checkAliases(now),
    countLedger: async (sourceId) => ledgerOf(sourceId).count(),
    listAliases: async (sourceId, url) => ledgerOf(sourceId).listAliases(url),

    readClock: async (host, now) => hosts.readClock(host, now),
    changeClock: async (host, now, change) => {
      const clock = change(hosts.readClock(host, now))
      hosts.writeClock(host, clock)
      return clock
    },
    readRobots: async (origin) => hosts.readRobots(origin),
    writeRobots: async (record) => hosts.writeRobots(record),

    readPage: async (sourceId, key) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toStoredPage(row)
    },
    readExcerpt: async (sourceId, key, chunkIndex) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toExcerpt(row, chunkIndex)
    },
    readPageText: async (sourceId, key) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toPageText(row)
    },
    readPageSignatures: async (pages) =>
      pages.map(({ sourceId, key }) => {
        const row = ledgerOf(sourceId).get(key)
        return row && toPageSignature(row)
      }),
    // Signatures are computed when they are read, so none are missing.
    fillPageSignatures: async () => 0,
    listPageSignatures: async function* (sourceId) {
      for (const row of ledgerOf(sourceId).list({ limit: Number.POSITIVE_INFINITY })) {
        const page = toPageWithSignature(row)
        if (page) yield page
      }
    },
    findPages: async (sourceId, text) => {
      const rows = ledgerOf(sourceId).list({ limit: Number.POSITIVE_INFINITY })
      return rows.filter((row) => holdsText(row, text)).map(({ key }) => key)
    },
    listPages: async function* (sourceId) {
      for (const row of ledgerOf(sourceId).list({ limit: Number.POSITIVE_INFINITY })) {
        const page = toStoredPage(row)
        if (page) yield page
      }
    },
    readLinks: async (sourceId, key) => [...(ledgerOf(sourceId).get(key)?.links ?? [])],
    readChunk: async (sourceId, chunkId) => findChunk(ledgerOf(sourceId), chunkId),
    countContent: async (sourceId) => countContent(ledgerOf(sourceId)),
    countContentTypes: async () => index.countContentTypes(),
    search: async (query) => index.search(query),
    readMatches: async (matches) => index.read(matches),
    readIndexState: async () => index.measure(),
    indexMissingChunks: async () => index.indexNew(),
    vectors: createMemoryVectors({
      listChunks: () => index.list(),
      languages: () => index.languages(),
      createTest: (filter) => index.createTest(filter),
    }),
    jobLog: createMemoryJobLog(() =>
      crawls.listEnded().map(({ id, sourceId, state, startedAt, endedAt, summary }) => {
        const { url } = sources.get(sourceId)
        const end = state === 'running' ? 'cancelled' : state
        return { id, url, sourceId, state: end, startedAt, endedAt, summary: summary && JSON.stringify(summary) }
      }),
    ),
    addresses: createMemoryAddresses(() => [...ledgers.values()].flatMap((ledger) => ledger.numberedRows())),
    stats: async () => computeStats([...ledgers.values()]),
    close: async () => {},
  }
}

/** The result of a visit whose crawl is over or was taken over. */
const LOST_RESULT: SettlementResult = { type: 'lost', state: 'gone', reason: null, target: null, finds: [] }
