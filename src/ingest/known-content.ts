import type { LedgerRow, Refusal } from '../crawl/ledger.ts'
import type { ArchiveContent, ContentFile } from './archive-content.ts'

/** Reasons that say nothing about a file itself: another run may read it. */
const FOR_A_WHILE: ReadonlySet<string> = new Set(['page-cap', 'new-in-refresh', 'too-large', 'overflow'])

/**
 * What an archive holds, by what the ledger has of it since that very archive was read: nothing is downloaded, unless a file has to be
 * read after all. Undefined where the ledger does not have all of it.
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
    // Pages of a file that holds several come along with it.
    if (containers.some((start) => key.startsWith(start))) continue
    if (lastModified === stamp) files.set(key, { size: 0 })
    else if (reason !== null) refused.set(key, { reason, pattern, target: null })
  }
  let opening: Promise<ArchiveContent> | undefined
  return {
    files,
    links: new Set(),
    refused,
    async read(path) {
      opening ??= open()
      return (await opening).read(path)
    },
    async close() {
      // What failed to open needs no end.
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** Whether nothing is open about a file: it was read from this archive, or passed over for what it is. */
function isSettled({ state, reason, hasPage, lastModified }: LedgerRow, stamp: string): boolean {
  if (hasPage || state === 'indexed' || state === 'unchanged') return lastModified === stamp
  return state === 'skipped' && reason !== null && !FOR_A_WHILE.has(reason)
}
