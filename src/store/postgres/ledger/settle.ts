import type { FoundAddress, OfferResult } from '../../../crawl/ledger.ts'
import {
  type Adoption,
  createOverflowResult,
  type Settlement,
  type SettlementResult,
} from '../../../crawl/settlement.ts'
import { listColumns, selectColumns } from '../../common/columns.ts'
import { packHash, unpackHash } from '../../common/hash.ts'
import type { CrawlRef } from '../../common/ledger/crawl-ref.ts'
import {
  computeAdoptedDepth,
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
import { removeContent, writeClassification, writeContent, writeLinks, writeMetadata } from '../content.ts'
import type { Sql } from '../database/database.ts'
import { writeAliases } from './aliases.ts'
import { addHelpSql, type Helper, helpOf, helpValues, writeHelp } from './crawl-sharing.ts'
import { countRows, recordFoundAddresses } from './found-addresses.ts'
import { breakLoop } from './redirect-loop.ts'

/** Writes the result of a visit; writes nothing when the visit has lost its row. Work of a helper is added to the counts of the helper. */
export async function settle(
  sql: Sql,
  source: number,
  crawl: CrawlRef,
  requested: Settlement,
  helper?: Helper,
): Promise<SettlementResult> {
  const settlement = await breakLoop(sql, source, crawl, requested)
  const { visit, now, finds = [], maxRows, cost = NO_COST } = settlement
  const hash = settlement.record?.page.contentHash
  const { row, holder, isHostKept } = await readDraft(sql, source, crawl, visit.key, hash)
  // The process that holds the host now repeats the visit.
  if (!hasLease(row, settlement) || !isHostKept) return createLostResult(row)
  const writes = decideSettlement({ row, holder }, settlement, crawl.number)
  await write(sql, source, writes, now, helper && { helper, cost })
  const results = await recordFoundAddresses(sql, source, crawl, finds, now, maxRows)
  if (helper !== undefined) await countDropped(sql, helper, finds, results)
  return createSettledResult(writes, results)
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
  const { now, find, record, finds, maxRows = Infinity } = adoption
  const { row: known, holder } = await readDraft(sql, source, crawl, find.key, record.page.contentHash)
  if (known === undefined && maxRows !== Infinity && (await countRows(sql, source)) >= maxRows) {
    return createOverflowResult(await recordFoundAddresses(sql, source, crawl, finds, now, maxRows))
  }
  const row = known ?? (await insertAdopted(sql, source, adoption))
  if (known !== undefined) await updateAdopted(sql, known, adoption, crawl)
  const writes = decideAdoption({ row, holder }, adoption, crawl.number)
  await write(sql, source, writes, now)
  return createSettledResult(writes, await recordFoundAddresses(sql, source, crawl, finds, now, maxRows))
}

/** The helper that made a visit, and the cost of the visit. */
interface Help {
  readonly helper: Helper
  readonly cost: NonNullable<Settlement['cost']>
}

const NO_COST: Help['cost'] = { bytes: 0, requests: 0 }

const SAVE = `UPDATE ledger SET ${listColumns(SETTLED_COLUMNS)
  .map((column, i) => `${column} = $${i + 2}`)
  .join(', ')}, lease = NULL, leased_until = NULL WHERE id = $1`
const SAVE_AND_COUNT = `WITH counted AS (${addHelpSql(listColumns(SETTLED_COLUMNS).length + 2)}) ${SAVE}`

async function write(sql: Sql, source: number, writes: SettlementWrites, now: number, help?: Help): Promise<void> {
  const { row, links, demotion, page, aliases } = writes
  if (links !== undefined) await writeLinks(sql, row.id, links)
  if (demotion !== null) await demoteHolder(sql, demotion, row)
  await writePage(sql, source, row.id, page)
  const values = [row.id, ...toSettledValues(row, packHash)]
  if (help === undefined) await sql.run(SAVE, values)
  else {
    const counts = helpOf(row, help.cost, demotion?.demoted ?? null)
    await sql.run(SAVE_AND_COUNT, [...values, ...helpValues(help.helper, counts)])
  }
  await writeAliases(sql, source, aliases, now)
}

async function writePage(sql: Sql, source: number, row: number, page: SettlementWrites['page']): Promise<void> {
  if (page?.action === 'store') await writeContent(sql, source, row, page.record)
  else if (page?.action === 'metadata') await writeMetadata(sql, source, row, page.record)
  else if (page?.action === 'classification') await writeClassification(sql, source, row, page.record)
  else if (page?.action === 'remove') await removeContent(sql, [row])
}

async function demoteHolder(sql: Sql, { holder, state }: Demotion, { key, contentHash }: RowDraft): Promise<void> {
  await removeContent(sql, [holder.id])
  if (state === undefined) {
    await sql.run('UPDATE ledger SET page_hash = NULL WHERE id = $1', [holder.id])
    return
  }
  await sql.run(
    `UPDATE ledger SET state = $2, reason = 'duplicate', pattern = NULL, target = $3, content_hash = $4, page_hash = NULL
     WHERE id = $1`,
    [holder.id, state, key, contentHash === null ? null : packHash(contentHash)],
  )
}

type DraftColumns = DraftRecord<Uint8Array>

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

const COLUMNS = selectColumns(DRAFT_COLUMNS, 'l')

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
  return { row: columns.id === null ? undefined : toDraft(columns, unpackHash), holder, isHostKept }
}

async function insertAdopted(sql: Sql, source: number, { find, now }: Adoption): Promise<RowDraft> {
  const { key, url, host, depth, discovery, foundOn } = find
  const inserted = await sql.get<DraftColumns>(
    `INSERT INTO ledger AS l (source, state, depth, key, url, host, discovery, found_on, first_seen_at)
     VALUES ($1, 'leased', $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [source, depth, key, url, host, discovery, foundOn, now],
  )
  if (inserted === undefined) throw new TypeError(`the row of ${key} was not written`)
  return toDraft(inserted, unpackHash)
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
