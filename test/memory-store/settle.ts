import {
  type Adoption,
  createOverflowResult,
  type PageRecord,
  type Settlement,
  type SettlementResult,
} from '../../src/crawl/ledger.ts'
import {
  computeAdoptedDepth,
  contentOf,
  createLostResult,
  createSettledResult,
  decideAdoption,
  decideSettlement,
  hasLease,
  type SettlementInput,
  type SettlementWrites,
} from '../../src/store/common/ledger/decide-settlement.ts'
import type { RowDraft } from '../../src/store/common/ledger/row-draft.ts'
import { recordFoundAddresses } from './found-addresses.ts'
import { createRow, type Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Writes the result of a visit; writes nothing when the visit has lost its lease. */
export function settleVisit(ledger: SourceLedger, settlement: Settlement): SettlementResult {
  const { visit, crawlId, record, now, finds = [], maxRows } = settlement
  const row = ledger.get(visit.key)
  const draft = row && toDraft(row, crawlId)
  if (row === undefined || !hasLease(draft, settlement)) return createLostResult(row)
  const writes = decideSettlement(readInput(ledger, row, draft, crawlId, record), settlement, THIS_CRAWL)
  perform(ledger, row, writes, crawlId)
  return createSettledResult(writes, recordFoundAddresses(ledger, crawlId, finds, now, maxRows))
}

/** Stores a page without a visit, as if it had been found, leased and settled at once. */
export function adoptPage(ledger: SourceLedger, adoption: Adoption): SettlementResult {
  const { crawlId, now, find, record, finds, maxRows = Infinity } = adoption
  const known = ledger.get(find.key)
  if (known === undefined && ledger.size >= maxRows) {
    return createOverflowResult(recordFoundAddresses(ledger, crawlId, finds, now, maxRows))
  }
  const row = known ?? createRow(ledger.sourceId, crawlId, find, now)
  const draft = toDraft(row, crawlId)
  const depth = computeAdoptedDepth(draft, adoption, { id: crawlId, number: THIS_CRAWL })
  const writes = decideAdoption(readInput(ledger, row, draft, crawlId, record), adoption, THIS_CRAWL)
  perform(
    ledger,
    { ...row, discovery: find.discovery, foundOn: find.foundOn },
    { ...writes, row: { ...writes.row, depth } },
    crawlId,
  )
  return createSettledResult(writes, recordFoundAddresses(ledger, crawlId, finds, now, maxRows))
}

/** Stands for the settling crawl in drafts, where a crawl is a number. All other crawls are null. */
const THIS_CRAWL = 1

function toDraft(row: Row, crawlId: string): RowDraft {
  const { key, url, state, reason, pattern, target, status, detail, etag, lastModified, contentUrl, isShell } = row
  const { contentHash, attempts, checkedAt, changedAt, dueAt, isFinal, awaitsConfirmation, depth, record, lease } = row
  return {
    ...{ id: 0, key, url, state, reason, pattern, target, status, detail, etag, lastModified, contentUrl, isShell },
    ...{ contentHash, attempts, checkedAt, changedAt, dueAt, isFinal, awaitsConfirmation, depth },
    pageHash: record?.page.contentHash ?? null,
    words: record?.page.wordCount ?? null,
    provenCrawl: row.provenCrawl === crawlId ? THIS_CRAWL : null,
    crawl: row.crawlId === crawlId ? THIS_CRAWL : null,
    lease: lease?.token ?? null,
  }
}

function readInput(
  ledger: SourceLedger,
  row: Row,
  draft: RowDraft,
  crawlId: string,
  record: PageRecord | undefined,
): SettlementInput {
  const holder = ledger.findHolder(contentOf(draft, record), { ...row, crawlId })
  return { row: draft, holder: holder && toDraft(holder, crawlId) }
}

function perform(ledger: SourceLedger, row: Row, writes: SettlementWrites, crawlId: string): void {
  const { row: settled, links = row.links, demotion, page, aliases } = writes
  const { id, pageHash, words, crawl, lease, provenCrawl, ...fields } = settled
  const holder = demotion === null ? undefined : ledger.get(demotion.holder.key)
  if (holder !== undefined) {
    const { key: target, contentHash } = settled
    const duplicate = { reason: 'duplicate', pattern: null, target, contentHash } as const
    const state = demotion?.state
    ledger.put({ ...holder, ...(state === undefined ? {} : { ...duplicate, state }), record: null })
  }
  const record = changeRecord(row.record, page)
  ledger.put({
    ...row,
    ...fields,
    links,
    record,
    crawlId,
    lease: null,
    provenCrawl: provenCrawl === null ? null : crawlId,
  })
  for (const alias of aliases) ledger.putAlias(alias)
}

/** The stored page after a settlement. */
function changeRecord(stored: PageRecord | null, page: SettlementWrites['page']): PageRecord | null {
  if (page?.action === 'remove') return null
  if (page === null) return stored
  if (page.action === 'store' || stored === null) return page.record
  const { classification = stored.classification } = page.record
  const kept = classification === undefined ? stored : { ...stored, classification }
  return page.action === 'classification'
    ? kept
    : { ...kept, page: { ...page.record.page, markdown: stored.page.markdown } }
}
