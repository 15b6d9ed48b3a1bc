import type { LedgerRow } from '../../../crawl/ledger.ts'
import { selectColumns } from '../columns.ts'

/** A ledger row as it is selected, with its hash and flags in their database form. */
export interface LedgerRowRecord<Hash> extends Omit<LedgerRow, 'contentHash' | 'hasPage' | 'isShell'> {
  readonly contentHash: Hash | null
  readonly hasPage: boolean | 0 | 1
  readonly isShell: boolean | 0 | 1
}

const COLUMNS = `key, url, host, state, reason, pattern, target, depth, found_on, discovery, etag, last_modified, content_hash, attempts,
  status, detail, first_seen_at, checked_at, changed_at, due_at, is_shell`

/** SQL that selects ledger rows l. */
export const SELECT_ROWS: string = `SELECT s.uuid AS "sourceId", ${selectColumns(COLUMNS, 'l')}, c.uuid AS "crawlId",
    l.page_hash IS NOT NULL AS "hasPage"
  FROM ledger l JOIN sources s ON s.id = l.source LEFT JOIN crawl_ids c ON c.id = l.crawl`

/** SQL condition for rows l that were settled without reading all their links. */
export const HAS_UNREAD_LINKS = `(l.state IN ('indexed', 'unchanged')
  OR l.state IN ('skipped', 'failed') AND NOT EXISTS (SELECT 1 FROM links k WHERE k.id = l.id))`

/** Converts a selected row. */
export function toLedgerRow<Hash>(found: LedgerRowRecord<Hash>, unpackHash: (hash: Hash) => string): LedgerRow {
  const contentHash = found.contentHash === null ? null : unpackHash(found.contentHash)
  return { ...found, contentHash, hasPage: Boolean(found.hasPage), isShell: Boolean(found.isShell) }
}
