import type { OpenWork, Settled } from '../../crawl/ledger.ts'
import type { Store, StoreHit } from '../../library/store.ts'
import { createAliases } from './aliases.ts'
import { createContent } from './content.ts'
import { createCrawls } from './crawls.ts'
import { type Database, openDatabase } from './database.ts'
import { type CrawlOf, createFinds } from './finds.ts'
import { createFrontier } from './frontier.ts'
import { createHosts } from './hosts.ts'
import { createRows, noCounts } from './rows.ts'
import { createChunkIndex } from './search.ts'
import { createSettling } from './settle.ts'
import { createSources } from './sources.ts'
import { createStats } from './stats.ts'
import { createUpkeep } from './upkeep.ts'

/**
 * Opens the library in an SQLite file, which is created with its folder where there is none; `:memory:` is one that is gone
 * when it is closed. Several processes may use one file at once: readers never wait, writers wait for each other.
 */
export async function openSqliteStore(path: string): Promise<Store> {
  return createStore(openDatabase(path), path)
}

function createStore(db: Database, location: string): Store {
  const sources = createSources(db, location)
  const crawls = createCrawls(db, sources)
  const hosts = createHosts(db)
  const aliases = createAliases(db)
  const rows = createRows(db)
  const index = createChunkIndex(db)
  const content = createContent(db, index)
  const finds = createFinds(db)
  const frontier = createFrontier(db, hosts)
  const settling = createSettling(db, finds, content, aliases)
  const upkeep = createUpkeep(db, content)
  const readStats = createStats(db)

  const crawlOf = (source: number, id: string): CrawlOf => ({ id, number: sources.crawlNumber(source, id) })
  /** Runs a write as one transaction, which takes its lock at the start: one that began by reading could not wait for others. */
  const write = async <T>(work: () => T): Promise<T> => db.transaction(work).immediate()
  /** A write to a source that has to be there, on behalf of a crawl. */
  const writeFor = <T>(sourceId: string, crawlId: string, work: (source: number, crawl: CrawlOf) => T): Promise<T> =>
    write(() => {
      const source = sources.requireNumber(sourceId)
      return work(source, crawlOf(source, crawlId))
    })
  /** Asks about a source; one that is not there has nothing. */
  const within = <T>(sourceId: string, nothing: T, ask: (source: number) => T): T => {
    const source = sources.numberOf(sourceId)
    return source === undefined ? nothing : ask(source)
  }

  return {
    location,

    addSource: async (source) => sources.add(source),
    listSources: async () => sources.list(),
    updateSource: async (id, change) => sources.update(id, change),
    removeSource: async (id) => sources.remove(id),

    beginCrawl: async (crawl, staleMs, resume, gone) => crawls.begin(crawl, staleMs, resume, gone),
    touchCrawl: async (id, now, runner) => crawls.touch(id, now, runner),
    endCrawl: (id, summary, now, runner) =>
      write(() => {
        crawls.end(id, summary, now, runner)
        index.catchUp()
      }),
    listCrawls: async (sourceId, limit) => within(sourceId, [], (source) => crawls.list(source, limit)),

    offer: (sourceId, crawlId, found, now) =>
      writeFor(sourceId, crawlId, (source, crawl) => finds.offer(source, crawl, found, now)),
    lease: (request) => write(() => within(request.sourceId, [], (source) => frontier.lease(source, request))),
    settle: (settlement) =>
      write(() => {
        const { visit, crawlId } = settlement
        return within(visit.sourceId, NO_SOURCE, (source) =>
          settling.settle(source, () => crawlOf(source, crawlId), settlement),
        )
      }),
    adopt: (adoption) =>
      writeFor(adoption.sourceId, adoption.crawlId, (source, crawl) => settling.adopt(source, crawl, adoption)),
    release: (visits) =>
      write(() => {
        for (const { sourceId, key, lease } of visits) {
          within(sourceId, undefined, (source) => frontier.release(source, key, lease))
        }
      }),
    countOpen: async (sourceId, now) => within(sourceId, NOTHING_OPEN, (source) => frontier.countOpen(source, now)),
    countPages: async (sourceId, crawlId) => within(sourceId, 0, (source) => rows.countPages(source, crawlId)),
    skipPending: (sourceId, reason, pattern) =>
      write(() => within(sourceId, 0, (source) => frontier.skipPending(source, reason, pattern))),
    requeue: (sourceId, crawlId, which) =>
      writeFor(sourceId, crawlId, (source, crawl) => upkeep.requeue(source, crawl.number, which)),
    requeueOrphanedAliases: (sourceId, crawlId, _now, withUnseen = false) =>
      writeFor(sourceId, crawlId, (source, crawl) => upkeep.requeueOrphanedAliases(source, crawl.number, withUnseen)),
    countRemovable: (sourceId, crawlId, withUnseen) =>
      writeFor(sourceId, crawlId, (source, crawl) => upkeep.countRemovable(source, crawl.number, withUnseen)),
    removeProven: (sourceId, crawlId, withUnseen) =>
      writeFor(sourceId, crawlId, (source, crawl) => upkeep.removeProven(source, crawl.number, withUnseen)),

    findRow: async (sourceId, key) => within(sourceId, undefined, (source) => rows.find(source, key)),
    listRows: async (sourceId, filter) => within(sourceId, [], (source) => rows.list(source, filter)),
    countLedger: async (sourceId) => within(sourceId, noCounts(), (source) => rows.count(source)),
    listAliases: async (sourceId, url) => within(sourceId, [], (source) => aliases.list(source, url)),

    reserveSlot: async (host, now) => hosts.reserveSlot(host, now),
    setInterval: async (host, intervalMs) => hosts.setInterval(host, intervalMs),
    readRobots: async (origin) => hosts.readRobots(origin),
    writeRobots: async (record) => hosts.writeRobots(record),

    readLinks: async (sourceId, key) => within(sourceId, [], (source) => content.readLinks(source, key)),
    readPage: async (sourceId, key) => within(sourceId, undefined, (source) => content.readPage(source, key)),
    async *listPages(sourceId) {
      const source = sources.numberOf(sourceId)
      if (source !== undefined) yield* content.listPages(source)
    },
    readChunk: async (sourceId, chunkId) => within(sourceId, undefined, (source) => content.readChunk(source, chunkId)),
    countContent: async (sourceId) => within(sourceId, { pages: 0, chunks: 0 }, (source) => content.count(source)),
    search: async ({ query, limit, sourceIds }) => {
      if (index.isBehind()) await write(index.catchUp)
      const numbers = sourceIds?.flatMap((id) => sources.numberOf(id) ?? [])
      return index.search(query, limit, numbers).flatMap(({ id, score }): StoreHit[] => {
        const found = content.readChunkAt(id)
        return found === undefined ? [] : [{ ...found, score }]
      })
    },
    stats: async () => readStats(),
    close: async () => {
      db.close()
    },
  }
}

const NOTHING_OPEN: OpenWork = { pending: 0, leased: 0, nextAt: null }

/** What became of a visit to a source that was removed meanwhile. */
const NO_SOURCE: Settled = { type: 'lost', state: 'gone', reason: null, target: null, finds: [] }
