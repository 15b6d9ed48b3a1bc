import type { ComparedPage } from '../../core/changes/change.ts'
import { type Comparison, comparePages } from '../../core/changes/compare-pages.ts'
import { usageError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { runCooperatively } from '../cooperative-task.ts'
import { readRows } from '../copy/read-rows.ts'
import type { Library } from '../library.ts'
import type { EarlierPages } from '../ports/library-store.ts'
import type { Crawl } from '../ports/store.ts'
import { labelOf, type Source } from '../source.ts'
import { comparedPath, type PageSet, readPageSet } from './read-page-set.ts'

/** What the last crawl of a source changed. */
export interface LastRunComparison extends Comparison {
  readonly crawl: Crawl
  readonly before: PageSet
  readonly after: PageSet
  readonly notices: readonly string[]
}

/** Compares the pages of a source with their texts before its last crawl. */
export async function compareLastRun(
  library: Pick<Library, 'store' | 'clock' | 'readEarlierPages'>,
  source: Source,
  signal?: AbortSignal,
): Promise<LastRunComparison> {
  const [crawl, previous] = await library.store.listCrawls(source.id, 2)
  if (crawl === undefined || previous === undefined) {
    const label = labelOf(source)
    throw usageError(
      `${label} was crawled only once, so there is nothing to compare; crawl it again: pharos recrawl ${label}`,
    )
  }
  const earlier: EarlierPages = (await library.readEarlierPages?.(source.id)) ?? { pages: [], mayBeIncomplete: false }
  const current = await readPageSet(library, source, signal)
  const written = await listWritten(library, source, crawl)
  const { before, after, unknown } = restorePages(source, current, written, earlier, crawl)
  const running =
    crawl.state === 'running' ? ['the crawl is still running: only what it has read so far is compared'] : []
  const lost =
    unknown === 0
      ? []
      : [`${countOf(unknown, 'page')} may have changed too, but no more earlier texts were kept (limit)`]
  const partial = after.notice === null ? [] : [after.notice]
  const work = comparePages({ before: before.pages, after: after.pages, versions: null })
  const comparison = await runCooperatively(work, library.clock, signal)
  return { ...comparison, crawl, before, after, notices: [...running, ...partial, ...lost] }
}

/** When the pages that a crawl has written were found, by key. */
async function listWritten(
  { store }: Pick<Library, 'store'>,
  { id }: Source,
  { startedAt }: Crawl,
): Promise<Map<string, number>> {
  const written = new Map<string, number>()
  for await (const rows of readRows(store, id)) {
    for (const { key, hasPage, changedAt, firstSeenAt } of rows) {
      if (hasPage && (changedAt ?? 0) >= startedAt) written.set(key, firstSeenAt)
    }
  }
  return written
}

/**
 * The pages before and after a crawl. A page that was written without an earlier text is new. It counts as unchanged if its address was
 * known before and the crawl wrote every page again, or if earlier texts may be missing; `unknown` is the number of the latter.
 */
function restorePages(
  source: Source,
  current: PageSet,
  written: ReadonlyMap<string, number>,
  { pages: earlierPages, mayBeIncomplete }: EarlierPages,
  { startedAt, options }: Crawl,
): { readonly before: PageSet; readonly after: PageSet; readonly unknown: number } {
  const earlier = new Map(earlierPages.map((page) => [page.key, page]))
  const oldPages: ComparedPage[] = []
  const newPages: ComparedPage[] = []
  let unknown = 0
  for (const page of current.pages) {
    const key = current.keys.get(page.path) ?? page.path
    const old = earlier.get(key)
    earlier.delete(key)
    if (old !== undefined) {
      // The definitions of earlier code are not kept, so that its lines are compared.
      newPages.push({ ...page, definitions: null })
      oldPages.push({ ...page, definitions: null, markdown: old.markdown })
      continue
    }
    newPages.push(page)
    const firstSeenAt = written.get(key)
    const isKnown = firstSeenAt !== undefined && firstSeenAt < startedAt
    if (firstSeenAt === undefined || (isKnown && (options.full || mayBeIncomplete))) oldPages.push(page)
    if (isKnown && mayBeIncomplete) unknown++
  }
  const removed = [...earlier.values()].map((page) => ({ ...page, path: comparedPath(source, page) }))
  oldPages.push(...removed.map(({ path, markdown }) => ({ path, markdown, definitions: null })))
  const places = new Map([...current.places, ...removed.map(({ path, url }) => [path, { url, sections: [] }] as const)])
  return { before: { ...current, pages: oldPages, places }, after: { ...current, pages: newPages }, unknown }
}
