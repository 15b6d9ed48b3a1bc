import type { AnalysedPage } from '../analysis/page-analysis.ts'
import type { PageToAnalyse, RunProgress } from '../ports/analyses.ts'

/** Result of one batch of pages. */
interface BatchResult {
  readonly pages: readonly PageToAnalyse[]
  readonly done: readonly { readonly analysed: AnalysedPage }[]
  readonly hubs: number
  readonly failed: number
}

/** Adds the result of a batch to the progress of a run. */
export function addBatch(before: RunProgress, { pages, done, hubs, failed }: BatchResult): RunProgress {
  const countOf = (kind: string) => done.filter(({ analysed }) => analysed.classification.kind === kind).length
  return {
    ...before,
    pages: before.pages + pages.length,
    articles: before.articles + countOf('article'),
    navs: before.navs + countOf('nav'),
    others: before.others + countOf('other'),
    places: before.places + done.reduce((sum, { analysed }) => sum + analysed.analysis.findings.places.length, 0),
    hubs: before.hubs + hubs,
    failed: before.failed + failed,
    lastPage: pages.at(-1)?.id ?? before.lastPage,
  }
}
