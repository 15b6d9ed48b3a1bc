import type { FoundAddress, OfferResult } from '../../src/crawl/ledger.ts'
import { isFilterReason } from '../../src/crawl/ledger-reasons.ts'
import { decideRowChange } from '../../src/crawl/transitions.ts'
import { createRow, NO_PENDING_WORK, type Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Records finds in order and returns the result of each. The source never exceeds its maximum number of rows. */
export function recordFoundAddresses(
  ledger: SourceLedger,
  crawlId: string,
  finds: readonly FoundAddress[],
  now: number,
  maxRows: number = Infinity,
): OfferResult[] {
  return finds.map((find) => {
    const row = ledger.get(find.key)
    const { result, write, state, depth, weight } = decideRowChange(row, find, crawlId, ledger.size < maxRows)
    if (write === 'insert') ledger.put({ ...createRow(ledger.sourceId, crawlId, find, now), ...find.refusal, state })
    else if (row !== undefined && write === 'touch') ledger.put({ ...row, depth, weight, crawlId })
    else if (row !== undefined && write === 'name') {
      // The site itself links to or lists an address that the planner guessed in vain, so the missed guess becomes a failure.
      const { foundOn, discovery } = find
      ledger.put({ ...row, state, reason: 'not-found', foundOn, discovery })
    } else if (row !== undefined && write === 'update')
      ledger.put({ ...updateRow(row, find, result), state, depth, weight, crawlId })
    return result
  })
}

/**
 * Resets a row so that it is fetched again. Clears its reason, but keeps the target of a duplicate, because the next visit reports the
 * previous target.
 */
export function readmit(row: Row): Row {
  const target = row.reason === 'duplicate' ? row.target : null
  return { ...row, ...NO_PENDING_WORK, reason: null, pattern: null, target, provenCrawl: null }
}

function updateRow(row: Row, find: FoundAddress, result: OfferResult): Row {
  if (result === 'refused') return { ...row, ...find.refusal }
  const { url, host, foundOn, discovery } = find
  return wasRefusedOrMissed(row) ? { ...readmit(row), url, host, foundOn, discovery } : readmit(row)
}

/**
 * Whether the address filter refused a row, or the row is a missed guess of the planner. The find that admits such a row counts as its
 * first, so it replaces the URL, host and discovery of the row.
 */
function wasRefusedOrMissed({ state, reason }: Row): boolean {
  return state === 'skipped' && (isFilterReason(reason) || reason === 'guess-missed')
}
