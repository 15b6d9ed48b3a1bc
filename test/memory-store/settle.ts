import { compareKeyPreference } from '../../src/core/url/key-preference.ts'
import type { Visit } from '../../src/crawl/ledger.ts'
import {
  type Adoption,
  createOverflowResult,
  type DemotedAddress,
  type PageRecord,
  type Settlement,
  type SettlementResult,
} from '../../src/crawl/settlement.ts'
import { countAttempts, decideRowChange, nextState } from '../../src/crawl/transitions.ts'
import { recordFoundAddresses } from './found-addresses.ts'
import { applyAction, createRow, NO_PENDING_WORK, type Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Writes the result of a visit; writes nothing when the visit has lost its lease. */
export function settleVisit(ledger: SourceLedger, settlement: Settlement): SettlementResult {
  const { visit, crawlId, now, aliases = [], finds = [], maxRows } = settlement
  const row = ledger.get(visit.key)
  if (row?.lease?.token !== visit.lease) return createLostResult(row)
  const rowWithResponse = recordResponse(row, settlement)
  const holder = findOtherHolder(ledger, rowWithResponse, settlement.record)
  const settled = applySettlement(ledger, row, rowWithResponse, settlement)
  for (const alias of aliases) ledger.putAlias(alias)
  const demoted = findDemoted(ledger, holder, crawlId)
  return createSettledResult(settled, recordFoundAddresses(ledger, crawlId, finds, now, maxRows), demoted)
}

/** Stores a page without a visit, as if it had been found, leased and settled at once. */
export function adoptPage(ledger: SourceLedger, adoption: Adoption): SettlementResult {
  const { crawlId, now, find, record, isFull = false, finds, maxRows = Infinity } = adoption
  const known = ledger.get(find.key)
  if (known === undefined && ledger.size >= maxRows) {
    return createOverflowResult(recordFoundAddresses(ledger, crawlId, finds, now, maxRows))
  }
  const { depth } = decideRowChange(known, { ...find, refusal: null }, crawlId)
  const row: Row = {
    ...(known ?? createRow(ledger.sourceId, crawlId, find, now)),
    ...NO_PENDING_WORK,
    ...NO_REASON,
    // Settlement expects a leased row; a previous holder of the lease loses it.
    state: 'leased',
    depth,
    discovery: find.discovery,
    foundOn: find.foundOn,
    status: null,
    detail: null,
    isShell: false,
    checkedAt: now,
    crawlId,
    provenCrawl: null,
  }
  const hasSameContent = row.record?.page.contentHash === record.page.contentHash
  // When an interrupted crawl reads the same list again, a page that it had already stored stays `indexed` and is not stored again.
  const isNewInCrawl = known?.state === 'indexed' && known.crawlId === crawlId
  const holder = findOtherHolder(ledger, row, record)
  const settled =
    hasSameContent && (isNewInCrawl || !isFull)
      ? confirmPage(ledger, refreshRow(row, record), isNewInCrawl)
      : storePage(ledger, known ?? row, row, record, now)
  const demoted = findDemoted(ledger, holder, crawlId)
  return createSettledResult(settled, recordFoundAddresses(ledger, crawlId, finds, now, maxRows), demoted)
}

/** Another row that holds the content of a page, before the page is settled. */
function findOtherHolder(ledger: SourceLedger, row: Row, record: PageRecord | undefined): Row | undefined {
  return ledger.findHolder((record ?? row.record)?.page.contentHash ?? null, row)
}

/** Describes a row that lost its content, if this crawl had already settled it. */
function findDemoted(ledger: SourceLedger, holder: Row | undefined, crawlId: string): DemotedAddress | null {
  if (holder === undefined || holder.crawlId !== crawlId || nextState(holder.state, 'demote') === undefined) return null
  const { key, state, checkedAt } = holder
  return ledger.get(key)?.record === null ? { state, checkedAt } : null
}

/** Updates a row whose new response has the same content as its stored page. */
function refreshRow(row: Row, record: PageRecord): Row {
  const { links, page } = record
  return { ...row, links, contentHash: page.contentHash, record: row.record && withClassification(row.record, record) }
}

const NO_REASON = { reason: null, pattern: null, target: null } as const

/** Records the response in the row, whatever state the settlement leads to. The row stays in the state `leased`, without a lease. */
function recordResponse(row: Row, settlement: Settlement): Row {
  const {
    state,
    crawlId,
    now,
    checkedAt = now,
    reason = null,
    pattern = null,
    target = null,
    status = null,
    detail = null,
  } = settlement
  const { etag = row.etag, lastModified = row.lastModified, contentUrl = row.contentUrl, dueAt = null } = settlement
  const { isShell = row.isShell, url = row.url } = settlement
  const isPending = state === 'pending'
  const isSkippedOrFailed = state === 'skipped' || state === 'failed'
  return {
    ...row,
    url,
    lease: null,
    checkedAt,
    crawlId,
    reason,
    pattern,
    target,
    status,
    detail,
    etag,
    lastModified,
    contentUrl,
    isShell,
    contentHash: (isSkippedOrFailed ? settlement.contentHash : null) ?? row.contentHash,
    attempts: countAttempts(row.attempts, settlement),
    dueAt: isPending ? dueAt : null,
    awaitsConfirmation: isPending && (settlement.awaitsConfirmation ?? false),
    isFinal: isPending && row.isFinal,
    provenCrawl: isSkippedOrFailed && settlement.isProvenGone ? crawlId : null,
  }
}

function applySettlement(ledger: SourceLedger, before: Row, rowWithResponse: Row, settlement: Settlement): Row {
  const { state, record, links = record?.links ?? rowWithResponse.links, now } = settlement
  const row = { ...rowWithResponse, links }
  switch (state) {
    case 'indexed':
      if (record === undefined) throw new TypeError(`Expected \`record\` to settle ${row.url} as indexed, got none`)
      return storePage(ledger, before, row, record, now)
    case 'unchanged':
      if (record && record.page.contentHash !== row.record?.page.contentHash) {
        return storePage(ledger, before, row, record, now)
      }
      return row.record === null
        ? confirmWithoutPage(ledger, row, settlement.visit)
        : keepPage(ledger, before, row, replaceMetadata(row.record, record))
    case 'skipped':
      return ledger.put(applyAction(row, 'skip'))
    case 'failed':
      return ledger.put(applyAction(row, 'fail'))
    case 'pending':
      return ledger.put(applyAction(row, 'postpone'))
  }
}

function confirmPage(ledger: SourceLedger, row: Row, isNewInCrawl = false): Row {
  return ledger.put(applyAction(row, isNewInCrawl ? 'index' : 'confirm'))
}

/**
 * Handles "unchanged" for a row without a page. Without a holder of its content, the row must be fetched again to store it. A duplicate whose
 * content is now at a worse address than its own is fetched again too, without validators. Otherwise the row is a duplicate.
 */
function confirmWithoutPage(ledger: SourceLedger, row: Row, { target }: Visit): Row {
  const holder = ledger.findHolder(row.contentHash, row)
  if (holder === undefined) return ledger.put({ ...applyAction(row, 'postpone'), ...NO_REASON, isFinal: true })
  if (target === null || compareKeyPreference(row.key, holder.key) > 0) {
    return ledger.put({ ...applyAction(row, 'skip'), reason: 'duplicate', pattern: null, target: holder.key })
  }
  return ledger.put({ ...applyAction(row, 'postpone'), ...NO_REASON, etag: null, lastModified: null })
}

/** The stored page with new metadata and the same content. */
function replaceMetadata(stored: PageRecord, record: PageRecord | undefined): PageRecord {
  const { markdown } = stored.page
  return record === undefined ? stored : { ...withClassification(stored, record), page: { ...record.page, markdown } }
}

/** The stored page with its new classification, if there is one. */
function withClassification(stored: PageRecord, { classification }: PageRecord): PageRecord {
  return classification === undefined ? stored : { ...stored, classification }
}

/** Confirms a page. Two rows may hold the same content after a crawl that proved one of them gone and stopped at the loss gate. */
function keepPage(ledger: SourceLedger, before: Row, row: Row, record: PageRecord): Row {
  const { contentHash } = record.page
  return claimContent(ledger, before, row, contentHash) ?? confirmPage(ledger, { ...row, contentHash, record })
}

function storePage(ledger: SourceLedger, before: Row, rowWithResponse: Row, record: PageRecord, now: number): Row {
  const { contentHash } = record.page
  const row = { ...rowWithResponse, links: record.links }
  const duplicate = claimContent(ledger, before, row, contentHash)
  return duplicate ?? ledger.put({ ...applyAction(row, 'index'), contentHash, changedAt: now, record })
}

/**
 * Ensures that the same content is stored only once per source, under the better of two addresses. Returns the row when it becomes the
 * duplicate; otherwise takes the content from the other row.
 */
function claimContent(ledger: SourceLedger, before: Row, row: Row, contentHash: string): Row | undefined {
  const other = ledger.findHolder(contentHash, row)
  if (!other) return undefined
  ledger.putAlias({ url: row.url, aliasUrl: other.url, classification: 'same-content', reason: null })
  if (compareKeyPreference(other.key, row.key) < 0) {
    const duplicate = markDuplicate(applyAction(row, 'skip'), other.key, contentHash)
    if (row.record === null || row.record.page.contentHash === contentHash) return ledger.put(duplicate)
    // A page with other content is removed only at the end of the crawl, subject to the loss gate. This response did not check that page,
    // so `checkedAt` stays.
    const { record, crawlId } = row
    return ledger.put({ ...duplicate, record, provenCrawl: crawlId, checkedAt: before.checkedAt })
  }
  ledger.put(demoteHolder(other, row.key, contentHash))
  return undefined
}

/** Demotes a row whose content is now at a better address. A row that is still to be fetched only loses its page. */
function demoteHolder(row: Row, target: string, contentHash: string): Row {
  const demoted = applyAction(row, 'demote')
  return demoted.state === 'skipped' ? markDuplicate(demoted, target, contentHash) : { ...row, record: null }
}

function markDuplicate(row: Row, target: string, contentHash: string): Row {
  return { ...row, reason: 'duplicate', pattern: null, target, contentHash, record: null }
}

function createSettledResult(
  row: Row,
  finds: SettlementResult['finds'],
  demoted: SettlementResult['demoted'] = null,
): SettlementResult {
  const { state, reason, target } = row
  return { type: 'settled', state, reason, target, demoted, hasPage: row.record !== null, finds }
}

function createLostResult(row: Row | undefined): SettlementResult {
  const { state = 'gone', reason = null, target = null } = row ?? {}
  return { type: 'lost', state, reason, target, finds: [] }
}
