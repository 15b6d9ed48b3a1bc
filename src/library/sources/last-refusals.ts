import { createAddressFilter } from '../../crawl/addresses/address-filter.ts'
import type { LedgerRow, Refusal } from '../../crawl/ledger.ts'
import { readRows } from '../copy/read-rows.ts'
import { resolveScope } from '../crawl/add-source.ts'
import { findSiteUrl } from '../crawl/find-start.ts'
import { TreeSurvey } from '../import/tree-survey.ts'
import type { Library } from '../library.ts'
import type { Crawl } from '../ports/store.ts'
import { isTree } from '../ports/tree.ts'
import type { Source } from '../source.ts'
import { hasOwnScope } from './source-status.ts'

/** Returns why the scope of the last crawl refused the stored page of a row; null if it did not. */
export type LastRefusalFinder = (row: LedgerRow) => Refusal | null

/**
 * Judges stored pages by a scope that was given only for the last crawl. Such a scope does not change stored rows, so the refusals must be
 * computed again.
 */
export async function createLastRefusalFinder(
  library: Pick<Library, 'limits' | 'store'>,
  source: Source,
  crawl: Crawl | null,
): Promise<LastRefusalFinder> {
  if (crawl === null || !hasOwnScope(crawl)) return () => null
  const findRefusal = await createScopeCheck(library, source, crawl)
  return (row) => (row.hasPage && row.crawlId !== crawl.id ? findRefusal(row) : null)
}

async function createScopeCheck(
  library: Pick<Library, 'limits' | 'store'>,
  source: Source,
  { options }: Crawl,
): Promise<LastRefusalFinder> {
  const scope = resolveScope(source.scope, options.scope)
  if (isTree(source)) {
    const survey = new TreeSurvey(scope)
    return ({ key }) => survey.findRefusal(key)
  }
  const filter = createAddressFilter({ startUrl: source.url, siteUrl: await findSiteUrl(library, source), scope })
  return ({ url, depth }) => filter.judge(url, depth, true).refusal
}

/** Lists up to `limit` stored pages that a scope given only for the last crawl refused, with reasons, and counts all of them. */
export async function listLastRefusals(
  library: Pick<Library, 'limits' | 'store'>,
  source: Source,
  crawl: Crawl,
  limit: number,
): Promise<{ readonly count: number; readonly rows: readonly LedgerRow[] }> {
  const rows: LedgerRow[] = []
  let count = 0
  const findRefusal = await createLastRefusalFinder(library, source, crawl)
  for await (const batch of readRows(library.store, source.id)) {
    for (const row of batch) {
      const refusal = findRefusal(row)
      if (refusal === null) continue
      count++
      if (rows.length < limit) rows.push({ ...row, ...refusal })
    }
  }
  return { count, rows }
}
