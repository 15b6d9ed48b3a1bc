import { compareKeyPreference } from '../../../core/url/key-preference.ts'
import {
  type Adoption,
  type Alias,
  createOverflowResult,
  type DemotedAddress,
  type FoundAddress,
  type OfferResult,
  type PageRecord,
  type Settlement,
  type SettlementResult,
} from '../../../crawl/ledger.ts'
import { nextState } from '../../../crawl/transitions.ts'
import type { CrawlRef } from '../../common/crawl-ref.ts'
import { packHash, unpackHash } from '../../common/hash.ts'
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
import { removeContent, writeClassification, writeContent, writeLinks, writeMetadata } from '../content.ts'
import type { Sql } from '../database/database.ts'
import { writeAliases } from './aliases.ts'
import { addHelpSql, type Helper, helpOf, helpValues, writeHelp } from './crawl-sharing.ts'
import { countRows, recordFoundAddresses } from './found-addresses.ts'
import { breakLoop } from './redirect-loop.ts'

/** A row during its settlement, with its context. */
interface SettlementContext {
  readonly sql: Sql
  readonly source: number
  readonly crawl: number
  readonly now: number
  readonly row: RowDraft
  /** Another row that holds the same content. */
  readonly holder: Holder | undefined
  /** The helper that made the visit, if any, and its cost. */
  readonly help?: { readonly helper: Helper; readonly cost: Cost } | undefined
}

type Cost = NonNullable<Settlement['cost']>

const NO_COST: Cost = { bytes: 0, requests: 0 }

/** Writes the result of a visit; writes nothing when the visit has lost its row. Work of a helper is added to the counts of the helper. */
export async function settle(
  sql: Sql,
  source: number,
  crawl: CrawlRef,
  requested: Settlement,
  helper?: Helper,
): Promise<SettlementResult> {
  const settlement = await breakLoop(sql, source, crawl, requested)
  const { visit, now, checkedAt = now, finds = [], maxRows, aliases = [] } = settlement
  const hash = settlement.record?.page.contentHash
  const { row, holder, isHostKept } = await readDraft(sql, source, crawl, visit.key, hash)
  // The process that holds the host now repeats the visit.
  if (!hasLease(row, settlement) || !isHostKept) return createLostResult(row)
  const help = helper && { helper, cost: settlement.cost ?? NO_COST }
  const context: SettlementContext = { sql, source, crawl: crawl.number, now, row, holder, help }
  recordResponse(row, settlement, crawl.number)
  const { aliases: newAliases, demoted } = await applySettlement(context, settlement)
  await save(context, checkedAt, demoted)
  await writeAliases(sql, source, [...newAliases, ...aliases], now)
  const results = await recordFoundAddresses(sql, source, crawl, finds, now, maxRows)
  if (helper !== undefined) await countDropped(sql, helper, finds, results)
  return createSettledResult(row, results, demoted)
}

/** Counts the finds of a helper that were left out, which is rare. */
async function countDropped(
  sql: Sql,
  helper: Helper,
  finds: readonly FoundAddress[],
  results: readonly OfferResult[],
): Promise<void> {
  const isNewInRefresh = ({ refusal }: FoundAddress, i: number) =>
    results[i] === 'refused' && refusal?.reason === 'new-in-refresh'
  const newInRefresh = finds.filter(isNewInRefresh).length
  const overflow = results.filter((result) => result === 'overflow').length
  if (newInRefresh + overflow > 0) await writeHelp(sql, helper, { newInRefresh, overflow })
}

/** Stores a page without a visit. */
export async function adopt(sql: Sql, source: number, crawl: CrawlRef, adoption: Adoption): Promise<SettlementResult> {
  const { now, find, record, isFull = false, finds, maxRows = Infinity } = adoption
  const { row: known, holder } = await readDraft(sql, source, crawl, find.key, record.page.contentHash)
  if (known === undefined && maxRows !== Infinity && (await countRows(sql, source)) >= maxRows) {
    return createOverflowResult(await recordFoundAddresses(sql, source, crawl, finds, now, maxRows))
  }
  const isNewInCrawl = known?.state === 'indexed' && known.crawl === crawl.number
  const row = known ?? (await insertAdopted(sql, source, adoption))
  if (known !== undefined) await updateAdopted(sql, known, adoption, crawl)
  const context: SettlementContext = { sql, source, crawl: crawl.number, now, row, holder }
  // Settlement expects a leased row; a previous holder of the lease loses it.
  row.state = 'leased'
  recordResponse(row, NO_RESPONSE, crawl.number)
  await writeLinks(sql, row.id, record.links)
  let stored = NO_EFFECTS
  // When an interrupted crawl reads the same list again, a page that it had already stored stays `indexed` and is not stored again.
  if (hasContentOf(row, record) && (isNewInCrawl || !isFull)) {
    await writeClassification(sql, source, row.id, record)
    row.contentHash = row.pageHash
    applyAction(row, isNewInCrawl ? 'index' : 'confirm')
  } else {
    stored = await storePage(context, record)
  }
  await save(context, now, stored.demoted)
  await writeAliases(sql, source, stored.aliases, now)
  return createSettledResult(row, await recordFoundAddresses(sql, source, crawl, finds, now, maxRows), stored.demoted)
}

