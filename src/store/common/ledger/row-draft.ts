import type { LedgerState, Reason } from '../../../crawl/ledger-reasons.ts'
import { valuesOf } from '../columns.ts'

/** A row during a settlement. */
export interface RowDraft {
  readonly id: number
  readonly key: string
  url: string
  state: LedgerState
  reason: Reason | null
  pattern: string | null
  target: string | null
  status: number | null
  detail: string | null
  etag: string | null
  lastModified: string | null
  contentUrl: string | null
  isShell: boolean
  contentHash: string | null
  pageHash: string | null
  words: number | null
  attempts: number
  checkedAt: number | null
  changedAt: number | null
  dueAt: number | null
  isFinal: boolean
  awaitsConfirmation: boolean
  provenCrawl: number | null
  readonly depth: number
  /** The last crawl that saw the row. */
  crawl: number | null
  readonly lease: string | null
}

/** The columns that a settlement writes. */
export const SETTLED_COLUMNS: string = `url, state, reason, pattern, target, status, detail, etag, last_modified, content_url, is_shell,
  content_hash, page_hash, words, attempts, checked_at, changed_at, due_at, is_final, awaits_confirmation, proven_crawl, crawl`

/** The columns that a settlement reads. */
export const DRAFT_COLUMNS: string = `id, key, depth, lease, ${SETTLED_COLUMNS}`

/** The row as it is selected, with hashes and flags in their database form. */
export interface DraftRecord<Hash>
  extends Omit<RowDraft, 'contentHash' | 'pageHash' | 'isShell' | 'isFinal' | 'awaitsConfirmation'> {
  readonly contentHash: Hash | null
  readonly pageHash: Hash | null
  readonly isShell: boolean | 0 | 1
  readonly isFinal: boolean | 0 | 1
  readonly awaitsConfirmation: boolean | 0 | 1
}

/** Converts a selected row. */
export function toDraft<Hash>(found: DraftRecord<Hash>, unpackHash: (hash: Hash) => string): RowDraft {
  return {
    ...found,
    contentHash: found.contentHash === null ? null : unpackHash(found.contentHash),
    pageHash: found.pageHash === null ? null : unpackHash(found.pageHash),
    isShell: Boolean(found.isShell),
    isFinal: Boolean(found.isFinal),
    awaitsConfirmation: Boolean(found.awaitsConfirmation),
  }
}

/** The values of {@link SETTLED_COLUMNS}. */
export function toSettledValues<Hash>(row: RowDraft, packHash: (hash: string) => Hash): unknown[] {
  const contentHash = row.contentHash === null ? null : packHash(row.contentHash)
  const pageHash = row.pageHash === null ? null : packHash(row.pageHash)
  return valuesOf(SETTLED_COLUMNS, { ...row, contentHash, pageHash })
}
