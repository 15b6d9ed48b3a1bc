import { compareKeyPreference } from '../../../core/url/key-preference.ts'
import {
  type Adoption,
  createOverflowResult,
  type DemotedAddress,
  type LedgerState,
  type PageRecord,
  type Settlement,
  type SettlementResult,
} from '../../../crawl/ledger.ts'
import { nextState } from '../../../crawl/transitions.ts'
import type { CrawlRef } from '../../common/crawl-ref.ts'
import {
  ACTION_BY_STATE,
  applyAction,
  choosePageAction,
  computeAdoptedDepth,
  computeCheckedAt,
  confirmWithoutPage,
  createLostResult,
  createSettledResult,
  demoteToDuplicate,
  findDemoted,
  type Holder,
  hasContentOf,
  hasLease,
  keepPage,
  NO_RESPONSE,
  type RowDraft,
  recordResponse,
} from '../../common/row-draft.ts'
import type { Content } from '../content.ts'
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

/** The columns of a row during its settlement. */
interface DraftColumns
  extends Omit<RowDraft, 'isShell' | 'contentHash' | 'pageHash' | 'isFinal' | 'awaitsConfirmation'> {
  readonly isShell: 0 | 1
  readonly contentHash: StoredHash | null
  readonly pageHash: StoredHash | null
  readonly isFinal: 0 | 1
  readonly awaitsConfirmation: 0 | 1
}

/** The result of claiming a content for a row. */
interface Claim {
  readonly isStoredHere: boolean
  readonly demoted: DemotedAddress | null
}

const CLAIMED: Claim = { isStoredHere: true, demoted: null }