/** What a settlement reveals or changes besides its own row. */
interface SettlementEffects {
  /** Other addresses of the same content. */
  readonly aliases: readonly Alias[]
  /** The row that lost its content, if this crawl had settled it. */
  readonly demoted: DemotedAddress | null
}

const NO_EFFECTS: SettlementEffects = { aliases: [], demoted: null }

/** Applies a settlement to its row, and returns the effects on other rows. */
async function applySettlement(context: SettlementContext, settlement: Settlement): Promise<SettlementEffects> {
  const { sql, source, row, holder } = context
  const { state, record } = settlement
  const action = choosePageAction(row, settlement)
  const isStored = action === 'store' && record !== undefined
  const links = isStored ? record.links : (settlement.links ?? record?.links)
  if (links !== undefined) await writeLinks(sql, row.id, links)
  if (isStored) return storePage(context, record)
  if (action === 'look') {
    confirmWithoutPage(row, holder, settlement.visit)
  } else if (row.pageHash !== null && action === 'keep') {
    // Two rows may hold the same content after a crawl that proved one of them gone and stopped at the loss gate.
    const claimed = await claimContent(context, row.pageHash)
    if (!claimed.isStoredHere) return claimed
    if (record !== undefined) await writeMetadata(sql, source, row.id, record)
    applyAction(row, 'confirm')
    return claimed
  } else if (state !== 'indexed') {
    applyAction(row, ACTION_BY_STATE[state])
  }
  return NO_EFFECTS
}

async function storePage(context: SettlementContext, record: PageRecord): Promise<SettlementEffects> {
  const { sql, source, row, now } = context
  const claimed = await claimContent(context, record.page.contentHash)
  if (claimed.isStoredHere) {
    await writeContent(sql, source, row.id, record)
    keepPage(row, record, now)
  }
  return claimed
}

/**
 * Ensures that the same content is stored only once per source, under the better of two addresses. Returns whether this row stores the
 * content; if not, the row has become a duplicate.
 */
async function claimContent(
  { sql, row, holder, crawl }: SettlementContext,
  hash: string,
): Promise<SettlementEffects & { readonly isStoredHere: boolean }> {
  row.contentHash = hash
  if (holder === undefined) return { isStoredHere: true, ...NO_EFFECTS }
  const aliases: Alias[] = [{ url: row.url, aliasUrl: holder.url, classification: 'same-content', reason: null }]
  if (compareKeyPreference(holder.key, row.key) < 0) {
    if (demoteToDuplicate(row, holder, hash, crawl)) await removeContent(sql, [row.id])
    return { isStoredHere: false, aliases, demoted: null }
  }
  await removeContent(sql, [holder.id])
  await demoteHolder(sql, holder, row.key, hash)
  return { isStoredHere: true, aliases, demoted: findDemoted(holder, crawl) }
}

/** Takes the content from a row. A row that is still to be fetched only loses its page. */
async function demoteHolder(sql: Sql, { id, state }: Holder, target: string, hash: string): Promise<void> {
  const demoted = nextState(state, 'demote')
  if (demoted === undefined) {
    await sql.run('UPDATE ledger SET page_hash = NULL WHERE id = $1', [id])
    return
  }
  await sql.run(
    `UPDATE ledger SET state = $2, reason = 'duplicate', pattern = NULL, target = $3, content_hash = $4, page_hash = NULL
     WHERE id = $1`,
    [id, demoted, target, packHash(hash)],
  )
}

interface DraftColumns extends Omit<RowDraft, 'contentHash' | 'pageHash'> {
  readonly contentHash: Uint8Array | null
  readonly pageHash: Uint8Array | null
}

interface DraftLookupColumns extends DraftColumns {
  /** Whether the host still has the holder that leased the row. */
  readonly isHostKept: boolean
  readonly holderId: number | null
  readonly holderKey: string
  readonly holderUrl: string
  readonly holderState: Holder['state']
  readonly holderCheckedAt: number | null
  readonly holderCrawl: number | null
}

const COLUMNS = `l.id, l.key, l.url, l.state, l.reason, l.pattern, l.target, l.status, l.detail, l.etag,
  l.last_modified AS "lastModified", l.content_url AS "contentUrl", l.is_shell AS "isShell", l.content_hash AS "contentHash",
  l.page_hash AS "pageHash", l.words, l.attempts, l.checked_at AS "checkedBefore", l.changed_at AS "changedAt",
  l.due_at AS "dueAt", l.is_final AS "isFinal", l.awaits_confirmation AS "awaitsConfirmation",
  l.proven_crawl AS "provenCrawl", l.depth, l.crawl, l.lease`

