import { keyPath } from '../../core/url/key.ts'
import type { Ledger, LedgerCounts } from '../ledger.ts'
import { isListed } from '../ledger-reasons.ts'

/** A suggested scope for a source whose own scope is too narrow. */
export interface WiderScope {
  /** Pages within the own scope. */
  readonly pages: number
  /** Addresses of the same site that the scope refused. */
  readonly refused: number
  /** Refused addresses that an llms.txt or a sitemap lists. */
  readonly listed: number
  /** Path of the folder that holds at least half of the refused addresses, such as `/docs/`; null for the whole host. */
  readonly folder: string | null
}

/** A source with more pages gets no suggestion. */
const MAX_PAGES = 3
/** If the source has more than one page, the folder must hold this many refused addresses for each page. */
const MIN_RATIO = 3
/** Number of rows per query. */
const BATCH = 1000

/**
 * Finds a scope that includes the addresses that the scope of a source refused. Returns undefined if the source has no page or many pages,
 * or if the refused addresses are elsewhere on the site.
 */
export async function findWiderScope(
  ledger: Pick<Ledger, 'listRows'>,
  { sourceId, siteUrl }: { readonly sourceId: string; readonly siteUrl: string },
  { states, reasons }: LedgerCounts,
): Promise<WiderScope | undefined> {
  const pages = states.indexed + states.unchanged
  if (pages === 0 || pages > MAX_PAGES || (reasons['skipped/out-of-scope'] ?? 0) === 0) return undefined
  const folders = foldersAbove(keyPath(new URL(siteUrl)))
  const counts = new Map(folders.map((folder) => [folder, 0]))
  let refused = 0
  let listed = 0
  for (let after = ''; ; ) {
    const rows = await ledger.listRows(sourceId, { state: 'skipped', reason: 'out-of-scope', after, limit: BATCH })
    for (const { url, discovery } of rows) {
      refused++
      if (isListed(discovery)) listed++
      const path = `${keyPath(new URL(url))}/`
      for (const folder of folders) if (path.startsWith(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH) break
    after = last.key
  }
  // The smallest folder that holds at least half of the refused addresses. The root stands for the whole host, and so does a
  // folder that cannot be written as a pattern.
  const best = folders.find((folder) => (counts.get(folder) ?? 0) * 2 >= refused)
  const folder = best === undefined || best === '/' || /[*?[\]{}!]/.test(best) ? null : best
  const isWideEnough = pages > 1 && (folder === null || (counts.get(folder) ?? 0) < pages * MIN_RATIO)
  return isWideEnough ? undefined : { pages, refused, listed, folder }
}

/** `/docs/guide/start` → `/docs/guide/`, `/docs/`, `/` */
function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let end = path.lastIndexOf('/'); end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end + 1))
  }
  return folders
}
