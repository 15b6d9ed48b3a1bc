import type { Store } from '../../library/store.ts'
import { ChunkIndex } from './chunk-index.ts'
import { countContent, findChunk, measure, toStoredPage } from './content.ts'
import { Crawls } from './crawls.ts'
import { countOpen, leaseVisits, releaseAll, releaseVisit, startOver } from './frontier.ts'
import { Hosts } from './hosts.ts'
import { offerFinds } from './offer.ts'
import { listRemovable, removeProven } from './removal.ts'
import { requeueOrphans, requeueRows, skipPending } from './requeue.ts'
import { toLedgerRow } from './row.ts'
import { adoptPage, settleVisit } from './settle.ts'
import { SourceLedger } from './source-ledger.ts'
import { LOCATION, Sources } from './sources.ts'

/**
 * A store that is gone with its process, for tests and for jobs that keep nothing; also the readable form of what every
 * store does. Each operation runs in one go, so nobody sees half of one: whatever can be refused is refused before the first
 * change.
 */
export function createMemoryStore(): Store {
  const sources = new Sources()
  const crawls = new Crawls()
  const hosts = new Hosts()
  const index = new ChunkIndex()
  const ledgers = new Map<string, SourceLedger>()
  let leases = 0
  const issueLease = (): string => `lease-${++leases}`

  /** The ledger to write to: that of a source which is there. */
  const openLedger = (sourceId: string): SourceLedger => {
    const ledger = ledgers.get(sources.get(sourceId).id) ?? new SourceLedger(sourceId, index)
    ledgers.set(sourceId, ledger)
    return ledger
  }
  /** The ledger to read from; a source that is not there has an empty one. */
  const ledgerOf = (sourceId: string): SourceLedger => ledgers.get(sourceId) ?? new SourceLedger(sourceId, index)

  return {
    location: LOCATION,

    addSource: async (source) => {
      sources.add(source)
      openLedger(source.id)
    },
    listSources: async () => sources.list(),
    updateSource: async (id, change) => sources.update(id, change),
    removeSource: async (id) => {
      const ledger = ledgerOf(id)
      const removed = countContent(ledger)
      ledger.clear()
      ledgers.delete(id)
      crawls.removeSource(id)
      sources.remove(id)
      return removed
    },

    beginCrawl: async (crawl, staleMs, resume, gone) => {
      const begun = crawls.begin(sources.get(crawl.sourceId), crawl, staleMs, resume, gone)
      const ledger = ledgerOf(crawl.sourceId)
      releaseAll(ledger)
      if (resume === undefined) startOver(ledger)
      return begun
    },
    touchCrawl: async (id, now, runner) => crawls.touch(id, now, runner),
    endCrawl: async (id, summary, now, runner) => crawls.end(id, summary, now, runner),
    listCrawls: async (sourceId, limit) => crawls.list(sourceId, limit),

    offer: async (sourceId, crawlId, finds, now) => offerFinds(openLedger(sourceId), crawlId, finds, now),
    lease: async (request) => leaseVisits(ledgerOf(request.sourceId), hosts, request, issueLease),
    settle: async (settlement) => settleVisit(ledgerOf(settlement.visit.sourceId), settlement),
    adopt: async (adoption) => adoptPage(openLedger(adoption.sourceId), adoption),
    release: async (visits) => {
      for (const visit of visits) releaseVisit(ledgerOf(visit.sourceId), visit)
    },
    countOpen: async (sourceId, now) => countOpen(ledgerOf(sourceId), hosts, now),
    countPages: async (sourceId, crawlId) => ledgerOf(sourceId).countPages(crawlId),
    skipPending: async (sourceId, reason, pattern) => skipPending(ledgerOf(sourceId), reason, pattern),
    requeue: async (sourceId, crawlId, which) => requeueRows(openLedger(sourceId), crawlId, which),
    requeueOrphanedAliases: async (sourceId, crawlId, _now, withUnseen = false) =>
      requeueOrphans(openLedger(sourceId), crawlId, withUnseen),
    countRemovable: async (sourceId, crawlId, withUnseen) => {
      const ledger = ledgerOf(sourceId)
      return {
        removable: listRemovable(ledger, crawlId, withUnseen).length,
        pages: countContent(ledger).pages,
      }
    },
    removeProven: async (sourceId, crawlId, withUnseen) => removeProven(openLedger(sourceId), crawlId, withUnseen),

    findRow: async (sourceId, key) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toLedgerRow(row)
    },
    listRows: async (sourceId, filter) => ledgerOf(sourceId).list(filter).map(toLedgerRow),
    countLedger: async (sourceId) => ledgerOf(sourceId).count(),
    listAliases: async (sourceId, url) => ledgerOf(sourceId).listAliases(url),

    reserveSlot: async (host, now) => hosts.reserveSlot(host, now),
    setInterval: async (host, intervalMs) => hosts.setInterval(host, intervalMs),
    readRobots: async (origin) => hosts.readRobots(origin),
    writeRobots: async (record) => hosts.writeRobots(record),

    readPage: async (sourceId, key) => {
      const row = ledgerOf(sourceId).get(key)
      return row && toStoredPage(row)
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
    search: async (query) => index.search(query),
    stats: async () => measure([...ledgers.values()]),
    close: async () => {},
  }
}
