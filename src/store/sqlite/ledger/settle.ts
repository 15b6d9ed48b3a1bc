import type { LedgerState } from '../../../crawl/ledger-reasons.ts'
import {
  type Adoption,
  createOverflowResult,
  type Settlement,
  type SettlementResult,
} from '../../../crawl/settlement.ts'
import { listColumns, selectColumns } from '../../common/columns.ts'
import type { CrawlRef } from '../../common/ledger/crawl-ref.ts'
import {
  computeAdoptedDepth,
  contentOf,
  createLostResult,
  createSettledResult,
  type Demotion,
  decideAdoption,
  decideSettlement,
  type Holder,
  hasLease,
  type SettlementWrites,
} from '../../common/ledger/decide-settlement.ts'
import {
  DRAFT_COLUMNS,
  type DraftRecord,
  type RowDraft,
  SETTLED_COLUMNS,
  toDraft,
  toSettledValues,
} from '../../common/ledger/row-draft.ts'
import type { ContentWriter } from '../content.ts'
import type { Database } from '../database/database.ts'
import { packHash, type StoredHash, unpackHash } from '../database/hash.ts'
import type { Aliases } from './aliases.ts'
import type { FoundAddresses } from './found-addresses.ts'

/** Writes the results of visits. Everything here runs inside the caller's transaction. */
export interface SettlementWriter {
  /** Writes nothing when the visit no longer holds the lease of its row. */
  settle(source: number, crawl: () => CrawlRef, settlement: Settlement): SettlementResult
  adopt(source: number, crawl: CrawlRef, adoption: Adoption): SettlementResult
}

/** Creates the statements for settlements. */
export function createSettlementWriter(
  db: Database,
  finds: FoundAddresses,
  content: ContentWriter,
  aliases: Aliases,
): SettlementWriter {
  const selectDraft = db.prepare<[number, string], DraftRecord<StoredHash>>(
    `SELECT ${selectColumns(DRAFT_COLUMNS)} FROM ledger WHERE source = ? AND key = ?`,
  )
  const insertAdopted = db.prepare<unknown[]>(
    `INSERT INTO ledger (source, state, depth, key, url, host, discovery, found_on, first_seen_at)
     VALUES (?, 'leased', ?, ?, ?, ?, ?, ?, ?)`,
  )
  const updateAdopted = db.prepare<[number, string, string | null, number]>(
    'UPDATE ledger SET depth = ?, discovery = ?, found_on = ? WHERE id = ?',
  )
  // The `+` keeps SQLite from scanning the whole source in key order only to avoid sorting one or two rows.
  const selectHolder = db.prepare<[number, StoredHash, number, number], Holder>(
    `SELECT ${selectColumns('id, key, url, state, checked_at, crawl')} FROM ledger
     WHERE source = ? AND page_hash = ? AND id <> ? AND proven_crawl IS NOT ? ORDER BY +key LIMIT 1`,
  )
  const readDraft = (source: number, key: string): RowDraft | undefined => {
    const found = selectDraft.get(source, key)
    return found && toDraft(found, unpackHash)
  }
  const findHolder = (source: number, { id }: RowDraft, hash: string | null, crawl: number): Holder | undefined =>
    hash === null ? undefined : selectHolder.get(source, packHash(hash), id, crawl)

  const write = createWriting(db, content, aliases)

  return {
    settle: (source, crawlOf, settlement) => {
      const { visit, record, now, maxRows } = settlement
      const row = readDraft(source, visit.key)
      if (!hasLease(row, settlement)) return createLostResult(row)
      const crawl = crawlOf()
      const holder = findHolder(source, row, contentOf(row, record), crawl.number)
      const writes = decideSettlement({ row, holder }, settlement, crawl.number)
      write(source, writes, now)
      return createSettledResult(writes, finds.record(source, crawl, settlement.finds ?? [], now, maxRows))
    },
    adopt: (source, crawl, adoption) => {
      const { now, find, record, maxRows } = adoption
      const { key, url, host, discovery, foundOn } = find
      const known = readDraft(source, key)
      if (known === undefined && !finds.hasRoom(source, maxRows)) {
        return createOverflowResult(finds.record(source, crawl, adoption.finds, now, maxRows))
      }
      if (known === undefined) insertAdopted.run(source, find.depth, key, url, host, discovery, foundOn, now)
      else updateAdopted.run(computeAdoptedDepth(known, adoption, crawl), discovery, foundOn, known.id)
      const row = known ?? readDraft(source, key)
      if (row === undefined) throw new TypeError(`the row of ${key} was not written`)
      const holder = findHolder(source, row, contentOf(row, record), crawl.number)
      const writes = decideAdoption({ row, holder }, adoption, crawl.number)
      write(source, writes, now)
      return createSettledResult(writes, finds.record(source, crawl, adoption.finds, now, maxRows))
    },
  }
}

/** Creates the function that performs the writes of a settlement. */
function createWriting(
  db: Database,
  content: ContentWriter,
  aliases: Aliases,
): (source: number, writes: SettlementWrites, now: number) => void {
  const update = db.prepare<unknown[]>(
    `UPDATE ledger SET ${listColumns(SETTLED_COLUMNS).join(' = ?, ')} = ?, lease = NULL, leased_until = NULL WHERE id = ?`,
  )
  const demote = db.prepare<[LedgerState, string, StoredHash | null, number]>(
    `UPDATE ledger SET state = ?, reason = 'duplicate', pattern = NULL, target = ?, content_hash = ?, page_hash = NULL
     WHERE id = ?`,
  )
  const removePage = db.prepare<[number]>('UPDATE ledger SET page_hash = NULL WHERE id = ?')
  const demoteHolder = ({ holder, state }: Demotion, { key, contentHash }: RowDraft): void => {
    content.remove(holder.id)
    if (state === undefined) removePage.run(holder.id)
    else demote.run(state, key, contentHash === null ? null : packHash(contentHash), holder.id)
  }
  const writePage = (source: number, row: number, page: SettlementWrites['page']): void => {
    if (page?.action === 'store') content.write(source, row, page.record)
    else if (page?.action === 'metadata') content.writeMetadata(source, row, page.record)
    else if (page?.action === 'classification') content.writeClassification(source, row, page.record)
    else if (page?.action === 'remove') content.remove(row)
  }
  return (source, writes, now) => {
    const { row, links, demotion, page } = writes
    if (links !== undefined) content.writeLinks(row.id, links)
    if (demotion !== null) demoteHolder(demotion, row)
    writePage(source, row.id, page)
    const values = toSettledValues(row, packHash).map((value) => (typeof value === 'boolean' ? Number(value) : value))
    update.run(...values, row.id)
    for (const alias of writes.aliases) aliases.write(source, alias, now)
  }
}
