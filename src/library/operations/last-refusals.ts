import { createGate } from '../../crawl/gate.ts'
import type { LedgerRow, Refusal } from '../../crawl/ledger.ts'
import type { Library } from '../library.ts'
import { readRows } from '../read-rows.ts'
import type { Source } from '../source.ts'
import type { Crawl } from '../store.ts'
import { isTree } from '../tree.ts'
import { TreeSurvey } from '../tree-survey.ts'
import { resolveScope } from './add-source.ts'
import { findSiteUrl } from './find-start.ts'
import { hasOwnScope } from './source-status.ts'

/** Returns why the last crawl did not update the page of a row; null if its scope admitted the row. */
export type JudgeKept = (row: LedgerRow) => Refusal | null

/** Judges pages by the scope of the last crawl only. Such a scope does not change stored rows, so the refusal is visible only here. */
export async function createKeptJudge(library: Library, source: Source, crawl: Crawl | null): Promise<JudgeKept> {
  if (crawl === null || !hasOwnScope(crawl)) return () => null
  const judge = await createJudge(library, source, crawl)
  return (row) => (row.hasPage && row.crawlId !== crawl.id ? judge(row) : null)
}

async function createJudge(library: Library, source: Source, { options }: Crawl): Promise<JudgeKept> {
  const scope = resolveScope(source.scope, options.scope)
  if (isTree(source)) {
    const survey = new TreeSurvey(scope)
    return ({ key }) => survey.judge(key)
  }
  const gate = createGate({ startUrl: source.url, siteUrl: await findSiteUrl(library, source), scope })
  return ({ url, depth }) => gate.judge(url, depth, true).refusal
}

/** Lists up to `limit` pages refused only by the scope of the last crawl, with reasons, and counts them all. */
export async function listKept(
  library: Library,
  source: Source,
  crawl: Crawl,
  limit: number,
): Promise<{ readonly count: number; readonly rows: readonly LedgerRow[] }> {
  const rows: LedgerRow[] = []
  let count = 0
  const judge = await createKeptJudge(library, source, crawl)
  for await (const lot of readRows(library.store, source.id)) {
    for (const row of lot) {
      const refusal = judge(row)
      if (refusal === null) continue
      count++
      if (rows.length < limit) rows.push({ ...row, ...refusal })
    }
  }
  return { count, rows }
}
