import { readCommit } from '../../core/url/repository-url.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { type LedgerRow, REASONS, type Reason } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { countRead, hasOwnScope, reportSource, type SourceReport } from './source-status.ts'

/** A report with the addresses that a person asks about. */
export interface SourceDescription extends SourceReport {
  /** Pages that the last crawl has taken in or found unchanged. */
  readonly crawled: number
  /** The commit that was read last of a repository; null for everything else. */
  readonly commit: string | null
  /** Addresses that failed, as many as asked for. */
  readonly errors: readonly LedgerRow[]
  /** Pages that only the scope of the last crawl refused, and that stay. */
  readonly kept: number
  /** Addresses that the gate refused, as many as asked for; those that somebody's own rules refused come first. */
  readonly filtered: readonly LedgerRow[]
  /** Addresses that were left out for another reason, as many as asked for; those that stand for another one come last. */
  readonly leftOut: readonly LedgerRow[]
}

/** Reasons for which the scope refuses an address, the most surprising first: links to other sites are many and expected. */
export const FILTER_REASONS: readonly Reason[] = ['blocked', 'not-allowed', 'max-depth', 'out-of-scope', 'off-site']

/** Reasons that need no attention: the kind of address, the place of its content, or how it was found. */
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

/** All other reasons to leave an address out. */
const OTHER_REASONS: readonly Reason[] = [
  'page-cap',
  'too-many-links',
  ...REASONS.filter((reason) => ![...FILTER_REASONS, ...PLAIN_REASONS, 'page-cap'].includes(reason)),
  ...PLAIN_REASONS,
]

/** Reports on one source, with up to `limit` addresses that failed, as many that were refused and as many left out. */
export async function describeSource(library: Library, source: Source, limit: number): Promise<SourceDescription> {
  const { store } = library
  const report = await reportSource(library, source)
  const { reasons } = report
  const listSkipped = async (which: readonly Reason[]) => {
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
  const kept = await readKept(library, report, limit)
  const filtered = [...kept.rows, ...(await listSkipped(FILTER_REASONS))].slice(0, limit)
  const leftOut = await listSkipped(OTHER_REASONS)
  const crawled = await countCrawled(library, report)
  return { ...report, crawled, commit: await findCommit(library, source), errors, kept: kept.count, filtered, leftOut }
}

/** Pages that only the scope of the last crawl refused. What judges them takes long to load, and is rarely needed. */
async function readKept(library: Library, { source, crawl, isRunning }: SourceReport, limit: number) {
  if (crawl === null || isRunning || !hasOwnScope(crawl)) return { count: 0, rows: [] }
  const { listKept } = await import('./last-refusals.ts')
  return listKept(library, source, crawl, limit)
}

async function countCrawled({ store }: Library, report: SourceReport): Promise<number> {
  const { source, crawl } = report
  if (crawl === null) return 0
  const { indexed, unchanged } = countRead(report)
  return crawl.summary?.cappedAt == null ? store.countPages(source.id, crawl.id) : indexed + unchanged
}

/** Every page of a repository is at the commit that was read last. */
async function findCommit({ store }: Library, { id, url }: Source): Promise<string | null> {
  if (treeKindOf(url) !== 'repository') return null
  for (const state of ['indexed', 'unchanged'] as const) {
    const [row] = await store.listRows(id, { state, limit: 1 })
    if (row !== undefined) return readCommit(url, row.url) ?? null
  }
  return null
}