/** Creates the statements for settlements. */
export function createSettlementWriter(
  db: Database,
  finds: FoundAddresses,
  content: Content,
  aliases: Aliases,
): SettlementWriter {
  const selectColumns = db.prepare<[number, string], DraftColumns>(
    `SELECT id, key, url, state, reason, pattern, target, status, detail, etag, last_modified AS lastModified,
       content_url AS contentUrl, is_shell AS isShell, content_hash AS contentHash, page_hash AS pageHash, words, attempts,
       checked_at AS checkedBefore, changed_at AS changedAt, due_at AS dueAt,
       is_final AS isFinal, awaits_confirmation AS awaitsConfirmation, proven_crawl AS provenCrawl, depth, crawl, lease
     FROM ledger WHERE source = ? AND key = ?`,
  )
  const update = db.prepare<[DraftColumns & { checkedAt: number | null }]>(
    `UPDATE ledger SET url = @url, state = @state, reason = @reason, pattern = @pattern, target = @target, status = @status,
       detail = @detail, etag = @etag, last_modified = @lastModified, content_url = @contentUrl, is_shell = @isShell,
       content_hash = @contentHash, page_hash = @pageHash, words = @words, attempts = @attempts, changed_at = @changedAt, due_at = @dueAt, is_final = @isFinal,
       awaits_confirmation = @awaitsConfirmation, proven_crawl = @provenCrawl, checked_at = @checkedAt, crawl = @crawl,
       lease = NULL, leased_until = NULL
     WHERE id = @id`,
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
    `SELECT id, key, url, state, checked_at AS checkedAt, crawl FROM ledger
     WHERE source = ? AND page_hash = ? AND id <> ? AND proven_crawl IS NOT ? ORDER BY +key LIMIT 1`,
  )
  const demote = db.prepare<[LedgerState, string, StoredHash, number]>(
    `UPDATE ledger SET state = ?, reason = 'duplicate', pattern = NULL, target = ?, content_hash = ?, page_hash = NULL
     WHERE id = ?`,
  )
  const removePage = db.prepare<[number]>('UPDATE ledger SET page_hash = NULL WHERE id = ?')
  const selectDraft = (source: number, key: string): RowDraft | undefined => {
    const found = selectColumns.get(source, key)
    return found && toDraft(found)
  }
  const findHolder = (source: number, hash: string | null, id: number, crawl: number): Holder | undefined =>
    hash === null ? undefined : selectHolder.get(source, packHash(hash), id, crawl)

  const save = (row: RowDraft, crawl: number, checkedAt: number | null): void => {
    update.run({ ...toColumns(row), crawl, checkedAt: computeCheckedAt(row, checkedAt) })
  }

  /**
   * Ensures that a content is stored once per source, under the better of two addresses. Returns whether this row stores the content; if
   * not, the row has become a duplicate. Also returns the row that lost the content, if this crawl had settled it.
   */
  const claimContent = (source: number, row: RowDraft, hash: string, now: number, crawl: number): Claim => {
    const other = findHolder(source, hash, row.id, crawl)
    row.contentHash = hash
    if (other === undefined) return CLAIMED
    aliases.write(source, { url: row.url, aliasUrl: other.url, classification: 'same-content', reason: null }, now)
    if (compareKeyPreference(other.key, row.key) < 0) {
      if (demoteToDuplicate(row, other, hash, crawl)) content.remove(row.id)
      return { isStoredHere: false, demoted: null }
    }
    content.remove(other.id)
    // A row that is still to be fetched only loses its page.
    const state = nextState(other.state, 'demote')
    if (state === undefined) removePage.run(other.id)
    else demote.run(state, row.key, packHash(hash), other.id)
    return { isStoredHere: true, demoted: findDemoted(other, crawl) }
  }

  const storePage = (
    source: number,
    row: RowDraft,
    record: PageRecord,
    now: number,
    crawl: number,
  ): DemotedAddress | null => {
    content.writeLinks(row.id, record.links)
    const { isStoredHere, demoted } = claimContent(source, row, record.page.contentHash, now, crawl)
    if (!isStoredHere) return null
    content.write(source, row.id, record)
    keepPage(row, record, now)
    return demoted
  }

  const settleRow = (source: number, row: RowDraft, settlement: Settlement, crawl: number): DemotedAddress | null => {
    const { state, record, links = record?.links, now } = settlement
    const action = choosePageAction(row, settlement)
    if (links !== undefined) content.writeLinks(row.id, links)
    if (action === 'store' && record !== undefined) {
      return storePage(source, row, record, now, crawl)
    }
    if (action === 'look') {
      confirmWithoutPage(row, findHolder(source, row.contentHash, row.id, crawl), settlement.visit)
    } else if (row.pageHash !== null && action === 'keep') {
      // Two rows may hold the same content after a crawl that proved one of them gone and stopped at the loss gate.
      const { isStoredHere, demoted } = claimContent(source, row, row.pageHash, now, crawl)
      if (!isStoredHere) return null
      if (record !== undefined) content.writeMetadata(source, row.id, record)
      applyAction(row, 'confirm')
      return demoted
    } else if (state !== 'indexed') {
      applyAction(row, ACTION_BY_STATE[state])
    }
    return null
  }

  return {
    settle: (source, crawlOf, settlement) => {
      const { visit, now, checkedAt = now } = settlement
      const row = selectDraft(source, visit.key)
      if (!hasLease(row, settlement)) return createLostResult(row)
      const crawl = crawlOf()
      recordResponse(row, settlement, crawl.number)
      const demoted = settleRow(source, row, settlement, crawl.number)
      save(row, crawl.number, checkedAt)
      for (const alias of settlement.aliases ?? []) aliases.write(source, alias, now)
      return createSettledResult(
        row,
        finds.record(source, crawl, settlement.finds ?? [], now, settlement.maxRows),
        demoted,
      )
    },
    adopt: (source, crawl, adoption) => {
      const { now, find, record, isFull = false, maxRows } = adoption
      const { key, url, host, discovery, foundOn } = find
      const known = selectDraft(source, key)
      if (known === undefined && !finds.hasRoom(source, maxRows)) {
        return createOverflowResult(finds.record(source, crawl, adoption.finds, now, maxRows))
      }
      if (known === undefined) insertAdopted.run(source, find.depth, key, url, host, discovery, foundOn, now)
      else updateAdopted.run(computeAdoptedDepth(known, adoption, crawl), discovery, foundOn, known.id)
      const isNewInCrawl = known?.state === 'indexed' && known.crawl === crawl.number
      const row = known ?? selectDraft(source, key)
      if (row === undefined) throw new TypeError(`the row of ${key} was not written`)
      // Settlement expects a leased row; a previous holder of the lease loses it.
      row.state = 'leased'
      recordResponse(row, NO_RESPONSE, crawl.number)
      let demoted: DemotedAddress | null = null
      // When an interrupted crawl reads the same list again, a page that it had already stored stays `indexed` and is not stored again.
      if (hasContentOf(row, record) && (isNewInCrawl || !isFull)) {
        content.writeLinks(row.id, record.links)
        content.writeClassification(source, row.id, record)
        row.contentHash = row.pageHash
        applyAction(row, isNewInCrawl ? 'index' : 'confirm')
      } else {
        demoted = storePage(source, row, record, now, crawl.number)
      }
      save(row, crawl.number, now)
      return createSettledResult(row, finds.record(source, crawl, adoption.finds, now, maxRows), demoted)
    },
  }
}

function toDraft(found: DraftColumns): RowDraft {
  const { contentHash, pageHash } = found
  return {
    ...found,
    isShell: found.isShell === 1,
    contentHash: contentHash === null ? null : unpackHash(contentHash),
    pageHash: pageHash === null ? null : unpackHash(pageHash),
    isFinal: found.isFinal === 1,
    awaitsConfirmation: found.awaitsConfirmation === 1,
  }
}

function toColumns(row: RowDraft): DraftColumns {
  const { contentHash, pageHash } = row
  return {
    ...row,
    isShell: row.isShell ? 1 : 0,
    contentHash: contentHash === null ? null : packHash(contentHash),
    pageHash: pageHash === null ? null : packHash(pageHash),
    isFinal: row.isFinal ? 1 : 0,
    awaitsConfirmation: row.awaitsConfirmation ? 1 : 0,
  }
}