// Without a given hash, the content is that of the row's own page, or else of its last response.
const SELECT_DRAFT = `SELECT ${COLUMNS}, coalesce(split_part(l.lease, ':', 1) = c.token::text, true) AS "isHostKept", h.id AS "holderId", h.key AS "holderKey", h.url AS "holderUrl", h.state AS "holderState", h.checked_at AS "holderCheckedAt", h.crawl AS "holderCrawl"
  FROM (SELECT 1) AS one
    LEFT JOIN ledger l ON l.source = $1 AND digest_of(l.key) = digest_of($2) AND l.key = $2
    LEFT JOIN hosts c ON c.host = l.host
    LEFT JOIN LATERAL (
      SELECT o.id, o.key, o.url, o.state, o.checked_at, o.crawl FROM ledger o
      WHERE o.source = $1 AND o.page_hash = coalesce($3, l.page_hash, l.content_hash) AND o.id IS DISTINCT FROM l.id
        AND o.proven_crawl IS DISTINCT FROM $4
      ORDER BY o.key LIMIT 1) h ON true`

/** Reads a row, and another row that holds the content, except rows that the same crawl proved gone. */
async function readDraft(
  sql: Sql,
  source: number,
  crawl: CrawlRef,
  key: string,
  hash: string | undefined,
): Promise<{ readonly row: RowDraft | undefined; readonly holder: Holder | undefined; readonly isHostKept: boolean }> {
  const found = await sql.get<DraftLookupColumns>(SELECT_DRAFT, [
    source,
    key,
    hash === undefined ? null : packHash(hash),
    crawl.number,
  ])
  if (found === undefined) return { row: undefined, holder: undefined, isHostKept: false }
  const { isHostKept, holderId, holderKey, holderUrl, holderState, holderCheckedAt, holderCrawl, ...columns } = found
  const holder =
    holderId === null
      ? undefined
      : {
          id: holderId,
          key: holderKey,
          url: holderUrl,
          state: holderState,
          checkedAt: holderCheckedAt,
          crawl: holderCrawl,
        }
  return { row: columns.id === null ? undefined : toDraft(columns), holder, isHostKept }
}

async function insertAdopted(sql: Sql, source: number, { find, now }: Adoption): Promise<RowDraft> {
  const { key, url, host, depth, discovery, foundOn } = find
  const inserted = await sql.get<DraftColumns>(
    `INSERT INTO ledger AS l (source, state, depth, key, url, host, discovery, found_on, first_seen_at)
     VALUES ($1, 'leased', $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [source, depth, key, url, host, discovery, foundOn, now],
  )
  if (inserted === undefined) throw new TypeError(`the row of ${key} was not written`)
  return toDraft(inserted)
}

async function updateAdopted(sql: Sql, row: RowDraft, adoption: Adoption, crawl: CrawlRef): Promise<void> {
  const { discovery, foundOn } = adoption.find
  await sql.run('UPDATE ledger SET depth = $2, discovery = $3, found_on = $4 WHERE id = $1', [
    row.id,
    computeAdoptedDepth(row, adoption, crawl),
    discovery,
    foundOn,
  ])
}

const SAVE = `UPDATE ledger SET state = $2, reason = $3, pattern = $4, target = $5, status = $6, detail = $7, etag = $8,
    last_modified = $9, content_url = $10, is_shell = $11, content_hash = $12, page_hash = $13, words = $14, attempts = $15,
    changed_at = $16, due_at = $17, is_final = $18, awaits_confirmation = $19, proven_crawl = $20, checked_at = $21,
    crawl = $22, url = $23, lease = NULL, leased_until = NULL
  WHERE id = $1`
const SAVE_AND_COUNT = `WITH counted AS (${addHelpSql(24)}) ${SAVE}`

async function save(
  { sql, row, crawl, help }: SettlementContext,
  checkedAt: number | null,
  demoted: DemotedAddress | null,
): Promise<void> {
  const { contentHash, pageHash } = row
  const values = [
    row.id,
    row.state,
    row.reason,
    row.pattern,
    row.target,
    row.status,
    row.detail,
    row.etag,
    row.lastModified,
    row.contentUrl,
    row.isShell,
    contentHash === null ? null : packHash(contentHash),
    pageHash === null ? null : packHash(pageHash),
    row.words,
    row.attempts,
    row.changedAt,
    row.dueAt,
    row.isFinal,
    row.awaitsConfirmation,
    row.provenCrawl,
    computeCheckedAt(row, checkedAt),
    crawl,
    row.url,
  ]
  if (help === undefined) await sql.run(SAVE, values)
  else await sql.run(SAVE_AND_COUNT, [...values, ...helpValues(help.helper, helpOf(row, help.cost, demoted))])
}

function toDraft(found: DraftColumns): RowDraft {
  const { contentHash, pageHash } = found
  return {
    ...found,
    contentHash: contentHash === null ? null : unpackHash(contentHash),
    pageHash: pageHash === null ? null : unpackHash(pageHash),
  }
}
