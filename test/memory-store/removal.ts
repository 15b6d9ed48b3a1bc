import { applyAction, type Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Rows whose pages a crawl proved gone or, with `withUnseen`, did not see. */
export function listRemovable(ledger: SourceLedger, crawlId: string, withUnseen: boolean): Row[] {
  return ledger.rows().filter((row) => isRemovable(ledger, row, crawlId, withUnseen))
}

/** Whether a row holds a page that is about to be removed. */
export function isRemovable(ledger: SourceLedger, row: Row, crawlId: string, withUnseen: boolean): boolean {
  const isUnseen = withUnseen && row.crawlId !== crawlId
  return row.hasPage && (isProven(ledger, row, crawlId) || isUnseen)
}

/**
 * Removes the pages that {@link listRemovable} returns, and returns their number. With `withUnseen`, also marks failed addresses as gone
 * that this crawl did not see.
 */
export function removeProven(ledger: SourceLedger, crawlId: string, withUnseen: boolean): number {
  const removable = listRemovable(ledger, crawlId, withUnseen)
  const unseenFailed = ledger.rows().filter((row) => row.state === 'failed' && !row.hasPage && row.crawlId !== crawlId)
  for (const row of removable) {
    const goneRow = markGone(row, row.provenCrawl === crawlId)
    ledger.put({ ...goneRow, record: null, links: keepsLinks(goneRow) ? row.links : null, provenCrawl: null })
  }
  if (withUnseen) for (const row of unseenFailed) ledger.put(markGone(row, false))
  return removable.length
}

/** Whether a page is proven gone. A page that moved counts only once its target holds a page. */
function isProven(ledger: SourceLedger, row: Row, crawlId: string): boolean {
  const hasMoved = row.reason === 'redirect' || row.reason === 'canonical' || row.reason === 'duplicate'
  return row.provenCrawl === crawlId && (!hasMoved || ledger.holds(row.target))
}

/** Whether a row without its page still counts as read, so that its links stay valid. */
function keepsLinks({ state, reason }: Row): boolean {
  return state === 'skipped' && reason !== 'redirect'
}

/** Marks a row as gone; its reason becomes `unlinked` unless it is proven gone. A skipped row keeps its state and reason. */
function markGone(row: Row, isProvenGone: boolean): Row {
  const goneRow = applyAction(row, 'remove')
  return goneRow.state !== 'gone' || isProvenGone
    ? goneRow
    : { ...goneRow, reason: 'unlinked', pattern: null, target: null }
}
