import { randomUUID } from 'node:crypto'
import {
  type HostRecords,
  type LeaseRequest,
  NOTHING_REQUEUED,
  NOTHING_SETTLED,
  type OfferResult,
  type RowLedger,
  type SettledCounts,
  type Visit,
  type VisitLedger,
} from '../../../crawl/ledger.ts'
import type { Store } from '../../../library/ports/store.ts'
import { checkInBatches, removeInBatches } from '../../common/batches.ts'
import type { CheckedAliases } from '../../common/ledger/alias-record.ts'
import { LOST_RESULT } from '../../common/ledger/decide-settlement.ts'
import { NOTHING_OPEN, toCounts } from '../../common/ledger/ledger-sql.ts'
import * as bulkUpdates from '../database/bulk-updates.ts'
import * as content from '../read-content.ts'
import * as sources from '../sources.ts'
import { type StoreParts, toCrawlRef } from '../store-parts.ts'
import { checkAliases, listAliases, writeAliases } from './aliases.ts'
import { writeHelp } from './crawl-sharing.ts'
import { recordFoundAddresses } from './found-addresses.ts'
import * as frontier from './frontier.ts'
import type { LeaseResult } from './host-holder.ts'
import { lockHosts, readHosts, readRobots, writeHosts, writeRobots } from './hosts.ts'
import { confirmPagesOf, listPagesOf, readList, writeList } from './lists.ts'
import * as rows from './rows.ts'
import { adopt, settle } from './settle.ts'

/** Creates the part of the ledger for finds and visits. */
export function createVisitLedger(parts: StoreParts): VisitLedger {
  const { search, within, write, writeFor, helperOf, db, holder } = parts
  return {
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
    lease: (request) => lease(parts, request),
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
    countSettled: (sourceId, crawlId) =>
      within<SettledCounts>(sourceId, NOTHING_SETTLED, (source) => rows.countSettled(db, source, crawlId)),
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
    clearDelays: (sourceId, host) =>
      write(sourceId, undefined, 0, (sql, { source }) => frontier.clearDelays(sql, source, host)),
    requeue: (sourceId, crawlId, which, _now, maxDepth = null) =>
      writeFor(sourceId, crawlId, 0, (sql, source, { number }) =>
        bulkUpdates.requeue(sql, source, number, which, maxDepth),
      ),
    requeueOrphanedAliases: (sourceId, crawlId, since) =>
      writeFor(sourceId, crawlId, NOTHING_REQUEUED, (sql, source, { number }) =>
        bulkUpdates.requeueOrphanedAliases(sql, source, number, since),
      ),
    countRemovable: (sourceId, crawlId, withUnseen) =>
      db.transaction(async (sql) => {
        const source = await sources.requireNumber(sql, sourceId, db.location)
        const crawl = await sources.crawlNumber(sql, source, crawlId)
        return bulkUpdates.countRemovable(sql, source, { crawl, withUnseen })
      }),
    removeProven: (sourceId, crawlId, withUnseen) => removeProven(writeFor, sourceId, crawlId, withUnseen),
  }
}

async function lease({ holder, write }: StoreParts, request: LeaseRequest): Promise<Visit[]> {
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
}

async function removeProven(
  writeFor: StoreParts['writeFor'],
  sourceId: string,
  crawlId: string,
  withUnseen: boolean,
): Promise<number> {
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

/** Creates the part of the ledger for rows and lists. */
export function createRowLedger({ within, write, writeFor, db }: StoreParts): RowLedger & Pick<Store, 'listAliases'> {
  return {
    readLinks: (sourceId, key) =>
      within<readonly string[]>(sourceId, [], (source) => content.readLinks(db, source, key)),
    findRow: (sourceId, key) => within(sourceId, undefined, (source) => rows.findRow(db, source, key)),
    listRows: (sourceId, filter) => within(sourceId, [], (source) => rows.listRows(db, source, filter)),
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
  }
}

/** Creates the part of the ledger for hosts. */
export function createHostRecords({ db }: StoreParts): HostRecords {
  return {
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
  }
}

function stateOf<T>(states: ReadonlyMap<string, T>, host: string): T {
  const state = states.get(host)
  if (state === undefined) throw new TypeError(`${host} was not read`)
  return state
}
