import { keyPath } from '../../core/url/key.ts'
import type { LedgerCounts } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import { readRows } from '../read-rows.ts'
import type { Source } from '../source.ts'
import { isTree } from '../tree.ts'

/** The scope that a source probably needs instead of its own. */
export interface WiderScope {
  /** Addresses of the same site that the scope refused. */
  readonly refused: number
  /** How many of them an llms.txt or a sitemap lists. */
  readonly listed: number
  /** Path of the folder that holds most of them, such as `/docs/`; null where only the whole host does. */
  readonly folder: string | null
}

const LISTS: ReadonlySet<string> = new Set(['llms-txt', 'llms-full', 'sitemap'])

/**
 * Finds the scope that takes in what the scope of a source refused. Returns undefined where the source has other pages than its start: then
 * its scope fits.
 */
export async function findWiderScope(
  { store }: Pick<Library, 'store'>,
  source: Source,
  pages: number,
  { reasons }: Pick<LedgerCounts, 'reasons'>,
): Promise<WiderScope | undefined> {
  if (pages !== 1 || isTree(source) || (reasons['skipped/out-of-scope'] ?? 0) === 0) return undefined
  const folders = foldersAbove(keyPath(new URL(source.siteUrl)))
  const counts = new Map(folders.map((folder) => [folder, 0]))
  let refused = 0
  let listed = 0
  for await (const rows of readRows(store, source.id, { state: 'skipped', reason: 'out-of-scope' })) {
    for (const { url, discovery } of rows) {
      refused++
      if (LISTS.has(discovery)) listed++
      const path = `${keyPath(new URL(url))}/`
      for (const folder of folders) if (path.startsWith(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
  }
  // The smallest folder that holds at least half of them. The root is the whole host, and a pattern is made of the path of any other.
  const best = folders.find((folder) => (counts.get(folder) ?? 0) * 2 >= refused)
  const folder = best === undefined || best === '/' || /[*?[\]{}!]/.test(best) ? null : best
  return { refused, listed, folder }
}

/** `/docs/guide/start` → `/docs/guide/`, `/docs/`, `/` */
function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let end = path.lastIndexOf('/'); end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end + 1))
  }
  return folders
}
