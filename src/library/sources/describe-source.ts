import { readCommit } from '../../core/url/repository-url.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { type LedgerRow, NOTHING_SETTLED, type SettledCounts } from '../../crawl/ledger.ts'
import { REASONS, type Reason } from '../../crawl/ledger-reasons.ts'
import type { Library, SourceState } from '../library.ts'
import type { Source } from '../source.ts'
import { hasOwnScope, reportSource, type SourceReport } from './source-status.ts'

/** A report with lists of addresses for a user. */
export interface SourceDescription extends SourceReport {
  /** What the last crawl has settled. */
  readonly settled: SettledCounts
  /** The commit last read, for a repository; null for other sources. */
  readonly commit: string | null
  /** Failed addresses, up to the limit. */
  readonly errors: readonly LedgerRow[]
  /** Number of stored pages that a scope given only for the last crawl refused. */
  readonly kept: number
  /** Addresses that the scope refused, up to the limit; those refused by user-defined rules come first. */
  readonly filtered: readonly LedgerRow[]
  /** Addresses skipped for another reason, up to the limit; those that refer to another address come last. */
  readonly leftOut: readonly LedgerRow[]
}

/** Reasons for which the scope refuses an address, most surprising first: links to other sites are many and expected. */
export const FILTER_REASONS: readonly Reason[] = ['blocked', 'not-allowed', 'max-depth', 'out-of-scope', 'off-site']

/** Reasons that need no attention: the kind of address, where its content is, or how it was found. */
const PLAIN_REASONS: readonly Reason[] = [
  'query-skip',
  'excluded',
  'bad-url',
  'scheme',
  'nofollow',
  'new-in-refresh',
  'redirect',
  'canonical',
  'duplicate',
  'covered',
]

/** Reasons that come first: a limit left out addresses that would otherwise have been read. */
const LIMIT_REASONS: readonly Reason[] = ['page-cap', 'too-many-links']

/** All reasons for skipping an address except those of the scope. */
const OTHER_REASONS: ReadonlySet<Reason> = new Set([
  ...LIMIT_REASONS,
  ...REASONS.filter((reason) => !FILTER_REASONS.includes(reason) && !PLAIN_REASONS.includes(reason)),
  ...PLAIN_REASONS,
])

/** Reports on a source, with up to `limit` failed, refused and skipped addresses each. */
export async function describeSource(
  library: SourceState & Pick<Library, 'vectors'>,
  source: Source,
  limit: number,
): Promise<SourceDescription> {
  const { store } = library
  const report = await reportSource(library, source)
  const { reasons } = report
  const listSkipped = async (which: Iterable<Reason>) => {
    const rows: LedgerRow[] = []
    for (const reason of which) {
      if (rows.length >= limit) break
      if ((reasons[`skipped/${reason}`] ?? 0) === 0) continue
      const found = await store.listRows(source.id, { state: 'skipped', reason, limit: limit - rows.length })
      for (const row of found) rows.push(row)
    }
    return rows
  }
  const errors = limit === 0 ? [] : await store.listRows(source.id, { state: 'failed', limit })
  const refusals = await readLastRefusals(library, report, limit)
  const filtered = [...refusals.rows, ...(await listSkipped(FILTER_REASONS))].slice(0, limit)
  const leftOut = await listSkipped(OTHER_REASONS)
  const settled = await countSettled(library, report)
  const commit = await findCommit(library, source)
  return { ...report, settled, commit, errors, kept: refusals.count, filtered, leftOut }
}

/**
 * Lists stored pages that a scope given only for the last crawl refused. The module is imported lazily, because it is slow to load and
 * rarely needed.
 */
async function readLastRefusals(
  library: Pick<Library, 'limits' | 'store'>,
  { source, crawl, isRunning }: SourceReport,
  limit: number,
) {
  if (crawl === null || isRunning || !hasOwnScope(crawl)) return { count: 0, rows: [] }
  const { listLastRefusals } = await import('./last-refusals.ts')
  return listLastRefusals(library, source, crawl, limit)
}

/** Counts what the last crawl has settled. In the ledger, pages that its page limit left out count as unchanged too. */
async function countSettled(
  { store }: Pick<Library, 'store'>,
  { source, crawl }: SourceReport,
): Promise<SettledCounts> {
  if (crawl === null) return NOTHING_SETTLED
  const { summary } = crawl
  return summary?.cappedAt == null ? store.countSettled(source.id, crawl.id) : summary
}

/** Reads the commit from any page, because all pages of a repository are at the commit last read. */
async function findCommit({ store }: Pick<Library, 'store'>, { id, url }: Source): Promise<string | null> {
  if (treeKindOf(url) !== 'repository') return null
  for (const state of ['indexed', 'unchanged'] as const) {
    const [row] = await store.listRows(id, { state, limit: 1 })
    if (row !== undefined) return readCommit(url, row.url) ?? null
  }
  return null
}
