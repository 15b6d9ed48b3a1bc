import type { LedgerRow, Refusal } from '../crawl/ledger.ts'
import type { ArchiveContent, ContentFile } from './archive/content.ts'
import { createLazy } from './lazy-resource.ts'

/** Reasons that depend on limits or on the kind of crawl, so another run may read the file. */
const TRANSIENT_REASONS: ReadonlySet<string> = new Set(['page-cap', 'new-in-refresh', 'too-large', 'overflow'])

/**
 * The content of an archive according to the ledger, if all of it was read from this same archive. Nothing is downloaded unless a file must
 * be read. Undefined when the ledger is incomplete.
 */
export function createKnownContent(
  rows: readonly LedgerRow[],
  stamp: string,
  open: () => Promise<ArchiveContent>,
): ArchiveContent | undefined {
  const known = rows.filter(({ state }) => state !== 'gone')
  if (!known.some(({ hasPage }) => hasPage) || !known.every((row) => isSettled(row, stamp))) return undefined
  const containers = known.filter(({ reason }) => reason === 'container').map(({ key }) => `${key}#`)
  const files = new Map<string, ContentFile>()
  const refused = new Map<string, Refusal>()
  for (const { key, reason, pattern, lastModified } of known) {
    // Pages of a file with several pages come with the file.
    if (containers.some((prefix) => key.startsWith(prefix))) continue
    if (lastModified === stamp) files.set(key, { size: 0 })
    else if (reason !== null) refused.set(key, { reason, pattern, target: null })
  }
  const content = createLazy(open)
  return {
    files,
    links: new Set(),
    refused,
    read: async (path) => (await content.open()).read(path),
    close: content.close,
  }
}

/** Whether the result for a file is final: it was read from this archive, or skipped for a reason that cannot change. */
function isSettled({ state, reason, hasPage, lastModified }: LedgerRow, stamp: string): boolean {
  if (hasPage || state === 'indexed' || state === 'unchanged') return lastModified === stamp
  return state === 'skipped' && reason !== null && !TRANSIENT_REASONS.has(reason)
}
